"""Encodes the changes of requests for the history of a shared world, and decodes them."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from understudy.mock.server.history import (
    ABSENT,
    HistoryEntry,
    RecordStep,
    RequestChanges,
    Settings,
    StateStep,
    Step,
)
from understudy.mock.server.request_context import RequestContext
from understudy.mock.store.state_rows import Rows, WorldSettings


class StoredStep(Struct, array_like=True):
    """A change of one record, or of a whole state.

    Attributes:
        collection: The record's collection; empty for a whole state.
        key: The record's key.
        before: What it was before; None: nothing, or removed.
        was_absent: Whether the overlay had nothing there.
        is_removed: Whether the change removed the record.
    """

    collection: str
    key: str
    before: bytes | None
    was_absent: bool
    is_removed: bool


class StoredChanges(Struct, array_like=True):
    """The changes of a request, as ``HistoryEntry`` has them."""

    at: datetime
    method: str
    path: str
    is_journalled: bool
    steps: list[StoredStep]
    issued: int
    settings: WorldSettings | None
    weight: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(StoredChanges).decode


def history_row(
    rows: Rows, context: RequestContext, changes: RequestChanges, *, is_own: bool
) -> bytes:
    """Encodes the changes of a request; empty for those that cannot be undone."""
    if changes.is_lost:
        return b""
    steps = [_stored(rows, step) for step in changes.steps]
    about = (context.started, context.method, context.path, is_own)
    settings = None if changes.settings is None else _stored_settings(changes.settings)
    return _encode(StoredChanges(*about, steps, changes.issued, settings, changes.weight))


def history_entry(rows: Rows, number: int, row: bytes) -> HistoryEntry:
    """Decodes the changes of a request.

    Args:
        rows: Decodes records and snapshots.
        number: The number of the request, or of the last one before it where it has none.
        row: The changes.

    Raises:
        ValueError: They were not encoded by this version.
    """
    stored = _decode(row)
    entry = HistoryEntry(stored.at, (stored.method, stored.path), number - stored.is_journalled)
    entry.request = number if stored.is_journalled else None
    entry.steps = [_step(rows, step) for step in stored.steps]
    entry.issued, entry.weight = stored.issued, stored.weight
    settings = stored.settings
    if settings is not None:
        entry.settings = {
            "clock": settings.clock,
            "choices": settings.choices,
            "limits": settings.limits,
            "faults": settings.faults,
        }
    return entry


def _stored(rows: Rows, step: Step) -> StoredStep:
    if isinstance(step, StateStep):
        return StoredStep("", "", rows.snapshot(step.before), was_absent=False, is_removed=False)
    before: Any = step.before
    was_absent = before is ABSENT
    row = None if was_absent or before is None else rows.record(step.collection, before)
    return StoredStep(step.collection, step.key, row, was_absent, step.is_removed)


def _step(rows: Rows, step: StoredStep) -> Step:
    if not step.collection:
        return StateStep(rows.decoded_snapshot(step.before or b""))
    before = ABSENT if step.was_absent else None
    if step.before is not None:
        before = rows.decoded(step.collection, step.before)
    return RecordStep(step.collection, step.key, before, step.is_removed)


def _stored_settings(settings: Settings) -> WorldSettings:
    clock, choices = settings["clock"], dict(settings["choices"])
    return WorldSettings(clock, 0, 0, choices, settings["limits"], settings["faults"])
