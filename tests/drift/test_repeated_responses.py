"""A deployment that repeats responses is told by what the requests have in common."""

from dataclasses import replace
from typing import Any

import pytest
from tests.verify.exchanges import BASE_URL, exchange_of

from understudy.drift.differences import Compared
from understudy.drift.judging import guess_of
from understudy.exchange.messages import Exchange, Request, Response

READS = [
    (path, who, query)
    for path in ("/profiles/ada", "/qr-code/ada")
    for who in ("ada-full", "ben-full")
    for query in ("", "?size=1", "?size=2")
]


def read(number: int, path: str, who: str, query: str, text: str) -> Exchange:
    headers = (("authorization", f"Bearer {who}"),)
    exchange = exchange_of(path, number=number, operation=f"GET {path}")
    identity = replace(exchange.identity, name=who)
    request = Request("GET", BASE_URL + path + query, headers)
    response = Response(200, (), text.encode())
    return replace(exchange, identity=identity, request=request, response=response)


def rows(*seen: Any) -> list[Compared]:
    """Returns what is compared where a deployment tells requests apart by these parts of them alone."""
    compared = []
    for number, parts in enumerate(READS, start=1):
        own = read(number, *parts, text=" ".join(parts[at] for at in seen))
        other = read(number, *parts, text=" ".join(parts))
        compared.append(Compared(own, own, other))
    return compared


@pytest.mark.parametrize(
    ("seen", "root"),
    [((0,), "repeated-for-path"), ((0, 2), "repeated-for-url"), ((0, 1), "repeated-for-caller")],
)
def test_what_responses_depend_on_is_named(seen, root):
    guess = guess_of(rows(*seen))
    assert guess is not None
    assert guess.id == root


def test_a_deployment_that_tells_requests_apart_repeats_nothing():
    assert guess_of(rows(0, 1, 2)) is None


def test_a_fault_of_one_operation_is_named_by_its_rule():
    assert guess_of([row for row in rows(0) if row.first.path == "/qr-code/ada"]) is None


def test_a_caller_who_gets_one_response_to_everything_is_named():
    refused = [
        row._replace(first=replace(row.first, response=Response(404)))
        if row.first.identity.name == "ben-full"
        else row
        for row in rows(0, 1, 2)
    ]
    guess = guess_of(refused)
    assert guess is not None
    assert guess.id == "one-response-to-caller"
