"""The hourly limits, judged by what the headers of successive answers say (interface, Limits)."""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import AVATARS, COUNTED, OWN_PROFILE, QR_CODE, UPDATE_PROFILE
from understudy.verify.checks import TOO_MANY, CheckResult, check, expect, expect_equal
from understudy.verify.history import History, profile_in
from understudy.verify.shapes import EDITABLE, fault

ANONYMOUS: Final = 100  # an hour; interface, Limits
AUTHENTICATED: Final = 1000
WINDOW: Final = timedelta(hours=1)
UNAUTHORIZED: Final = 401
SLACK: Final = timedelta(seconds=5)
"""Between the deployment's clock and ours."""


class Count(NamedTuple):
    """What the three headers of an answer say."""

    limit: int
    remaining: int
    reset: datetime


def count_in(exchange: Exchange) -> Count | None:
    """Returns what an answer's headers say; None where they do not all say it.

    Nor do they of a refused credential: whom such a request is counted for is nowhere said.
    """
    if exchange.status == UNAUTHORIZED:
        return None
    texts = [
        exchange.response.header(f"x-ratelimit-{name}") for name in ("limit", "remaining", "reset")
    ]
    if not all(text.isdecimal() and text.isascii() and len(text) < 12 for text in texts):  # noqa: PLR2004 - digits
        return None
    limit, remaining, reset = map(int, texts)
    return Count(limit, remaining, datetime.fromtimestamp(reset, UTC))


def is_anonymous(exchange: Exchange) -> bool:
    """Tells whether a request is counted by address; a QR code always is."""
    return exchange.identity.kind == "none" or exchange.operation == QR_CODE


def _is_counted_alike(exchange: Exchange, before: Exchange) -> bool:
    if is_anonymous(exchange) or is_anonymous(before):
        return is_anonymous(exchange) and is_anonymous(before)
    return exchange.identity.name == before.identity.name


def _previous(exchange: Exchange, history: History) -> tuple[Exchange, Count] | None:
    """Returns the request counted last in the same window, if no other credential came between."""
    count = count_in(exchange)
    for before in history.of(*COUNTED):
        if is_anonymous(before) != is_anonymous(exchange):
            continue
        found = count_in(before)
        if found is None:
            if before.status in {200, 404, TOO_MANY}:
                return None
            continue  # refused before it was counted
        is_same = exchange.at < found.reset if count is None else found.reset == count.reset
        return (before, found) if is_same and _is_counted_alike(exchange, before) else None
    return None


def _of_kind(exchange: Exchange, kind: str) -> bool:
    if kind == "anonymous":
        return is_anonymous(exchange)
    return not is_anonymous(exchange) and exchange.identity.kind in {"oauth", "api_key"}


@check("rate-limit-anonymous", on=COUNTED, is_of_limits=True)
def _anonymous(exchange: Exchange, history: History) -> CheckResult | None:
    return _limit(exchange, history, ANONYMOUS) if _of_kind(exchange, "anonymous") else None


@check("rate-limit-authenticated", on=COUNTED, is_of_limits=True)
def _authenticated(exchange: Exchange, history: History) -> CheckResult | None:
    return _limit(exchange, history, AUTHENTICATED) if _of_kind(exchange, "token") else None


def _limit(exchange: Exchange, history: History, limit: int) -> CheckResult | None:
    previous = _previous(exchange, history)
    if previous is not None and exchange.status == TOO_MANY and previous[1].remaining > 0:
        actual = f"429 with {previous[1].remaining} left"
        return expect(condition=False, expected=f"{limit} an hour", actual=actual)
    count = count_in(exchange)
    if count is None:
        return None
    return expect_equal(count.limit, limit, "X-RateLimit-Limit")


@check("rate-limit-answer-429", on=COUNTED, is_of_limits=True)
def _answer(exchange: Exchange, history: History) -> CheckResult | None:
    previous = _previous(exchange, history)
    if previous is not None and previous[1].remaining == 0 and exchange.status != TOO_MANY:
        actual = f"status {exchange.status} with nothing left"
        return expect(condition=False, expected="429", actual=actual)
    if exchange.status != TOO_MANY:
        return None
    wrong = fault(exchange.body, "Error")
    return expect(not wrong, "429 with an Error", wrong)


