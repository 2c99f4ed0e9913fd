"""Writes generated values as bodies, in the media type that the document declares."""

import csv
import gzip
import io
import tarfile
import wave
import zipfile
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from html import escape
from typing import Any, Final
from urllib.parse import urlencode

import yaml

from understudy.mock.server.json_bodies import json_bytes
from understudy.mock.server.xml_bodies import XmlWriter
from understudy.openapi.loader import Node
from understudy.openapi.media_types import JSON_SEQUENCES, is_json, is_text, is_xml
from understudy.openapi.schemas import Schemas

# Makes small true files for responses of media types that are not text: pictures, PDF, archives.
# A client that decodes what it gets needs bytes that can be decoded; a made-up text is none of
# them.

_SIZE = (64, 64)
_COLOUR = (38, 84, 124)
_FILE_NAME = "note.txt"
_CONTENT = b"understudy\n"
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the first instant that a zip archive can say

_SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">'
    b'<rect width="64" height="64" fill="#26547c"/></svg>'
)

_PILLOW_FORMATS: Final[Mapping[str, str]] = {
    "application/pdf": "PDF",
    "image/bmp": "BMP",
    "image/gif": "GIF",
    "image/jpeg": "JPEG",
    "image/jpg": "JPEG",
    "image/png": "PNG",
    "image/tiff": "TIFF",
    "image/vnd.microsoft.icon": "ICO",
    "image/webp": "WEBP",
    "image/x-icon": "ICO",
}


@lru_cache(maxsize=64)
def sample_file(media_type: str) -> bytes | None:
    """Returns a small file of a media type; None for a type that no file is known of."""
    if media_type in _PILLOW_FORMATS:
        return _picture(_PILLOW_FORMATS[media_type])
    make = _MAKERS.get(media_type)
    if make is None and media_type.startswith("image/"):
        return _picture("PNG")  # an unknown kind of picture is at least one that is drawn
    return None if make is None else make()


def _picture(form: str) -> bytes:
    from PIL import Image  # noqa: PLC0415 - importing Pillow takes too long at start

    buffer = io.BytesIO()
    dates = {"creationDate": None, "modDate": None} if form == "PDF" else {}
    Image.new("RGB", _SIZE, _COLOUR).save(buffer, form, **dates)
    return buffer.getvalue()


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(_FILE_NAME, _OLDEST), _CONTENT)
    return buffer.getvalue()


def _tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(_FILE_NAME)
        entry.size = len(_CONTENT)
        archive.addfile(entry, io.BytesIO(_CONTENT))
    return buffer.getvalue()


def _gzip() -> bytes:
    return gzip.compress(_CONTENT, mtime=0)


def _wave() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(1600))  # a tenth of a second of silence
    return buffer.getvalue()


_MAKERS: Final[Mapping[str, Callable[[], bytes]]] = {
    "application/gzip": _gzip,
    "application/java-archive": _zip,
    "application/octet-stream": lambda: _CONTENT,
    "application/x-gzip": _gzip,
    "application/x-tar": _tar,
    "application/x-zip-compressed": _zip,
    "application/zip": _zip,
    "audio/wav": _wave,
    "audio/wave": _wave,
    "audio/x-wav": _wave,
    "image/svg+xml": lambda: _SVG,
}


_RECORD_SEPARATOR = b"\x1e"  # RFC 7464, 2.2
_YAML_NAMES = ("/yaml", "/x-yaml", "+yaml", "/vnd.yaml")


def written_body(value: Any, media_type: str, schema: Node | None, schemas: Schemas) -> Any:
    """Returns a value as a body: itself for JSON, otherwise bytes.

    Args:
        value: What the body says. A text is written as it is where the type is not JSON, as an
            example of XML or of events is one.
        media_type: Without options, and no range.
        schema: The schema of the value, which XML goes by.
        schemas: The document's validators.
    """
    if is_json(media_type):
        return value
    file = _file(value, media_type)
    if file is not None:
        return file
    if is_xml(media_type) and not _is_markup(value):
        return XmlWriter(schemas).write(value, schema)
    return _writer(media_type)(value)


def _file(value: Any, media_type: str) -> bytes | None:
    """Returns a file of a type that is one; a drawing that the document gives is kept."""
    if is_text(media_type) or (media_type == "image/svg+xml" and _is_markup(value)):
        return None
    return sample_file(media_type)


def _writer(media_type: str) -> Callable[[Any], bytes]:
    """Returns the function that writes values of a media type."""
    if media_type in JSON_SEQUENCES:
        is_separated = media_type == "application/json-seq"
        return partial(_sequence, head=_RECORD_SEPARATOR if is_separated else b"")
    return _yaml if media_type.endswith(_YAML_NAMES) else _WRITERS.get(media_type, _plain)


def _plain(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else json_bytes(value)


def _html(value: Any) -> bytes:
    if _is_markup(value):
        return _plain(value)
    text = escape(_plain(value).decode())
    return f"<!DOCTYPE html><title>{text}</title><p>{text}</p>".encode()


def _form(value: Any) -> bytes:
    return urlencode(value, doseq=True).encode() if isinstance(value, dict) else _plain(value)


def _yaml(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False).encode()


def _is_markup(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith("<")


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _sequence(value: Any, head: bytes) -> bytes:
    """Returns JSON values one a line; of a JSON text sequence each behind its separator (RFC 7464)."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        return value.encode()
    return b"".join(head + json_bytes(item) + b"\n" for item in _items(value))


def _events(value: Any) -> bytes:
    """Returns values as a stream of events (HTML, 9.2.6); each has its value as ``data``."""
    if isinstance(value, str) and value.startswith(("data:", "event:", "id:", "retry:", ":")):
        return value.rstrip("\n").encode() + b"\n\n"
    return b"".join(_event(item) for item in _items(value))


def _event(value: Any) -> bytes:
    fields = value if _is_event(value) else {"data": value}
    lines = []
    for name, member in fields.items():
        text = member if isinstance(member, str) else json_bytes(member).decode()
        lines += [f"{name}: {line}\n" for line in text.splitlines() or [""]]
    return ("".join(lines) + "\n").encode()


def _is_event(value: Any) -> bool:
    """Tells whether an object has the fields of an event, as OpenAPI 3.2 describes one."""
    return isinstance(value, Mapping) and "data" in value and value.keys() <= _EVENT_FIELDS


_EVENT_FIELDS = frozenset({"data", "event", "id", "retry", "comment"})


def _rows(value: Any) -> bytes:
    """Returns objects as rows below their names, and lists as rows (RFC 4180)."""
    if isinstance(value, str):
        return value.encode()
    rows = _items(value)
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    if rows and isinstance(rows[0], dict):
        writer.writerow(rows[0])
        rows = [list(row.values()) for row in rows if isinstance(row, dict)]
    writer.writerows(_items(row) for row in rows)
    return buffer.getvalue().encode()


_WRITERS: Final[Mapping[str, Callable[[Any], bytes]]] = {
    "application/x-www-form-urlencoded": _form,
    "application/xhtml+xml": _html,
    "text/csv": _rows,
    "text/event-stream": _events,
    "text/html": _html,
}
