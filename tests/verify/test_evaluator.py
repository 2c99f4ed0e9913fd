"""When a read and its response repeat an earlier exchange, as where a limit is used up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from tests.verify.exchanges import exchange_of
from tests.verify.test_implied import Rewriting

from understudy.exchange.messages import Exchange, Identity, Response, headers_of
from understudy.interface.operations import LOOKUP
from understudy.verify.evaluator import repeats

BEGIN = datetime(2030, 1, 1, tzinfo=UTC)


def lookup(number: int, *, body: bytes = b"{}", seconds: float = 0, **headers: str) -> Exchange:
    sent = {"date": f"now {number}", "x-ratelimit-remaining": str(1000 - number), **headers}
    return exchange_of(
        "/profiles/ada",
        number=number,
        operation=LOOKUP,
        at=BEGIN + timedelta(seconds=seconds),
        response=Response(200, headers_of(sent.items()), body),
    )


def test_a_date_and_the_count_of_requests_are_no_difference() -> None:
    assert repeats(lookup(2), lookup(1))


@pytest.mark.parametrize(
    "other",
    [
        lookup(2, body=b"[]"),
        lookup(2, etag='"another"'),
        lookup(2, ratelimit="soon"),
        lookup(2, seconds=60),
        lookup(2, seconds=-1),
        replace(lookup(2), response=replace(lookup(2).response, status=404)),
        replace(lookup(2), identity=Identity("owner")),
        replace(lookup(2), request=exchange_of("/profiles/bob").request),
    ],
)
def test_another_response_request_client_or_minute_is_one(other: Exchange) -> None:
    assert not repeats(other, lookup(1))


@pytest.mark.parametrize("method", ["HEAD", "PATCH"])
def test_only_reads_repeat(method: str) -> None:
    one, two = (exchange_of("/me/profile", method=method, number=each) for each in (1, 2))
    assert not repeats(two, one)


@pytest.mark.parametrize("number", [2, 500])
def test_a_response_that_differs_while_a_limit_is_used_up_is_judged_in_full(
    verify_on, wire, number: int
) -> None:
    lookups = 0

    def rewrite(request: httpx.Request, response: httpx.Response) -> httpx.Response | None:
        nonlocal lookups
        is_lookup = "/profiles/" in request.url.path and response.status_code == 200
        lookups += is_lookup and "authorization" in request.headers
        if not is_lookup or lookups != number:
            return None
        headers = {"content-type": "application/json", **limits_in(response)}
        return httpx.Response(200, headers=headers, json={"hash": "none"})

    rules = ("rate-limit-authenticated", "profile-required-members")
    outcome = verify_on(Rewriting(wire, rewrite), rules=rules)
    failed = {it.rule.id: it.checks for it in outcome.rules if it.status == "failed"}
    assert lookups > 900
    assert failed.keys() == {"profile-required-members"}


def test_a_response_that_stays_the_same_is_judged_by_its_count_alone(verify) -> None:
    rules = ("rate-limit-authenticated", "profile-required-members")
    checks = {it.rule.id: it.checks for it in verify(rules=rules).rules}
    assert checks["rate-limit-authenticated"] > 900
    assert 0 < checks["profile-required-members"] < 100


def limits_in(response: httpx.Response) -> dict[str, str]:
    return {name: text for name, text in response.headers.items() if "ratelimit" in name}
