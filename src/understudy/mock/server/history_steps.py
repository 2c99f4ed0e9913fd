"""Defines the changes of a world as values that say how to undo them."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

ABSENT: Final = object()
"""Stands in an undo step for: the overlay had nothing at this key."""

Settings = Mapping[str, Any]
"""The fields of a snapshot that calls of the admin API set: clock, choices, limits and faults."""


class RecordStep(NamedTuple):
    """A change of one record.

    Attributes:
        collection: The record's collection.
        key: The record's key.
        before: What the overlay had there; None: the record was removed; ABSENT: nothing.
        is_removed: Whether the change removed the record.
    """

    collection: str
    key: str
    before: Any
    is_removed: bool


class StateStep(NamedTuple):
    """The replacement of a whole state, such as by a reset.

    Attributes:
        before: The snapshot of the state before.
    """

    before: Any


Step = RecordStep | StateStep


class RequestChanges(NamedTuple):
    """The changes of one request, until it is known where it stands in the journal.

    Attributes:
        steps: The changes, in their order.
        issued: How many identifiers had been generated before.
        settings: The settings before; None: they did not change.
        weight: The approximate memory in bytes.
        is_lost: Whether they cannot be undone.
    """

    steps: list[Step]
    issued: int
    settings: Settings | None
    weight: int
    is_lost: bool
