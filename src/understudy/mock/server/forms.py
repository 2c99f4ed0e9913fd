"""Reads forms, URL-encoded and multipart, as a document declares their fields.

What the document says of a form is worked out once, at start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from understudy.errors import BadRequest
from understudy.exchange import multipart
from understudy.exchange.multipart import MULTIPART
from understudy.mock.server.call import Upload
from understudy.mock.server.json_bodies import read_json
from understudy.mock.server.parameters import ABSENT, StyleReader, convert, parse_query
from understudy.openapi.loader import Node
from understudy.openapi.media_types import is_json
from understudy.openapi.operations import FieldEncoding
from understudy.openapi.schemas import Schemas

URLENCODED = "application/x-www-form-urlencoded"

NO_ENCODING: Final[Mapping[str, FieldEncoding]] = {}


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form, as the document declares it.

    Attributes:
        name: The declared name; a request may use an alias.
        types: The JSON types that its text may be read as.
        is_file: Whether its value is a file.
        is_list: Whether it may be given several times.
        is_declared: Whether the document knows it.
        is_json: Whether its text is JSON: an object or a list, or what ``encoding`` calls JSON.
        style: Reads it as ``name[member]=value``, or in the style that ``encoding`` names.
    """

    name: str
    types: frozenset[str] = frozenset()
    is_file: bool = False
    is_list: bool = False
    is_declared: bool = False
    is_json: bool = False
    style: StyleReader | None = None

    def typed(self, value: Any) -> Any:
        """Returns a value as the schema has it: a file, or text read as one of its types.

        Raises:
            BadRequest: It is not UTF-8 text, or not the JSON that it has to be.
        """
        if self.is_file:
            if isinstance(value, Upload):
                return value
            return Upload("", value if isinstance(value, bytes) else value.encode(), self.name)
        if isinstance(value, Upload):
            if not self.is_declared:
                return value  # whether it may be there at all is for the schema to say
            value = value.content
        if isinstance(value, bytes):
            try:
                value = value.decode()
            except UnicodeDecodeError as error:
                msg = f"{self.name}: is not UTF-8 text."
                raise BadRequest(msg, code="invalid_body") from error
        return self._json(value) if self.is_json else convert(value, self.types)

    def _json(self, text: str) -> Any:
        try:
            return read_json(text.encode())
        except BadRequest as error:
            msg = f"{self.name}: {text!r:.80} is not JSON, as which this field is sent."
            raise BadRequest(msg, code="invalid_body") from error


def form_fields(
    schema: Node | None,
    schemas: Schemas,
    aliases: Sequence[str],
    encoding: Mapping[str, FieldEncoding] = NO_ENCODING,
) -> dict[str, FormField]:
    """Compiles the fields of a form once, through what its schema is composed of, by name and alias."""
    fields = {
        name: _field(name, member, schemas, encoding.get(name))
        for name, member in schemas.members(schema).items()
    }
    known = next((fields[alias] for alias in aliases if alias in fields), None) or _only_file(
        fields
    )
    return fields if known is None else {**dict.fromkeys(aliases, known), **fields}


def _only_file(fields: Mapping[str, FormField]) -> FormField | None:
    """Returns the one file field of a form, which a document may give any name."""
    files = [field for field in fields.values() if field.is_file]
    return files[0] if len(files) == 1 else None


def _field(
    name: str, declared: Node | None, schemas: Schemas, encoding: FieldEncoding | None
) -> FormField:
    own_types = schemas.types(declared)
    is_list = "array" in own_types
    value = schemas.items(declared) if is_list else declared
    value = None if value is None else schemas.follow(value)
    types = schemas.types(value)
    encoding = encoding or FieldEncoding()
    is_composed = bool(own_types & {"array", "object"}) and declared is not None
    return FormField(
        name,
        types,
        is_file=_is_file(value),
        is_list=is_list and not _is_json_type(encoding.content_type),
        is_declared=True,
        is_json=_is_json_type(encoding.content_type) or _is_json_value(types),
        style=StyleReader(
            name,
            name,
            encoding.style or "deepObject",
            explode=encoding.explode,
            schema=declared,
            schemas=schemas,
        )
        if is_composed and declared is not None
        else None,
    )


