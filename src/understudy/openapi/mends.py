"""Mends one value of a document in place: objects, schemas, members and scalars.

Authors write short forms, forms of other versions of OpenAPI and JSON Schema, and scalars of the
wrong type. Each mend takes a position in the walk, and notes the changes that it makes.
"""

import re
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Final

from understudy.errors import nearest
from understudy.openapi.diagnostics import Losses, Position
from understudy.openapi.grammar import MEMBERS, OPTIONAL_SINCE, REQUIRED
from understudy.openapi.media_types import JSON
from understudy.openapi.patterns import backtracks, portable

_LONGEST_SHOWN = 60  # characters of a value in a message


def shown(value: Any) -> str:
    """Returns the text of a value in a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


def mend_schema(losses: Losses, place: Position) -> None:
    """Mends the keywords of a schema object that the table of scalar kinds cannot describe."""
    schema = place.value
    for bound in ("Minimum", "Maximum"):
        if f"exclusive{bound}" in schema:
            _mend_bound(losses, place, f"exclusive{bound}", bound.lower())
    if "type" in schema:
        _mend_type(losses, place.below("type", "any"))
    if "enum" in schema:
        _mend_enum(losses, place)
    if "required" in schema:
        _mend_required(losses, place)
    if isinstance(schema.get("items"), list):
        _mend_tuple(losses, place.below("items", "any"))
    if schema.get("nullable") is True and not losses.is_30:
        message = 'nullable means nothing since OpenAPI 3.1; write "null" as one of the types.'
        losses.note("other-dialect", place.below("nullable", "flag"), message)


def _mend_required(losses: Losses, place: Position) -> None:
    """Removes ``required: true``, and names that ``additionalProperties: false`` forbids.

    A required name that is forbidden would make every object invalid.
    """
    schema, at = place.value, place.below("required", "any")
    if isinstance(at.value, bool):
        message = "required lists the names of members in the schema of the object around them"
        losses.drop("invalid-keyword", at, message)
    is_closed = schema.get("additionalProperties") is False and not schema.get("patternProperties")
    members = schema.get("properties") or {}
    if (
        not is_closed
        or not isinstance(schema.get("required"), list)
        or not isinstance(members, dict)
    ):
        return
    for name in [it for it in at.value if isinstance(it, str) and it not in members]:
        at.value.remove(name)
        message = (
            f"{name!r} is required, but additionalProperties: false forbids it; it is not required."
        )
        losses.note("undeclared-required", at, message)


def _mend_enum(losses: Losses, place: Position) -> None:
    """Removes an ``enum`` that is not a list of values, or a ``type`` that none of its values has."""
    enum, types = place.value["enum"], place.value.get("type", [])
    types = types if isinstance(types, list) else [types]
    if not (isinstance(enum, list) and enum):
        losses.drop("invalid-keyword", place.below("enum", "any"), "an enum is a list of values")
    elif types and not any(_is_of(value, kind) for value in enum for kind in types):
        message = f"no value of the enum is of the type {' or '.join(map(str, types))}"
        losses.drop("invalid-keyword", place.below("type", "any"), message)


def _is_of(value: Any, kind: str) -> bool:
    """Tells whether a value has a type; null has every type, since ``nullable`` may allow it."""
    if value is None or isinstance(value, bool):
        return value is None or kind == "boolean"
    known = {
        "string": str,
        "array": list,
        "object": dict,
        "integer": int | float,
        "number": int | float,
    }
    return isinstance(value, known.get(kind, ()))


def _mend_bound(losses: Losses, place: Position, exclusive: str, inclusive: str) -> None:
    """Rewrites an exclusive bound for the document's version: a flag in 3.0, a number since 3.1."""
    schema, bound = place.value, place.value[exclusive]
    at = place.below(exclusive, "any")
    if isinstance(bound, bool) and not losses.is_30:
        _mend_flag(losses, at, inclusive)
    elif isinstance(bound, int | float) and not isinstance(bound, bool):
        if losses.is_30:
            schema[inclusive] = bound
            schema[exclusive] = True
            message = f"a number here is OpenAPI 3.1; read as {inclusive}: {bound} with true."
            losses.note("other-dialect", at, message)
    elif not isinstance(bound, bool):
        kind = "true or false" if losses.is_30 else "a number"
        losses.drop("invalid-keyword", at, f"{shown(bound)} is not {kind}")


