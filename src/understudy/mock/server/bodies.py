"""Decodes request bodies as the document declares them, and validates them by its schemas.

Forms are URL-encoded or multipart; the declarations of their fields are compiled once, at start.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from xml.etree import ElementTree as Xml

from python_multipart.multipart import parse_options_header

from understudy.errors import BadRequest, UnsupportedMediaType, nearest
from understudy.exchange import multipart
from understudy.limits import JSON_BYTES, JSON_DEPTH
from understudy.mock.server.call import Upload
from understudy.mock.server.json_bodies import read_json
from understudy.mock.server.parameters import (
    ABSENT,
    StyleReader,
    breach,
    convert,
    describe,
    parse_query,
    validation_errors,
    violations,
)
from understudy.openapi.loader import Node
from understudy.openapi.media_types import (
    JSON,
    MULTIPART,
    URLENCODED,
    declared_for,
    is_json,
    is_text,
    is_xml,
    without_options,
)
from understudy.openapi.operations import FieldEncoding, RequestBody
from understudy.openapi.schemas import ALL, Schemas
from understudy.openapi.xml_writing import xml_object

NO_ENCODING: Final[Mapping[str, FieldEncoding]] = {}


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form, as the document declares it.

    Attributes:
        name: Declared name; a request may use an alias.
        types: JSON types that the text may be read as.
        is_file: Whether the value is a file.
        is_list: Whether the field may be sent several times.
        is_declared: Whether the document declares the field.
        is_json: Whether the text is JSON: for an object or a list, or by ``encoding``.
        style: Reader of ``name[member]=value``, or of the style in ``encoding``; None: plain texts only.
    """

    name: str
    types: frozenset[str] = frozenset()
    is_file: bool = False
    is_list: bool = False
    is_declared: bool = False
    is_json: bool = False
    style: StyleReader | None = None

    def typed(self, value: Any) -> Any:
        """Returns a sent value in its declared type: a file, or a text converted by the schema.

        Raises:
            BadRequest: The value is not UTF-8 text, or not the required JSON.
        """
        if self.is_file:
            if isinstance(value, Upload):
                return value
            return Upload("", value if isinstance(value, bytes) else value.encode(), self.name)
        if isinstance(value, Upload):
            if not self.is_declared:
                return value  # the schema decides whether undeclared fields are allowed
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
    """Compiles the fields of a form, also those in ``allOf`` and the like, by name and alias."""
    fields = {
        name: _field(name, member, schemas, encoding.get(name))
        for name, member in schemas.members(schema).items()
    }
    known = next((fields[alias] for alias in aliases if alias in fields), None) or _only_file(
        fields
    )
    return fields if known is None else {**dict.fromkeys(aliases, known), **fields}


