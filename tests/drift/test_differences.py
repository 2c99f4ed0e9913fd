"""Exchanges are compared as long as every run sends the same requests."""

from dataclasses import replace

import pytest
from tests.verify.exchanges import exchange_of

from understudy.drift.differences import Difference, compared, differences
from understudy.exchange.messages import Request

LOOKUP = exchange_of("/profiles/ada", operation="GET /profiles/{}")
LIST = exchange_of("/me/avatars", operation="GET /me/avatars")


def test_a_sender_is_compared_until_a_run_goes_on_otherwise():
    same = [LOOKUP, LIST]
    assert len(list(compared(same, same, same))) == 2
    assert len(list(compared(same, same, [LOOKUP, LOOKUP, LIST]))) == 1
    assert len(list(compared(same, [LIST], same))) == 0


def test_a_request_that_another_sender_sent_is_not_compared():
    other = exchange_of("/profiles/ada", operation=LOOKUP.operation, source="another")
    assert list(compared([LOOKUP], [LOOKUP], [other])) == []


def test_what_differs_between_two_runs_is_noise():
    failing = exchange_of("/profiles/ada", operation=LOOKUP.operation, status=503)
    (stable,) = compared([LOOKUP], [LOOKUP], [failing])
    (unstable,) = compared([LOOKUP], [failing], [failing])
    assert list(differences(stable)) == [Difference("status", "200", "503", LOOKUP, failing)]
    assert list(differences(unstable)) == []


@pytest.mark.parametrize(
    ("path", "accept", "number"),
    [
        ("/oauth2/token", "*/*", 1),
        ("/ada", "*/*", 1),  # of a profile: both servers have one address
        ("/sign-in", "text/html, */*;q=0.8", 0),
    ],
)
def test_requests_of_applications_are_compared_and_pages_of_browsers_are_not(path, accept, number):
    request = Request("GET", f"http://127.0.0.1:1{path}", (("accept", accept),))
    exchange = exchange_of(path, request=request, site="authorization", operation="")
    assert len(list(compared([exchange], [exchange], [exchange]))) == number


def test_a_charset_that_is_not_that_of_json_is_a_difference():
    latin = replace(LOOKUP.response, headers=(("content-type", 'text/html; Charset="ISO-8859-1"'),))
    plain = replace(LOOKUP.response, headers=(("content-type", "text/html; charset=UTF-8"),))
    own, other = replace(LOOKUP, response=latin), replace(LOOKUP, response=plain)
    (row,) = compared([own], [own], [other])
    (difference,) = differences(row)
    assert (difference.aspect, difference.ours) == ("header content-type charset", "iso-8859-1")