def _mend_flag(losses: Losses, at: Position, inclusive: str) -> None:
    schema, bound = at.holder, at.value
    if bound is True and isinstance(schema.get(inclusive), int | float):
        at.replace(schema.pop(inclusive))
        message = f"true is OpenAPI 3.0; read as {at.key}: {at.value} without {inclusive}."
        losses.note("other-dialect", at, message)
    else:
        losses.drop("other-dialect", at, f"{str(bound).lower()} is OpenAPI 3.0")


def _mend_type(losses: Losses, at: Position) -> None:
    named = [at.value] if isinstance(at.value, str) else at.value
    if isinstance(named, list) and named and all(name in TYPES for name in named):
        if len(set(named)) < len(named):
            at.replace(list(dict.fromkeys(named)))
        return
    if at.value == "file":
        at.holder["format"] = "binary"
        at.replace("string")
        losses.note("other-dialect", at, "file is Swagger 2.0; read as a string in format binary.")
        return
    message = f"{shown(at.value)} is not a type; use one of {', '.join(TYPES)}"
    losses.drop("invalid-keyword", at, message)


def _mend_tuple(losses: Losses, at: Position) -> None:
    schema, items = at.holder, at.value
    if losses.is_30:
        at.replace({"anyOf": items} if items else {})
        message = "a list of items is not OpenAPI 3.0; each item may be any of them."
    else:
        del schema["items"]
        if items:
            schema.setdefault("prefixItems", items)
        message = "a list of items is called prefixItems since OpenAPI 3.1; read as that."
    losses.note("other-dialect", at, message)


def mend_pattern(losses: Losses, at: Position) -> None:
    """Rewrites a pattern so that every regular expression engine used here reads it alike."""
    text = _portable(losses, at, at.value)
    if text is not None and text != at.value:
        at.replace(text)


def mend_pattern_names(losses: Losses, place: Position) -> None:
    """Rewrites the patterns that are the member names of ``patternProperties``."""

    def read(pattern: str, at: Position) -> str | None:
        text = _portable(losses, at, pattern)
        if text is not None and backtracks(text):
            losses.drop("invalid-pattern", at, f"{text!r} would take too long to match names")
            return None
        return text

    _rename(place, read)


def _rename(place: Position, read: Callable[[str, Position], str | None]) -> None:
    """Renames the members of an object, and removes those for which ``read`` returns None.

    If two members get the same name, the first is kept.
    """
    if not isinstance(place.value, dict):
        return
    renamed: dict[str, Any] = {}
    for name, value in list(place.value.items()):
        text = read(name, place.below(name, "any"))
        if text is not None:
            renamed.setdefault(text, value)
    if list(renamed) != list(place.value):
        place.replace(renamed)


def _portable(losses: Losses, at: Position, pattern: Any) -> str | None:
    """Returns a pattern in portable form; None if it is invalid and its position was removed."""
    if not isinstance(pattern, str):
        losses.drop("wrong-type", at, f"{shown(pattern)} is not a text")
        return None
    try:
        read = portable(pattern)
    except ValueError as error:
        losses.drop("invalid-pattern", at, str(error))
        return None
    if read.is_foreign:
        message = f"{pattern!r} is not written for ECMA-262; read as {read.text!r}."
        losses.note("other-pattern", at, message)
    return read.text


Mend = Callable[[Losses, Position], None]

