"""Tells from the headers of successive responses when the hour of a rate limit begins."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import COUNTED
from understudy.verify.checks import proven
from understudy.verify.history import History
from understudy.verify.rate_limit_history import Previous, count_in, counted_alike

SLACK: Final = timedelta(seconds=2)
"""Clocks differ, and headers are in whole seconds."""

HOUR: Final = timedelta(hours=1)


def _counted_before(exchange: Exchange, history: History) -> Iterator[Previous]:
    """Yields the earlier requests that are counted together with this one, the newest first."""
    for before in history.of(*COUNTED):
        count = count_in(before)
        if count is not None and counted_alike(exchange, before):
            yield Previous(before, count)


def _first_of_hour(exchange: Exchange, history: History) -> datetime:
    """Returns the time of the first request that was seen of the same hour."""
    reset = proven(count_in(exchange)).reset
    same = (each for each in _counted_before(exchange, history) if each.headers.reset == reset)
    return min((each.exchange.at for each in same), default=exchange.at)


def _is_full_hour(moment: datetime) -> bool:
    return abs(moment - (moment + HOUR / 2).replace(minute=0, second=0, microsecond=0)) < SLACK


def ends_with_the_hour(exchange: Exchange, history: History) -> bool:
    """Tells whether the hour ends at minute zero, and began before its first request."""
    reset = proven(count_in(exchange)).reset
    began_earlier = reset - _first_of_hour(exchange, history) < HOUR - SLACK
    return _is_full_hour(reset) and began_earlier


def began_with_a_request(exchange: Exchange, history: History) -> bool:
    """Tells whether the hour ends at any minute, and has stayed as it was for an earlier request."""
    reset = proven(count_in(exchange)).reset
    is_older = exchange.at - _first_of_hour(exchange, history) >= SLACK
    return not _is_full_hour(reset) and is_older


def has_moved_on(exchange: Exchange, history: History) -> bool:
    """Tells whether the hour ends later than for the request before, although it had not ended."""
    before = next(_counted_before(exchange, history), None)
    if before is None or before.headers.reset <= exchange.at:
        return False
    return proven(count_in(exchange)).reset - before.headers.reset > SLACK
