"""Judges responses by the document, with libraries that the mock does not use.

Schemas are judged by openapi-schema-validator, pictures by Pillow, archives by zipfile. Nothing of
``understudy`` is imported, so that its mistakes are not repeated here.
"""

import base64
import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

import httpx
from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.validators import extend
from openapi_schema_validator import (
    OAS30ReadValidator,
    OAS31Validator,
    oas30_format_checker,
    oas31_format_checker,
)
from PIL import Image
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT4, DRAFT202012
from tests.proofs.corpus.cases import CorpusDocument, CorpusRequest

_URI = "urn:corpus:document"
_REDIRECTS = range(300, 400)
REFUSALS = range(400, 500)
_NO_CONTENT = {204, 304}
_LINES = {"application/jsonl", "application/x-ndjson"}


class Operation(NamedTuple):
    """An operation of a document: its JSON pointer, its template, and its responses."""

    pointer: str
    template: str
    responses: Mapping[str, Any]


class Judge:
    """Judges the responses of one document's mock."""

    def __init__(self, document: CorpusDocument) -> None:
        self._raw = document.raw
        is_30 = str(document.raw["openapi"]).startswith("3.0")
        draft = DRAFT4 if is_30 else DRAFT202012
        resource = Resource.from_contents(document.raw, default_specification=draft)
        schemas = document.raw.get("components", {}).get("schemas", {}).values()
        named = [(it["$id"], draft.create_resource(it)) for it in schemas if "$id" in it]
        self._registry: Registry[Any] = Registry().with_resources([(_URI, resource), *named])
        self._validator = extend(OAS30ReadValidator if is_30 else OAS31Validator, _KEYWORDS)
        self._formats = _with_time(oas30_format_checker if is_30 else oas31_format_checker)

    def faults(self, request: CorpusRequest, response: httpx.Response) -> list[str]:
        """Returns what is wrong with the response to a request that the document allows."""
        operation = self._operation(request)
        if operation is None:
            return [f"no operation of the corpus for {request.method} {request.target}"]
        declared = self._declared(operation, response.status_code)
        if declared is None:
            return [f"status {response.status_code} is not documented"]
        if request.status is None and response.status_code >= REFUSALS.start:
            return [f"status {response.status_code}: {response.text[:200]}"]
        return [
            *_unexpected(request, response),
            *self._header_faults(declared, response),
            *self._content_faults(declared, request, response),
        ]

    def operation_of(self, request: CorpusRequest) -> str:
        """Returns the JSON pointer of the operation that a request goes to; empty for none."""
        operation = self._operation(request)
        return "" if operation is None else operation.pointer

    def followed(self, template: str) -> tuple[str, Any]:
        """Returns a path item by its template, and its JSON pointer."""
        return self._follow(f"#/paths/{_escaped(template)}")

    def _operation(self, request: CorpusRequest) -> Operation | None:
        path = request.target.partition("?")[0]
        found = []
        for template in self._raw["paths"]:
            pointer, item = self.followed(template)
            pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(template))
            if isinstance(item, dict) and re.fullmatch(pattern, path):
                operation = item.get(request.method.lower())
                if operation is not None:
                    where = f"{pointer}/{request.method.lower()}"
                    found.append(Operation(where, template, operation["responses"]))
        return min(found, key=lambda it: it.template.count("{"), default=None)

    def _declared(self, operation: Operation, status: int) -> tuple[str, Mapping[str, Any]] | None:
        keys = {str(key).upper(): key for key in operation.responses}
        for name in (str(status), f"{status // 100}XX", "DEFAULT"):
            if name in keys:
                return self._follow(f"{operation.pointer}/responses/{keys[name]}")
        return None

    def _header_faults(
        self, declared: tuple[str, Mapping[str, Any]], response: httpx.Response
    ) -> Iterator[str]:
        for name in declared[1].get("headers", {}):
            pointer, header = self._follow(f"{declared[0]}/headers/{name}")
            text = response.headers.get(name)
            if text is None:
                if header.get("required"):
                    yield f"header {name} is missing"
                continue
            kind = header.get("schema", {}).get("type")
            value: Any = int(text) if kind == "integer" and text.isdecimal() else text
            value = text.split(",") if kind == "array" else value
            for reason in self._schema_faults(f"{pointer}/schema", value):
                yield f"header {name}: {reason}"

    def _content_faults(
        self,
        declared: tuple[str, Mapping[str, Any]],
        request: CorpusRequest,
        response: httpx.Response,
    ) -> Iterable[str]:
        content = declared[1].get("content")
        if not content or response.status_code in _NO_CONTENT or request.method == "HEAD":
            return (
                [] if not response.content or content is None else ["content where there is none"]
            )
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        key = next((key for key in content if _is_of(media_type, key)), None)
        if key is None:
            return [f"media type {media_type!r} is not among {', '.join(content)}"]
        media = f"{declared[0]}/content/{_escaped(key)}"
        return self._body_faults(media, content[key], media_type, response.content)

    def _body_faults(
        self, pointer: str, media: Mapping[str, Any], media_type: str, content: bytes
    ) -> list[str]:
        try:
            if media_type in _LINES:
                return self._line_faults(pointer, media, content)
            value = _decoded(media_type, content)
        except (ValueError, OSError, SyntaxError, zipfile.BadZipFile) as error:
            return [f"not {media_type}: {error}"]
        is_json = media_type.endswith(("/json", "+json"))
        is_text = media_type == "text/plain"
        if "schema" not in media or not (is_json or is_text):
            return []
        return self._schema_faults(f"{pointer}/schema", value)

    def _line_faults(self, pointer: str, media: Mapping[str, Any], content: bytes) -> list[str]:
        values = [json.loads(line) for line in content.splitlines() if line]
        if "itemSchema" in media:
            return [r for v in values for r in self._schema_faults(f"{pointer}/itemSchema", v)]
        if media["schema"].get("type") == "array":
            return self._schema_faults(f"{pointer}/schema", values)
        return [r for v in values for r in self._schema_faults(f"{pointer}/schema", v)]

    def _schema_faults(self, pointer: str, value: Any) -> list[str]:
        schema = {"$ref": f"{_URI}{pointer}"}
        validator = self._validator(schema, registry=self._registry, format_checker=self._formats)
        try:
            return [
                f"{'.'.join(map(str, error.absolute_path))}: {error.message}"[:300]
                for error in validator.iter_errors(value)
            ]
        except Unresolvable:  # a reference that dangles describes nothing that could be broken
            return []

    def _follow(self, pointer: str) -> tuple[str, Any]:
        """Returns what a pointer leads to, through references on its way, and its own pointer."""
        place, value = "#", self._raw
        for step in pointer[2:].split("/"):
            place, value = f"{place}/{step}", value[step.replace("~1", "/").replace("~0", "~")]
            if isinstance(value, dict) and isinstance(value.get("$ref"), str):
                place, value = self._follow(value["$ref"])
        return place, value


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    """Judges a pattern in Python's notation, which lacks the properties of Unicode."""
    readable = re.sub(r"\\p\{(\w+)\}", lambda match: _PROPERTIES[match[1]], pattern)
    if isinstance(instance, str) and not re.search(readable, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _with_time(checker: FormatChecker) -> FormatChecker:
    """Returns a checker that takes the times of RFC 3339, 5.6, which have an offset."""
    known = FormatChecker()
    known.checkers = {**checker.checkers, "time": (_is_time, ())}
    return known


def _is_time(value: object) -> bool:
    return not isinstance(value, str) or bool(
        re.fullmatch(r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", value)
    )


_PROPERTIES = {"L": "A-Za-zÀ-ɏ", "N": "0-9"}  # as the corpus has them, in brackets
_KEYWORDS = {
    # the library's own never end where a discriminator inherits itself
    **{name: Draft202012Validator.VALIDATORS[name] for name in ("allOf", "anyOf", "oneOf")},
    "pattern": _pattern,
}


def refusal_fault(request: CorpusRequest, response: httpx.Response) -> str:
    """Returns what is wrong with a refusal: it has to be one, and to name its reason."""
    status = response.status_code
    if status not in ([request.status] if request.status else REFUSALS):
        return f"status {status} instead of {request.status or '4XX'}: {response.text[:200]}"
    is_named = request.refused is None or request.refused.lower() in response.text.lower()
    return "" if is_named else f"{request.refused!r} is not named: {response.text[:200]}"


def _unexpected(request: CorpusRequest, response: httpx.Response) -> Iterator[str]:
    if request.status is not None and response.status_code != request.status:
        yield f"status {response.status_code} instead of {request.status}"
    media_type = response.headers.get("content-type", "").partition(";")[0]
    if request.media and media_type != request.media:
        yield f"media type {media_type} instead of {request.media}"
    if request.value is not None and response.json() != request.value:
        yield f"{response.text[:100]} instead of {request.value}"
    if request.has and request.has not in response.json():
        yield f"{request.has} is missing: {response.text[:100]}"
    if request.without and f'"{request.without}"' in response.text:
        yield f"{request.without} is told: {response.text[:100]}"


def _is_of(media_type: str, declared: str) -> bool:
    name = declared.partition(";")[0].strip().lower()
    main, _, sub = name.partition("/")
    other_main, _, other_sub = media_type.partition("/")
    return main in {"*", other_main} and sub in {"*", other_sub} and "*" not in media_type


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _json(content: bytes) -> Any:
    return json.loads(content)


def _picture(content: bytes) -> None:
    with Image.open(io.BytesIO(content)) as picture:
        picture.load()


def _archive(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.testzip()


def _paper(content: bytes) -> None:
    if not (content.startswith(b"%PDF-") and b"%%EOF" in content):
        msg = "no PDF"
        raise ValueError(msg)


def _rows(content: bytes) -> None:
    rows = list(csv.reader(io.StringIO(content.decode())))
    if not rows or len({len(row) for row in rows}) != 1:
        msg = "rows of different lengths"
        raise ValueError(msg)


def _events(content: bytes) -> None:
    text = content.decode()
    lines = [line for line in text.splitlines() if line]
    if not text.endswith("\n\n") or not all(
        re.match("(data|event|id|retry)?:", line) for line in lines
    ):
        msg = "no stream of events"
        raise ValueError(msg)


_DECODERS: Mapping[str, Callable[[bytes], Any]] = {
    "application/pdf": _paper,
    "application/xml": Xml.fromstring,
    "application/zip": _archive,
    "text/csv": _rows,
    "text/event-stream": _events,
}


def _decoded(media_type: str, content: bytes) -> Any:
    """Returns the value of a body, or None where only its form can be judged.

    Raises:
        ValueError: It is not of its type; as do OSError, SyntaxError and BadZipFile.
    """
    if media_type.startswith("image/"):
        return _picture(content)
    if media_type.startswith("text/") and media_type not in _DECODERS:
        return content.decode()
    if media_type.endswith(("/json", "+json")):
        return _json(content)
    return _DECODERS.get(media_type, base64.b64encode)(content)
