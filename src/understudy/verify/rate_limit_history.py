"""Reads the rate-limit headers of successive responses; has conditions of checks on them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Final, NamedTuple

from understudy.exchange.messages import Exchange
from understudy.interface.limit_headers import LIMIT_HEADERS, limit_headers_in, moment_of
from understudy.interface.operations import AVATARS, COUNTED, QR_CODE
from understudy.verify.checks import found, tells
from understudy.verify.history import History

DIGITS: Final = 12
"""More digits than a count or a time in seconds has."""

ROUNDING: Final = timedelta(seconds=1)
"""The most that two roundings of one moment are apart."""


class Count(NamedTuple):
    """The values of a response's three rate-limit headers."""

    limit: int
    remaining: int
    reset: datetime


class Previous(NamedTuple):
    """The request that was counted last in the same hour, and what its headers say."""

    exchange: Exchange
    headers: Count


def count_in(exchange: Exchange) -> Count | None:
    """Returns the values of a response's rate-limit headers; None unless all three are valid.

    None for refused credentials too: the interface does not say for whom these are counted.
    """
    if exchange.status == HTTPStatus.UNAUTHORIZED:
        return None
    headers = limit_headers_in(exchange.response.header)
    name, texts = headers or ("", ("", "", ""))
    if not all(text.isdecimal() and text.isascii() and len(text) < DIGITS for text in texts):
        return None
    limit, remaining, reset = map(int, texts)
    is_moment = name == LIMIT_HEADERS[0]  # a header of another name may have seconds from now
    moment = datetime.fromtimestamp(reset, UTC) if is_moment else moment_of(reset, exchange.at)
    return Count(limit, remaining, moment)


def by_address(exchange: Exchange) -> bool:
    """Tells whether a request is counted by the client's address, as a QR code always is."""
    return exchange.identity.kind == "none" or exchange.operation == QR_CODE


def counted_alike(exchange: Exchange, before: Exchange) -> bool:
    """Tells whether two requests are counted together."""
    if by_address(exchange) or by_address(before):
        return by_address(exchange) and by_address(before)
    return exchange.identity.name == before.identity.name


def previous(exchange: Exchange, history: History) -> Previous | None:
    """Returns the request counted last in the same hour, if no other credential was used in between."""
    now = count_in(exchange)
    if _was_put_back(exchange, history):
        return None
    for before in history.of(*COUNTED):
        if by_address(before) != by_address(exchange):
            continue
        count = count_in(before)
        if count is None:
            if before.status in {200, 404, 429}:
                return None
            continue  # refused before it was counted
        is_same = exchange.at < count.reset if now is None else is_same_hour(count, now)
        return Previous(before, count) if is_same and counted_alike(exchange, before) else None
    return None


def counted_before(exchange: Exchange, history: History) -> Iterator[Previous]:
    """Yields the earlier requests that are counted together with this one, the newest first.

    It yields none after the clock was put back, as the earlier hours no longer apply.
    """
    if _was_put_back(exchange, history):
        return
    for before in history.of(*COUNTED):
        count = count_in(before)
        if count is not None and counted_alike(exchange, before):
            yield Previous(before, count)


def _was_put_back(exchange: Exchange, history: History) -> bool:
    return history.latest - exchange.at > ROUNDING


def is_same_hour(count: Count, other: Count) -> bool:
    """Tells whether two hours end at the same moment, which may be rounded to seconds each time."""
    return abs(count.reset - other.reset) <= ROUNDING


def last_counted(exchange: Exchange, history: History) -> Previous | None:
    """Returns the newest request that is counted together with this one, in any hour."""
    return next(counted_before(exchange, history), None)


def avatars_since(exchange: Exchange, history: History, before: Exchange) -> list[Exchange]:
    """Returns the requests of the same client to the avatar API since a request."""
    return [
        other
        for other in history.since(before)
        if other.operation in AVATARS and other.identity == exchange.identity
    ]


def others_since(history: History, before: Exchange) -> list[Exchange]:
    """Returns the other requests since one that may have been counted together with it.

    Another token may be of the same account, and a deployment may count other operations too.
    """
    return [
        other
        for other in history.since(before)
        if other.site == "resource" and other.operation not in AVATARS and not by_address(other)
    ]


has_count_headers = tells(
    "the response has the headers for limit, remaining and reset",
    lambda it, _: count_in(it) is not None,
)
is_by_address = tells(
    "the request is counted by the client's address, and has no token either",
    lambda it, _: by_address(it) and not it.request.header("authorization"),
)
is_by_token = tells(
    "the request is counted by its token",
    lambda it, _: not by_address(it) and it.identity.kind in {"oauth", "api_key"},
)
is_too_many = tells("the status is 429", lambda it, _: it.status == HTTPStatus.TOO_MANY_REQUESTS)

was_counted_before = found(previous, "the same client was counted before in the same hour")


def something_was_left(exchange: Exchange, history: History) -> bool:
    """Tells whether the previous response shows more left than may have been counted since."""
    before = previous(exchange, history)
    if before is None:
        return False
    since = [
        other
        for other in history.since(before.exchange)
        if other is not exchange and other.site == "resource" and other.operation not in AVATARS
    ]
    alike = [other for other in since if by_address(other) == by_address(exchange)]
    return before.headers.remaining > len(alike)


def nothing_was_left(exchange: Exchange, history: History) -> bool:
    """Tells whether the previous response shows no request left."""
    before = previous(exchange, history)
    return before is not None and before.headers.remaining == 0


is_within_limit = tells(
    "the request is not over the limit, and its token, if any, is valid",
    lambda it, _: it.status != HTTPStatus.TOO_MANY_REQUESTS and it.identity.kind != "invalid",
)
