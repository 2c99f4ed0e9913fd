"""Reads parameters from path, query, headers and cookies in the types that the document declares.

It is as strict as JSON Schema, and stricter than Python: ``1_0`` and ``+5`` are not integers, a repeated
parameter is refused, and an integer of five thousand digits is a bad request and no crash. Arrays and
objects are read in the styles of OpenAPI (OpenAPI 3.0.3, 4.7.12.2).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson
from jsonschema_rs import ValidationErrorKind

from understudy.errors import BadRequest, Breach, Violation
from understudy.limits import JSON_DEPTH
from understudy.openapi.loader import Node
from understudy.openapi.operations import Parameter
from understudy.openapi.pointers import escape
from understudy.openapi.schemas import Schemas
from understudy.openapi.validators import NO_ALTERNATIVE, SchemaError, SchemaValidator

LONGEST = 200
"""Characters of a validation message at most; it quotes the value, which may have megabytes."""

_NO_ALTERNATIVE = re.compile(r"is not valid under any of the schemas listed in the '(\w+)' keyword")

MOST = 50
"""Violations that a response lists at most; a body may have one for each member."""


MAX_NESTED = 8
"""Depth of nested ``anyOf`` and ``oneOf`` that is searched for a cause."""


def validation_errors(validator: SchemaValidator, value: Any) -> list[SchemaError]:
    """Returns the validation errors of a value, the most specific first.

    That is the deepest; and an unknown member before a missing one, which it probably misspells.
    """
    return sorted(validator.iter_errors(value), key=_telling)


def _telling(error: SchemaError) -> tuple[int, bool]:
    return -len(error.instance_path), error.kind.name != "additionalProperties"


def first_error(validator: SchemaValidator, value: Any) -> str:
    """Describes the most specific validation error of a value."""
    return describe(validation_errors(validator, value)[0])


def breach(error: SchemaError, schemas: Schemas, where: str = "") -> Breach:
    """Returns a validation error with its places in the value and in the document.

    Args:
        error: Validation error.
        schemas: The document's validators.
        where: Location and name of the parameter; empty for a body.
    """
    pointer = "".join(f"/{escape(str(step))}" for step in error.instance_path)
    place = schemas.place(error.schema_path)
    return Breach(where + pointer, place.value, error.instance, place.pointer)


def violations(location: str, errors: Sequence[SchemaError]) -> tuple[Violation, ...]:
    """Returns validation errors as violations; a missing or unknown member is located by its own path."""
    causes = [(error, _cause(error)) for error in errors[:MOST]]
    return tuple(
        Violation(location, (*cause.instance_path, *_member(cause)), describe(error))
        for error, cause in causes
    )


def _member(error: SchemaError) -> tuple[str, ...]:
    """Returns the name of the missing or unknown member that an error is about; empty for others."""
    kind = error.kind
    if isinstance(kind, ValidationErrorKind.Required):
        return (str(kind.property),)
    if isinstance(kind, ValidationErrorKind.AdditionalProperties):
        return tuple(kind.unexpected[:1])
    return ()


def _cause(error: SchemaError, depth: int = 0) -> SchemaError:
    """Returns the error in the closest alternative of ``anyOf`` or ``oneOf``, or else the error itself.

    The closest alternative is one of the right type, with the fewest errors, first in named values.
    """
    kind = error.kind
    if not isinstance(kind, NO_ALTERNATIVE):
        return error
    place = list(error.instance_path)

    def distance(errors: Sequence[SchemaError]) -> tuple[bool, int, int]:
        is_other_type = any(
            error.kind.name == "type" and list(error.instance_path) == place for error in errors
        )
        unnamed = sum(error.kind.name in {"enum", "const"} for error in errors)
        return is_other_type, unnamed, len(errors)

    closest = min((errors for errors in kind.context if errors), key=distance, default=())
    if not closest or depth > MAX_NESTED:
        return error
    return _cause(sorted(closest, key=_telling)[0], depth + 1)


def describe(error: SchemaError) -> str:
    """Describes one validation error: ``languages.0.order: "x" is not of type "integer"``.

    If no alternative of ``anyOf`` or ``oneOf`` is valid, the error in the closest one is added.
    """
    cause = _cause(error)
    text = _located(error)
    return f"{text}." if cause is error else f"{text}; of the closest, {_located(cause)}."


def _located(error: SchemaError) -> str:
    where = ".".join(str(step) for step in error.instance_path)
    message = _NO_ALTERNATIVE.sub(r"fits none of the alternatives of \1", error.message)
    if len(message) > LONGEST:
        half = LONGEST // 2
        message = f"{message[:half]} … {message[-half:]}"
    return f"{where}: {message}" if where else message


ABSENT: Final = object()

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})", re.ASCII)
_NUMBER = re.compile(
    r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][-+]?[0-9]{1,3})?", re.ASCII
)
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}
_KEYS = re.compile(r"\[([^\]\[]*)\]")
_INDEX = re.compile("[0-9]{1,3}")

Texts = Mapping[str, Sequence[str]]
"""Name to every value given, in order."""


def convert(text: str, types: frozenset[str]) -> Any:
    """Converts a text to the most specific of these JSON types that it can be read as.

    Any other text stays a string, and the validator then reports its type.
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


