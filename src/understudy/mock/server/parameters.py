"""Reads parameters from path, query, headers and cookies as the document types them.

Stricter than Python where JSON Schema is: ``1_0`` and ``+5`` are no integers, a parameter given
twice is not silently its last value, and five thousand digits are a bad request and not a crash.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson

from understudy.errors import BadRequest
from understudy.mock.server.parameter_styles import ABSENT, StyleReader, Texts, convert, once
from understudy.mock.server.validation_errors import breach, describe, validation_errors
from understudy.openapi.declared_parameters import Parameter
from understudy.openapi.schemas import Schemas

NUMBERS: Final = {"0": False, "1": True}
"""The numbers that some clients send for a boolean."""


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
        if parameter.schema is not None:
            schemas.expect_bounded(parameter.schema)
        self._types = schemas.types(parameter.schema)
        is_boolean = "boolean" in self._types and not self._types & {"integer", "number", "string"}
        self._numbers = NUMBERS if reads_numbers and is_boolean else {}
        self._style = self._style_reader(parameter, schemas)

    def _style_reader(self, parameter: Parameter, schemas: Schemas) -> StyleReader | None:
        """Returns the reader of an array, an object or a style of its own; None for plain texts."""
        is_composed = self._types & {"array", "object"} or parameter.style in {"label", "matrix"}
        if parameter.schema is None or parameter.is_json or not is_composed:
            return None
        return StyleReader(
            self._label,
            self._key,
            parameter.style,
            explode=parameter.explode,
            schema=parameter.schema,
            schemas=schemas,
        )

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
        if self._refuses(value):
            if self._parameter.takes_empty and self._is_empty(texts):
                return ""
            raise self._refusal(value)
        return value

    @property
    def is_composed(self) -> bool:
        """True for an array or an object, which may be given in several texts."""
        return self._style is not None

    @property
    def refuses_empty(self) -> bool:
        """True if an empty text is refused."""
        try:
            self.read({self._key: [""]})
        except BadRequest:
            return True
        return False

    def _is_empty(self, texts: Texts) -> bool:
        return list(texts.get(self._key, ())) == [""]

    def _refusal(self, value: Any) -> BadRequest:
        assert self._validator is not None
        fault = validation_errors(self._validator, value)[0]
        msg = f"{self._label}: {describe(fault)}"
        first_breach = breach(fault, self._schemas, f"{self.location} {self.name}")
        return BadRequest(msg, code="invalid_parameter", breach=first_breach)

    def _value(self, texts: Texts) -> Any:
        if self._style is not None:
            return self._styled(self._style, texts)
        values = texts.get(self._key)
        if not values:
            return ABSENT
        text = once(self._label, values)
        if self._parameter.is_json:
            return self._json(text)
        if text in self._numbers:
            return self._numbers[text]
        value = convert(text, self._types)
        is_text_too = value is not text and "string" in self._types
        return text if is_text_too and self._refuses(value) else value

    def _styled(self, style: StyleReader, texts: Texts) -> Any:
        """Returns the first reading that the schema accepts, or else the likeliest."""
        readings = list(style.values(texts))
        accepted = (value for value in readings if not self._refuses(value))
        return next(accepted, readings[0] if readings else ABSENT)

    def _refuses(self, value: Any) -> bool:
        return self._validator is not None and not self._validator.is_valid(value)

    def _json(self, text: str) -> Any:
        try:
            return orjson.loads(text)
        except ValueError as error:
            msg = f"{self._label} is not JSON: {error}."
            raise BadRequest(msg, code="invalid_parameter") from error


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
