"""Describes validation errors in one line each: where, the value, and what was expected."""

import re
from collections.abc import Sequence
from typing import Any

from jsonschema_rs import ValidationErrorKind

from understudy.errors import Breach, Violation
from understudy.openapi.pointers import escape
from understudy.openapi.schemas import Schemas
from understudy.openapi.validators import SchemaError, SchemaValidator

LONGEST = 200
"""Characters of a message at most; the value may be megabytes."""

_NO_ALTERNATIVE = re.compile(r"is not valid under any of the schemas listed in the '\w+' keyword")

MOST = 50
"""Violations that a response lists; a body may have as many as it has members."""


MAX_NESTED = 8
"""Alternatives within alternatives that are looked into for a cause."""


def validation_errors(validator: SchemaValidator, value: Any) -> list[SchemaError]:
    """Returns the validation errors of a value, the most telling first.

    That is the deepest place, and a misspelt name before the one that it leaves missing.
    """
    return sorted(validator.iter_errors(value), key=_telling)


def _telling(error: SchemaError) -> tuple[int, bool]:
    return -len(error.instance_path), error.kind.name != "additionalProperties"


def first_error(validator: SchemaValidator, value: Any) -> str:
    """Describes the most telling validation error of a value."""
    return describe(validation_errors(validator, value)[0])


def breach(error: SchemaError, schemas: Schemas, where: str = "") -> Breach:
    """Returns a validation error with the places that it concerns.

    Args:
        error: The validation error.
        schemas: Those of the document.
        where: The parameter; empty for a body.
    """
    pointer = "".join(f"/{escape(str(step))}" for step in error.instance_path)
    place = schemas.place(error.schema_path)
    return Breach(where + pointer, place.value, error.instance, place.pointer)


def violations(location: str, errors: Sequence[SchemaError]) -> tuple[Violation, ...]:
    """Returns validation errors as violations of the document; of a missing or unknown member, its own place."""
    causes = [(error, _cause(error)) for error in errors[:MOST]]
    return tuple(
        Violation(location, (*cause.instance_path, *_member(cause)), describe(error))
        for error, cause in causes
    )


def _member(error: SchemaError) -> tuple[str, ...]:
    """Returns the name of the member that an object lacks or should not have, if that is wrong."""
    kind = error.kind
    if isinstance(kind, ValidationErrorKind.Required):
        return (str(kind.property),)
    if isinstance(kind, ValidationErrorKind.AdditionalProperties):
        return tuple(kind.unexpected[:1])
    return ()


def _cause(error: SchemaError, depth: int = 0) -> SchemaError:
    """Returns what keeps a value from the alternative that it is closest to, or the error itself.

    That is the alternative of the right type with the fewest errors.
    """
    kind = error.kind
    if not isinstance(kind, ValidationErrorKind.AnyOf | ValidationErrorKind.OneOfNotValid):
        return error
    place = list(error.instance_path)

    def distance(errors: Sequence[SchemaError]) -> tuple[bool, int]:
        is_other_type = any(
            it.kind.name == "type" and list(it.instance_path) == place for it in errors
        )
        return is_other_type, len(errors)

    closest = min((errors for errors in kind.context if errors), key=distance, default=())
    if not closest or depth > MAX_NESTED:
        return error
    return _cause(sorted(closest, key=_telling)[0], depth + 1)


def describe(error: SchemaError) -> str:
    """Describes one validation error: ``languages.0.order: "x" is not of type "integer"``.

    Where no alternative is valid, what keeps the value from the closest one is added.
    """
    cause = _cause(error)
    text = _located(error)
    return f"{text}." if cause is error else f"{text}; of the closest, {_located(cause)}."


def _located(error: SchemaError) -> str:
    where = ".".join(str(step) for step in error.instance_path)
    message = _NO_ALTERNATIVE.sub("fits none of the alternatives", error.message)
    if len(message) > LONGEST:
        half = LONGEST // 2
        message = f"{message[:half]} … {message[-half:]}"
    return f"{where}: {message}" if where else message
