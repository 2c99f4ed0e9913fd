"""Writes generated values as bodies of the media type that the document declares for them."""

import csv
import io
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any, Final
from urllib.parse import urlencode

import orjson
import yaml

from understudy.mock.server.sample_files import sample_file
from understudy.mock.server.xml_bodies import XmlWriter
from understudy.openapi.loader import Node
from understudy.openapi.media_types import JSON_SEQUENCES, is_json, is_text, is_xml
from understudy.openapi.schemas import Schemas

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
    return value.encode() if isinstance(value, str) else orjson.dumps(value)


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
    return b"".join(head + orjson.dumps(item) + b"\n" for item in _items(value))


def _events(value: Any) -> bytes:
    """Returns values as a stream of events (HTML, 9.2.6); each has its value as ``data``."""
    if isinstance(value, str) and value.startswith(("data:", "event:", "id:", "retry:", ":")):
        return value.rstrip("\n").encode() + b"\n\n"
    return b"".join(_event(item) for item in _items(value))


def _event(value: Any) -> bytes:
    fields = value if _is_event(value) else {"data": value}
    lines = []
    for name, member in fields.items():
        text = member if isinstance(member, str) else orjson.dumps(member).decode()
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