class StyleReader:
    """Reads the arrays and objects of one parameter or form field.

    Args:
        label: Name of the parameter or field in messages.
        key: Name of the parameter or field in requests.
        style: OpenAPI style of the serialization, such as ``form``.
        explode: Whether each item or member is serialized separately.
        schema: Schema of the value.
        schemas: The document's validators.
    """

    def __init__(
        self,
        label: str,
        key: str,
        style: str,
        *,
        explode: bool,
        schema: Node,
        schemas: Schemas,
    ) -> None:
        self._label = label
        self._key = key
        self._style = style
        self._explode = explode
        self._schema = schema
        self._schemas = schemas
        self._types = schemas.types(schema)
        self._items = schemas.items(schema)
        self._members = schemas.members(schema)

    @property
    def is_deep(self) -> bool:
        """True if members and items are written as ``name[member]=value``."""
        return self._style == "deepObject"

    def values(self, texts: Texts) -> Iterator[Any]:
        """Yields the possible values of the texts, the likeliest first; none if absent.

        Raises:
            BadRequest: A single value is given several times, or a text is not in the declared style.
        """
        if self._style == "deepObject":
            members = self._deep(texts)
            if members is not ABSENT:
                yield members
        elif self._style == "form" and self._explode and "object" in self._types:
            yield from self._spread(texts)
        listed = texts.get(self._key)
        if not listed and "array" in self._types:
            listed = texts.get(f"{self._key}[]")  # how many HTTP clients send an array
        if listed:
            yield from self._read([self._unprefixed(text) for text in listed])

    def _read(self, texts: list[str]) -> Iterator[Any]:
        if "array" in self._types:
            types = self._schemas.types(self._items)
            yield [_item(text, types) for text in self._split(texts)]
        is_spread = self._style == "deepObject" or (self._style == "form" and self._explode)
        if "object" in self._types and not is_spread:
            yield self._named(once(self._label, texts))
        others = self._types - {"array", "object"}
        is_list = "array" in self._types and len(texts) > 1
        if (others or not self._types) and not is_list:
            yield convert(once(self._label, texts), others)

    def _split(self, texts: Sequence[str]) -> list[str]:
        """Returns the texts of a list's items."""
        if self._style == "matrix" and self._explode:
            parts = (part for whole in texts for part in whole.split(";"))
            return [part.removeprefix(f"{self._key}=") for part in parts]
        if self._style == "label" and self._explode:
            return [part for text in texts for part in text.split(".")]
        if self._explode and self._style in {"form", "deepObject"}:
            return list(texts)
        separator = _SEPARATORS.get(self._style, ",")
        return [part.strip() for text in texts for part in text.split(separator)]

    def _named(self, text: str) -> Any:
        """Returns the members of an object: ``a=1,b=2`` if exploded, else ``a,1,b,2``."""
        if self._explode:
            separator = {"matrix": ";", "label": "."}.get(self._style, ",")
            pairs = [part.partition("=")[::2] for part in text.split(separator)]
        else:
            parts = text.split(_SEPARATORS.get(self._style, ","))
            if len(parts) % 2:
                return text
            pairs = list(pairwise(parts))[::2]
        return {name: self._member(name, [value]) for name, value in pairs}

    def _member(self, name: str, texts: Sequence[str]) -> Any:
        return self._plain(f"{self._label}, member {name!r},", self._members.get(name), texts)

    def _plain(self, label: str, schema: Node | None, texts: Sequence[str]) -> Any:
        """Returns the value of one text, or the array whose items are separate texts."""
        types = self._schemas.types(schema)
        if "array" not in types:
            return _item(once(label, texts), types)
        items = self._schemas.types(self._schemas.items(schema))
        return [_item(text, items) for text in texts]

    def _spread(self, texts: Texts) -> Iterator[Any]:
        """Yields the object whose members are sent as separate parameters, if any is sent."""
        members = {name: texts[name] for name in self._members or texts if name in texts}
        if members:
            yield {name: self._member(name, values) for name, values in members.items()}

    def _deep(self, texts: Texts) -> Any:
        """Returns the object that is sent as ``name[member]=value``, of any depth."""
        tree: dict[str, Any] = {}
        for key, values in texts.items():
            name, bracket, _ = key.partition("[")
            if name == self._key and bracket:
                keys = _KEYS.findall(key)
                JSON_DEPTH.check(len(keys))
                _plant(tree, keys, list(values))
        return self._grown(tree, self._schema, self._key) if tree else ABSENT

    def _grown(self, tree: dict[str, Any] | list[str], schema: Node | None, where: str) -> Any:
        """Returns the value of a tree of texts, typed by a schema."""
        if isinstance(tree, list):
            return self._plain(f"Query parameter {where!r}", schema, tree)
        types, items_schema = self._schemas.types(schema), self._schemas.items(schema)
        if "array" in types and tree.keys() == {""}:
            return self._grown(tree[""], schema, where)
        if "array" in types and all(map(_INDEX.fullmatch, tree)):
            order = sorted(tree, key=int)
            return [self._grown(tree[key], items_schema, f"{where}[{key}]") for key in order]
        return {
            name: self._grown(below, self._schemas.members(schema).get(name), f"{where}[{name}]")
            for name, below in tree.items()
        }

    def _unprefixed(self, text: str) -> str:
        """Returns a text without the prefix of the styles ``label`` and ``matrix``.

        Raises:
            BadRequest: The text lacks the prefix.
        """
        prefix = {"label": ".", "matrix": f";{self._key}="}.get(self._style, "")
        if self._style == "matrix" and self._explode and "object" in self._types:
            prefix = ";"
        if not text.startswith(prefix):
            msg = f"{self._label}: {text!r:.80} is not in the style {self._style}; begin with {prefix!r}."
            raise BadRequest(msg, code="invalid_parameter")
        return text[len(prefix) :]


