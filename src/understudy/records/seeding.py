"""Loads a fixtures directory into a baseline, and refuses whatever it does not understand.

``people/<slug>.yaml`` is one person, ``people/*.jsonl`` are many, a JSON object a line;
``tokens.yaml`` and ``applications/<client_id>.yaml`` are optional. A fixture that was misread would
show as a wrong answer much later, so everything is checked here: keys, types, and who is who.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from understudy.document.yaml_files import read_yaml
from understudy.engine.worlds import Baseline
from understudy.errors import FixtureError, nearest
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
from understudy.records.tokens import SCOPES, TOKENS, Token

RESERVED_SLUGS = frozenset(
    {
        *("apps", "avatar", "consent", "favicon.ico", "icons", "image", "me", "oauth2", "openapi"),
        *("profiles", "qr-code", "robots.txt", "sign-in", "sign-out", "static", "v3"),
    }
)
"""First segments of other addresses of the site; a person's page would hide them, or be hidden."""

MEDIA_TYPES = {".gif": "image/gif", ".jpg": "image/jpeg", ".png": "image/png"}

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_IMAGE_ID = re.compile(r"[0-9a-f]{32}")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")

Fixture = TypeVar("Fixture", Person, Token, Application)


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
    for name, token in _tokens(directory / "tokens.yaml", baseline[PEOPLE.name]):
        baseline[TOKENS.name][name] = token
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

    def take(self, directory: Path) -> None:
        for where, person in _people(directory):
            _check_person(where, person, self._images)
            self._count_in(where, person)
        if not self._people:
            msg = f"{directory} holds nobody; put a person into <slug>.yaml there."
            raise FixtureError(msg)

    def _count_in(self, where: str, person: Person) -> None:
        if person.slug in self._people:
            raise _fault(where, "slug", f"{person.slug!r} is another person's; choose another")
        for email in person.emails:
            hash_ = email_hash(email.email)
            other = self._slugs_by_hash.setdefault(hash_, person.slug)
            if other != person.slug:
                what = f"{email.email!r} is {other}'s already; an address belongs to one person"
                raise _fault(where, "emails", what)
        for avatar in person.avatars:
            if self._slugs_by_image_id.setdefault(avatar.image_id, person.slug) != person.slug:
                what = f"image_id {avatar.image_id!r} is taken; give each avatar its own"
                raise _fault(where, "avatars", what)
        if not person.password:
            person = replace(person, password=f"{person.slug}-password")
        self._people[person.slug] = person


def _people(directory: Path) -> Iterator[tuple[str, Person]]:
    """Yields every person with the file they are from; YAML before bulk, and by name."""
    for path in sorted(directory.glob("*.yaml")):
        person = _converted(str(path), read_yaml(path), Person)
        if person.slug != path.stem:
            raise _fault(path, "slug", f"{person.slug!r} must be the file's name, {path.stem!r}")
        yield str(path), person
    decoder = msgspec.json.Decoder(Person)
    for path in sorted(directory.glob("*.jsonl")):
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            try:
                yield f"{path}:{number}", decoder.decode(line)
            except msgspec.DecodeError as error:
                msg = f"{path}:{number}: {error}. Mend the line, or make the file again."
                raise FixtureError(msg) from error


def _check_person(where: str, person: Person, images: Mapping[str, Image]) -> None:
    if not _SLUG.fullmatch(person.slug) or is_hash(person.slug):
        what = f"{person.slug!r} is no slug; use up to 63 of a-z, 0-9 and -"
        raise _fault(where, "slug", what)
    if person.slug in RESERVED_SLUGS:
        raise _fault(where, "slug", f"{person.slug!r} is an address of the service; choose another")
    if not person.emails:
        raise _fault(where, "emails", "there is none; the first one is the primary")
    addresses = [email.email.strip().lower() for email in person.emails]
    for address in addresses:
        if not _EMAIL.fullmatch(address):
            raise _fault(where, "emails", f"{address!r} is no e-mail address")
        if addresses.count(address) > 1:
            raise _fault(where, "emails", f"{address!r} is given twice")
    _check_dates(where, person)
    _check_pictures(where, person, images)


