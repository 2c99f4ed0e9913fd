"""Loads a fixtures directory into a baseline, and refuses whatever it does not understand.

``people/<slug>.yaml`` is one person, ``people/*.jsonl`` are many, a JSON object a line;
``tokens.yaml`` and ``applications/<client_id>.yaml`` are optional. A fixture that was misread would
show as a wrong answer much later, so everything is checked here: keys, types, and who is who.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from understudy.engine.worlds import Baseline
from understudy.errors import FixtureError, nearest
from understudy.openapi.yaml_files import read_yaml
from understudy.records.applications import APPLICATIONS, Application
from understudy.records.hashing import email_hash, is_hash
from understudy.records.people import (
    IMAGES,
    PEOPLE,
    SLUGS_BY_HASH,
    SLUGS_BY_IMAGE_ID,
    Image,
    Person,
)
from understudy.records.strictness import converted, fault, misfit
from understudy.records.tokens import SCOPES, TOKENS, Token

RESERVED_SLUGS = frozenset(
    {
        *("apps", "avatar", "consent", "favicon.ico", "icons", "image", "me", "oauth2", "openapi"),
        *("profiles", "qr-code", "robots.txt", "sign-in", "sign-out", "static", "v3"),
    }
)
"""First segments of other addresses of the site; a person's page would hide them, or be hidden."""

_FORM = "YYYY-MM-DDTHH:MM:SSZ"

_FORMATS = {
    ".gif": ("image/gif", b"GIF8"),
    ".jpeg": ("image/jpeg", b"\xff\xd8\xff"),
    ".jpg": ("image/jpeg", b"\xff\xd8\xff"),
    ".png": ("image/png", b"\x89PNG\r\n\x1a\n"),
}
"""Suffix to media type and the first bytes of such a file."""

