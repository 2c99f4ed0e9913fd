"""Positions of a walk over a document, and the losses that it notes there."""

from typing import Any, NamedTuple

from understudy.openapi.diagnostics import Diagnostic, loss
from understudy.openapi.pointers import escape
from understudy.openapi.references import Scope

_LONGEST_SHOWN = 60


class Position(NamedTuple):
    """A value in the tree, and what OpenAPI has there.

    Attributes:
        holder: The object or list that holds it.
        key: Its name or index in the holder.
        kind: As the grammar writes it.
        pointer: JSON pointer of the value.
        scope: What references in it are relative to.
        unit: Pointer of the operation or component that it is a part of.
    """

    holder: Any
    key: Any
    kind: str
    pointer: str
    scope: Scope
    unit: str

    @property
    def value(self) -> Any:
        """The value."""
        return self.holder[self.key]

    def below(self, key: Any, kind: str) -> "Position":
        """Returns the place of a member or an item."""
        pointer = f"{self.pointer}/{escape(str(key))}"
        return Position(self.value, key, kind, pointer, self.scope, self.unit)

    def replace(self, value: Any) -> None:
        """Puts another value there."""
        self.holder[self.key] = value


class Losses:
    """Collects the losses of a document.

    Args:
        version: The document's, such as ``3.0.3``.

    Attributes:
        version: The document's version, such as ``3.0.3``.
        is_30: Whether schemas are OpenAPI 3.0's own dialect.
        diagnostics: What was noted, in the order of the walk.
    """

    def __init__(self, version: str) -> None:
        self.version = version
        self.is_30 = version.startswith("3.0")
        self.diagnostics: list[Diagnostic] = []

    def note(self, rule: str, place: Position, message: str) -> None:
        """Notes what was wrong at a place."""
        self.diagnostics.append(loss(rule, place.pointer, message))

    def drop(self, rule: str, place: Position, message: str) -> None:
        """Leaves a member out of its object, and notes why."""
        self.note(rule, place, f"{message}; it is left out.")
        del place.holder[place.key]


def shown(value: Any) -> str:
    """Returns a value as a message shows it, cut if it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
