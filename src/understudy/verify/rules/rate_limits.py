"""The hourly limits, judged by the headers of successive responses (interface, Limits)."""

import re
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.limit_headers import LIMIT_HEADERS, limit_headers_in
from understudy.interface.operations import (
    AVATARS,
    COUNTED,
    LOOKUP,
    OWN_PROFILE,
    QR_CODE,
    UPDATE_PROFILE,
)
from understudy.verify.causes import MOST_STEPS
from understudy.verify.checks import (
    CheckResult,
    check,
    expect,
    expect_equal,
    found,
    holds_profile,
    proven,
    succeeded,
    tells,
)
from understudy.verify.history import History, profile_in
from understudy.verify.pictures import picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rate_limit_history import (
    avatars_since,
    by_address,
    count_in,
    counted_before,
    has_count_headers,
    is_by_address,
    is_by_token,
    is_same_hour,
    is_too_many,
    is_within_limit,
    last_counted,
    nothing_was_left,
    others_since,
    previous,
    something_was_left,
    was_counted_before,
)
from understudy.verify.shapes import EDITABLE, schema_error
from understudy.verify.switches import PUT_BACK, error_form, experiment, reading

ANONYMOUS: Final = 100  # an hour; interface, Limits
AUTHENTICATED: Final = 1000
AN_HOUR: Final = timedelta(hours=1, seconds=1)
MOST: Final = 2000
"""Most requests that a probe sends to provoke a 429."""


