"""Mends what people write in schemas: the dialects of other versions, and patterns."""

from typing import Any

from understudy.openapi.patterns import portable
from understudy.openapi.positions import Losses, Position, shown

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


def mend_schema(losses: Losses, place: Position) -> None:
    """Mends the keywords of a schema object that no grammar of scalars can describe."""
    schema = place.value
    for bound in ("Minimum", "Maximum"):
        if f"exclusive{bound}" in schema:
            _mend_bound(losses, place, f"exclusive{bound}", bound.lower())
    if "type" in schema:
        _mend_type(losses, place.below("type", "any"))
    if "enum" in schema and not (isinstance(schema["enum"], list) and schema["enum"]):
        losses.drop("invalid-keyword", place.below("enum", "any"), "an enum is a list of values")
    if isinstance(schema.get("required"), bool):
        message = "required lists the names of members in the schema of the object around them"
        losses.drop("invalid-keyword", place.below("required", "any"), message)
    if isinstance(schema.get("items"), list):
        _mend_tuple(losses, place.below("items", "any"))
    if schema.get("nullable") is True and not losses.is_30:
        message = 'nullable means nothing since OpenAPI 3.1; write "null" as one of the types.'
        losses.note("other-dialect", place.below("nullable", "flag"), message)


def _mend_bound(losses: Losses, place: Position, exclusive: str, inclusive: str) -> None:
    """Writes an exclusive bound as the document's version has it: 3.0 true, 3.1 the number."""
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
    """Writes a pattern so that every engine here reads it alike."""
    text = _portable(losses, at, at.value)
    if text is None:
        return
    if text != at.value:
        at.replace(text)


def mend_pattern_names(losses: Losses, place: Position) -> None:
    """Does the same for the members of ``patternProperties``."""
    if not isinstance(place.value, dict):
        return
    renamed = {}
    for pattern, schema in list(place.value.items()):
        text = _portable(losses, place.below(pattern, "any"), pattern)
        if text is not None:
            renamed[text] = schema
    if list(renamed) != list(place.value):
        place.replace(renamed)


def _portable(losses: Losses, at: Position, pattern: Any) -> str | None:
    """Returns the pattern; None if it is left out."""
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
