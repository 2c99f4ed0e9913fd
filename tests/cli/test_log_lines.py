"""One line a request."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from understudy.cli.serve import log_lines
from understudy.errors import NotFound
from understudy.mock.server.clock import Clock
from understudy.mock.server.dispatcher import STATEFUL_NOTE
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead
from understudy.mock.server.worlds import World


def exchange(query: bytes = b"", status: int = 200, world: str = "default") -> RequestContext:
    universe = World(world, {}, clock=Clock(lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)))
    scope: Any = {
        "method": "GET",
        "path": "/v3/profiles/ada",
        "query_string": query,
        "headers": [],
        "scheme": "http",
    }
    made = RequestContext.of(RequestHead.of(scope), Peer.of(scope), universe)
    made.status, made.seconds, made.number = status, 0.00123, 7
    made.notes.append("a remark")
    return made


def lines(log, exchange: RequestContext, *, is_terminal: bool = False) -> str:
    written: list[str] = []
    record = log_lines(log, written.append, is_terminal=is_terminal)
    assert record
    record(exchange)
    return written[0]


def test_a_plain_line_tells_when_what_and_how_long():
    assert lines("auto", exchange()).splitlines() == [
        "03:04:05    #7  200  GET    /v3/profiles/ada  1.2 ms  -",
        "                a remark",
    ]


def test_what_a_page_of_the_mock_loads_is_no_line():
    made = exchange()
    made.path = "/static/pages.css"
    written: list[str] = []
    record = log_lines("text", written.append, is_terminal=False)
    assert record
    record(made)
    assert written == []


def test_a_note_that_holds_for_each_request_of_an_operation_is_said_once():
    written: list[str] = []
    record = log_lines("text", written.append, is_terminal=False)
    assert record
    for _ in range(2):
        made = exchange()
        made.notes.append(STATEFUL_NOTE)
        record(made)
    assert [STATEFUL_NOTE in line for line in written] == [True, False]
    assert "a remark" in written[1]


def test_a_refusal_is_said_with_its_reason_and_the_world():
    made = exchange(status=404, world="w1")
    made.refused(NotFound("There is no profile 'adda'; did you mean 'ada'?"))
    assert lines("text", made).splitlines()[:2] == [
        "03:04:05    #7  404  GET    /v3/profiles/ada  1.2 ms  -  world w1",
        "                There is no profile 'adda'; did you mean 'ada'?",
    ]
    entry = orjson.loads(lines("json", made))
    assert (entry["id"], entry["world"]) == (7, "w1")
    assert entry["reason"].startswith("There is no profile")


def test_a_request_can_neither_forge_a_line_nor_steer_a_terminal():
    made = exchange(b"x=%0a")
    made.path = "/v3/a\n03:04:06    #8  200\x1b[2J"
    first, remark = lines("text", made).splitlines()
    assert "/v3/a\\n03:04:06" in first
    assert "\x1b" not in first
    assert remark.strip() == "a remark"


def test_a_terminal_sees_colours():
    assert "\x1b[33m" in lines("auto", exchange(status=404), is_terminal=True)


def test_json_is_one_object_a_line():
    said = orjson.loads(lines("json", exchange(b"size=80"), is_terminal=True))
    assert said["target"] == "/v3/profiles/ada?size=80"
    assert said["notes"] == ["a remark"]


@pytest.mark.parametrize("log", ["text", "json"])
@pytest.mark.parametrize(
    "name", ["token", "code", "client_secret", "password", "access_token", "client%5Fsecret"]
)
def test_no_secret_of_a_query_is_kept(log, name):
    line = lines(log, exchange(f"client_id=a&{name}=hush&state=s".encode()))
    assert "hush" not in line
    assert "client_id=a" in line


def test_off_is_off():
    assert log_lines("off", print, is_terminal=True) is None


@pytest.mark.parametrize(
    ("path", "field", "count"),
    [
        ("/__admin/requests", (b"x-mock-client", b"console"), 0),
        ("/__admin/requests", (b"x-mock-client", b"understudy"), 0),
        ("/__admin/people/ada/avatar", (b"sec-fetch-site", b"same-origin"), 0),
        ("/__admin/requests", (b"user-agent", b"curl"), 1),
        ("/v3/profiles/ada", (b"sec-fetch-site", b"same-origin"), 1),
    ],
)
def test_only_what_the_console_and_commands_ask_for_themselves_is_left_out(path, field, count):
    scope: Any = {
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [field],
        "scheme": "http",
    }
    asked = RequestContext.of(RequestHead.of(scope), Peer.of(scope), World("default", {}))
    written: list[str] = []
    record = log_lines("text", written.append, is_terminal=False)
    assert record
    record(asked)
    assert len(written) == count
