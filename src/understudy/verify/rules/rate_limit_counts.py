"""Judges what the hourly limits count, and when their hour ends (interface, Limits)."""

import re
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.limit_headers import LIMIT_HEADERS, limit_headers_in
from understudy.interface.operations import COUNTED, LOOKUP, QR_CODE
from understudy.verify.causes import MOST_STEPS
from understudy.verify.checks import TOO_MANY, CheckResult, check, expect, expect_equal, proven
from understudy.verify.history import History
from understudy.verify.pictures import picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rate_limit_history import (
    avatars_since,
    by_address,
    count_in,
    has_count_headers,
    is_by_token,
    is_within_limit,
    last_counted,
    others_since,
    previous,
    was_counted_before,
)

WINDOW: Final = timedelta(hours=1)
SLACK: Final = timedelta(seconds=5)
"""The difference that is allowed between the deployment's clock and that of verify."""

LIMIT_HEADER: Final = re.compile(r"(x-)?rate-?limit")
"""The beginning of the name of a header that may be about a limit."""

OWNER = ("owner", "slug")


def avatars_were_requested(exchange: Exchange, history: History) -> bool:
    """Tells whether the client used the avatar API since it was counted."""
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

    An own profile that is not found is a refusal, such as that of a token without the scope.
    """
    is_known = exchange.identity.kind != "invalid" and exchange.identity.account != "disabled"
    is_unknown = exchange.status == HTTPStatus.NOT_FOUND and exchange.operation in {LOOKUP, QR_CODE}
    return is_known and (is_unknown or exchange.status in {HTTPStatus.OK, TOO_MANY})


@check(
    "rate-limit-counted-operations",
    on=COUNTED,
    when=[is_within_limit, has_count_headers, was_counted_before],
    is_of_limits=True,
)
def operation_is_counted(exchange: Exchange, history: History) -> CheckResult:
    """Each counted operation leaves fewer requests; at the mock, just one fewer."""
    before, counted = proven(previous(exchange, history))
    remaining = proven(count_in(exchange)).remaining
    steps = (before, *avatars_since(exchange, history, before)[-MOST_STEPS:])
    if history.target.is_mock:
        return expect_equal(remaining, counted.remaining - 1, "what is left", *steps)
    actual = f"{counted.remaining}, then {remaining}"  # others may use the same limit
    return expect(remaining < counted.remaining, "fewer are left", actual, *steps)


@check(
    "avatar-operations-uncounted",
    on=COUNTED,
    when=[is_by_token, has_count_headers, was_counted_before, avatars_were_requested],
)
def avatars_are_not_counted(exchange: Exchange, history: History) -> CheckResult:
    """Requests to the avatar API use up nothing."""
    before, counted = proven(previous(exchange, history))
    between = avatars_since(exchange, history, before)
    remaining = proven(count_in(exchange)).remaining
    allowed = 1 + len(others_since(history, before))
    actual = f"{counted.remaining}, then {remaining} after {len(between)} of them"
    is_right = counted.remaining - remaining <= allowed
    return expect(is_right, "none is used up", actual, before, between[0])


@check("rate-limit-window", on=COUNTED, when=[has_count_headers], is_of_limits=True)
def reset_is_within_the_hour(exchange: Exchange, _history: History) -> CheckResult:
    """The reset is within the next hour."""
    reset = proven(count_in(exchange)).reset
    is_right = exchange.at - SLACK <= reset <= exchange.at + WINDOW + SLACK
    return expect(is_right, "a reset within the hour", reset)


@check("rate-limit-window", on=COUNTED, when=[has_count_headers, reset_is_ahead], is_of_limits=True)
def reset_stays_the_same(exchange: Exchange, history: History) -> CheckResult:
    """The reset stays the same until it is over."""
    last = proven(last_counted(exchange, history))
    reset = proven(count_in(exchange)).reset
    return expect_equal(reset, last.headers.reset, "the reset", last.exchange)


@check("rate-limit-window", on=COUNTED, when=[has_count_headers, reset_is_over], is_of_limits=True)
def new_hour_begins(exchange: Exchange, history: History) -> CheckResult:
    """After the reset a new hour begins, with the whole limit."""
    last, count = proven(last_counted(exchange, history)), proven(count_in(exchange))
    is_new = count.reset > last.headers.reset
    if by_address(exchange) and history.target.is_mock:  # a token shares its person's hour
        is_new = is_new and count.remaining == count.limit - 1
    return expect(is_new, "a new hour", f"{count.remaining} of {count.limit}", last.exchange)


@check("rate-limit-headers", on=COUNTED, when=[must_have_count_headers], is_of_limits=True)
def counted_response_has_headers(exchange: Exchange, _history: History) -> CheckResult:
    """A counted response has the headers for limit, remaining and reset."""
    count = count_in(exchange)
    is_right = count is not None and count.remaining <= count.limit
    is_right = is_right and limit_header_names(exchange) == LIMIT_HEADERS[0]
    names = [name for name, _ in exchange.response.headers if LIMIT_HEADER.match(name)]
    return expect(is_right, "limit, remaining and reset in whole numbers", names)


def limit_header_names(exchange: Exchange) -> str:
    """Returns what the names of the three headers begin with, as a switch takes them."""
    headers = limit_headers_in(exchange.response.header)
    return headers[0] if headers else "no headers for limit, remaining and reset"


@probe(*("rate-limit-counted-operations", "rate-limit-window", "rate-limit-headers"), needs=OWNER)
def counts_of_successive_responses(client: ProbeClient) -> Parts:
    """Sends each counted operation and compares what is left."""
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
    """Uploads, changes and deletes an avatar between counted requests."""
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