def last_update(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the account's newest update."""
    account = exchange.identity.account
    updates = history.of(UPDATE_PROFILE)
    return next((each for each in updates if each.identity.account == account), None)


def update_was_too_many(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's last update was over the limit."""
    update = last_update(exchange, history)
    return update is not None and update.status == HTTPStatus.TOO_MANY_REQUESTS


def _profile_before(exchange: Exchange, history: History) -> Exchange | None:
    return history.last(OWN_PROFILE, UPDATE_PROFILE, account=exchange.identity.account)


profile_was_seen = found(_profile_before, "the account's profile was seen before")


def hour_is_used_up(exchange: Exchange, history: History) -> bool:
    """Tells whether the client's last counted request was over the limit."""
    counted = (each for each in history.near(*COUNTED) if each.identity == exchange.identity)
    return next((each.status == HTTPStatus.TOO_MANY_REQUESTS for each in counted), False)


def _limit_of(exchange: Exchange) -> int:
    """Returns the stated limit: a hundred requests an hour without a token, a thousand with one."""
    return ANONYMOUS if by_address(exchange) else AUTHENTICATED


def _expect_limit(exchange: Exchange, history: History) -> CheckResult:
    """Expects the stated limit; operators can arrange a higher one (interface, Limits, 3)."""
    limit, actual = _limit_of(exchange), proven(count_in(exchange)).limit
    if history.target.is_mock or actual < limit:
        return expect_equal(actual, limit, "X-RateLimit-Limit")
    return expect(condition=True, expected=f"{limit} or more")


def _expect_more(exchange: Exchange, history: History) -> CheckResult:
    """Judges a 429 that came while requests were left."""
    limit, before = _limit_of(exchange), proven(previous(exchange, history))
    actual = f"429 with {before.headers.remaining} left"
    result = expect(False, f"{limit} an hour", actual, before.exchange)  # noqa: FBT003 - never holds
    return result._replace(attempts=limit)


def _at_the_limit(result: CheckResult, exchange: Exchange, history: History) -> CheckResult:
    """Adds the request before, if known, which a reproduction repeats until the limit is used up."""
    last = previous(exchange, history)
    if last is None:
        return result
    return result._replace(evidence=(last.exchange,), attempts=last.headers.limit)


for _rule, _is_counted_so in (
    ("rate-limit-anonymous", is_by_address),
    ("rate-limit-authenticated", is_by_token),
):
    check(_rule, on=COUNTED, when=[_is_counted_so, has_count_headers], is_of_limits=True)(
        _expect_limit
    )
    check(
        _rule,
        on=COUNTED,
        when=[_is_counted_so, is_too_many, something_was_left],
        is_of_limits=True,
    )(_expect_more)


def _expect_too_many(exchange: Exchange, history: History) -> CheckResult:
    """Expects 429 if no request was left (interface, Errors)."""
    is_right = exchange.status == HTTPStatus.TOO_MANY_REQUESTS
    result = expect(is_right, "429", f"status {exchange.status} with nothing left")
    return _at_the_limit(result, exchange, history)


check("rate-limit-answer-429", on=[LOOKUP, QR_CODE], when=[nothing_was_left], is_of_limits=True)(
    _expect_too_many
)
# A choice, since only an assumption of ours counts the own profile.
check(
    "rate-limit-answer-429",
    on=[OWN_PROFILE, UPDATE_PROFILE],
    when=[nothing_was_left],
    is_of_limits=True,
    is_choice=True,
)(_expect_too_many)


@check("rate-limit-answer-429", on=COUNTED, when=[is_too_many], is_of_limits=True)
def refusal_has_error_body(exchange: Exchange, history: History) -> CheckResult:
    """A 429 has an Error as its body."""
    error = schema_error(exchange.body, "Error")
    return _at_the_limit(expect(not error, "429 with an Error", error), exchange, history)


@check("error-rate-limit", on=COUNTED, when=[is_too_many], is_of_limits=True, is_shape=True)
def refusal_has_its_code(exchange: Exchange, history: History) -> CheckResult:
    """A 429 has the code rate_limit_exceeded."""
    code = exchange.json_object.get("code")
    result = expect_equal(code, "rate_limit_exceeded", "the code")
    return _at_the_limit(result, exchange, history)


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
def avatars_are_never_limited(exchange: Exchange, _history: History) -> CheckResult:
    """The avatar API never gets 429, as it has no hourly limit."""
    return expect(condition=False, expected="no limit", actual=f"status {exchange.status}")


@check("avatar-operations-uncounted", on=AVATARS, when=[hour_is_used_up])
def avatars_are_served_over_the_limit(exchange: Exchange, _history: History) -> CheckResult:
    """The avatar API responds even after the client used up its hourly limit."""
    is_served = exchange.status != HTTPStatus.TOO_MANY_REQUESTS
    return expect(is_served, "no limit", f"status {exchange.status}")


def _use_up(client: ProbeClient, who: str, limit: int) -> bool:
    """Sends lookups until the limit is exceeded, and returns whether it was.

    Stops after the published limit if no header states how many requests are left.
    """
    path = f"/profiles/{client.known.slug}"
    for sent in range(MOST):
        exchange = client.get(path, who, is_exhausting=True)
        if exchange.status == HTTPStatus.TOO_MANY_REQUESTS:
            return True
        count = count_in(exchange)
        if count is None and sent > limit:
            return False
        if count is not None and count.remaining == 0:
            return client.get(path, who, is_exhausting=True).status == HTTPStatus.TOO_MANY_REQUESTS
    return False


@probe(
    "rate-limit-anonymous",
    "rate-limit-answer-429",
    "rate-limit-window",
    "error-rate-limit",
    needs=("slug", "exhaust"),
)
def hour_without_token(client: ProbeClient) -> None:
    """Uses up the hourly limit without a token, and enters the next hour if time can be moved."""
    _use_up(client, "anonymous", ANONYMOUS)
    if client.gateway.time.advance is not None:
        client.advance(AN_HOUR)
        client.get(f"/profiles/{client.known.slug}")


@probe(
    "rate-limit-authenticated",
    "rate-limit-answer-429",
    "rate-limit-window",
    "avatar-operations-uncounted",
    needs=("owner", "slug", "exhaust", "writes"),
)
def hour_with_token(client: ProbeClient) -> None:
    """Uses up the hourly limit with a token, then sends an update and lists avatars."""
    # An empty update first, so that the gateway knows the values to restore.
    client.send("PATCH", "/me/profile", "owner", json={})
    client.get("/me/profile", "owner")
    is_over = _use_up(client, "owner", AUTHENTICATED)
    own = client.get("/me/profile", "owner", is_exhausting=True) if is_over else None
    # else it would be carried out
    if own is not None and own.status == HTTPStatus.TOO_MANY_REQUESTS:
        update = {"location": "over the limit"}
        client.send("PATCH", "/me/profile", "owner", json=update, is_exhausting=True)
    if is_over:
        client.get("/me/avatars", "owner")
    if client.gateway.time.advance is not None:
        client.advance(AN_HOUR)
        client.get("/me/profile", "owner")


# What the hourly limits count, and when their hour ends (interface, Limits).

WINDOW: Final = timedelta(hours=1)
SLACK: Final = timedelta(seconds=5)
"""Allowed difference between the clocks of deployment and verify."""

LIMIT_HEADER: Final = re.compile(r"(x-)?rate-?limit")
"""Matches the beginning of header names that may be about a limit."""

OWNER = ("owner", "slug")


def avatars_were_requested(exchange: Exchange, history: History) -> bool:
    """Tells whether the client used the avatar API since its last counted request."""
    before = proven(previous(exchange, history)).exchange
    return bool(avatars_since(exchange, history, before))


def reset_is_ahead(exchange: Exchange, history: History) -> bool:
    """Tells whether the hour that an earlier response announced is not over."""
    last = last_counted(exchange, history)
    return last is not None and exchange.at < last.headers.reset - SLACK


def reset_is_over(exchange: Exchange, history: History) -> bool:
    """Tells whether the hour that an earlier response announced is over."""
    last = last_counted(exchange, history)
    return last is not None and exchange.at > last.headers.reset + SLACK


def must_have_count_headers(exchange: Exchange, _history: History) -> bool:
    """Tells whether the response must state how many requests are left.

    A 404 of the own profile need not, since it refuses the token rather than finding nobody.
    """
    is_known = exchange.identity.kind != "invalid" and exchange.identity.account != "disabled"
    is_unknown = exchange.status == HTTPStatus.NOT_FOUND and exchange.operation in {LOOKUP, QR_CODE}
    return is_known and (
        is_unknown or exchange.status in {HTTPStatus.OK, HTTPStatus.TOO_MANY_REQUESTS}
    )


@check(
    "rate-limit-counted-operations",
    on=COUNTED,
    when=[is_within_limit, has_count_headers, was_counted_before],
    is_of_limits=True,
)
def operation_is_counted(exchange: Exchange, history: History) -> CheckResult:
    """Each counted operation leaves fewer requests; at the mock, exactly one fewer."""
    before, counted = proven(previous(exchange, history))
    remaining = proven(count_in(exchange)).remaining
    steps = (before, *avatars_since(exchange, history, before)[-MOST_STEPS:])
    has_head = any(each.request.method == "HEAD" for each in history.since(before))
    if history.target.is_mock and not has_head:  # the mock counts HEAD as it counts GET
        return expect_equal(remaining, counted.remaining - 1, "what is left", *steps)
    actual = f"{counted.remaining}, then {remaining}"  # others may use the same limit
    return expect(remaining < counted.remaining, "fewer are left", actual, *steps)


@check(
    "avatar-operations-uncounted",
    on=[LOOKUP, QR_CODE, OWN_PROFILE],
    when=[is_by_token, has_count_headers, was_counted_before, avatars_were_requested],
)
def avatars_are_not_counted(exchange: Exchange, history: History) -> CheckResult:
    """Requests to the avatar API do not use up the hourly limit of other operations."""
    before, counted = proven(previous(exchange, history))
    between = avatars_since(exchange, history, before)
    remaining = proven(count_in(exchange)).remaining
    allowed = 1 + len(others_since(history, before))
    actual = f"{counted.remaining} left, then {remaining} after {len(between)} of them"
    is_right = counted.remaining - remaining <= allowed
    return expect(is_right, "requests to the avatar API use up none", actual, before, between[0])


@check("rate-limit-window", on=COUNTED, when=[has_count_headers], is_of_limits=True)
def reset_is_within_the_hour(exchange: Exchange, _history: History) -> CheckResult:
    """The reset is within the next hour."""
    reset = proven(count_in(exchange)).reset
    ended = exchange.at + timedelta(milliseconds=exchange.elapsed_ms)
    is_right = exchange.at - SLACK <= reset <= ended + WINDOW + SLACK
    return expect(is_right, "a reset within the hour", reset)


@check("rate-limit-window", on=COUNTED, when=[has_count_headers, reset_is_ahead], is_of_limits=True)
def reset_stays_the_same(exchange: Exchange, history: History) -> CheckResult:
    """The announced reset stays the same until it is reached."""
    last = proven(last_counted(exchange, history))
    reset = proven(count_in(exchange)).reset
    return expect_equal(reset, last.headers.reset, "the reset", last.exchange)


@check("rate-limit-window", on=COUNTED, when=[has_count_headers, reset_is_over], is_of_limits=True)
def new_hour_begins(exchange: Exchange, history: History) -> CheckResult:
    """After the reset a new hour begins, with the whole limit."""
    last, count = proven(last_counted(exchange, history)), proven(count_in(exchange))
    is_new = count.reset > last.headers.reset
    if by_address(exchange) and history.target.is_mock:  # all tokens of a person share one hour
        is_new = is_new and count.remaining == count.limit - 1
    return expect(is_new, "a new hour", f"{count.remaining} of {count.limit}", last.exchange)


@check(
    "rate-limit-headers",
    on=COUNTED,
    when=[must_have_count_headers],
    is_of_limits=True,
    is_shape=True,
)
def counted_response_has_headers(exchange: Exchange, _history: History) -> CheckResult:
    """A counted response has headers for limit, remaining and reset."""
    count = count_in(exchange)
    is_right = count is not None and count.remaining <= count.limit
    is_right = is_right and limit_header_names(exchange) == LIMIT_HEADERS[0]
    names = [name for name, _ in exchange.response.headers if LIMIT_HEADER.match(name)]
    return expect(is_right, "limit, remaining and reset in whole numbers", names)


def limit_header_names(exchange: Exchange) -> str:
    """Returns the option of the switch: how the names of the three headers begin."""
    headers = limit_headers_in(exchange.response.header)
    return headers[0] if headers else "no headers for limit, remaining and reset"


@probe("rate-limit-counted-operations", "rate-limit-window", "rate-limit-headers", needs=OWNER)
def counts_of_successive_responses(client: ProbeClient) -> Parts:
    """Sends the counted operations one after the other, without and with a token."""
    path = client.known.slug
    client.get(f"/profiles/{path}")
    client.get(f"/qr-code/{path}")
    yield client.get(f"/profiles/{path}")
    client.get(f"/profiles/{path}", "owner")
    client.get("/me/profile", "owner")
    yield client.get(f"/profiles/{path}", "owner")


@probe("avatar-operations-uncounted", needs=OWNER)
def list_between_two_lookups(client: ProbeClient) -> None:
    """Lists avatars between two counted requests."""
    client.get(f"/profiles/{client.known.slug}", "owner")
    client.get("/me/avatars", "owner")
    client.get(f"/profiles/{client.known.slug}", "owner")


@probe("avatar-operations-uncounted", needs=(*OWNER, "writes", "uploads"))
def avatar_changes_between_lookups(client: ProbeClient) -> None:
    """Uploads, updates and deletes an avatar between counted requests."""
    client.get(f"/profiles/{client.known.slug}", "owner")
    image = str(upload(client, picture(), select_avatar="false").json_object.get("image_id"))
    client.get(f"/profiles/{client.known.slug}", "owner")
    client.send("PATCH", f"/me/avatars/{image}", "owner", json={"rating": "PG"})
    client.get(f"/profiles/{client.known.slug}", "owner")
    client.send("DELETE", f"/me/avatars/{image}", "owner")
    client.get(f"/profiles/{client.known.slug}", "owner")


@probe("rate-limit-counted-operations", needs=(*OWNER, "writes"))
def update_between_two_lookups(client: ProbeClient) -> None:
    """Updates the own profile between two lookups."""
    client.get(f"/profiles/{client.known.slug}", "owner")
    client.send("PATCH", "/me/profile", "owner", json={})
    client.get(f"/profiles/{client.known.slug}", "owner")


# When the hour of a limit begins, as the headers of successive responses show.

CLOCK_SLACK: Final = timedelta(seconds=2)
"""Allowed difference, since clocks differ and headers have whole seconds."""


def _first_of_hour(exchange: Exchange, history: History) -> datetime:
    """Returns when the first request that was seen in the same hour was sent."""
    count = proven(count_in(exchange))
    same = (each for each in counted_before(exchange, history) if is_same_hour(each.headers, count))
    return min((each.exchange.at for each in same), default=exchange.at)


def _is_full_hour(moment: datetime) -> bool:
    nearest = (moment + WINDOW / 2).replace(minute=0, second=0, microsecond=0)
    return abs(moment - nearest) < CLOCK_SLACK


def ends_within_an_hour(exchange: Exchange, _history: History) -> bool:
    """Tells whether the reset is within an hour, as it is unless the clock was put back."""
    left = proven(count_in(exchange)).reset - exchange.at
    return left <= WINDOW + timedelta(milliseconds=exchange.elapsed_ms) + CLOCK_SLACK


def ends_with_the_hour(exchange: Exchange, history: History) -> bool:
    """Tells whether the reset is at minute zero, less than an hour after the first request."""
    reset = proven(count_in(exchange)).reset
    began_earlier = reset - _first_of_hour(exchange, history) < WINDOW - CLOCK_SLACK
    return _is_full_hour(reset) and began_earlier


def began_with_a_request(exchange: Exchange, history: History) -> bool:
    """Tells whether the reset is not at minute zero, and the same as for an earlier request."""
    reset = proven(count_in(exchange)).reset
    is_older = exchange.at - _first_of_hour(exchange, history) >= CLOCK_SLACK
    return not _is_full_hour(reset) and is_older


def has_moved_on(exchange: Exchange, history: History) -> bool:
    """Tells whether the reset is later than announced before, although that was still ahead."""
    before = last_counted(exchange, history)
    ended = exchange.at + timedelta(milliseconds=exchange.elapsed_ms) + CLOCK_SLACK
    if before is None or before.headers.reset <= ended:
        return False  # the request may have been the first of the next hour
    return proven(count_in(exchange)).reset - before.headers.reset > CLOCK_SLACK


is_served = tells(
    "the request was answered although the limit is used up",
    lambda it, _: it.status != HTTPStatus.TOO_MANY_REQUESTS,
)


for _option, _ends in (
    ("clock-hour", ends_with_the_hour),
    ("first-request", began_with_a_request),
    ("a sliding hour", has_moved_on),
):
    reading(
        "rate-limit-window",
        on=COUNTED,
        when=[has_count_headers, ends_within_an_hour, _ends],
        read=_option,
    )
reading("rate-limit-anonymous", on=COUNTED, when=[is_too_many], read="on", is_of_limits=True)
reading(
    "rate-limit-anonymous",
    on=COUNTED,
    when=[has_count_headers, nothing_was_left, is_served, succeeded],
    read="warn",
)
reading("rate-limit-headers", on=COUNTED, when=[must_have_count_headers], read=limit_header_names)
reading("error-rate-limit", on=COUNTED, when=[is_too_many], read=error_form, is_of_limits=True)


@experiment("rate-limit-window", needs=("slug",), requests=2, undo=PUT_BACK)
def two_lookups(client: ProbeClient) -> None:
    """Looks the test account up twice; if time can be moved, in a new hour and minutes apart."""
    path = f"/profiles/{client.known.slug}"
    for span in (timedelta(hours=1, minutes=7, seconds=7), timedelta(minutes=7, seconds=7)):
        if client.gateway.time.advance is not None:
            client.advance(span)
        client.get(path)
