"""Attributes the changes of a world to requests, and computes what the world was before one."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from understudy.errors import Conflict
from understudy.mock.server.admin_guard import BASE_PATH
from understudy.mock.server.history import HistoryEntry
from understudy.mock.server.history_steps import ABSENT, RequestChanges, StateStep
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.snapshots import Snapshot
from understudy.mock.server.windows import WINDOW, Window
from understudy.mock.server.worlds import World


def settle(context: RequestContext) -> None:
    """Attributes what changed since the last request to this one, unless the store is to number it."""
    world = context.world
    history = world.history
    issued = world.identifiers.count
    if history.is_settled(issued):
        return
    if world.store is not None and world.store.numbers_requests:
        return
    entry = HistoryEntry(context.started, (context.method, context.path), world.journal.total)
    history.settle(entry, history.collect(issued, lambda: world.settings))
    if not context.path.startswith(BASE_PATH):
        history.expect_number(context, entry)


def collected(world: World) -> RequestChanges | None:
    """Returns what changed in a world since the last call; None for nothing."""
    issued = world.identifiers.count
    if world.history.is_settled(issued):
        return None
    return world.history.collect(issued, lambda: world.settings)


def settle_numbered(
    world: World,
    at: datetime,
    call: tuple[str, str],
    numbers: tuple[int, int | None],
    changes: RequestChanges,
) -> None:
    """Attributes changes to a request whose number in the journal is known.

    Args:
        world: The world.
        at: The world's time of the request.
        call: Its method and path.
        numbers: The number of the last request before it, and its own; None: it has none.
        changes: What the request changed.
    """
    entry = HistoryEntry(at, call, numbers[0])
    entry.request = numbers[1]
    world.history.settle(entry, changes)


def undone(world: World, number: int) -> tuple[HistoryEntry, ...]:
    """Returns the entries of a request and of everything after it, the newest first.

    Raises:
        Conflict: The history does not reach back so far.
    """
    if number <= world.history.forgotten:
        msg = (
            f"The history of this world does not reach back to request {number}: it begins after "
            f"request {world.history.forgotten}."
        )
        raise Conflict(msg, code="history_forgotten")
    entries = tuple(world.history)
    first = next((n for n, entry in enumerate(entries) if _is_since(entry, number)), len(entries))
    return entries[first:][::-1]


def _is_since(entry: HistoryEntry, number: int) -> bool:
    """Tells whether a change was made by the request of this number, or later."""
    return entry.place >= number


def state_before(world: World, number: int) -> Snapshot:
    """Returns the state of a world before one of its requests.

    Args:
        world: The world; it stays as it is.
        number: The number of the request in the journal; one more than the last: the state of now.

    Raises:
        Conflict: The history does not reach back so far.
    """
    snapshot = world.snapshot()
    for entry in undone(world, number):
        snapshot = _without(snapshot, entry)
    return snapshot._replace(windows=_windows_before(world, snapshot.windows, number))


def _without(snapshot: Snapshot, entry: HistoryEntry) -> Snapshot:
    """Returns a state without the changes of an entry, which were the last ones made to it."""
    for step in reversed(entry.steps):
        if isinstance(step, StateStep):
            before: Snapshot = step.before
            overlay = {name: dict(records) for name, records in before.overlay.items()}
            snapshot = before._replace(overlay=overlay)
            continue
        records: Any = snapshot.overlay.get(step.collection)
        if records is None:
            records = snapshot.overlay[step.collection] = {}  # type: ignore[index]  # our own copy
        if step.before is ABSENT:
            records.pop(step.key, None)
        else:
            records[step.key] = step.before
    settings: Mapping[str, Any] = entry.settings or {}
    return snapshot._replace(issued=entry.issued, **settings)


def _windows_before(
    world: World, windows: Mapping[str, Window], number: int
) -> Mapping[str, Window]:
    """Returns the rate-limit windows before a request, as the headers of the responses tell them."""
    before = dict(windows)
    contexts = [context for context in world.journal if context.number >= number]
    for context in reversed(contexts):
        headers = dict(context.extra_headers)
        if "x-ratelimit-remaining" not in headers:
            continue
        who = context.principal.person if context.principal else f"address {context.client}"
        used = int(headers["x-ratelimit-limit"]) - int(headers["x-ratelimit-remaining"])
        used -= context.status != 429  # noqa: PLR2004 - RFC 6585, 4: it was not counted
        before[who] = Window(_opened(before.get(who), int(headers["x-ratelimit-reset"])), used)
    return before


def _opened(window: Window | None, reset: int) -> datetime:
    """Returns when a window opened, from the Unix time at which it ends."""
    if window is not None and int((window.opened + WINDOW).timestamp()) == reset:
        return window.opened
    return datetime.fromtimestamp(reset, UTC) - WINDOW