def _is_json_type(content_type: str) -> bool:
    return is_json(content_type.partition(";")[0].strip().lower())


def _is_json_value(types: frozenset[str]) -> bool:
    """Tells whether a value can only be an object or a list, which a form has as JSON by default."""
    return bool(types & {"object", "array"}) and types <= {"object", "array", "null"}


def _is_file(declared: Node | None) -> bool:
    if declared is None or not isinstance(declared.value, dict):
        return False
    schema = declared.value
    # 3.0 says format: binary, 3.1 contentMediaType or nothing at all (OpenAPI 3.1.0, 4.8.14.2)
    is_encoded = "contentEncoding" in schema  # then its text is the value
    is_binary = schema.get("format") == "binary" or "contentMediaType" in schema or not schema
    return is_binary and not is_encoded


def form_members(
    pairs: Sequence[tuple[str, Any]], fields: Mapping[str, FormField], media_type: str
) -> dict[str, Any]:
    """Returns the fields of a form as the document types them.

    Args:
        pairs: Name and value of each field that was sent, in order.
        fields: The fields that the document declares, by name and alias.
        media_type: Of the form.

    Raises:
        BadRequest: A field that takes one value is given more than once (RFC 6749, 3.2).
    """
    styled = _styled_members(pairs, fields)
    members: dict[str, Any] = {}
    for sent_name, value in pairs:
        if sent_name not in fields and sent_name.partition("[")[0] in styled:
            continue
        field = fields.get(sent_name) or FormField(sent_name)
        name = field.name
        if name in styled:
            members[name] = styled[name]
        elif field.is_list:
            typed = field.typed(value)
            members.setdefault(name, []).extend(typed if isinstance(typed, list) else [typed])
        elif name not in members:
            members[name] = field.typed(value)
        elif field.is_declared or media_type != MULTIPART:
            msg = f"{name}: given more than once; give it once."
            raise BadRequest(msg, code="repeated_field")
        # else: generic clients repeat undeclared fields of multipart bodies, which are ignored
    return {**members, **styled}


def _styled_members(
    pairs: Sequence[tuple[str, Any]], fields: Mapping[str, FormField]
) -> dict[str, Any]:
    """Returns the arrays and objects that a form has in a style, and not as JSON or as a list."""
    texts: dict[str, list[str]] = {}
    for name, value in pairs:
        field = fields.get(name.partition("[")[0])
        is_text = isinstance(value, str | bytes) and field is not None and field.style is not None
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        if is_text and not (name in fields and str(text).lstrip()[:1] in {"{", "["}):
            texts.setdefault(name, []).append(text)
    names = dict.fromkeys(name.partition("[")[0] for name in texts)
    members = {}
    for name in names:
        field = fields[name]
        assert field.style is not None
        is_plain_list = field.is_list and field.style.is_deep and name in texts
        value = ABSENT if is_plain_list else next(field.style.values(texts), ABSENT)
        if value is not ABSENT:
            members[field.name] = value
    return members


def urlencoded_pairs(content: bytes) -> list[tuple[str, Any]]:
    """Returns name and text of each field of a URL-encoded form, in the order of the names.

    Raises:
        BadRequest: It is not UTF-8 behind its percent signs.
    """
    try:
        fields = parse_query(content)
    except BadRequest as problem:
        msg = "The form is not percent-encoded UTF-8."
        raise BadRequest(msg, code="invalid_form") from problem
    return [(name, text) for name, texts in fields.items() for text in texts]


def multipart_pairs(content: bytes, options: Mapping[bytes, bytes]) -> Sequence[tuple[str, Any]]:
    """Returns name and value of each part of a multipart form, in order (RFC 7578).

    Args:
        content: The body.
        options: Those of its Content-Type, such as the boundary.

    Raises:
        BadRequest: It cannot be read.
    """
    try:
        parts = multipart.read(content, options.get(b"boundary", b""))
    except multipart.MultipartError as error:
        msg = f"The multipart body {error}."
        raise BadRequest(msg, code="malformed_multipart") from error
    return [
        (it.name, it.content if it.filename is None else Upload(it.filename, it.content, it.name))
        for it in parts
    ]