@check("rate-limit-answer-429", on=[OWN_PROFILE])
def _changes_nothing(exchange: Exchange, history: History) -> CheckResult | None:
    account = exchange.identity.account
    for update in history.of(UPDATE_PROFILE):
        if update.identity.account != account or not profile_in(exchange):
            continue
        before = history.last(OWN_PROFILE, UPDATE_PROFILE, account=account)
        if update.status != TOO_MANY or before is None:
            return None
        profile = profile_in(exchange)
        changed = [n for n in EDITABLE if profile.get(n) != profile_in(before).get(n)]
        return expect(not changed, "a 429 changes nothing", changed, before, update)
    return None


@check("rate-limit-counted-operations", on=COUNTED, is_of_limits=True)
def _counted(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.status == TOO_MANY or exchange.identity.kind == "invalid":
        return None
    previous, count = _previous(exchange, history), count_in(exchange)
    if previous is None or count is None:
        return None
    before, counted = previous
    if not history.target.ours:
        is_less = count.remaining < counted.remaining
        return expect(
            is_less, "fewer are left", f"{counted.remaining}, then {count.remaining}", before
        )
    return expect_equal(count.remaining, counted.remaining - 1, "what is left", before)


@check("avatar-operations-uncounted", on=COUNTED)
def _uncounted(exchange: Exchange, history: History) -> CheckResult | None:
    previous, count = _previous(exchange, history), count_in(exchange)
    if previous is None or count is None or is_anonymous(exchange):
        return None
    before, counted = previous
    since = [other for other in history.exchanges if other.number > before.number]
    between = [
        other
        for other in since
        if other.operation in AVATARS and other.identity == exchange.identity
    ]
    if not between:
        return None
    # another token may be of the same account, and what is not said to be counted may be counted
    others = [
        other
        for other in since
        if other.site == "resource" and other.operation not in AVATARS and not is_anonymous(other)
    ]
    actual = f"{counted.remaining}, then {count.remaining} after {len(between)} of them"
    is_right = counted.remaining - count.remaining <= 1 + len(others)
    return expect(is_right, "none is used up", actual, before, between[0])


@check("avatar-operations-uncounted", on=AVATARS, is_of_limits=True)
def _never_limited(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.status != TOO_MANY:
        return None
    return expect(condition=False, expected="no limit", actual="429")


@check("rate-limit-window", on=COUNTED, is_of_limits=True)
def _window(exchange: Exchange, history: History) -> CheckResult | None:
    count = count_in(exchange)
    if count is None:
        return None
    if not exchange.at - SLACK <= count.reset <= exchange.at + WINDOW + SLACK:
        return expect(condition=False, expected="a reset within the hour", actual=count.reset)
    for before in history.of(*COUNTED):
        found = count_in(before)
        if found is None or not _is_counted_alike(exchange, before):
            continue
        if exchange.at < found.reset - SLACK:
            return expect_equal(count.reset, found.reset, "the reset", before)
        if exchange.at > found.reset + SLACK:
            is_new = count.reset > found.reset
            if is_anonymous(exchange) and history.target.ours:  # a token shares its person's hour
                is_new = is_new and count.remaining == count.limit - 1
            return expect(is_new, "a new hour", f"{count.remaining} of {count.limit}", before)
        return None
    return None


@check("rate-limit-headers", on=COUNTED, is_of_limits=True)
def _headers(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.status not in {200, 404, TOO_MANY} or exchange.identity.kind == "invalid":
        return None
    if exchange.identity.account == "disabled":
        return None
    count = count_in(exchange)
    is_right = count is not None and count.remaining <= count.limit
    names = [name for name, _ in exchange.response.headers if name.startswith("x-ratelimit")]
    return expect(is_right, "limit, remaining and reset in whole numbers", names)
