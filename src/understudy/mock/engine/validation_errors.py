"""Says in one line what a validator found: where, what came, and what was expected."""

from typing import Any

from jsonschema_rs import ValidationError, Validator

from understudy.errors import Breach
from understudy.openapi.loader import escape
from understudy.openapi.schemas import Schemas

LONGEST = 200
"""Characters of a message; what came may be megabytes."""


def faults(validator: Validator, value: Any) -> list[ValidationError]:
    """Returns what a validator finds wrong, the most telling first.

    That is the deepest place, and a misspelt name before the one that it leaves missing.
    """

    def telling(error: ValidationError) -> tuple[int, bool]:
        return -len(error.instance_path), error.kind.name != "additionalProperties"

    return sorted(validator.iter_errors(value), key=telling)


def first_fault(validator: Validator, value: Any) -> str:
    """Returns a line for the most telling thing wrong with a value."""
    return say(faults(validator, value)[0])


def breach(error: ValidationError, schemas: Schemas, where: str = "") -> Breach:
    """Returns a fault with the places it concerns.

    Args:
        error: The fault.
        schemas: Those of the document.
        where: The parameter; empty for a body.
    """
    pointer = "".join(f"/{escape(str(step))}" for step in error.instance_path)
    place = schemas.place(error.schema_path)
    return Breach(where + pointer, place.value, error.instance, place.pointer)


def say(error: ValidationError) -> str:
    """Returns a line for one fault: ``languages.0.order: "x" is not of type "integer"``."""
    where = ".".join(str(step) for step in error.instance_path)
    message = error.message
    if len(message) > LONGEST:
        half = LONGEST // 2
        message = f"{message[:half]} … {message[-half:]}"
    return f"{where}: {message}." if where else f"{message}."