def _item(text: str, types: frozenset[str]) -> Any:
    """Returns an item or a member; a nested array or object is read as JSON, since no style has one."""
    if types & {"array", "object"} and text[:1] in {"{", "["}:
        with suppress(ValueError):
            return orjson.loads(text)
    return convert(text, types)


def _plant(tree: dict[str, Any], keys: list[str], values: list[str]) -> None:
    """Adds texts to a tree at the path of the bracketed keys; an empty key, ``[]``, appends an item."""
    *above, last = [key for index, key in enumerate(keys) if key or index == 0]
    for key in above:
        below = tree.setdefault(key, {})
        if not isinstance(below, dict):
            return
        tree = below
    known = tree.setdefault(last, [])
    if isinstance(known, list):
        known += values


def once(label: str, values: Sequence[str]) -> str:
    """Returns the only text of a value.

    Raises:
        BadRequest: The value is given several times.
    """
    if len(values) > 1:
        msg = f"{label} is given {len(values)} times; give it once."
        raise BadRequest(msg, code="repeated_parameter")
    return values[0]


NUMBERS: Final = {"0": False, "1": True}
"""The numbers that some clients send for a boolean."""


def readable_query(query: bytes) -> dict[str, list[str]]:
    """Parses a query string and tolerates bytes that are not UTF-8; keeps a name's first value."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, errors="replace")
    return {name: [text] for name, text in reversed(pairs)}


def parse_query(query: bytes) -> dict[str, list[str]]:
    """Parses a query string.

    Raises:
        BadRequest: The query string is not ASCII, or its percent-decoded bytes are not UTF-8.
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
    """Reads and validates one parameter.

    Args:
        parameter: Declaration of the parameter.
        schemas: The document's validators.
        reads_numbers: Whether a boolean may also be sent as 1 or 0.
        others: Names of the operation's parameters.
    """

    def __init__(
        self,
        parameter: Parameter,
        schemas: Schemas,
        *,
        reads_numbers: bool = False,
        others: Collection[str] = (),
    ) -> None:
        self.name = parameter.name
        self.location = parameter.location
        self.required = parameter.required or parameter.location == "path"
        self._parameter = parameter
        self._label = f"{parameter.location.capitalize()} parameter {parameter.name!r}"
        # names of headers are case-insensitive (RFC 9110, 5.1); requests have them in lower case
        self._key = parameter.name.lower() if parameter.location == "header" else parameter.name
        self._schemas = schemas
        self._validator = parameter.schema and schemas.validator(parameter.schema)
        if parameter.schema is not None:
            schemas.compiler.expect_bounded(parameter.schema)
        self._types = schemas.types(parameter.schema)
        is_boolean = "boolean" in self._types and not self._types & {"integer", "number", "string"}
        self._numbers = NUMBERS if reads_numbers and is_boolean else {}
        # other parameters are no members of an object that may have any members
        is_open = parameter.is_spread and not schemas.members(parameter.schema)
        self._not_members = {*others} - {self._key} if is_open else set()
        self._style = self._style_reader(parameter, schemas)

    def _style_reader(self, parameter: Parameter, schemas: Schemas) -> StyleReader | None:
        """Returns the reader of an array, an object or a prefixed style; None for plain texts."""
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
            Value in its declared type, or ABSENT.

        Raises:
            BadRequest: The parameter is required and missing, repeated, or invalid.
        """
        value = self._value(texts)
        if value is ABSENT:
            is_object = self._parameter.is_spread and self._types == {"object"}
            if self.required and is_object and not self._refuses({}):
                return {}  # an exploded object without members is sent as nothing at all
            if self.required:
                msg = f"{self._label} is missing; it is required."
                raise BadRequest(msg, code="missing_parameter")
            return ABSENT
        if self._refuses(value):
            if self._parameter.takes_empty and list(texts.get(self._key, ())) == [""]:
                return ""
            raise self._refusal(value)
        return value

    @property
    def is_composed(self) -> bool:
        """True for an array or an object, which may be sent in several texts."""
        return self._style is not None

    @property
    def refuses_empty(self) -> bool:
        """True if an empty text is refused."""
        try:
            self.read({self._key: [""]})
        except BadRequest:
            return True
        return False

    def _refusal(self, value: Any) -> BadRequest:
        assert self._validator is not None
        fault = validation_errors(self._validator, value)[0]
        msg = f"{self._label}: {describe(fault)}"
        first_breach = breach(fault, self._schemas, f"{self.location} {self.name}")
        return BadRequest(msg, code="invalid_parameter", breach=first_breach)

    def _value(self, texts: Texts) -> Any:
        if self._style is not None:
            if self._not_members:
                texts = {name: it for name, it in texts.items() if name not in self._not_members}
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
        """Returns the first possible value that the schema accepts, or else the likeliest."""
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
    """Returns the texts of a location, which is ``path``, ``header`` or ``cookie``, by their names."""
    if location == "path":
        return {name: [text] for name, text in path.items()}
    if location == "cookie":
        pairs = headers.get(b"cookie", b"").decode("latin-1").split(";")
        split = (pair.strip().partition("=") for pair in pairs if "=" in pair)
        return {name: [text] for name, _, text in split}
    return {name.decode("latin-1"): [text.decode("latin-1")] for name, text in headers.items()}
