"""Finds contradictions in schemas, and between schemas and the values beside them."""

import re
import warnings
from collections.abc import Iterator
from re import _parser  # the parser has no public name
from typing import Any

from understudy.errors import StartupError
from understudy.openapi.diagnostics import Diagnostic
from understudy.openapi.lint.contradictions import contradiction
from understudy.openapi.loader import Node
from understudy.openapi.positions import shown
from understudy.openapi.schemas import Schemas

_RANGES = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)
_UNBOUNDED = 2**31
"""A width that the pattern parser gives where a repetition has no end."""


def check_schema(schemas: Schemas, schema: Node) -> Iterator[Diagnostic]:
    """Yields the contradictions of one schema; those of the schemas in it are found there."""
    if not isinstance(schema.value, dict):
        return
    try:
        schemas.expect_valid(schema)
    except StartupError as error:
        yield contradiction("invalid-schema", schema.pointer, str(error).partition(": ")[2])
        return
    yield from _check_ranges(schema)
    yield from _check_pattern(schema)
    yield from _check_required(schema)
    yield from _check_values(schemas, schema)


def check_example(schemas: Schemas, schema: Node, example: Node) -> Iterator[Diagnostic]:
    """Yields a contradiction if an example breaks the schema that it illustrates."""
    try:
        error = next(schemas.validator(schema).iter_errors(example.value), None)
    except StartupError:  # the schema has a diagnostic of its own
        return
    if error is not None:
        yield contradiction("invalid-example", example.pointer, _broken("the example", error))


def _check_values(schemas: Schemas, schema: Node) -> Iterator[Diagnostic]:
    validator = schemas.validator(schema)
    for keyword, rule in (("default", "invalid-default"), ("example", "invalid-example")):
        value = schema.child(keyword)
        if value is not None:
            for error in validator.iter_errors(value.value):
                yield contradiction(rule, value.pointer, _broken(f"the {keyword}", error))
                break
    for keyword, rule in (("enum", "invalid-enum"), ("examples", "invalid-example")):
        listed = schema.child(keyword)
        if listed is None or not isinstance(listed.value, list):
            continue
        for _, value in listed.children():
            for error in validator.iter_errors(value.value):
                message = _broken(f"{shown(value.value)} of the {keyword}", error)
                yield contradiction(rule, value.pointer, message)
                break


def _broken(what: str, error: Any) -> str:
    at = "/".join(str(step) for step in error.instance_path)
    place = f" at {at}" if at else ""
    return f"{what} breaks the schema{place}: {error.message:.200}."


def _check_ranges(schema: Node) -> Iterator[Diagnostic]:
    value = schema.value
    for lower, upper in _RANGES:
        least, most = value.get(lower), value.get(upper)
        if least is not None and most is not None and least > most:
            message = f"{lower} {least} is above {upper} {most}, so no value fits."
            yield contradiction("empty-range", f"{schema.pointer}/{lower}", message)
    least, most = _lowest(value), _highest(value)
    if None not in (least, most) and least >= most:
        excludes = {"exclusiveMinimum", "exclusiveMaximum"} & set(value)
        if any(value[name] is not False for name in excludes):
            message = f"no number is above {least} and below {most}, one of them excluded."
            yield contradiction("empty-range", schema.pointer, message)


def _lowest(value: dict[str, Any]) -> Any:
    exclusive = value.get("exclusiveMinimum")
    return value.get("minimum") if exclusive is None or isinstance(exclusive, bool) else exclusive


def _highest(value: dict[str, Any]) -> Any:
    exclusive = value.get("exclusiveMaximum")
    return value.get("maximum") if exclusive is None or isinstance(exclusive, bool) else exclusive


def _check_pattern(schema: Node) -> Iterator[Diagnostic]:
    pattern = schema.value.get("pattern")
    if not isinstance(pattern, str):
        return
    shortest, longest = _widths(pattern)
    most = schema.value.get("maxLength", shortest)
    least = schema.value.get("minLength", 0)
    if shortest > most:
        message = (
            f"{pattern!r} matches no text of fewer than {shortest} characters; maxLength is {most}."
        )
        yield contradiction("impossible-pattern", f"{schema.pointer}/pattern", message)
    if longest < least:
        message = (
            f"{pattern!r} matches no text of more than {longest} characters; minLength is {least}."
        )
        yield contradiction("impossible-pattern", f"{schema.pointer}/pattern", message)


def _widths(pattern: str) -> tuple[int, int]:
    """Returns the fewest and the most characters of a text that a pattern matches."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _parser.parse(pattern)
    except (re.error, OverflowError, RecursionError):
        return 0, _UNBOUNDED
    shortest, longest = parsed.getwidth()
    anchors = [str(where) for code, where in parsed.data if str(code) == "AT"]
    is_whole = anchors == ["AT_BEGINNING", "AT_END"]
    return shortest, longest if is_whole else _UNBOUNDED


def _check_required(schema: Node) -> Iterator[Diagnostic]:
    value = schema.value
    if value.get("additionalProperties") is not False or value.get("patternProperties"):
        return
    declared = value.get("properties", {})
    for name in value.get("required", ()):
        if name not in declared:
            message = f"{name!r} is required, but additionalProperties: false forbids it."
            yield contradiction("undeclared-required", f"{schema.pointer}/required", message)
