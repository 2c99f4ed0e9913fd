"""Reads parameters from path, query, headers and cookies as the document types them.

Stricter than Python where JSON Schema is: ``1_0`` and ``+5`` are no integers, a parameter given
twice is not silently its last value, and five thousand digits are a bad request and not a crash.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson

from understudy.errors import BadRequest
from understudy.mock.engine.validation_errors import breach, describe, validation_errors
from understudy.openapi.operations import Parameter
from understudy.openapi.schemas import Schemas

ABSENT: Final = object()

NUMBERS: Final = {"0": False, "1": True}
"""The numbers that some clients send for a boolean."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})", re.ASCII)
_NUMBER = re.compile(
    r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][-+]?[0-9]{1,3})?", re.ASCII
)
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}

Texts = Mapping[str, Sequence[str]]
"""Name to every value given, in order."""


def readable_query(query: bytes) -> dict[str, list[str]]:
    """Parses as much of a query string as can be read; of a repeated name the first value."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, errors="replace")
    return {name: [text] for name, text in reversed(pairs)}


def parse_query(query: bytes) -> dict[str, list[str]]:
    """Parses a query string.

    Raises:
        BadRequest: It is not UTF-8 behind its percent signs.
    """
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError as error:
        msg = "The query string is not percent-encoded UTF-8."
        raise BadRequest(msg, code="invalid_query") from error
    texts: dict[str, list[str]] = {}
    for name, text in pairs:
        texts.setdefault(name, []).append(text)
    return texts


def convert(text: str, types: frozenset[str]) -> Any:
    """Returns a text as the most specific of these JSON types that it can be read as.

    A text that is none of them stays a string, for the validator to name.
    """
    if not types or types == {"string"}:
        return text
    if "integer" in types and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types and _NUMBER.fullmatch(text):
        return float(text)
    if "boolean" in types and text in {"true", "false"}:
        return text == "true"
    if "null" in types and "string" not in types and text in {"", "null"}:
        return None
    return text


class ParameterReader:
    """Reads and judges one parameter.

    Args:
        parameter: What the document says of it.
        schemas: The document's validators.
        reads_numbers: Whether a boolean may also be written 1 or 0.
    """

    def __init__(
        self, parameter: Parameter, schemas: Schemas, *, reads_numbers: bool = False
    ) -> None:
        self.name = parameter.name
        self.location = parameter.location
        self.required = parameter.required or parameter.location == "path"
        self._parameter = parameter
        self._label = f"{parameter.location.capitalize()} parameter {parameter.name!r}"
        # the case of a header's name is free (RFC 9110, 5.1); exchanges have it in lower case
        self._key = parameter.name.lower() if parameter.location == "header" else parameter.name
        self._schemas = schemas
        self._validator = parameter.schema and schemas.validator(parameter.schema)
        self._types = schemas.types(parameter.schema)
        is_boolean = "boolean" in self._types and not self._types & {"integer", "number", "string"}
        self._numbers = NUMBERS if reads_numbers and is_boolean else {}

    def read(self, texts: Texts) -> Any:
        """Reads the parameter from all the texts of its location.

        Returns:
            Its value as the document types it, or ABSENT.

        Raises:
            BadRequest: It is missing, given twice, or not as the document has it.
        """
        value = self._value(texts)
        if value is ABSENT:
            if self.required:
                msg = f"{self._label} is missing; it is required."
                raise BadRequest(msg, code="missing_parameter")
            return ABSENT
        if self._validator is not None and not self._validator.is_valid(value):
            raise self._refusal(value)
        return value

    def _refusal(self, value: Any) -> BadRequest:
        assert self._validator is not None
        fault = validation_errors(self._validator, value)[0]
        msg = f"{self._label}: {describe(fault)}"
        first_breach = breach(fault, self._schemas, f"{self.location} {self.name}")
        return BadRequest(msg, code="invalid_parameter", breach=first_breach)

    def _value(self, texts: Texts) -> Any:
        if "object" in self._types and self._parameter.style == "deepObject":
            return self._members(texts)
        values = texts.get(self._key)
        if not values:
            return ABSENT
        if "array" in self._types:
            return self._items(values)
        text = _once(self._label, values)
        if self._parameter.is_json:
            return self._json(text)
        if text in self._numbers:
            return self._numbers[text]
        return convert(text, self._types)

    def _items(self, values: Sequence[str]) -> list[Any]:
        assert self._parameter.schema is not None
        types = self._schemas.types(self._schemas.items_schema(self._parameter.schema))
        texts: Sequence[str] = values
        if not self._parameter.explode:
            separator = _SEPARATORS.get(self._parameter.style, ",")
            texts = [part.strip() for text in values for part in text.split(separator)]
        return [convert(text, types) for text in texts]

    def _members(self, texts: Texts) -> Any:
        prefix = f"{self.name}["
        members = {
            key[len(prefix) : -1]: _once(f"Query parameter {key!r}", values)
            for key, values in texts.items()
            if key.startswith(prefix) and key.endswith("]")
        }
        if not members:
            return ABSENT
        return {name: convert(text, self._member_types(name)) for name, text in members.items()}

    def _member_types(self, name: str) -> frozenset[str]:
        return self._schemas.types(self._schemas.property_schema(self._parameter.schema, name))

    def _json(self, text: str) -> Any:
        try:
            return orjson.loads(text)
        except ValueError as error:
            msg = f"{self._label} is not JSON: {error}."
            raise BadRequest(msg, code="invalid_parameter") from error


def _once(label: str, values: Sequence[str]) -> str:
    if len(values) > 1:
        msg = f"{label} is given {len(values)} times; give it once."
        raise BadRequest(msg, code="repeated_parameter")
    return values[0]


def location_texts(
    location: str,
    *,
    path: Mapping[str, str],
    headers: Mapping[bytes, bytes],
) -> dict[str, list[str]]:
    """Returns the texts of the path, of the headers or of the cookies."""
    if location == "path":
        return {name: [text] for name, text in path.items()}
    if location == "cookie":
        pairs = headers.get(b"cookie", b"").decode("latin-1").split(";")
        split = (pair.strip().partition("=") for pair in pairs if "=" in pair)
        return {name: [text] for name, _, text in split}
    return {name.decode("latin-1"): [text.decode("latin-1")] for name, text in headers.items()}
