"""Reads request bodies as the document declares them, and judges what they say by its schemas."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from python_multipart.multipart import parse_options_header

from understudy.errors import BadRequest, UnsupportedMediaType, nearest
from understudy.exchange.multipart import MULTIPART
from understudy.mock.server.call import Upload
from understudy.mock.server.forms import (
    URLENCODED,
    FormField,
    form_fields,
    form_members,
    multipart_pairs,
    urlencoded_pairs,
)
from understudy.mock.server.json_bodies import read_json
from understudy.mock.server.parameters import ABSENT, convert
from understudy.mock.server.validation_errors import breach, describe, validation_errors, violations
from understudy.mock.server.xml_bodies import XmlReader
from understudy.openapi.loader import Node
from understudy.openapi.media_types import declared_for, is_json, is_text, is_xml
from understudy.openapi.operations import RequestBody
from understudy.openapi.schemas import ALL, Schemas

JSON = "application/json"

_FORMS: Final = frozenset({URLENCODED, MULTIPART})


class BodyReader:
    """Reads and judges the body of one operation.

    Args:
        declared: What the document says of the body.
        schemas: The document's validators.
        aliases: Names of one and the same member.
        reads_json_as_form: Whether JSON under a form's content type is read as JSON.

    Attributes:
        members: Names of the members that the schema of the body declares; of several media types,
            JSON's.
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
        self._fields: dict[str, dict[str, FormField]] = {}
        for media_type, media in declared.content.items():
            if media.schema is not None:
                schemas.expect_bounded(media.schema)
            self._fields[media_type] = form_fields(media.schema, schemas, aliases, media.encoding)
        first = declared.content.get(JSON) or next(iter(declared.content.values()), None)
        self.members = frozenset(schemas.members(first.schema, ALL) if first else ())

    def read(self, content: bytes, content_type: bytes, *, drop_unknown: bool) -> Any:
        """Reads a body.

        Args:
            content: Its bytes.
            content_type: The header; where it is empty, the first declared type is assumed, unless
                that is a form.
            drop_unknown: Whether members that the schema closes out are dropped and not refused.

        Returns:
            The decoded JSON, a dict of text and Upload, or the bytes; ABSENT without a body.

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
        """Tells whether an empty body is an empty form, in which each missing field is named."""
        return content_type.partition(b";")[0].strip().lower().decode("latin-1") in _FORMS

    @property
    def _assumed(self) -> str:
        first = next(iter(self._declared.content))
        return "" if first in _FORMS else first

    def _match(self, media_type: str) -> str:
        """Returns the declared media type or range that a media type falls under."""
        found = declared_for(media_type, self._declared.content)
        if found is not None:
            return found
        accepted = ", ".join(self._declared.content)
        msg = f"A body of type {media_type!r} is not taken here; send {accepted}."
        raise UnsupportedMediaType(msg, code="unsupported_media_type")

    def _judge_text(self, content: bytes, media_type: str, schema: Node) -> None:
        """Judges a body of XML, or a plain text, which handlers get as it was sent."""
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
        if fault.kind.name == "type" and fault.instance_path:
            place = self._schemas.place(list(fault.schema_path)[:-1])
            names = self._schemas.members(place, ALL)
            return f" Its members are {', '.join(names)}." if names else ""
        if fault.kind.name != "additionalProperties" or fault.instance_path:
            return ""
        properties = list(self._schemas.members(schema, ALL))
        close = nearest(fault.kind.unexpected[0], properties).removeprefix("; d")
        return f" D{close}" if close else f" Known here: {', '.join(properties)}."


_parsed_options = lru_cache(maxsize=64)(parse_options_header)  # clients name a few types


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
    """Removes the unknown members at the top level; returns whether there were any."""
    unknown = [
        name
        for error in errors
        if error.kind.name == "additionalProperties" and not error.instance_path
        for name in error.kind.unexpected
    ]
    for name in unknown:
        value.pop(name, None)
    return bool(unknown)
