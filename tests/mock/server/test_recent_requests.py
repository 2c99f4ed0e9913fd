"""A request is recognized by an earlier one as the parser would read it, or not at all."""

import asyncio
import re
from pathlib import Path

import pytest
from tests.proofs.entrances.comparison import Entrance, Wire
from tests.proofs.entrances.traffic import Sent

from understudy.limits import TARGET_BYTES
from understudy.mock.server import request_context
from understudy.mock.server.recent_requests import ParsedRequest, RecentRequests
from understudy.mock.server.request_context import RequestHead, path_and_query
from understudy.mock.settings import Settings

FIELDS = b"Host: a\r\nX-Odd:  b \r\n"


def bytes_of(
    target: bytes, body: bytes = b"", method: bytes = b"GET", fields: bytes = FIELDS
) -> bytes:
    length = b"Content-Length: %d\r\n" % len(body) if body else b""
    return b"%b %b HTTP/1.1\r\n%b%b\r\n%b" % (method, target, fields, length, body)


def parsed(target: bytes, body: bytes = b"") -> ParsedRequest:
    head = RequestHead("GET", *path_and_query(target), [(b"host", b"a"), (b"x-odd", b"b")])
    return head, body


@pytest.fixture
def requests() -> RecentRequests:
    """The memory of a server that had one request."""
    requests = RecentRequests()
    requests.put(bytes_of(b"/v3/x?a=b", b"body"), b"/v3/x?a=b", parsed(b"/v3/x?a=b", b"body"))
    return requests


@pytest.mark.parametrize("target", [b"/", b"/v3/y", b"/v3/a%2Fb%20c?d=%zz", b"//host/x", b"/a?b?c"])
def test_a_request_that_differs_in_target_and_body_is_recognized(
    requests: RecentRequests, target: bytes
) -> None:
    found = requests.get(bytes_of(target, b"BODY"))
    assert found is not None
    head, body = found
    expected, _ = parsed(target)
    names = (
        "method",
        "path",
        "query",
        "fields",
        "headers",
        "selection",
        "shown_path",
        "byte_count",
    )
    assert [getattr(head, name) for name in names] == [getattr(expected, name) for name in names]
    assert body == b"BODY"


def test_another_body_for_the_same_target_has_the_same_head(requests: RecentRequests) -> None:
    first, second = (requests.get(bytes_of(b"/v3/x?a=b", body)) for body in (b"BODY", b"ydob"))
    assert first is not None
    assert second is not None
    assert first[0] is second[0]
    assert (first[1], second[1]) == (b"BODY", b"ydob")


@pytest.mark.parametrize(("length", "is_bounded"), [(100, True), (101, False)])
def test_what_was_found_within_the_limits_is_so_with_another_target(
    monkeypatch: pytest.MonkeyPatch, length: int, is_bounded: bool
) -> None:
    monkeypatch.setattr(request_context, "TARGET_BYTES", TARGET_BYTES._replace(most=100))
    known, _ = parsed(b"/x")
    target = b"/" + b"y" * (length - 1)
    assert not known.with_target(target).is_bounded
    known.is_bounded = True
    assert known.with_target(target).is_bounded == is_bounded


@pytest.mark.parametrize(
    "content",
    [
        bytes_of(b"/v3/y", b"other"),
        bytes_of(b"/v3/y"),
        bytes_of(b"/v3/y", b"body", method=b"PUT"),
        bytes_of(b"/v3/y", b"body", fields=b"Host: b\r\nX-Odd:  b \r\n"),
        bytes_of(b"/v3/y", b"body")[:-1],
        bytes_of(b"/v3/y", b"body") + b"G",
        bytes_of(b"/v3/y", b"body") * 2,
        *(
            bytes_of(target, b"body")
            for target in (b"", b"*", b"y", b"http://a/y", b"/y#z", b"/y z")
        ),
        *(
            bytes_of(target, b"body")
            for target in (b"/\xe9", b"/\x00", b'/"', b"/\t", b" /y", b"/y\r\n")
        ),
        bytes_of(b"/" + b"y" * 3000, b"body"),
    ],
)
def test_any_other_request_is_left_to_the_parser(requests: RecentRequests, content: bytes) -> None:
    assert requests.get(content) is None


def test_a_body_in_chunks_makes_nothing_known() -> None:
    requests = RecentRequests()
    fields = FIELDS + b"Transfer-Encoding: chunked\r\n"
    content = bytes_of(b"/x", fields=fields) + b"0\r\n\r\n"
    requests.put(content, b"/x", parsed(b"/x"))
    assert requests.get(bytes_of(b"/y", fields=fields) + b"0\r\n\r\n") is None


DOCUMENT = """
openapi: 3.0.3
info: {title: Boats, version: '1'}
paths: {/boats: {get: {responses: {204: {description: none}}}}}
"""


def test_a_request_leads_where_the_document_in_force_says(tmp_path: Path) -> None:
    document = tmp_path / "boats.yaml"
    document.write_text(DOCUMENT)
    entrance = Entrance(is_direct=True, settings=Settings(document=document))
    again = Sent((bytes_of(b"/boats"),) * 3)
    assert statuses(asyncio.run(entrance.send(again))) == [b"204"] * 3
    document.write_text(DOCUMENT.replace("204", "205"))
    entrance.mock.reload()
    assert statuses(asyncio.run(entrance.send(again))) == [b"205"] * 3
    document.write_text(DOCUMENT.replace("/boats", "/ships"))
    entrance.mock.reload()
    assert statuses(asyncio.run(entrance.send(again))) == [b"404"] * 3


def statuses(wire: Wire) -> list[bytes]:
    return re.findall(rb"HTTP/1.1 (\d+)", wire.written)


def test_requests_for_different_people_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    entrance = Entrance(is_direct=True)
    made: list[object] = []
    monkeypatch.setattr(RequestHead, "__init__", _counting(made))
    pieces = tuple(
        bytes_of(b"/v3/profiles/%b" % slug) for slug in (b"ada", b"ben", b"nora", b"ada")
    )
    wire = asyncio.run(entrance.send(Sent(pieces)))
    assert wire.written.count(b"HTTP/1.1 200 OK") == 4
    assert wire.written.count(b'"display_name":"Ada') == 2
    assert len(made) == 1


def test_a_request_is_read_by_the_choices_in_force_although_its_head_was_known() -> None:
    entrance = Entrance(is_direct=True)
    world = entrance.mock.world
    world.choices = {"empty-query-parameter": "ignore"}
    world.journal.listeners.append(lambda _entry: setattr(world, "choices", {}))
    wire = asyncio.run(entrance.send(Sent((bytes_of(b"/v3/qr-code/ada?size="),) * 2)))
    assert wire.written.startswith(b"HTTP/1.1 200 OK")
    assert b"HTTP/1.1 400 Bad Request" in wire.written


def _counting(made: list[object]):
    original = RequestHead.__init__

    def counting(self, *args, **kwargs) -> None:
        made.append(self)
        original(self, *args, **kwargs)

    return counting