_STATUS = re.compile(r"[1-5]([0-9][0-9]|XX|xx)|default|x-.*|\$ref", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # all but the tab, which field values may have
_FIELD_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_SCHEMA_KEYWORDS = tuple(
    (
        "type format items default enum pattern minimum maximum exclusiveMinimum exclusiveMaximum"
        " minLength maxLength minItems maxItems uniqueItems multipleOf nullable"
    ).split()
)
_SHORT_FORMS = {"discriminator": "propertyName", "server": "url", "tag": "name"}
"""Kind of object to the member that a string in place of the object is read as."""
_EXAMPLE_MEMBERS = {"value", "externalValue", "dataValue", "serializedValue", "$ref"}


def _mend_short_form(losses: Losses, place: Position) -> None:
    if isinstance(place.value, str):
        member = _SHORT_FORMS[place.kind]
        place.replace({member: place.value})
        losses.note("converted-value", place, f"a {place.kind} is an object; read as its {member}.")


def _mend_example(losses: Losses, place: Position) -> None:
    value = place.value
    is_described = isinstance(value, dict) and set(value) <= {"summary", "description"}
    if is_described or (isinstance(value, dict) and _EXAMPLE_MEMBERS & set(value)):
        return
    place.replace({"value": value})
    message = "an example is an object with a member value; read as that value."
    losses.note("converted-value", place, message)


def _mend_examples(losses: Losses, place: Position) -> None:
    """Turns a list of examples, as schemas have it, into an object of named Example Objects."""
    examples = isinstance(place.value, dict) and place.value.get("examples")
    if isinstance(examples, list):
        at = place.below("examples", "any")
        at.replace({str(number): {"value": it} for number, it in enumerate(examples, start=1)})
        losses.note("converted-value", at, "examples here have names; read as a list of values.")


def _mend_parameter(losses: Losses, place: Position) -> None:
    _mend_examples(losses, place)
    value = place.value
    if not isinstance(value, dict) or "$ref" in value:
        return
    if value.get("in") == "path" and value.get("required") is not True:
        value["required"] = True
        message = f"the path parameter {value.get('name')!r} must say required: true; read as that."
        losses.note("missing-member", place, message)
    keywords = [name for name in _SCHEMA_KEYWORDS if name in value]
    if keywords and "schema" not in value and "content" not in value:
        value["schema"] = {name: value.pop(name) for name in keywords}
        message = f"{', '.join(keywords)} belong into a schema since OpenAPI 3.0; read as that."
        losses.note("other-dialect", place, message)


def _mend_body(losses: Losses, place: Position) -> None:
    value = place.value
    if isinstance(value, dict) and "schema" in value and "content" not in value:
        value["content"] = {JSON: {"schema": value.pop("schema")}}
        message = f"a schema belongs into content since OpenAPI 3.0; read as {JSON}."
        losses.note("other-dialect", place, message)


def _mend_paths(losses: Losses, place: Position) -> None:
    def read(path: str, at: Position) -> str:
        if path.startswith(("/", "x-")):
            return path
        losses.note("invalid-path", at, f"a path begins with '/'; read as '/{path}'.")
        return f"/{path}"

    _rename(place, read)


def _mend_media_types(losses: Losses, place: Position) -> None:
    """Cuts media types at a control character, which would end the Content-Type header field."""

    def read(media_type: str, at: Position) -> str:
        text = _CONTROL.split(media_type, maxsplit=1)[0]
        if text != media_type:
            message = f"{shown(media_type)} is not a media type; read as {text!r}."
            losses.note("invalid-field", at, message)
        return text

    _rename(place, read)


def _mend_responses(losses: Losses, place: Position) -> None:
    wrong = "is not a status code, class (2XX) or default"
    _expect_names(losses, place, _STATUS, "invalid-status", wrong)


def _mend_field_names(losses: Losses, place: Position) -> None:
    """Removes headers and methods whose names are not HTTP tokens (RFC 9110, 5.1 and 9.1)."""
    if not place.pointer.startswith("#/components/"):  # names of components are never sent
        _expect_names(losses, place, _FIELD_TOKEN, "invalid-field", "is not a token as HTTP has it")


def _expect_names(
    losses: Losses, place: Position, names: re.Pattern[str], rule: str, wrong: str
) -> None:
    """Removes the members whose names a pattern does not match."""
    for name in list(place.value) if isinstance(place.value, dict) else ():
        if not names.fullmatch(name):
            losses.drop(rule, place.below(name, "any"), f"{shown(name)} {wrong}")


def _mend_security(losses: Losses, place: Position) -> None:
    """Rewrites security requirements as a list of objects from scheme name to list of scopes."""
    listed = place.value if isinstance(place.value, list) else [place.value]
    alternatives = [_alternative(it) for it in listed]
    if alternatives == place.value:
        return
    if None in alternatives:
        wrong = next(it for it, read in zip(listed, alternatives, strict=True) if read is None)
        losses.drop("invalid-security", place, f"{shown(wrong)} is not a security requirement")
        return
    message = (
        f"{shown(place.value)} is not a list of security requirements; read as {alternatives}."
    )
    losses.note("invalid-security", place, message)
    place.replace(alternatives)


def _alternative(value: Any) -> dict[str, list[str]] | None:
    if value in ([], None):
        return {}
    if isinstance(value, str):
        return {value: []}
    if not isinstance(value, dict):
        return None
    return {
        name: [str(it) for it in scopes] if isinstance(scopes, list) else []
        for name, scopes in value.items()
    }


OBJECT_MENDS: Final[Mapping[str, Mend]] = {
    "discriminator": _mend_short_form,
    "server": _mend_short_form,
    "tag": _mend_short_form,
    "example": _mend_example,
    "media type": _mend_examples,
    "parameter": _mend_parameter,
    "header": _mend_parameter,
    "request body": _mend_body,
    "response": _mend_body,
    "{media type}": _mend_media_types,
    "{header}": _mend_field_names,
    "{operation}": _mend_field_names,
    "paths": _mend_paths,
    "responses": _mend_responses,
    "security": _mend_security,
    "pattern": mend_pattern,
    "patterns": mend_pattern_names,
}
"""Kind to the mend that runs before the grammar is applied."""


NULLABLE: Final = frozenset({"schema", "response", "operation", "path item", "media type"})
"""Kinds that YAML authors leave empty, as ``get:`` without content, which parses as null."""

_NO_VERSION = "9"
"""Compares greater than any version: the member is required in all of them."""


def drop_nulls(losses: Losses, place: Position) -> None:
    """Removes the members of an object that are null, but for those read as empty objects."""
    known = MEMBERS[place.kind]
    for name in [name for name, value in place.value.items() if value is None]:
        kind = known.get(name, "any")
        if kind != "any" and kind not in NULLABLE:
            losses.drop("null-member", place.below(name, kind), f"{name} is null")


def fill(losses: Losses, place: Position) -> None:
    """Adds the missing required members of an object, and notes each."""
    for name in add_missing(losses, place.value, place.kind):
        message = f"this {place.kind} lacks {name}; read as {place.value[name]!r}."
        losses.note("missing-member", place, message)


def add_missing(losses: Losses, value: dict[str, Any], kind: str) -> list[str]:
    """Adds the missing required members of an object, and returns their names."""
    missing = [
        name
        for name in REQUIRED.get(kind, {})
        if name not in value and losses.version < OPTIONAL_SINCE.get((kind, name), _NO_VERSION)
    ]
    value.update({name: copy(REQUIRED[kind][name]) for name in missing})
    return missing


def note_unknown(losses: Losses, place: Position, name: str) -> None:
    """Notes a member that OpenAPI does not define; in schemas only if it is probably misspelt."""
    if name.startswith(("x-", "$")):
        return
    hint = nearest(name, list(MEMBERS[place.kind]))
    if hint or place.kind != "schema":
        message = f"OpenAPI has no {name!r} in a {place.kind}{hint or '.'}"
        losses.note("unknown-member", place.below(name, "any"), message)


_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")  # fits 64 bits; longer ones are read as floats


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError


def _flag(value: Any) -> bool:
    texts = {"true": True, "false": False}
    if isinstance(value, str) and value.strip().lower() in texts:
        return texts[value.strip().lower()]
    if isinstance(value, bool):
        return value
    raise ValueError


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, str):
        return float(value)
    raise ValueError


