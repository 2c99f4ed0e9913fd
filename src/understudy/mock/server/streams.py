"""Sends generated event streams and JSON sequences one item at a time, as a request prefers.

A client that has to show what comes, to reconnect or to time out cannot be tested with a body that is
there at once. The items are those of the generated body; those beyond it are of the seeds that follow.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Final

from starlette.types import Receive, Scope, Send

from understudy.mock.server.faults import WireResponse
from understudy.mock.server.request_context import StreamPlan
from understudy.mock.server.response_sending import commit_first, send_chunks
from understudy.openapi.media_types import JSON_SEQUENCES

EVENTS: Final = "text/event-stream"

_OWN_ID: Final = re.compile(rb"^id: ?(.*)$", re.MULTILINE)
_BLANK_LINE: Final = re.compile(rb"(?:\r\n|\n|\r){2,}")
_NUMBER: Final = re.compile(rb"[0-9]{1,9}")


More = Callable[[int], Awaitable[object]]
"""Returns the body that the seed of this number after the first generates; None: the first one again."""


class _Items:
    """The items of a stream, without end."""

    def __init__(self, body: bytes, media_type: str, more: More) -> None:
        self._is_events = media_type == EVENTS
        self._more = more
        self.first = self._latest = self._split(body)
        self._round = 0

    def _split(self, body: object) -> Sequence[bytes]:
        content = body if isinstance(body, bytes) else b""
        if self._is_events:
            return [event for event in _BLANK_LINE.split(content) if event.strip()]
        return content.splitlines(keepends=True)

    async def get(self, number: int) -> bytes:
        """Returns the item of this number, counted from 0; an event without an id gets its own."""
        turn, place = divmod(number, len(self.first))
        if turn != self._round:
            self._latest, self._round = self._split(await self._more(turn)) or self.first, turn
        item = self._latest[place % len(self._latest)]
        if not self._is_events:
            return item
        return item + (b"\n\n" if _OWN_ID.search(item) else b"\nid: %d\n\n" % (number + 1))

    def received(self, last_event_id: bytes) -> int:
        """Returns how many items a client has got that names the last one."""
        ids = [found[1] for found in map(_OWN_ID.search, self.first) if found]
        if last_event_id in ids:
            return ids.index(last_event_id) + 1
        return int(last_event_id) if not ids and _NUMBER.fullmatch(last_event_id) else 0


async def send_planned(
    scope: Scope, receive: Receive, send: Send, response: WireResponse, plan: StreamPlan, more: More
) -> bool:
    """Sends a generated response as a stream, if its media type is one of streams.

    Args:
        scope: Of the request.
        receive: Tells when the client leaves.
        send: Sends to the client.
        response: The whole response, as it is sent without a plan.
        plan: How it is sent.
        more: Returns the bodies after the first.

    Returns:
        Whether it was sent.
    """
    content_type = dict(response.headers).get(b"content-type", b"")
    media_type = content_type.partition(b";")[0].strip().lower().decode("latin-1")
    is_stream = media_type == EVENTS or media_type in JSON_SEQUENCES
    if not is_stream or scope["method"] == "HEAD":
        return False
    items = _Items(response.body, media_type, more)
    if not items.first:
        return False
    headers = [field for field in response.headers if field[0] != b"content-length"]
    headers.append((b"cache-control", b"no-store"))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await commit_first(scope, response.body)
    await send_chunks(receive, send, _timed(items, plan))
    return True


async def _timed(items: _Items, plan: StreamPlan) -> AsyncGenerator[bytes]:
    """Yields the items of a stream, each at its time."""
    first = items.received(plan.last_event_id)
    most = len(items.first) if plan.events is None else plan.events
    for number in range(first, most):
        if number > first:
            await asyncio.sleep(plan.interval)
        yield await items.get(number)
    if plan.stays:
        await asyncio.Event().wait()
