"""Handlers of the admin API for a world's clock, its changes, and the moments when things expire."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from heapq import nsmallest
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import msgspec

from understudy.errors import BadRequest, NotFound
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.server.clock import Clock, written
from understudy.mock.server.journal import ABSENT, SETTINGS, HistoryEntry, RecordStep
from understudy.mock.server.journaling import state_before, undone
from understudy.mock.server.windows import WINDOW
from understudy.mock.server.worlds import Snapshot, World
from understudy.mock.store.applications import CODES
from understudy.mock.store.tokens import TOKENS


def instant_of(text: str, name: str) -> datetime:
    """Parses the instant of a field or a parameter.

    Args:
        text: The instant in the format of RFC 3339.
        name: Name of the field or parameter, for the message.

    Raises:
        BadRequest: The text is not a date and time, or has no offset.
    """
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        msg = f"{name}: {text!r} is not a date and time; write it as 2026-03-01T12:00:00Z."
        raise BadRequest(msg) from error
    if instant.tzinfo is None:
        msg = f"{name}: {text!r} has no offset; end it with Z for UTC."
        raise BadRequest(msg)
    return instant


def get_clock(call: Call) -> HandlerResponse:
    """Responds to ``GET /clock``."""
    return _as_json(call.world.clock)


def put_clock(call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``PUT /clock``: sets the time, freezes it, or runs it at a rate.

    Raises:
        BadRequest: The instant has no offset or is out of range, or both a rate and frozen are given.
    """
    rate = body.get("rate")
    if "frozen" in body:
        if rate is not None:
            msg = "rate: a frozen clock has none; leave out one of the two."
            raise BadRequest(msg)
        rate = 0.0 if body["frozen"] else 1.0
    instant = instant_of(body["now"], "now") if "now" in body else None
    try:
        call.world.clock.put(instant, rate)
    except OverflowError as error:
        msg = f"now: {error}."
        raise BadRequest(msg) from error
    return _changed(call)