def _count(value: Any) -> int:
    number = _number(value)
    if number < 0 or number != int(number):
        raise ValueError
    return int(number)


SCALARS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "text": ("a text", _text),
    "flag": ("true or false", _flag),
    "number": ("a number", _number),
    "count": ("a whole number that is not negative", _count),
}
"""Scalar kind to its name in messages, and to a converter that raises ValueError for other values."""


_PLAIN: Final = {"text": str, "flag": bool}


def is_plain(value: Any, kind: str) -> bool:
    """Tells whether a scalar has its type already. Most do, and skipping them halves the walk's time."""
    return type(value) is _PLAIN.get(kind)


def read_scalar(losses: Losses, place: Position) -> None:
    """Converts the scalar at a position to the type of its kind, or removes it."""
    name, read = SCALARS[place.kind]
    try:
        value = read(place.value)
    except (ValueError, OverflowError):
        losses.drop("wrong-type", place, f"{shown(place.value)} is not {name}")
        return
    if type(value) is not type(place.value):
        message = f"{shown(place.value)} is not {name}; read as {shown(value)}."
        losses.note("converted-value", place, message)
        place.replace(value)


def read_scalars(losses: Losses, place: Position, kind: str) -> None:
    """Converts the scalars of a list, and removes those that cannot be converted."""
    name, read = SCALARS[kind]
    items = []
    for item in place.value:
        try:
            items.append(read(item))
            if type(items[-1]) is not type(item):
                message = f"{shown(item)} is not {name}; read as {shown(items[-1])}."
                losses.note("converted-value", place, message)
        except (ValueError, OverflowError):
            losses.note("wrong-type", place, f"{shown(item)} is not {name}; it is left out.")
    if items != place.value:
        place.replace(items)
