"""Bounds the bytes and the time of one HTTP connection, as uvicorn reads it.

uvicorn waits for ever for the end of a header and takes one of any length, so a few idle sockets or
one request could use up descriptors and memory before the application sees them.
"""

import asyncio
import re
import socket
import struct
from http import HTTPStatus
from typing import Any

import orjson

from understudy.limits import BODY_BYTES, HEADER_BYTES, HEADER_SECONDS, Limit
from understudy.mock.server.descriptors import NO_DESCRIPTOR, WATCH
from understudy.mock.server.fault_injection import ABORT
from understudy.mock.server.guards import MOST_DRAINED_BYTES
from understudy.mock.server.pipelining import PipelinedProtocol

_RESET = struct.pack("ii", 1, 0)
"""Sets SO_LINGER to 0 seconds: unsent bytes are dropped, and the peer receives RST."""

_ROOM = 32 * 1024
"""Bytes beyond HEADER_BYTES, for the request line and one read; the application is exact."""


_LINGERING = 1.0
"""Seconds in which what still comes is dropped unread: closing at once would send a reset, and the
client would lose the response."""


class HttpConnection(PipelinedProtocol):
    """Refuses a header without end, and lets a fault end the connection in the middle."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._is_in_head = True
        self._is_refused = False
        self._head_until = 0.0
        self._head_timer: asyncio.TimerHandle | None = None
        self._active_at = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Gives the first request its time, unless too few descriptors are left to serve it."""
        super().connection_made(transport)
        self._start_head()
        if not WATCH.has_room(transport):
            transport.write(NO_DESCRIPTOR)
            transport.close()
            self._is_refused = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the clock."""
        self._is_in_head = False
        if self._head_timer is not None:
            self._head_timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Reads on, and ends the connection later where it is idle again."""
        if self._is_refused or self.is_ending():
            return
        timer, self.timeout_keep_alive_task = self.timeout_keep_alive_task, None  # from uvicorn
        self._read(data)
        self._expect_activity(timer)

    def _read(self, data: bytes) -> None:
        """Reads on, unless the header has grown too large."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > HEADER_BYTES.most + _ROOM:
            self._expect_bounded_message()

    def on_message_begin(self) -> None:
        """Puts what ends the connection into the scope of the request."""
        super().on_message_begin()
        if not self._is_in_head:  # a further request of the same connection
            self._start_head()
        self.scope[ABORT] = self._abort  # type: ignore[literal-required]  # our own

    def on_header(self, name: bytes, value: bytes) -> None:
        """Takes a header field; one in the trailer of a chunked body is none (RFC 9110, 6.5.1)."""
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Stops the clock, and starts the application."""
        self._is_in_head = False
        if self.url[:1] != b"/":
            self._take_host_of_target()
        super().on_headers_complete()

    def _is_idle(self) -> bool:
        """Tells whether no request is being worked on."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]  # uvicorn starts with None

    def _expect_bounded_message(self) -> None:
        """Refuses a header that is too large, and a body whose framing is.

        Extensions of chunks, leading zeros of their sizes and trailers are bytes that the application
        never sees (RFC 9112, 7.1.1).
        """
        if self._is_in_head:
            self._refuse(HEADER_BYTES)
        elif self._head_bytes > MOST_DRAINED_BYTES + HEADER_BYTES.most + _ROOM:
            self._refuse(BODY_BYTES)

    def _expect_activity(self, timer: asyncio.TimerHandle | None) -> None:
        """Ends an idle connection later, whatever it sent: an empty line, or more of a refused body.

        uvicorn stops the clock with every byte, and starts it with a response only. Here one timer
        serves many requests, as a new one costs a tenth of a response.

        Args:
            timer: The one that runs; it stops where the connection is not idle.
        """
        self._active_at = self.loop.time()
        if self.transport.get_protocol() is not self:  # a tunnel has taken the connection over
            return
        if self._is_idle() and not self._is_in_head and not self.transport.is_closing():
            self.timeout_keep_alive_task = timer or self._idle_timer()
        elif timer is not None:
            timer.cancel()

    def timeout_keep_alive_handler(self) -> None:
        """Ends the connection if nothing came for too long."""
        if self.loop.time() < self._active_at + self.timeout_keep_alive:
            self.timeout_keep_alive_task = self._idle_timer()
        else:
            super().timeout_keep_alive_handler()

    def _idle_timer(self) -> asyncio.TimerHandle:
        end = self._active_at + self.timeout_keep_alive
        return self.loop.call_at(end, self.timeout_keep_alive_handler)

    def _take_host_of_target(self) -> None:
        """Replaces the host by that of a target in absolute form, which counts (RFC 9112, 3.2.2)."""
        scheme, separator, rest = self.url.partition(b"://")
        names = [name for name, _ in self.headers]
        if separator and scheme.isalpha() and names.count(b"host") == 1:
            authority = re.split(rb"[/?#]", rest, maxsplit=1)[0]
            self.headers[names.index(b"host")] = (b"host", authority)

    def _unsupported_upgrade_warning(self) -> None:
        """Says nothing: a client that offers HTTP/2 gets HTTP/1.1 (RFC 9110, 7.8)."""

    def _start_head(self) -> None:
        self._is_in_head = True
        self._head_bytes = 0
        self._head_until = self.loop.time() + HEADER_SECONDS.most
        if self._head_timer is None:
            self._head_timer = self.loop.call_at(self._head_until, self._check_head)

    def _check_head(self) -> None:
        """Ends a connection whose header takes too long; one timer serves many requests."""
        self._head_timer = None
        if not self._is_in_head:
            return
        if self.loop.time() < self._head_until:
            self._head_timer = self.loop.call_at(self._head_until, self._check_head)
        else:
            self._refuse(HEADER_SECONDS)

    def _refuse(self, limit: Limit) -> None:
        """Ends the connection, with a response where there is anything to respond to."""
        is_idle = self._is_idle()
        is_answerable = is_idle if self._is_in_head else not is_idle
        if not is_idle:
            is_answerable &= not self.cycle.response_started
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._is_in_head = False
        if is_answerable and self._head_bytes > 0 and not self.transport.is_closing():
            problem = limit.exceeded()
            body = orjson.dumps({"error": problem.message, "code": problem.code})
            head = (
                f"HTTP/1.1 {limit.status} {HTTPStatus(limit.status).phrase}\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
                f"x-mock-limit: {limit.name}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            self._is_refused = True
            self.loop.call_later(_LINGERING, self.transport.close)
            return
        self.transport.close()

    def _abort(self, *, at_once: bool) -> None:
        if not at_once:
            self.transport.close()  # once what was written is sent
            return
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()
