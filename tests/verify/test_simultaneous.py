"""Requests sent at the same moment, and the order in which they are judged."""

import orjson
from tests.verify.exchanges import BASE_URL, exchange_of

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import Request, Response
from understudy.verify.history import in_order_of_effect
from understudy.verify.probe_client import ProbeClient

JSON = (("content-type", "application/json"),)


def an_update(changes, shown, status=200):
    request = Request("PATCH", f"{BASE_URL}/me/profile", JSON, orjson.dumps(changes))
    response = Response(status, JSON, orjson.dumps(shown))
    return exchange_of("/me/profile", method="PATCH", request=request, response=response)


def test_a_response_that_shows_the_other_change_comes_second():
    second = an_update({"company": "new"}, {"job_title": "new", "company": "new"})
    first = an_update({"job_title": "new"}, {"job_title": "new", "company": ""})
    assert in_order_of_effect([second, first]) == [first, second]


def test_a_refusal_comes_after_a_success():
    refused, accepted = an_update({}, {}, status=409), an_update({}, {})
    assert in_order_of_effect([refused, accepted]) == [accepted, refused]


def test_requests_are_sent_together_and_numbered_in_order(gateway):
    client = ProbeClient(gateway(TARGET), "test")
    changes = ({"json": {"job_title": "a"}}, {"json": {"company": "b"}})
    exchanges = client.send_together("PATCH", "/me/profile", "owner", *changes)
    assert [exchange.status for exchange in exchanges] == [200, 200]
    assert exchanges[0].number < exchanges[1].number
    assert exchanges[1].json_object["job_title"] == "a"
    assert exchanges[1].json_object["company"] == "b"
