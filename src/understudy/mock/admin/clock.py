"""Shows, sets, freezes and advances the time of a world, and reads instants (``openapi/admin.yaml``)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from understudy.errors import BadRequest
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.clock import Clock, written
from understudy.mock.server.handlers import Handlers


def instant_of(text: str, name: str) -> datetime:
    """Returns the instant that a field or a parameter names.

    Args:
        text: The instant, as RFC 3339 writes it.
        name: Name of the field or parameter, for the message.

    Raises:
        BadRequest: It is not a date and time, or has no offset.
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
    """Responds to ``POST /clock/advance``: moves on, frozen or not.

    Raises:
        BadRequest: Time goes no further.
    """
    try:
        call.world.clock.advance(timedelta(seconds=body["seconds"]))
    except OverflowError as error:
        msg = f"seconds: {body['seconds']} is too far; the year 9000 is the last."
        raise BadRequest(msg) from error
    return _changed(call)


def reset_clock(call: Call) -> HandlerResponse:
    """Responds to ``DELETE /clock``: goes with the machine's time again."""
    call.world.clock.reset()
    return _changed(call)


def _changed(call: Call) -> HandlerResponse:
    call.world.note_change()
    return _as_json(call.world.clock)


def _as_json(clock: Clock) -> HandlerResponse:
    return HandlerResponse(
        {"now": written(clock.now()), "frozen": clock.rate == 0, "rate": clock.rate}
    )


HANDLERS: Handlers = {
    ("GET", "/clock"): get_clock,
    ("PUT", "/clock"): put_clock,
    ("DELETE", "/clock"): reset_clock,
    ("POST", "/clock/advance"): advance_clock,
}
