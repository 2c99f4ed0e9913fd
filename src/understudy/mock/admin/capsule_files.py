"""Defines the file of a capsule, and reads and writes it: a zip file with one JSON document."""

import io
import zipfile
import zlib
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Struct

from understudy.errors import BadRequest
from understudy.limits import ARCHIVE_BYTES
from understudy.mock.fixtures.archive import archive_entry
from understudy.mock.server.faults import Fault
from understudy.mock.server.windows import Window

ENTRY: Final = "capsule.json"

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
"""A time with its offset; one without could not be compared with others."""

Fields = list[tuple[str, str]]
"""Header fields in the order they were sent."""


class CapsuleText(Struct, frozen=True, forbid_unknown_fields=True):
    """The bytes of a body as text.

    Attributes:
        encoding: Which gives back the bytes.
        text: The text, with references in place of secrets.
    """

    encoding: Literal["utf-8", "latin-1"]
    text: str

    @classmethod
    def of(cls, content: bytes) -> "CapsuleText":
        """Returns bytes as text; what is not UTF-8, with a character for each byte."""
        try:
            return cls("utf-8", content.decode())
        except UnicodeDecodeError:
            return cls("latin-1", content.decode("latin-1"))


class CapsulePrincipal(Struct, frozen=True, forbid_unknown_fields=True):
    """The account and the credential of a request."""

    person: str
    kind: Literal["oauth", "api_key"]
    scopes: list[str]
    token: str


class CapsuleExchange(Struct, frozen=True, forbid_unknown_fields=True):
    """A request of the journal and its response."""

    started: Instant
    seconds: float
    client: str
    site_url: str
    method: str
    path: str
    query: str
    fields: Fields
    body: CapsuleText
    operation: str | None
    principal: CapsulePrincipal | None
    fault: str | None
    notes: list[str]
    status: int
    response_fields: Fields
    response_body: CapsuleText


class CapsuleSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The state of a world beside its records."""

    seed: int
    issued: int
    choices: dict[str, str]
    limits: dict[str, int]
    faults: dict[str, Fault]
    windows: dict[str, Window]


class Capsule(Struct, frozen=True, forbid_unknown_fields=True):
    """A world before one of its requests.

    Attributes:
        format: The format of the file.
        world: The world's name.
        request: The request before which the world stands; None: the end.
        baseline: The digest of the fixtures.
        document: The digest of the document in force.
        now: The world's time.
        settings: The state beside the records.
        changes: Collection name to key to changed record; None: it was removed.
        total: The number of the last request of the journal.
        journal: The remembered requests, the oldest first.
    """

    format: Literal["understudy-capsule-1"]
    world: str
    request: int | None
    baseline: str
    document: str
    now: Instant
    settings: CapsuleSettings
    changes: dict[str, dict[str, Any]]
    total: int
    journal: list[CapsuleExchange]


def pack(capsule: Capsule) -> bytes:
    """Returns the file of a capsule; the same capsule always gives the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(archive_entry(ENTRY), msgspec.json.encode(capsule))
    return packed.getvalue()


def unpack(content: bytes) -> Capsule:
    """Reads the file of a capsule.

    Raises:
        BadRequest: It is not such a file.
        LimitExceeded: It is too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entry = archive.getinfo(ENTRY)
            ARCHIVE_BYTES.check(entry.file_size)
            return msgspec.json.decode(archive.read(entry), type=Capsule)
    except KeyError as error:
        msg = f"The zip file contains no {ENTRY}; a capsule is made by GET /__admin/capsule."
        raise BadRequest(msg) from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        msg = f"The body is not a capsule: {error}. GET /__admin/capsule makes one."
        raise BadRequest(msg) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        msg = f"The capsule cannot be read: {error}. Make it again by GET /__admin/capsule."
        raise BadRequest(msg) from error


def each_text(value: Any, convert: Callable[[str], str]) -> Any:
    """Returns a value of JSON with every string, keys included, converted."""
    if isinstance(value, str):
        return convert(value)
    if isinstance(value, list | tuple):
        return [each_text(item, convert) for item in value]
    if isinstance(value, dict):
        return {convert(key): each_text(member, convert) for key, member in value.items()}
    return value
