"""Clients that pipeline get every response, in the order of their requests, whatever comes last."""

import asyncio

import pytest
from tests.proofs.entrances.comparison import Entrance, Wire
from tests.proofs.entrances.traffic import Sent

from understudy.mock.server import pipelining
from understudy.mock.server.episodes import Episode

LOOKUP = b"GET /v3/profiles/ada HTTP/1.1\r\nHost: a\r\n\r\n"
CUT = b"PATCH /v3/me/profile HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"
FAULT = b'{"effect": "reset", "times": 1}'
ADD_FAULT = b"POST /__admin/faults HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n"
JSON = b"Content-Type: application/json\r\n\r\n"


@pytest.fixture(scope="module")
def entrance() -> Entrance:
    return Entrance(is_direct=False)


def sent(entrance: Entrance, content: bytes, *, is_half_closed: bool = False) -> Wire:
    sending = entrance.send(Sent((content,), is_half_closed=is_half_closed))
    return asyncio.run(asyncio.wait_for(sending, 60))


def statuses(wire: Wire) -> list[bytes]:
    return [part[:3] for part in wire.written.split(b"HTTP/1.1 ")[1:]]


def test_what_is_no_request_is_refused_after_the_responses_before_it(entrance):
    wire = sent(entrance, LOOKUP * 2 + b"\x00\r\n\r\n")
    assert statuses(wire) == [b"200", b"200", b"400"]
    assert wire.is_closing()


def test_a_malformed_body_is_refused_after_the_responses_before_it(entrance):
    head = CUT.replace(b"Content-Length: 9", b"Transfer-Encoding: chunked")
    assert statuses(sent(entrance, LOOKUP + head)) == [b"200", b"400"]


def test_a_client_that_half_closes_in_a_request_gets_the_responses_before_it(entrance):
    wire = sent(entrance, LOOKUP * 2 + CUT, is_half_closed=True)
    assert statuses(wire) == [b"200", b"200"]
    assert wire.is_closing()


def test_a_reset_connection_leaves_no_task_behind_for_a_client_that_pipelines(entrance):
    add = ADD_FAULT % len(FAULT) + JSON + FAULT
    assert statuses(sent(entrance, add)) == [b"201"]
    wire = sent(entrance, LOOKUP * 2)  # would never end
    assert len(statuses(wire)) == 1
    assert wire.is_closing()


def test_requests_that_cannot_be_parsed_are_logged_once_while_they_go_on(
    entrance, monkeypatch, caplog
):
    monkeypatch.setattr(pipelining, "_UNPARSABLE", Episode())
    for _ in range(3):
        assert statuses(sent(entrance, b"\x00\r\n\r\n")) == [b"400"]
    (record,) = caplog.records
    assert record.getMessage().startswith("127.0.0.1 sent what is not HTTP/1.1 and got 400;")
