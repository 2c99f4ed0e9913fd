"""An unknown query parameter changes nothing that a client can rely on."""

from dataclasses import replace

import orjson
import pytest
from tests.verify.exchanges import exchange_of

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import Response
from understudy.interface.operations import LOOKUP
from understudy.verify.history import History
from understudy.verify.rules.equivalent_requests import answers_alike

PROFILE = {"hash": "a", "links": [{"label": "b", "url": "1"}, {"label": "a", "url": "2"}]}
REORDERED = {"links": [{"url": "2", "label": "a"}, {"label": "b", "url": "1"}], "hash": "a"}


def lookup(query, body, number):
    """Returns a lookup with a query, and its response."""
    response = Response(200, (("content-type", "application/json"),), orjson.dumps(body))
    exchange = exchange_of("/profiles/ada", operation=LOOKUP, number=number, response=response)
    request = replace(exchange.request, url=f"{exchange.request.url}{query}")
    return replace(exchange, request=request)


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        (REORDERED, True),
        ({**PROFILE, "links": PROFILE["links"][:1]}, False),
        ({**PROFILE, "hash": "b"}, False),
    ],
    ids=["another order", "an item less", "another value"],
)
def test_the_order_of_members_and_items_is_no_change(body, holds):
    history = History(TARGET)
    history.add(lookup("", PROFILE, 1))
    assert answers_alike(lookup("?source=a", body, 2), history).holds == holds
