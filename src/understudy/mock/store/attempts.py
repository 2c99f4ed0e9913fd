"""Defines the records of failed attempts, which the authorization server counts against guessing."""

from datetime import datetime

from msgspec import Struct

from understudy.limits import Count
from understudy.mock.server.clock import Instant
from understudy.mock.server.worlds import Collection


class FailedAttempts(Struct, frozen=True):
    """Wrong guesses at one secret.

    Attributes:
        since: When the first of them was made.
        count: How many there were.
    """

    since: Instant
    count: Count


FAILED_CLIENT_AUTHENTICATIONS: Collection[FailedAttempts] = Collection(
    "failed_client_authentications", FailedAttempts, is_transient=True
)
"""client_id to the wrong client secrets that were sent for it."""

FAILED_CODES: Collection[FailedAttempts] = Collection(
    "failed_codes", FailedAttempts, is_transient=True
)
"""client_id to the wrong authorization codes that it sent."""

FAILED_SIGN_INS: Collection[FailedAttempts] = Collection(
    "failed_sign_ins", FailedAttempts, is_transient=True
)
"""User name, in lower case, to the wrong passwords that were given for it."""

RATE_LIMITED_CLIENTS: Collection[datetime] = Collection(
    "rate_limited_clients", Instant, is_transient=True
)
"""client_id to when a request with its token was first answered 429 within the hour."""