def _check_dates(where: str, person: Person) -> None:
    profile = person.profile
    edited, registered = profile.last_profile_edit, profile.registration_date
    if isinstance(edited, str) and not _DATE_TIME.fullmatch(edited):
        raise _fault(where, "profile.last_profile_edit", f"{edited!r} is not YYYY-MM-DDTHH:MM:SSZ")
    if isinstance(registered, str) and not _DATE.fullmatch(registered):
        what = f"{registered!r} is neither YYYY-MM-DD nor YYYY-MM-DDTHH:MM:SSZ"
        raise _fault(where, "profile.registration_date", what)


def _check_pictures(where: str, person: Person, images: Mapping[str, Image]) -> None:
    ids = [avatar.image_id for avatar in person.avatars]
    for avatar in person.avatars:
        if not _IMAGE_ID.fullmatch(avatar.image_id) or ids.count(avatar.image_id) > 1:
            what = f"image_id {avatar.image_id!r} must be 32 hexadecimal digits, and each only once"
            raise _fault(where, "avatars", what)
        if not _DATE_TIME.fullmatch(avatar.updated_date):
            what = f"updated_date {avatar.updated_date!r} is not YYYY-MM-DDTHH:MM:SSZ"
            raise _fault(where, "avatars", what)
    for email in person.emails:
        if email.avatar is not None and email.avatar not in ids:
            what = f"avatar {email.avatar!r} of {email.email} is not among this person's avatars"
            raise _fault(where, "emails", what)
    for key, name in _image_names(person):
        if name not in images:
            hint = nearest(name, list(images)) or f"; there are {', '.join(images)}"
            raise _fault(where, key, f"there is no image {name!r} in images/{hint}")


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
        path.name: Image(path.read_bytes(), MEDIA_TYPES[path.suffix])
        for path in sorted(directory.glob("*"))
        if path.suffix in MEDIA_TYPES
    }


def _tokens(path: Path, people: Mapping[str, Person]) -> Iterator[tuple[str, Token]]:
    seen: set[str] = set()
    for entry in _entries(path):
        token = _converted(str(path), entry, Token)
        if token.token in seen:
            raise _fault(path, "token", f"{token.token!r} stands there twice")
        seen.add(token.token)
        if token.person not in people:
            hint = nearest(token.person, list(people))
            raise _fault(path, token.token, f"there is no person {token.person!r}{hint}")
        unknown = [scope for scope in token.scopes if scope not in SCOPES]
        if unknown:
            what = f"scope {unknown[0]!r} is not known; there are {', '.join(SCOPES)}"
            raise _fault(path, token.token, what)
        if token.expires is not None and not _is_aware(token.expires):
            what = f"expires {token.expires!r} is not like 2026-01-01T00:00:00Z"
            raise _fault(path, token.token, what)
        yield token.token, token


def _applications(directory: Path, people: Mapping[str, Person]) -> Iterator[Application]:
    for path in sorted(directory.glob("*.yaml")):
        application = _converted(str(path), read_yaml(path), Application)
        if application.client_id != path.stem:
            raise _fault(path, "client_id", f"must be the file's name, {path.stem!r}")
        if application.owner not in people:
            hint = nearest(application.owner, list(people))
            raise _fault(path, "owner", f"there is no person {application.owner!r}{hint}")
        yield application


def _entries(path: Path) -> list[Any]:
    if not path.exists():
        return []
    entries = read_yaml(path)
    if not isinstance(entries, list):
        msg = f"{path} must be a list of tokens."
        raise FixtureError(msg)
    return entries


def _is_aware(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _converted(where: str, value: Any, kind: type[Fixture]) -> Fixture:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        unknown = re.search(r"unknown field `([^`]+)`", str(error))
        hint = nearest(unknown[1], kind.__struct_fields__) if unknown else ""
        msg = f"{where}: {error}{hint}. Mend the key, or leave it out."
        raise FixtureError(msg) from error


def _fault(where: object, key: str, what: str) -> FixtureError:
    return FixtureError(f"{where}: {key}: {what}.")
