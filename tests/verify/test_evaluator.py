"""When a read and its response repeat an earlier exchange, as where a limit is used up."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.verify.exchanges import exchange_of

from understudy.exchange.messages import Exchange, Identity, Response, headers_of
from understudy.interface.operations import LOOKUP
from understudy.verify.evaluator import repeats

BEGIN = datetime(2030, 1, 1, tzinfo=UTC)


def lookup(number: int, *, body: bytes = b"{}", seconds: float = 0, **headers: str) -> Exchange:
    sent = {"content-type": "application/json", "date": f"now {number}", **headers}
    sent["x-ratelimit-remaining"] = str(1000 - number)
    return exchange_of(
        "/profiles/ada",
        number=number,
        operation=LOOKUP,
        values=("ada",),
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
        lookup(2, seconds=60),
        lookup(2, seconds=-1),
        exchange_of("/profiles/ada", number=2, operation=LOOKUP, status=404),
        exchange_of("/profiles/ada", number=2, operation=LOOKUP, identity=Identity("owner")),
        exchange_of("/profiles/bob", number=2, operation=LOOKUP),
    ],
)
def test_another_response_request_client_or_minute_is_one(other: Exchange) -> None:
    assert not repeats(other, lookup(1))


def test_a_write_is_no_repetition() -> None:
    one, two = (exchange_of("/me/profile", method="PATCH", number=each) for each in (1, 2))
    assert not repeats(two, one)
