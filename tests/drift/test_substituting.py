"""A response gets one aspect of another, and keeps everything else."""

import orjson
import pytest
from tests.verify.exchanges import exchange_of

from understudy.drift.differences import aspects
from understudy.drift.judging import with_aspect
from understudy.exchange.messages import Response

JSON = ("content-type", "application/json")


def listing(body, *headers):
    """Returns an exchange that lists avatars."""
    response = Response(200, (JSON, *headers), orjson.dumps(body))
    return exchange_of("/me/avatars", operation="GET /me/avatars", response=response)


OWN = listing(
    [{"image_id": "a", "selected": True, "owner": {"name": "x"}}, {"image_id": "b", "owner": {}}],
    ("vary", "accept"),
)
OTHER = listing([{"image_id": 7, "owner": {"name": None}}], ("allow", "GET"))


@pytest.mark.parametrize(
    "aspect",
    [
        "header vary",
        "header allow",
        "member [].image_id",
        "member [].selected",
        "member [].owner.name",
    ],
)
def test_an_aspect_is_as_at_the_other_response_and_all_others_as_before(aspect):
    before, wanted = aspects(OWN), aspects(OTHER).get(aspect)
    after = aspects(with_aspect(OWN, aspect, OTHER))
    assert after.get(aspect) == wanted != before.get(aspect)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == {aspect}


def test_an_aspect_that_decides_the_others_brings_the_whole_response():
    refused = exchange_of("/me/avatars", operation="GET /me/avatars", status=404)
    assert with_aspect(OWN, "status", refused).response == refused.response


def test_the_code_of_an_error_brings_no_headers():
    refused = Response(404, (JSON, ("x-ratelimit-limit", "100")), b'{"code": "missing"}')
    other = Response(404, (JSON, ("x-ratelimit-limit", "1000")), b'{"code": "no-profile"}')
    exchange, elsewhere = (
        exchange_of("/profiles/a", operation="GET /profiles/{}", response=each)
        for each in (refused, other)
    )
    after = with_aspect(exchange, "error code", elsewhere).response
    assert (after.headers, after.body) == (refused.headers, other.body)
