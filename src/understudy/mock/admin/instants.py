"""Reads the instants that requests of the admin API name."""

from datetime import datetime

from understudy.errors import BadRequest


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