def advance_clock(call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``POST /clock/advance``: moves the clock forward, frozen or not.

    Raises:
        BadRequest: The new time is out of range.
    """
    try:
        call.world.clock.advance(timedelta(seconds=body["seconds"]))
    except OverflowError as error:
        msg = f"seconds: {body['seconds']} is too far; the year 9000 is the last."
        raise BadRequest(msg) from error
    return _changed(call)


def reset_clock(call: Call) -> HandlerResponse:
    """Responds to ``DELETE /clock``: lets the clock follow the machine's time again."""
    call.world.clock.reset()
    return _changed(call)


def _changed(call: Call) -> HandlerResponse:
    call.world.note_change()
    return _as_json(call.world.clock)


def _as_json(clock: Clock) -> HandlerResponse:
    return HandlerResponse(
        {"now": written(clock.now()), "frozen": clock.rate == 0, "rate": clock.rate}
    )


def list_changes(call: Call, *, limit: int = 100) -> HandlerResponse:
    """Responds to ``GET /changes``, the newest first."""
    entries = tuple(call.world.history)
    return HandlerResponse(
        {
            "changes": [_entry(entry) for entry in entries[::-1][:limit]],
            "total": len(entries),
            "reaches": call.world.history.forgotten + 1,
        }
    )


def rewind_world(call: Call, *, body: Mapping[str, int]) -> HandlerResponse:
    """Responds to ``POST /changes/rewind``: restores the world's state before a request.

    Raises:
        NotFound: There was no such request.
        Conflict: The history does not reach back so far.
    """
    world, number = call.world, body["request"]
    _expect_request(world, number)
    count = len(undone(world, number))
    world.become(state_before(world, number))
    return HandlerResponse({"request": number, "undone": count, "now": written(world.clock.now())})


def compare_moments(call: Call, *, before: int, until: int | None = None) -> HandlerResponse:
    """Responds to ``GET /changes/difference``: compares the world's state at two moments.

    Raises:
        NotFound: There was no such request.
        Conflict: The history does not reach back so far.
    """
    world = call.world
    _expect_request(world, before)
    if until is not None:
        _expect_request(world, until)
    earlier = state_before(world, before)
    later = world.snapshot() if until is None else state_before(world, until)
    return HandlerResponse(
        {"records": list(_records(earlier, later)), "settings": list(_settings(earlier, later))}
    )


def _expect_request(world: World, number: int) -> None:
    if number > world.journal.total:
        msg = f"There is no request {number} in this world; the last one is {world.journal.total}."
        raise NotFound(msg)


def _entry(entry: HistoryEntry) -> dict[str, Any]:
    return {
        "at": written(entry.at),
        "call": " ".join(entry.call),
        "request": entry.request,
        "after": entry.after,
        "records": [
            {
                "collection": step.collection,
                "key": step.key,
                "change": "removed" if step.is_removed else "put",
            }
            for step in entry.changes.steps
            if isinstance(step, RecordStep)
        ],
        "replaced": any(not isinstance(step, RecordStep) for step in entry.changes.steps),
        "settings": entry.changes.settings is not None,
    }


def _records(earlier: Snapshot, later: Snapshot) -> Iterator[dict[str, Any]]:
    """Yields the records that differ, among those that were changed since the fixtures."""
    names = dict.fromkeys([*earlier.overlay, *later.overlay])
    for name in names:
        keys = dict.fromkeys([*earlier.overlay.get(name, ()), *later.overlay.get(name, ())])
        for key in keys:
            before, after = _record(earlier, name, key), _record(later, name, key)
            if before is not after and before != after:
                shown = {"before": _shown(before), "after": _shown(after)}
                yield {"collection": name, "key": key, **shown}


def _record(snapshot: Snapshot, collection: str, key: str) -> Any:
    record = snapshot.overlay.get(collection, {}).get(key, ABSENT)
    return snapshot.baseline.get(collection, {}).get(key) if record is ABSENT else record


def _settings(earlier: Snapshot, later: Snapshot) -> Iterator[dict[str, Any]]:
    for name in SETTINGS:
        before, after = getattr(earlier, name), getattr(later, name)
        if before != after:
            yield {"name": name, "before": _shown(before), "after": _shown(after)}


def _shown(value: Any) -> Any:
    """Returns a record as JSON; bytes only by their number, as pictures are large."""
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    if isinstance(value, msgspec.Struct):
        members = ((name, getattr(value, name)) for name in value.__struct_fields__)
        return {name: _shown(member) for name, member in members if member is not msgspec.UNSET}
    if isinstance(value, Mapping):
        return {str(key): _shown(member) for key, member in value.items()}
    if isinstance(value, tuple | list) and not hasattr(value, "_asdict"):
        return [_shown(item) for item in value]
    return msgspec.to_builtins(value, enc_hook=str)


class Upcoming(NamedTuple):
    """The expiry of a code, a token or a window of the rate limit.

    Attributes:
        at: The moment of the expiry.
        kind: The kind of the record that expires.
        of: The person, or the principal whose requests the window counts.
        client_id: The application of a code or a token; None without one.
        token: The token; None for a code, as its text is enough to exchange it.
    """

    at: datetime
    kind: Literal["code", "token", "window"]
    of: str
    client_id: str | None = None
    token: str | None = None


def list_upcoming(call: Call, *, limit: int = 20) -> HandlerResponse:
    """Responds to ``GET /clock/upcoming``: lists expiries, the soonest first."""
    world = call.world
    now = world.clock.now()
    coming = (it for it in _upcoming(world) if it.at > now)
    soonest = nsmallest(limit, coming, key=attrgetter("at"))
    return HandlerResponse([{**it._asdict(), "at": written(it.at)} for it in soonest])


def _upcoming(world: World) -> Iterator[Upcoming]:
    for _, code in world.items(CODES):
        yield Upcoming(code.expires, "code", code.person, code.client_id)
    for _, token in world.items(TOKENS):
        if token.expires is not None:
            end = datetime.fromisoformat(token.expires)
            yield Upcoming(end, "token", token.person, token.client_id, token.token)
    for name, window in world.windows.items():
        yield Upcoming(window.opened + WINDOW, "window", name)


HANDLERS: Handlers = {
    ("GET", "/clock"): get_clock,
    ("PUT", "/clock"): put_clock,
    ("DELETE", "/clock"): reset_clock,
    ("POST", "/clock/advance"): advance_clock,
    ("GET", "/changes"): list_changes,
    ("POST", "/changes/rewind"): rewind_world,
    ("GET", "/changes/difference"): compare_moments,
    ("GET", "/clock/upcoming"): list_upcoming,
}