def _only_file(fields: Mapping[str, FormField]) -> FormField | None:
    """Returns the only file field of a form, whatever its name; None if it has none or several."""
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
    is_written_json = is_json(without_options(encoding.content_type))
    is_composed = bool(own_types & {"array", "object"}) and declared is not None
    return FormField(
        name,
        types,
        is_file=value is not None and schemas.is_file(value),
        is_list=is_list and not is_written_json,
        is_declared=True,
        is_json=is_written_json or _is_json_value(types),
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


def _is_json_value(types: frozenset[str]) -> bool:
    """Tells whether a value can only be an object or a list, which forms send as JSON by default."""
    return bool(types & {"object", "array"}) and types <= {"object", "array", "null"}


def form_members(
    pairs: Sequence[tuple[str, Any]], fields: Mapping[str, FormField], media_type: str
) -> dict[str, Any]:
    """Returns the fields of a form in their declared types.

    Args:
        pairs: Names and values of the sent fields, in order.
        fields: Declared fields, by name and alias.
        media_type: Media type of the form.

    Raises:
        BadRequest: A field with a single value is repeated (RFC 6749, 3.2).
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
    """Returns the arrays and objects of a form that are sent in an OpenAPI style."""
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
    """Returns name and text of each field of a URL-encoded form, grouped by name.

    Raises:
        BadRequest: The form is not percent-encoded UTF-8.
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
        content: Bytes of the body.
        options: Parameters of its Content-Type, such as the boundary.

    Raises:
        BadRequest: The body is malformed.
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


_FORMS: Final = frozenset({URLENCODED, MULTIPART})


class BodyReader:
    """Decodes and validates the bodies of one operation.

    Args:
        declared: Body, as the document declares it.
        schemas: The document's validators.
        aliases: Synonymous names of one member.
        reads_json_as_form: Whether JSON under a form's content type is read as JSON.

    Attributes:
        members: Names of the members that the schema of the body declares; with several media types,
            the schema of JSON.
    """

    def __init__(
        self,
        declared: RequestBody,
        schemas: Schemas,
        aliases: Sequence[str],
        *,
        reads_json_as_form: bool = False,
    ) -> None:
        self._declared = declared
        self._reads_json_as_form = reads_json_as_form
        self._schemas = schemas
        named = next(iter(declared.content), "")
        self._assumed = "" if named in _FORMS else named
        self._fields: dict[str, dict[str, FormField]] = {}
        for media_type, media in declared.content.items():
            if media.schema is not None:
                schemas.compiler.expect_bounded(media.schema)
            if not is_json(media_type):
                fields = form_fields(media.schema, schemas, aliases, media.encoding)
                self._fields[media_type] = fields
        first = declared.content.get(JSON) or next(iter(declared.content.values()), None)
        self.members = frozenset(schemas.members(first.schema, ALL) if first else ())

    def read(self, content: bytes, content_type: bytes, *, drop_unknown: bool) -> Any:
        """Decodes and validates a body.

        Args:
            content: Bytes of the body.
            content_type: Content-Type header; if empty, the first declared type is assumed, unless
                that is a form.
            drop_unknown: Whether members that the schema excludes are dropped instead of refused.

        Returns:
            The decoded JSON, a dict of typed fields and Uploads, or the bytes; ABSENT without a body.

        Raises:
            BadRequest: The body is missing, malformed, or breaks its schema.
            UnsupportedMediaType: The operation accepts no such media type.
        """
        if not content and not (self._declared.required and self._is_form(content_type)):
            if self._declared.required:
                msg = f"The body is missing; send {' or '.join(self._declared.content)}."
                raise BadRequest(msg, code="missing_body")
            return ABSENT
        media_type, options = _media_type(content_type, self._assumed)
        if self._reads_json_as_form and media_type == URLENCODED and content.lstrip()[:1] == b"{":
            media_type = JSON
        declared = self._match(media_type)
        schema = self._declared.content[declared].schema
        if is_json(media_type):
            value = _json(content, options, self.members)
        elif media_type in _FORMS:
            pairs = (
                multipart_pairs(content, options)
                if media_type == MULTIPART
                else urlencoded_pairs(content)
            )
            value = form_members(pairs, self._fields[declared], media_type)
        else:
            if schema is not None:
                self._judge_text(content, media_type, schema)
            return content
        if schema is not None:
            self._judge(value, schema, drop_unknown=drop_unknown, is_form=media_type in _FORMS)
        return value

    def _is_form(self, content_type: bytes) -> bool:
        """Tells whether an empty body is an empty form, whose errors then name the missing fields."""
        return without_options(content_type.decode("latin-1")) in _FORMS

    def _match(self, media_type: str) -> str:
        """Returns the declared media type or range that matches a media type."""
        found = declared_for(media_type, self._declared.content)
        if found is not None:
            return found
        accepted = ", ".join(self._declared.content)
        msg = f"A body of type {media_type!r} is not taken here; send {accepted}."
        raise UnsupportedMediaType(msg, code="unsupported_media_type")

    def _judge_text(self, content: bytes, media_type: str, schema: Node) -> None:
        """Validates XML or plain text, of which handlers get the original bytes."""
        types = self._schemas.types(schema)
        if is_xml(media_type):
            value = XmlReader(self._schemas).read(content, schema)
        elif is_text(media_type) and types and not types & {"object", "array"}:
            value = convert(_decoded(content), types)
        else:
            return
        self._judge(value, schema, drop_unknown=False)

    def _judge(
        self, value: Any, schema: Node, *, drop_unknown: bool, is_form: bool = False
    ) -> None:
        validator = self._schemas.validator(schema)
        judged = _without_uploads(value) if is_form else value
        if validator.is_valid(judged):
            return
        try:
            errors = validation_errors(validator, judged)
        except ValueError as error:  # the validator's own limit, some hundred levels
            msg = "The body is nested too deeply; send it flatter."
            raise BadRequest(msg, code="invalid_body") from error
        if drop_unknown and _drop_unknown(errors, value):
            self._judge(value, schema, drop_unknown=False, is_form=is_form)
            return
        hint = self._hint(errors[0], schema)
        msg = f"{describe(errors[0])}{hint}"
        problem = BadRequest(msg, code="invalid_body", breach=breach(errors[0], self._schemas))
        problem.violations = violations("body", errors)
        raise problem

    def _hint(self, fault: Any, schema: Node) -> str:
        """Returns a sentence that lists the known members, or names the probably meant one."""
        kind = fault.kind.name
        if kind not in {"type", "additionalProperties"}:
            return ""
        place = self._schemas.place(list(fault.schema_path)[:-1]) if fault.instance_path else schema
        names = list(self._schemas.members(place, ALL))
        if kind == "type":
            return f" Its members are {', '.join(names)}." if names else ""
        close = nearest(fault.kind.unexpected[0], names).removeprefix("; d")
        return f" D{close}" if close else f" Known here: {', '.join(names)}."


_parsed_options = lru_cache(maxsize=64)(parse_options_header)  # the same few types recur


def _media_type(content_type: bytes, assumed: str) -> tuple[str, Mapping[bytes, bytes]]:
    media_type, options = _parsed_options(content_type)
    return media_type.decode("latin-1").lower() or assumed, options


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        msg = "The body is not UTF-8 text."
        raise BadRequest(msg, code="invalid_body") from error


def _json(content: bytes, options: Mapping[bytes, bytes], declared: frozenset[str]) -> Any:
    charset = options.get(b"charset", b"utf-8").lower()
    if charset not in {b"utf-8", b"utf8", b"us-ascii"}:
        msg = f"JSON in charset {charset.decode('latin-1')!r} is not taken; send UTF-8 (RFC 8259)."
        raise UnsupportedMediaType(msg, code="unsupported_charset")
    return read_json(content, declared)


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


def _drop_unknown(errors: Sequence[Any], value: Any) -> bool:
    """Removes the unknown members at the top level; returns whether any was found."""
    unknown = [
        name
        for error in errors
        if error.kind.name == "additionalProperties" and not error.instance_path
        for name in error.kind.unexpected
    ]
    for name in unknown:
        value.pop(name, None)
    return bool(unknown)


class XmlReader:
    """Decodes XML as the schemas of one document describe it (OpenAPI 3.0.3, XML Object)."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas

    def read(self, content: bytes, schema: Node) -> Any:
        """Returns the JSON value of an XML document.

        Args:
            content: XML document in UTF-8.
            schema: Schema, whose ``xml`` members name elements and attributes.

        Raises:
            BadRequest: The document is not XML, or declares a document type.
            LimitExceeded: The document is too large or too deep.
        """
        # a document type may define entities, whose expansion can fill the memory
        JSON_BYTES.check(len(content))
        if b"<!" in content.replace(b"<!--", b"").replace(b"<![CDATA[", b"") or b"\0" in content:
            msg = "The body declares a document type, or is not UTF-8; send plain XML in UTF-8."
            raise BadRequest(msg, code="malformed_xml")
        try:
            root = Xml.fromstring(content)
        except Xml.ParseError as error:
            msg = f"The body is not XML: {error}."
            raise BadRequest(msg, code="malformed_xml") from error
        return self._value(root, schema, 0)

    def _value(self, element: Xml.Element, schema: Node | None, depth: int) -> Any:
        JSON_DEPTH.check(depth)
        types = self._schemas.types(schema)
        if "array" in types:
            items = self._schemas.items(schema)
            return [self._value(child, items, depth + 1) for child in element]
        if "object" in types or len(element) or self._schemas.members(schema):
            return self._members(element, schema, depth)
        return convert(element.text or "", types)

    def _members(self, element: Xml.Element, schema: Node | None, depth: int) -> dict[str, Any]:
        declared = dict(self._declared(schema))
        members: dict[str, Any] = {}
        for tag, text in element.attrib.items():
            name, member = declared.get(_local(tag), (_local(tag), None))
            members[name] = convert(text, self._schemas.types(member))
        for child in element:
            name, member = declared.get(_local(child.tag), (_local(child.tag), None))
            is_list = member is not None and "array" in self._schemas.types(member)
            if is_list and member is not None and not self._is_wrapped(member):
                item = self._value(child, self._schemas.items(member), depth + 1)
                members.setdefault(name, []).append(item)
            else:
                members[name] = self._value(child, member, depth + 1)
        return members

    def _declared(self, schema: Node | None) -> Iterator[tuple[str, tuple[str, Node]]]:
        """Yields the names of elements and attributes, each with the member's name and schema."""
        for name, member in self._schemas.members(schema).items():
            items = self._schemas.items(member)
            is_plain_list = items is not None and not self._is_wrapped(member)
            named = xml_object(self._schemas, items if is_plain_list and items else member)
            yield str(named.get("name", name)), (name, member)

    def _is_wrapped(self, schema: Node) -> bool:
        return bool(xml_object(self._schemas, schema).get("wrapped"))


def _local(tag: str) -> str:
    """Returns the name of an element or attribute without its namespace."""
    return tag.rpartition("}")[2]
