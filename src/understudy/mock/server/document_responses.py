"""Generates responses of operations without a handler, from the document's examples or schemas.

Generated values are seeded by their place in the document, so the same document gives the same response
every time. They are encoded in the media type that the document declares.
"""

import csv
import gzip
import io
import tarfile
import wave
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from html import escape
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

import yaml

from understudy.errors import Headers, LimitExceeded
from understudy.mock.server.call import BODY, NO_ARGUMENTS, HandlerResponse, SharedBody
from understudy.mock.server.completion import echoed
from understudy.mock.server.declared_responses import LOCATION, sample_headers
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.json_bodies import json_bytes
from understudy.mock.server.recent import Recent
from understudy.mock.server.request_context import RequestContext
from understudy.openapi.loader import Node
from understudy.openapi.media_types import (
    JSON_SEQUENCES,
    concrete,
    is_json,
    is_text,
    is_xml,
    negotiated,
)
from understudy.openapi.operations import WITHOUT_CONTENT, DeclaredResponse, MediaType, Operation
from understudy.openapi.sampler import AT_ONCE, DYNAMIC, EFFORTS, Effort, Sampler
from understudy.openapi.schemas import Schemas
from understudy.openapi.xml_writing import XmlWriter

# Small valid files for responses of binary media types: pictures, PDF, archives. A client decodes such
# a response, and a random text would fail there.

_COLOUR = (38, 84, 124)
_FILE_NAME = "note.txt"
_CONTENT = b"understudy\n"
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the earliest time of a zip entry; the current time would vary

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
    """Returns a small valid file of a media type; None for an unknown type."""
    if media_type in _PILLOW_FORMATS:
        return _picture(_PILLOW_FORMATS[media_type])
    make = _MAKERS.get(media_type)
    if make is None and media_type.startswith("image/"):
        return _picture("PNG")  # browsers sniff pictures, and show a PNG under any image type
    return None if make is None else make()


def _picture(form: str) -> bytes:
    from PIL import Image  # noqa: PLC0415 - importing Pillow takes too long at start

    buffer = io.BytesIO()
    dates = {"creationDate": None, "modDate": None} if form == "PDF" else {}
    Image.new("RGB", (64, 64), _COLOUR).save(buffer, form, **dates)
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


def _wave() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(1600))  # a tenth of a second of silence
    return buffer.getvalue()