_ASTRAY = {".json": ".jsonl", ".yml": ".yaml"}
"""Suffixes that would be passed over in silence, and what was probably meant."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_IMAGE_ID = re.compile(r"[0-9a-f]{32}")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?", re.ASCII)


def load(directory: Path) -> Baseline:
    """Loads a fixtures directory.

    Raises:
        FixtureError: A fixture cannot be used; the text names the file, the key and the remedy.
    """
    if not directory.is_dir():
        msg = f"{directory} is no directory; --fixtures takes one that holds people/."
        raise FixtureError(msg)
    baseline: dict[str, dict[str, Any]] = {
        collection.name: {}
        for collection in (PEOPLE, SLUGS_BY_HASH, SLUGS_BY_IMAGE_ID, IMAGES, TOKENS, APPLICATIONS)
    }
    baseline[IMAGES.name] = _images(directory / "images")
    _Census(baseline).take(directory / "people")
    for token in _tokens(directory / "tokens.yaml", baseline[PEOPLE.name]):
        baseline[TOKENS.name][token.token] = token
    for application in _applications(directory / "applications", baseline[PEOPLE.name]):
        baseline[APPLICATIONS.name][application.client_id] = application
    return baseline


class _Census:
    """Counts people in, and sees to it that everybody is one person."""

    def __init__(self, baseline: Mapping[str, dict[str, Any]]) -> None:
        self._images = baseline[IMAGES.name]
        self._people = baseline[PEOPLE.name]
        self._slugs_by_hash = baseline[SLUGS_BY_HASH.name]
        self._slugs_by_image_id = baseline[SLUGS_BY_IMAGE_ID.name]
        self._where: dict[str, str] = {}

    def take(self, directory: Path) -> None:
        for where, person in _people(directory):
            _check_person(where, person, self._images)
            self._count_in(where, person)
        if not self._people:
            msg = f"{directory} holds nobody; put a person into <slug>.yaml there."
            raise FixtureError(msg)

    def _count_in(self, where: str, person: Person) -> None:
        slug = person.slug
        if slug in self._people:
            raise fault(where, "slug", f"{slug!r} is also in {self._where[slug]}; choose another")
        self._where[slug] = where
        for email in person.emails:
            other = self._slugs_by_hash.setdefault(email_hash(email.email), slug)
            if other != slug:
                what = (
                    f"{email.email!r} is also in {self._where[other]}; it can be one person's only"
                )
                raise fault(where, "emails", what)
        for avatar in person.avatars:
            other = self._slugs_by_image_id.setdefault(avatar.image_id, slug)
            if other != slug:
                what = (
                    f"image_id {avatar.image_id!r} is also in {self._where[other]}; choose another"
                )
                raise fault(where, "avatars", what)
        if not person.password:
            person = replace(person, password=f"{slug}-password")
        self._people[slug] = person


def _people(directory: Path) -> Iterator[tuple[str, Person]]:
    """Yields every person with the file they are from; YAML before bulk, and by name."""
    for path in sorted(directory.glob("*")):
        if path.suffix in _ASTRAY:
            msg = f"{path} is not read; its name should end with {_ASTRAY[path.suffix]}."
            raise FixtureError(msg)
    for path in sorted(directory.glob("*.yaml")):
        person = converted(path, read_yaml(path), Person)
        if person.slug != path.stem:
            raise fault(path, "slug", f"{person.slug!r} must be the file's name, {path.stem!r}")
        yield str(path), person
    for path in sorted(directory.glob("*.jsonl")):
        yield from _many(path)


def _many(path: Path) -> Iterator[tuple[str, Person]]:
    decoder = msgspec.json.Decoder(Person)
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                where = f"{path}:{number}"
                try:
                    yield where, decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise misfit(where, error, Person) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _check_person(where: str, person: Person, images: Mapping[str, Image]) -> None:
    if not _SLUG.fullmatch(person.slug) or is_hash(person.slug):
        what = f"{person.slug!r} is no slug; use up to 63 of a-z, 0-9 and -"
        raise fault(where, "slug", what)
    if person.slug in RESERVED_SLUGS:
        raise fault(where, "slug", f"{person.slug!r} is an address of the service; choose another")
    if not person.emails:
        raise fault(where, "emails", "there is none; the first one is the primary")
    addresses = [email.email.strip().lower() for email in person.emails]
    for address in addresses:
        if not _EMAIL.fullmatch(address):
            raise fault(where, "emails", f"{address!r} is no e-mail address")
        if addresses.count(address) > 1:
            raise fault(where, "emails", f"{address!r} is given twice")
    _check_dates(where, person)
    _check_pictures(where, person, images)


def _check_dates(where: str, person: Person) -> None:
    edited, registered = person.profile.last_profile_edit, person.profile.registration_date
    if isinstance(edited, str) and not _is_date(edited, _DATE_TIME):
        raise fault(where, "profile.last_profile_edit", f"{edited!r} is no {_FORM}")
    if isinstance(registered, str) and not _is_date(registered, _DATE):
        what = f"{registered!r} is no YYYY-MM-DD and no {_FORM}"
        raise fault(where, "profile.registration_date", what)


def _is_date(text: str, shape: re.Pattern[str]) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return shape.fullmatch(text) is not None


def _check_pictures(where: str, person: Person, images: Mapping[str, Image]) -> None:
    ids = [avatar.image_id for avatar in person.avatars]
    for avatar in person.avatars:
        if not _IMAGE_ID.fullmatch(avatar.image_id) or ids.count(avatar.image_id) > 1:
            what = f"image_id {avatar.image_id!r} must be 32 hexadecimal digits, and each only once"
            raise fault(where, "avatars", what)
        if not _is_date(avatar.updated_date, _DATE_TIME):
            what = f"updated_date {avatar.updated_date!r} is no {_FORM}"
            raise fault(where, "avatars", what)
    for email in person.emails:
        if email.avatar is not None and email.avatar not in ids:
            what = f"avatar {email.avatar!r} of {email.email} is not among this person's avatars"
            raise fault(where, "emails", what)
    for key, name in _image_names(person):
        if name not in images:
            hint = nearest(name, list(images)) or f"; there are {', '.join(images)}"
            raise fault(where, key, f"there is no image {name!r} in images/{hint}")


def _image_names(person: Person) -> Iterator[tuple[str, str]]:
    for avatar in person.avatars:
        yield "avatars", avatar.image
    if isinstance(person.profile.gallery, tuple):
        for picture in person.profile.gallery:
            yield "profile.gallery", picture.image
    if not isinstance(person.profile.header_image, msgspec.UnsetType):
        yield "profile.header_image", person.profile.header_image.image


def _images(directory: Path) -> dict[str, Image]:
    return {
        path.name: _image(path)
        for path in sorted(directory.glob("*"))
        if path.suffix.lower() in _FORMATS
    }


def _image(path: Path) -> Image:
    media_type, signature = _FORMATS[path.suffix.lower()]
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error
    if not content.startswith(signature):
        msg = f"{path} holds no {media_type}; give it the suffix of what it holds."
        raise FixtureError(msg)
    return Image(content, media_type)


def _tokens(path: Path, people: Mapping[str, Person]) -> Iterator[Token]:
    seen: set[str] = set()
    entries = read_yaml(path) if path.exists() else None
    for token in converted(path, entries or [], list[Token]):
        if token.token in seen:
            raise fault(path, "token", f"{token.token!r} stands there twice; keep one")
        seen.add(token.token)
        _check_token(f"{path}: {token.token}", token, people)
        yield token


def _check_token(where: str, token: Token, people: Mapping[str, Person]) -> None:
    if token.person not in people:
        hint = nearest(token.person, list(people))
        raise fault(where, "person", f"there is no person {token.person!r}{hint}")
    for scope in token.scopes:
        if scope not in SCOPES:
            what = f"scope {scope!r} is not known; there are {', '.join(SCOPES)}"
            raise fault(where, "scopes", what)
    if token.expires is not None and not _is_date(token.expires, _DATE_TIME):
        raise fault(where, "expires", f"{token.expires!r} is no {_FORM}")


def _applications(directory: Path, people: Mapping[str, Person]) -> Iterator[Application]:
    for path in sorted(directory.glob("*.yaml")):
        application = converted(path, read_yaml(path), Application)
        if application.client_id != path.stem:
            raise fault(path, "client_id", f"must be the file's name, {path.stem!r}")
        if application.owner not in people:
            hint = nearest(application.owner, list(people))
            raise fault(path, "owner", f"there is no person {application.owner!r}{hint}")
        yield application


def _unreadable(path: Path, error: OSError) -> FixtureError:
    return FixtureError(f"{path} cannot be read: {error.strerror}. Check the path.")
