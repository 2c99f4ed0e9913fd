"""Writes a world as a fixtures directory in a zip file, and reads one back.

A state that was worked out by hand in a browser becomes fixtures in version control that way.
"""

import io
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import yaml

from understudy.engine.worlds import Baseline, World
from understudy.errors import BadRequest, FixtureError
from understudy.records import seeding
from understudy.records.applications import APPLICATIONS
from understudy.records.people import IMAGES, PEOPLE, Image, Person
from understudy.records.tokens import TOKENS

LARGEST = 256 * 1024 * 1024
"""Bytes of an import once it is unpacked: a small zip file may hold terabytes."""

_MANY = 500
"""From so many people on they are written as lines of one file."""

_NUMBERS = frozenset("0123456789+-.")
_SUFFIXES = {"image/gif": ".gif", "image/jpeg": ".jpg", "image/png": ".png"}


def exported(world: World) -> bytes:
    """Returns a zip file of what ``--fixtures`` takes: people, pictures, tokens and applications.

    Codes, sessions and the counts of rate limits are left out: they are moments and no fixtures.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        names: dict[str, str] = {}
        for key, image in world.items(IMAGES):
            names[key] = _image_name(key, image)
            archive.writestr(_entry(f"images/{names[key]}"), image.content)
        _write_people(archive, world, names)
        tokens = [msgspec.to_builtins(token) for _, token in world.items(TOKENS)]
        archive.writestr(_entry("tokens.yaml"), _yaml(tokens))
        for key, application in world.items(APPLICATIONS):
            said = _yaml(msgspec.to_builtins(application))
            archive.writestr(_entry(f"applications/{key}.yaml"), said)
    return packed.getvalue()


def imported(content: bytes) -> Baseline:
    """Reads what ``exported`` wrote, or any fixtures directory that was zipped.

    Raises:
        BadRequest: It is no such zip file, is too large, or a fixture in it cannot be used.
    """
    with tempfile.TemporaryDirectory(prefix="understudy-") as place:
        directory = Path(place)
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                _unpack(archive, directory)
            return seeding.load(directory)
        except zipfile.BadZipFile as error:
            msg = f"The body is no zip file: {error}. Zip a fixtures directory, with people/ in it."
            raise BadRequest(msg) from error
        except FixtureError as error:
            raise BadRequest(str(error).replace(f"{directory}/", "")) from error


def _unpack(archive: zipfile.ZipFile, directory: Path) -> None:
    size = sum(entry.file_size for entry in archive.infolist())
    if size > LARGEST:
        msg = f"The zip file holds {size:,} bytes; {LARGEST:,} are the most."
        raise BadRequest(msg)
    for entry in archive.infolist():
        path = PurePosixPath(entry.filename)
        if path.is_absolute() or ".." in path.parts:
            msg = f"The zip file has an entry {entry.filename!r} that leads out of it."
            raise BadRequest(msg)
        archive.extract(entry, directory)


def _write_people(archive: zipfile.ZipFile, world: World, names: dict[str, str]) -> None:
    people = [(slug, _with_images(person, names)) for slug, person in world.items(PEOPLE)]
    if len(people) < _MANY:
        for slug, person in people:
            archive.writestr(_entry(f"people/{slug}.yaml"), _yaml(person))
        return
    lines = b"".join(msgspec.json.encode(person) + b"\n" for _, person in people)
    archive.writestr(_entry("people/people.jsonl"), lines)


def _with_images(person: Person, names: dict[str, str]) -> dict[str, Any]:
    said: dict[str, Any] = msgspec.to_builtins(person)
    for avatar in said["avatars"]:
        avatar["image"] = names[avatar["image"]]
    return said


def _image_name(key: str, image: Image) -> str:
    """Returns a file's name; an uploaded picture's key has no suffix."""
    return key if Path(key).suffix else f"{key}{_SUFFIXES[image.media_type]}"


class _Dumper(yaml.SafeDumper):
    """Quotes what begins like a number: readers differ in what they take for one."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if text[:1] in _NUMBERS else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _represent)


def _yaml(value: Any) -> bytes:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text.encode()


def _entry(name: str) -> zipfile.ZipInfo:
    """Returns an entry without a date, so that the same world gives the same bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
