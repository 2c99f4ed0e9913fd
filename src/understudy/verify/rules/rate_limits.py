"""The hourly limits, judged by what the headers of successive responses say (interface, Limits)."""

from datetime import timedelta
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import AVATARS, COUNTED, OWN_PROFILE, UPDATE_PROFILE
from understudy.verify.checks import (
    TOO_MANY,
    CheckResult,
    check,
    expect,
    expect_equal,
    holds_profile,
    proven,
)
from understudy.verify.history import History, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import probe
from understudy.verify.rate_limit_history import (
    count_in,
    has_count_headers,
    is_by_address,
    is_by_token,
    is_too_many,
    nothing_was_left,
    previous,
    something_was_left,
)
from understudy.verify.shapes import EDITABLE, fault

ANONYMOUS: Final = 100  # an hour; interface, Limits
AUTHENTICATED: Final = 1000
AN_HOUR: Final = timedelta(hours=1, seconds=1)
MOST: Final = 2000
"""Requests after which a 429 is not waited for any more."""


def last_update(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the account's newest update."""
    account = exchange.identity.account
    updates = history.of(UPDATE_PROFILE)
    return next((each for each in updates if each.identity.account == account), None)


def update_was_too_many(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's last update was over the limit."""
    update = last_update(exchange, history)
    return update is not None and update.status == TOO_MANY


def profile_was_seen(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's profile was seen before."""
    return _profile_before(exchange, history) is not None


def _profile_before(exchange: Exchange, history: History) -> Exchange | None:
    return history.last(OWN_PROFILE, UPDATE_PROFILE, account=exchange.identity.account)


def hour_is_used_up(exchange: Exchange, history: History) -> bool:
    """Tells whether the client's last counted request was over the limit."""
    counted = (each for each in history.near(*COUNTED) if each.identity == exchange.identity)
    return next((each.status == TOO_MANY for each in counted), False)


def _expect_limit(exchange: Exchange, limit: int) -> CheckResult:
    return expect_equal(proven(count_in(exchange)).limit, limit, "X-RateLimit-Limit")


def _expect_more(exchange: Exchange, history: History, limit: int) -> CheckResult:
    before = proven(previous(exchange, history))
    actual = f"429 with {before.headers.remaining} left"
    result = expect(False, f"{limit} an hour", actual, before.exchange)  # noqa: FBT003 - never holds
    return result._replace(attempts=limit)


@check(
    "rate-limit-anonymous", on=COUNTED, when=[is_by_address, has_count_headers], is_of_limits=True
)
def limit_without_token(exchange: Exchange, _history: History) -> CheckResult:
    """A hundred requests an hour are allowed without a token."""
    return _expect_limit(exchange, ANONYMOUS)


@check(
    "rate-limit-anonymous",
    on=COUNTED,
    when=[is_by_address, is_too_many, something_was_left],
    is_of_limits=True,
)
def no_early_429_without_token(exchange: Exchange, history: History) -> CheckResult:
    """As long as requests are left without a token, none is too many."""
    return _expect_more(exchange, history, ANONYMOUS)


@check(
    "rate-limit-authenticated", on=COUNTED, when=[is_by_token, has_count_headers], is_of_limits=True
)
def limit_with_token(exchange: Exchange, _history: History) -> CheckResult:
    """A thousand requests an hour are allowed with a token."""
    return _expect_limit(exchange, AUTHENTICATED)


@check(
    "rate-limit-authenticated",
    on=COUNTED,
    when=[is_by_token, is_too_many, something_was_left],
    is_of_limits=True,
)
def no_early_429_with_token(exchange: Exchange, history: History) -> CheckResult:
    """As long as requests are left with a token, none is too many."""
    return _expect_more(exchange, history, AUTHENTICATED)


@check("rate-limit-answer-429", on=COUNTED, when=[nothing_was_left], is_of_limits=True)
def limit_is_enforced(exchange: Exchange, history: History) -> CheckResult:
    """Where no request is left, the next one is too many."""
    is_right = exchange.status == TOO_MANY
    before, count = proven(previous(exchange, history))
    actual = f"status {exchange.status} with nothing left"
    return expect(is_right, "429", actual, before)._replace(attempts=count.limit)


@check("rate-limit-answer-429", on=COUNTED, when=[is_too_many], is_of_limits=True)
def refusal_has_error_body(exchange: Exchange, history: History) -> CheckResult:
    """A 429 has an Error as its body."""
    error, last = fault(exchange.body, "Error"), previous(exchange, history)
    if last is None:
        return expect(not error, "429 with an Error", error)
    result = expect(not error, "429 with an Error", error, last.exchange)
    return result._replace(attempts=last.headers.limit)


@check("error-rate-limit", on=COUNTED, when=[is_too_many], is_of_limits=True, is_shape=True)
def refusal_has_its_code(exchange: Exchange, history: History) -> CheckResult:
    """A 429 has the code rate_limit_exceeded."""
    code, last = exchange.json_object.get("code"), previous(exchange, history)
    if last is None:
        return expect_equal(code, "rate_limit_exceeded", "the code")
    result = expect_equal(code, "rate_limit_exceeded", "the code", last.exchange)
    return result._replace(attempts=last.headers.limit)


@check(
    "rate-limit-answer-429",
    on=[OWN_PROFILE],
    when=[holds_profile, update_was_too_many, profile_was_seen],
)
def refused_update_changes_nothing(exchange: Exchange, history: History) -> CheckResult:
    """An update over the limit changes nothing."""
    before, profile = proven(_profile_before(exchange, history)), profile_in(exchange)
    changed = [name for name in EDITABLE if profile.get(name) != profile_in(before).get(name)]
    update, count = last_update(exchange, history), count_in(before)
    result = expect(not changed, "a 429 changes nothing", changed, before, update)
    return result._replace(attempts=count.limit if count else 1, is_timed=True)


@check("avatar-operations-uncounted", on=AVATARS, when=[is_too_many], is_of_limits=True)
def avatars_are_never_too_many(exchange: Exchange, _history: History) -> CheckResult:
    """The avatar API has no such limit."""
    return expect(condition=False, expected="no limit", actual=f"status {exchange.status}")


@check("avatar-operations-uncounted", on=AVATARS, when=[hour_is_used_up])
def avatars_are_served_over_the_limit(exchange: Exchange, _history: History) -> CheckResult:
    """The avatar API is served although the client's hour is used up."""
    is_served = exchange.status != TOO_MANY
    return expect(is_served, "no limit", f"status {exchange.status}")


def _use_up(client: ProbeClient, who: str) -> bool:
    """Looks up until the limit is exceeded; tells whether it was."""
    path = f"/profiles/{client.known.slug}"
    for _ in range(MOST):
        exchange = client.get(path, who, is_exhausting=True)
        if exchange.status == TOO_MANY:
            return True
        count = count_in(exchange)
        if count is None:
            return False
        if count.remaining == 0:
            return client.get(path, who, is_exhausting=True).status == TOO_MANY
    return False


@probe(
    *("rate-limit-anonymous", "rate-limit-answer-429", "rate-limit-window", "error-rate-limit"),
    needs=("slug", "exhaust"),
)
def hour_without_token(client: ProbeClient) -> None:
    """Uses the hour up without a token, and goes to the next one where time can be moved."""
    _use_up(client, "anonymous")
    if client.gateway.time.advance is not None:
        client.advance(AN_HOUR)
        client.get(f"/profiles/{client.known.slug}")


@probe(
    *("rate-limit-authenticated", "rate-limit-answer-429", "rate-limit-window"),
    "avatar-operations-uncounted",
    needs=("owner", "slug", "exhaust", "writes"),
)
def hour_with_token(client: ProbeClient) -> None:
    """Uses the hour up with a token; an update is refused then, and avatars are still listed."""
    # an update of nothing first, so that the gateway knows what to put back
    client.send("PATCH", "/me/profile", "owner", json={})
    client.get("/me/profile", "owner")
    if _use_up(client, "owner"):
        update = {"location": "over the limit"}
        client.send("PATCH", "/me/profile", "owner", json=update, is_exhausting=True)
        client.get("/me/avatars", "owner")
    if client.gateway.time.advance is not None:
        client.advance(AN_HOUR)
        client.get("/me/profile", "owner")