_MAKERS: Final[Mapping[str, Callable[[], bytes]]] = {
    "application/gzip": partial(gzip.compress, _CONTENT, mtime=0),
    "application/java-archive": _zip,
    "application/octet-stream": lambda: _CONTENT,
    "application/x-gzip": partial(gzip.compress, _CONTENT, mtime=0),
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
    """Encodes a value for a response: bytes, or the value itself for JSON.

    Args:
        value: Value to encode. A string is sent unchanged where the type is not JSON, as examples of
            XML or of events are strings.
        media_type: Media type without parameters and wildcards.
        schema: Schema of the value; XML takes element names and attributes from it.
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
    """Returns a sample file for binary media types; None for texts, such as the document's own SVG."""
    if is_text(media_type) or (media_type == "image/svg+xml" and _is_markup(value)):
        return None
    return sample_file(media_type)


def _writer(media_type: str) -> Callable[[Any], bytes]:
    """Returns the function that encodes values in a media type."""
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
    """Returns JSON values, each on one line after ``head`` (the record separator of RFC 7464)."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        return value.encode()
    return b"".join(head + json_bytes(item) + b"\n" for item in _items(value))


def _events(value: Any) -> bytes:
    """Returns values as server-sent events (HTML, 9.2.6), each with its value as ``data``."""
    if isinstance(value, str) and value.startswith(("data:", "event:", "id:", "retry:", ":")):
        return value.rstrip("\n").encode() + b"\n\n"
    return b"".join(_event(item) for item in _items(value))


def _event(value: Any) -> bytes:
    # the fields of an event, as OpenAPI 3.2 describes one
    is_event = isinstance(value, Mapping) and "data" in value and value.keys() <= _EVENT_FIELDS
    fields = value if is_event else {"data": value}
    lines = []
    for name, member in fields.items():
        text = member if isinstance(member, str) else json_bytes(member).decode()
        lines += [f"{name}: {line}\n" for line in text.splitlines() or [""]]
    return ("".join(lines) + "\n").encode()


_EVENT_FIELDS = frozenset({"data", "event", "id", "retry", "comment"})


def _rows(value: Any) -> bytes:
    """Returns objects as CSV rows below a header row, and lists as rows (RFC 4180)."""
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


_STATUS_OF_RANGE: Final = {"2XX": 200, "3XX": 302, "4XX": 400, "5XX": 500, "default": 200}
_REDIRECTS = range(300, 400)
_MOST_SAMPLES = 100
"""Cached samples per document; bounded, since each may be as large as a response."""


def _first_response(operation: Operation) -> tuple[int, DeclaredResponse | None]:
    """Returns the status and the declaration of an operation's principal response."""
    declared = operation.responses
    numbers = sorted(int(status) for status in declared if status.isdecimal())
    redirects = sorted(set(numbers) & {*_REDIRECTS} - WITHOUT_CONTENT)
    order = [
        *(str(number) for number in numbers if number // 100 == 2),  # noqa: PLR2004 - RFC 9110, 15.3
        *("2XX", "default"),
        *map(str, redirects),
        "3XX",
        *(status for status in declared if not status.startswith(("1", "5"))),
    ]
    key = next((status for status in order if status in declared), None)
    if key is None:
        return HTTPStatus.OK, None
    return int(key) if key.isdecimal() else _STATUS_OF_RANGE.get(key, HTTPStatus.OK), declared[key]


@dataclass
class Sampling:
    """Makes responses of one operation, from its examples or generated from its schemas.

    Attributes:
        operation: Operation that was called.
        schemas: The document's validators.
        seed: Seed of generated values.
        accept: Accept header, which chooses among the declared media types.
        efforts: Efforts to try in turn, until one is enough to generate the body.
        notes: Receives a remark on each example that is skipped.
    """

    operation: Operation
    schemas: Schemas
    seed: int
    accept: str = ""
    efforts: Sequence[Effort] = EFFORTS
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Takes the schemas for responses, which do not require ``writeOnly`` members."""
        self.schemas = self.schemas.for_responses

    def principal(self, arguments: Mapping[str, Any] = NO_ARGUMENTS) -> HandlerResponse:
        """Returns the principal response of the operation.

        That is the lowest declared 2xx, or else the default, a redirect, or the first status below 500;
        and a 200 without content where no such response is declared.

        Args:
            arguments: Sent parameters by name, and the body. Members of the same names in a generated
                object get these values, as a client expects to read back what it wrote.

        Raises:
            LimitExceeded: The body takes more effort than permitted, and is not cached.
        """
        status, response = _first_response(self.operation)
        if response is None:
            return HandlerResponse(None, status)
        return self.response(status, response, arguments)

    def declared(
        self, status: int | None = None, example: str | None = None, *, is_made_up: bool = False
    ) -> HandlerResponse | None:
        """Returns a response as the document declares it; None without such a status or example.

        Args:
            status: Status to respond with; None: that of the principal response.
            example: Name of the example to respond with.
            is_made_up: Whether to generate the body from the schema even where there are examples.
        """
        if status is None:
            status, response = _first_response(self.operation)
        else:
            response = self.operation.response(status)
        if response is None:
            return None
        if example is not None:
            return self.example(status, response, example)
        return self.response(status, response, NO_ARGUMENTS, is_made_up=is_made_up)

    def response(
        self,
        status: int,
        declared: DeclaredResponse,
        arguments: Mapping[str, Any],
        *,
        is_made_up: bool = False,
    ) -> HandlerResponse:
        """Returns a response with the headers and the content that are declared for a status."""
        headers = self._headers(status, declared)
        if not declared.content or status in WITHOUT_CONTENT:
            return HandlerResponse(None, status, headers=headers)
        key = self._media_type(declared)
        media = declared.content[key]
        media_type = concrete(key, self.accept)
        example = None if is_made_up else self._example(media, media_type)
        if example is not None:
            value = example.value
        elif media.schema is None and media.item_schema is None:
            value = "understudy" if is_text(media_type) and not is_json(media_type) else {}
        else:
            value = self._made_up(media, arguments, is_dynamic=is_made_up)
        return self._sent(value, media_type, media, status)._replace(headers=headers)

    def _headers(self, status: int, declared: DeclaredResponse) -> Headers:
        headers = sample_headers(declared, self.schemas, self.seed)
        is_lacking = status in _REDIRECTS and LOCATION not in dict(headers)
        return (*headers, (LOCATION, "/")) if is_lacking else headers

    def example(self, status: int, declared: DeclaredResponse, name: str) -> HandlerResponse | None:
        """Returns a response with the named example; None where the document has no such example."""
        for key, media in declared.content.items():
            if name in media.examples:
                media_type = concrete(key, self.accept)
                sent = self._sent(media.examples[name], media_type, media, status)
                return sent._replace(headers=self._headers(status, declared))
        return None

    def _media_type(self, declared: DeclaredResponse) -> str:
        """Returns the declared media type that the client prefers, or a default if it accepts none."""
        chosen = negotiated(declared.content, self.accept)
        return chosen or negotiated(declared.content, "") or next(iter(declared.content))

    def _sent(self, value: Any, media_type: str, media: MediaType, status: int) -> HandlerResponse:
        body = written_body(value, media_type, media.schema, self.schemas)
        if body is None:
            body = b"null"  # a body of None would be sent as no content
        is_named = "*" not in media.declared_as and media.declared_as
        return HandlerResponse(body, status, media.declared_as if is_named else media_type)

    def _example(self, media: MediaType, media_type: str) -> Node | None:
        """Returns the first example that is valid; a text in another format than JSON is not validated."""
        takes = None if media.schema is None else self.schemas.validator(media.schema).is_valid
        for name, value in media.examples.items():
            is_notation = isinstance(value, str) and not is_json(media_type)
            if takes is None or is_notation or takes(value):
                return Node(name, value)
            method, path = self.operation.method, self.operation.path
            self.notes.append(
                f"the {media_type} example {name!r} of {method} {path} breaks its schema, and a "
                "generated body is sent; `understudy lint` says where"
            )
        return None

    def _made_up(self, media: MediaType, arguments: Mapping[str, Any], *, is_dynamic: bool) -> Any:
        if is_dynamic:
            schema = media.schema or media.item_schema
            assert schema is not None
            value = Sampler(self.schemas, self.seed, style=DYNAMIC).value(schema)
            return value if media.schema else [value]
        if media.schema is None:
            assert media.item_schema is not None
            return [_sampled(self.schemas, media.item_schema, self.seed, self.efforts)]
        value = _sampled(self.schemas, media.schema, self.seed, self.efforts)
        return echoed(value, media.schema, self.schemas, self.operation, arguments)


class _Sample(NamedTuple):
    """A generated value, or the limit that prevented its generation."""

    value: Any = None
    refusal: LimitExceeded | None = None


_SAMPLES: Final[WeakKeyDictionary[Schemas, Recent[tuple[str, int], _Sample]]] = WeakKeyDictionary()


def _sampled(schemas: Schemas, schema: Node, seed: int, efforts: Sequence[Effort]) -> Any:
    """Returns the generated value of a schema; it is cached per seed, so callers must not change it.

    Raises:
        LimitExceeded: These efforts are not enough; of the full efforts, that is cached too.
    """
    samples = _SAMPLES.setdefault(schemas, Recent(_MOST_SAMPLES))
    key = (schema.pointer, seed)
    sample = samples.get(key)
    if sample is None:
        try:
            sample = _Sample(Sampler(schemas, seed, efforts=efforts).value(schema))
        except LimitExceeded as error:
            if efforts is not EFFORTS:
                raise
            sample = _Sample(refusal=error)
        samples.put(key, sample)
    if sample.refusal is not None:
        raise sample.refusal
    return sample.value


# Responses of operations without a handler, cached between requests. A generated response depends only
# on the document, the seed of the world, and the request's arguments. A cached response is validated
# and encoded once.

GENERATED = ("x-mock-response", "generated")
"""Header of a response that comes from the document's examples and schemas, and from no handler."""

_LONGEST_KEPT = 16 * 1024
"""Bytes of the largest body that is cached."""


def generated_again(context: RequestContext, endpoint: Endpoint) -> HandlerResponse:
    """Returns the cached response to the same arguments, or generates one.

    Raises:
        LimitExceeded: Generating the response takes too long for the event loop.
    """
    if BODY in context.arguments:
        return generated(context, endpoint, (AT_ONCE,))
    accept = context.headers.get(b"accept", b"")
    key = (id(endpoint), context.world.identifiers.seed, accept, repr(context.arguments))
    kept = endpoint.generated.get(key)
    if kept is not None:
        response, notes = kept
        context.notes.extend(notes)
        return response
    before = len(context.notes)
    response = _shared(generated(context, endpoint, (AT_ONCE,)))
    if _is_small(response.body):
        endpoint.generated.put(key, (response, tuple(context.notes[before:])))
    return response


def generated(
    context: RequestContext, endpoint: Endpoint, efforts: Sequence[Effort], number: int = 0
) -> HandlerResponse:
    """Generates a response, trying the efforts in turn; its seed is the world's plus ``number``.

    Raises:
        LimitExceeded: None of the efforts is enough.
    """
    sampling = Sampling(
        endpoint.operation,
        endpoint.schemas,
        context.world.identifiers.seed + number,
        context.headers.get(b"accept", b"").decode("latin-1"),
        efforts,
    )
    response = sampling.principal(context.arguments)
    context.notes.extend(sampling.notes)
    return response._replace(headers=(*response.headers, GENERATED))


def _is_small(body: SharedBody | bytes | None) -> bool:
    content = body.encoded() if isinstance(body, SharedBody) else body
    return content is None or len(content) <= _LONGEST_KEPT


def _shared(response: HandlerResponse) -> HandlerResponse:
    is_json_value = response.body is not None and not isinstance(response.body, bytes)
    return response._replace(body=SharedBody(response.body)) if is_json_value else response
