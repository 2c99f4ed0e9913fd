"""Reads request bodies: JSON, URL-encoded and multipart, leniently where real clients are odd.

Odd clients leave a part's name unquoted, end a part's type with a stray semicolon or put an empty
line before the last boundary; none of that changes what they mean, so none of it is refused.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header

from understudy.errors import BadRequest, UnsupportedMediaType, nearest
from understudy.mock.engine.call import Upload
from understudy.mock.engine.parameters import ABSENT, convert, parse_query
from understudy.mock.engine.validation_errors import breach, faults, say
from understudy.openapi.loader import Node
from understudy.openapi.operations import MediaType, RequestBody
from understudy.openapi.schemas import Schemas

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_FORMS: Final = frozenset({URLENCODED, MULTIPART})


class BodyReader:
    """Reads and judges the body of one operation.

    Args:
        declared: What the document says of the body.
        schemas: The document's validators.
        aliases: Names that stand for one and the same member.
    """

    def __init__(self, declared: RequestBody, schemas: Schemas, aliases: Sequence[str]) -> None:
        self._declared = declared
        self._schemas = schemas
        self._aliases = aliases
        for media in declared.content.values():
            if media.schema is not None:
                schemas.validator(media.schema)  # a broken schema is found at start

    def read(self, content: bytes, content_type: bytes, *, drop_unknown: bool) -> Any:
        """Reads a body.

        Args:
            content: Its bytes.
            content_type: The header; where it is empty, the first declared type is assumed, unless
                that is a form.
            drop_unknown: Whether members that the schema closes out are dropped and not refused.

        Returns:
            What JSON said, a dict of text and Upload, or the bytes; ABSENT for no body.

        Raises:
            BadRequest: It is missing, malformed, or breaks its schema.
            UnsupportedMediaType: The operation takes no such type.
        """
        if not content and not (self._declared.required and self._is_form(content_type)):
            if self._declared.required:
                msg = f"The body is missing; send {' or '.join(self._declared.content)}."
                raise BadRequest(msg, code="missing_body")
            return ABSENT
        media_type, options = _media_type(content_type, self._assumed)
        declared = self._match(media_type)
        if media_type == JSON or media_type.endswith("+json"):
            value = _json(content, options)
        elif media_type in _FORMS:
            pairs = _multipart(content, options) if media_type == MULTIPART else _form(content)
            value = self.members(pairs, declared.schema, media_type)
        else:
            return content
        if declared.schema is not None:
            self._judge(value, declared.schema, drop_unknown=drop_unknown)
        return value

    def _is_form(self, content_type: bytes) -> bool:
        """Tells whether an empty body is an empty form, in which each missing field is named."""
        return content_type.partition(b";")[0].strip().lower().decode("latin-1") in _FORMS

    @property
    def _assumed(self) -> str:
        first = next(iter(self._declared.content))
        return "" if first in _FORMS else first

    def _match(self, media_type: str) -> MediaType:
        main = media_type.partition("/")[0]
        for candidate in (media_type, f"{main}/*", "*/*"):
            if candidate in self._declared.content:
                return self._declared.content[candidate]
        accepted = ", ".join(self._declared.content)
        msg = f"A body of type {media_type!r} is not taken here; send {accepted}."
        raise UnsupportedMediaType(msg, code="unsupported_media_type")

    def members(
        self, pairs: list[tuple[str, Any]], schema: Node | None, media_type: str
    ) -> dict[str, Any]:
        """Returns the fields of a form as the schema types them.

        Raises:
            BadRequest: A field that takes one value is given more than once (RFC 6749, 3.2).
        """
        members: dict[str, Any] = {}
        for given, value in pairs:
            name = self._declared_name(given, schema)
            declared = self._schemas.property_schema(schema, name)
            types = self._schemas.types(declared)
            if declared is None and name in members and media_type == MULTIPART:
                continue  # generic clients repeat what they like there, and nobody reads it
            if declared is not None and "array" in types:
                items = self._schemas.items_schema(declared)
                item = _typed(name, value, items, self._schemas.types(items))
                members.setdefault(name, []).append(item)
            elif name in members:
                msg = f"{name}: given more than once; give it once."
                raise BadRequest(msg, code="repeated_field")
            else:
                members[name] = _typed(name, value, declared, types)
        return members

    def _declared_name(self, name: str, schema: Node | None) -> str:
        if name not in self._aliases:
            return name
        known = (a for a in self._aliases if self._schemas.property_schema(schema, a) is not None)
        return next(known, name)

    def _judge(self, value: Any, schema: Node, *, drop_unknown: bool) -> None:
        validator = self._schemas.validator(schema)
        judged = _without_uploads(value)
        if validator.is_valid(judged):
            return
        try:
            found = faults(validator, judged)
        except ValueError as error:  # the validator's own limit, some hundred levels
            msg = "The body is nested too deeply; send it flatter."
            raise BadRequest(msg, code="invalid_body") from error
        if drop_unknown and _drop_unknown(found, value):
            self._judge(value, schema, drop_unknown=False)
            return
        hint = self._hint(found[0], schema)
        msg = f"{say(found[0])}{hint}"
        found_breach = breach(found[0], self._schemas)
        raise BadRequest(msg, code="invalid_body", breach=found_breach)

    def _hint(self, fault: Any, schema: Node) -> str:
        if fault.kind.name != "additionalProperties" or fault.instance_path:
            return ""
        properties = self._schemas.property_names(schema)
        close = nearest(fault.kind.unexpected[0], properties).removeprefix("; d")
        return f" D{close}" if close else f" Known here: {', '.join(properties)}."


def _media_type(content_type: bytes, assumed: str) -> tuple[str, dict[bytes, bytes]]:
    media_type, options = parse_options_header(content_type)
    return media_type.decode("latin-1").lower() or assumed, options


def _json(content: bytes, options: Mapping[bytes, bytes]) -> Any:
    charset = options.get(b"charset", b"utf-8").lower()
    if charset not in {b"utf-8", b"utf8", b"us-ascii"}:
        msg = f"JSON in charset {charset.decode('latin-1')!r} is not taken; send UTF-8 (RFC 8259)."
        raise UnsupportedMediaType(msg, code="unsupported_charset")
    try:
        return orjson.loads(content)
    except ValueError as error:
        msg = f"The body is not JSON: {error}."
        raise BadRequest(msg, code="malformed_json") from error


def _form(content: bytes) -> list[tuple[str, Any]]:
    return [(name, text) for name, texts in parse_query(content).items() for text in texts]


def _multipart(content: bytes, options: Mapping[bytes, bytes]) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []

    def on_field(field: Field) -> None:
        pairs.append((_name(field.field_name), field.value or b""))

    def on_file(file: File) -> None:
        file.file_object.seek(0)
        name = (file.file_name or b"").decode("utf-8", "replace")
        pairs.append((_name(file.field_name), Upload(name, file.file_object.read())))

    boundary = options.get(b"boundary")
    if not boundary:
        msg = "The multipart body has no boundary; let the client set Content-Type by itself."
        raise BadRequest(msg, code="malformed_multipart")
    if content and b"--" + boundary + b"--" not in content:
        msg = "The multipart body ends before its last boundary; send it whole."
        raise BadRequest(msg, code="malformed_multipart")
    config = {"MAX_MEMORY_FILE_SIZE": len(content) + 1}
    try:
        parser = FormParser(MULTIPART, on_field, on_file, boundary=boundary, config=config)
        parser.write(_without_preamble(content, boundary))
        parser.finalize()
    except (FormParserError, ValueError, LookupError) as error:
        msg = f"The multipart body cannot be read: {error}."
        raise BadRequest(msg, code="malformed_multipart") from error
    return pairs


def _without_preamble(content: bytes, boundary: bytes) -> bytes:
    """Returns a multipart body from its first boundary on (RFC 2046, 5.1.1)."""
    before, mark, _ = content.partition(b"\r\n--" + boundary)
    has_preamble = mark and not content.startswith(b"--")
    return content[len(before) + 2 :] if has_preamble else content


def _name(name: bytes | None) -> str:
    return (name or b"").decode("utf-8", "replace")


def _typed(name: str, value: Any, declared: Node | None, types: frozenset[str]) -> Any:
    """Returns a form's value as the schema wants it: a file, or text read as some type."""
    if _is_file(declared):
        if isinstance(value, Upload):
            return value
        return Upload("", value if isinstance(value, bytes) else value.encode())
    if isinstance(value, Upload):
        value = value.content
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError as error:
            msg = f"{name}: is not UTF-8 text."
            raise BadRequest(msg, code="invalid_body") from error
    return convert(value, types)


def _is_file(declared: Node | None) -> bool:
    if declared is None or not isinstance(declared.value, dict):
        return False
    schema = declared.value
    # 3.0 says format: binary, 3.1 contentMediaType or nothing at all (OpenAPI 3.1.0, 4.8.14.2)
    return schema.get("format") == "binary" or "contentMediaType" in schema or not schema


def _without_uploads(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        name: [_text_for(item) for item in member]
        if isinstance(member, list)
        else _text_for(member)
        for name, member in value.items()
    }


def _text_for(member: Any) -> Any:
    return "" if isinstance(member, Upload) else member


def _drop_unknown(found: Sequence[Any], value: Any) -> bool:
    """Removes the members that were found unknown at the top; tells whether there were any."""
    unknown = [
        name
        for fault in found
        if fault.kind.name == "additionalProperties" and not fault.instance_path
        for name in fault.kind.unexpected
    ]
    for name in unknown:
        value.pop(name, None)
    return bool(unknown)
