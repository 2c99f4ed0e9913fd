"""Bodies are taken off the wire whole, or not at all."""

import asyncio
from typing import Any

import pytest

from understudy.errors import BadRequest, LimitExceeded
from understudy.limits import BODY_BYTES
from understudy.mock.server.guards import MOST_DRAINED_BYTES, read_body
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead
from understudy.mock.server.worlds import World

MEGABYTE = 1024 * 1024


def guarded(messages: list[dict[str, Any]], *headers: bytes) -> tuple[RequestContext, int]:
    """Sends a body, and returns the exchange and how many messages were read of it."""
    scope: Any = {"method": "POST", "path": "/", "query_string": b"", "scheme": "http"}
    scope |= {"headers": [(name, b"chunked") for name in headers or (b"transfer-encoding",)]}
    context = RequestContext.of(RequestHead.of(scope), Peer.of(scope), World("test", {}))
    read = 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        return messages[read - 1]

    asyncio.run(read_body(context, receive))
    return context, read


def chunk(size: int, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": b"a" * size, "more_body": more}


def test_a_body_in_pieces_is_one_body() -> None:
    context, _ = guarded(
        [chunk(2), {"type": "http.request", "more_body": True}, chunk(1, more=False)]
    )
    assert context.body == b"aaa"


def test_a_body_of_just_the_limit_is_taken() -> None:
    context, _ = guarded([chunk(BODY_BYTES.most, more=False)])
    assert len(context.body) == BODY_BYTES.most


def test_a_body_that_no_header_announces_is_not_waited_for() -> None:
    context, read = guarded([], b"host")
    assert (context.body, read) == (b"", 0)


def test_a_client_that_goes_away_is_a_bad_request() -> None:
    with pytest.raises(BadRequest, match="ended before its announced length"):
        guarded([chunk(2), {"type": "http.disconnect"}])


def test_a_body_beyond_the_limit_is_still_read_so_that_the_answer_is_heard() -> None:
    with pytest.raises(LimitExceeded, match="body-bytes"):
        guarded([chunk(MEGABYTE)] * 12 + [chunk(1, more=False)])


def test_a_body_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(LimitExceeded, match="body-bytes"):
        guarded([chunk(MEGABYTE)] * (MOST_DRAINED_BYTES // MEGABYTE + 1))
