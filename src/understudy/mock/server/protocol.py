"""Reads HTTP/1.1 from a connection, and writes responses in the order of the requests.

It differs from uvicorn's protocol for httptools in five ways. A request that arrived whole in one read
is responded to in one call where possible: a task and ASGI's messages cost as much as the response to an
ordinary request. Requests that arrived together are responded to between the reads and the writes: a
system call empties the processor's caches, and made each response take a third longer. Bytes and time
of a message are bounded: uvicorn waits for ever for the end of a header, and accepts a header of any
length. Every pipelined request gets its response: uvicorn knows only the last one. And a stopping mock
finishes the responses of a connection before it closes it.

The private parts of uvicorn that this uses are listed in ``docs/explanation/decisions.md``.
"""

import asyncio
import logging
import math
import re
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from time import monotonic
from typing import Any

import httptools
import orjson
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from understudy.errors import LimitExceeded
from understudy.limits import (
    BODY_BYTES,
    HALF_CLOSED_SECONDS,
    HEADER_BYTES,
    HEADER_SECONDS,
    SPARE_DESCRIPTORS,
    Limit,
)
from understudy.mock.server.fault_injection import ABORT
from understudy.mock.server.faults import WireResponse
from understudy.mock.server.guards import MOST_DRAINED_BYTES
from understudy.mock.server.request_context import Peer, RequestHead
from understudy.mock.server.stack import ReloadableSite

if sys.platform != "win32":
    import resource

_log = logging.getLogger(__name__)

_uvicorn_log = _log.getChild("uvicorn")
_uvicorn_log.setLevel(logging.ERROR)  # it warns of each request that it cannot parse

_UNKNOWN_METHOD = (
    "The request begins with no method that is known here; "
    "send GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS."
)

_QUIET = 10.0
"""Seconds without an event after which the next one begins a new episode."""


class Episode:
    """Events that follow one another closely, of which the log gets one line."""

    def __init__(self) -> None:
        self._latest = -_QUIET

    def begins(self) -> bool:
        """Registers an event; returns whether it is the first of an episode."""
        now = monotonic()
        is_first = now - self._latest > _QUIET
        self._latest = now
        return is_first


def _refusal(problem: LimitExceeded, more: str = "") -> bytes:
    """Returns the bytes of an error response after which the connection is closed."""
    body = orjson.dumps({"error": problem.message, "code": problem.code})
    fields = "".join(f"{name}: {text}\r\n" for name, text in problem.headers)
    head = (
        f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"{fields}{more}connection: close\r\n\r\n"
    )
    return head.encode() + body


_TOO_MANY = "Too many connections are open; close some, or raise ulimit -n for the mock."

NO_DESCRIPTOR = _refusal(
    LimitExceeded(SPARE_DESCRIPTORS.status, SPARE_DESCRIPTORS.name, _TOO_MANY), "retry-after: 1\r\n"
)
"""The bytes of the response to a connection for which too few file descriptors are left."""


_NO_ROOM = Episode()


def has_room(transport: asyncio.BaseTransport) -> bool:
    """Tells whether enough file descriptors are left to serve a connection; logs once that none are.

    An event loop without free descriptors accepts a connection and closes it silently. So a few are
    spared for an error response, for the log, and for files such as templates and the database. The
    system gives a connection the lowest free descriptor, so its number tells how many are in use.
    """
    highest = _descriptors() - SPARE_DESCRIPTORS.most
    if transport.get_extra_info("socket").fileno() < highest:
        return True
    if _NO_ROOM.begins():
        _log.error(
            "Fewer than %d file descriptors are left: connections beyond %d are answered with "
            "503 until others end. Close idle connections, or raise the limit with ulimit -n.",
            SPARE_DESCRIPTORS.most,
            highest,
        )
    return False


def _descriptors() -> float:
    """Returns the number of file descriptors that this process may open."""
    if sys.platform == "win32":
        return math.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else soft


_UNPARSABLE = Episode()

_RESET = struct.pack("ii", 1, 0)
"""Sets SO_LINGER to 0 seconds: unsent bytes are dropped, and the peer receives RST."""

_MOST_IN_HEAD = HEADER_BYTES.most + 32 * 1024
"""Bytes of a header with the request line, rounded up by one read; the application checks exactly."""

_MOST_DIRECT = 50
"""Direct responses in one read; further pipelined requests go through tasks, so that other
connections are served in between."""

_MOST_WAITING = 64 * 1024
"""Bytes of the largest read that waits in an ``Arrivals``, and of the largest body of a response."""

_MOST_ARRIVALS = 64
"""Reads that wait at most in an ``Arrivals``."""

_LONGEST_WAIT = 0.002
"""Seconds after which the direct responses so far are sent, once the current request has its own."""

_LINGERING = 1.0
"""Seconds between an error response and the close, in which further bytes are dropped: closing at
once would send a reset, and the client would lose the response."""


class Arrivals:
    """The bytes that one poll of an event loop read from the connections of a server.

    Attributes:
        responses: Transports and bytes of the direct responses that ``send`` will write.
    """

    def __init__(self) -> None:
        self._reads: list[tuple[HttpConnection, bytes]] = []
        self.responses: list[tuple[asyncio.Transport, bytes]] = []

    def add(self, connection: "HttpConnection", data: bytes) -> None:
        """Adds what was read from a connection; the event loop parses it after the last read."""
        self._reads.append((connection, data))
        count = len(self._reads)
        if len(data) > _MOST_WAITING or count == _MOST_ARRIVALS:
            self.parse()
        elif count == 1:
            connection.loop.call_soon(self.parse)

    def include(self, connection: "HttpConnection") -> bool:
        """Tells whether bytes of a connection are still to be parsed."""
        return any(reader is connection for reader, _ in self._reads)

    def parse(self) -> None:
        """Parses everything that was read, and sends the responses; each waits for one slow request at most."""
        reads, self._reads = self._reads, []
        since = monotonic()
        for connection, data in reads:
            try:
                connection.parse(data)
            except Exception as error:  # as an event loop does: only this connection is lost
                connection.fail(error)
            if monotonic() - since > _LONGEST_WAIT:
                self.send()
                since = monotonic()
        self.send()

    def send(self) -> None:
        """Sends the responses so far; comes before any other write, and before a close."""
        responses, self.responses = self.responses, []
        for transport, content in responses:
            if not transport.is_closing():
                transport.write(content)


class HttpConnection(HttpToolsProtocol):
    """One connection of a client.

    Args:
        args: Arguments of uvicorn's protocol.
        arrivals: Bytes read from the connections of the server; None: only from this one.
        kwargs: Arguments of uvicorn's protocol.
    """

    _peer: Peer

    def __init__(self, *args: Any, arrivals: Arrivals | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._arrivals = arrivals or Arrivals()
        self.logger = _uvicorn_log
        served = self.config.app if isinstance(self.config.app, ReloadableSite) else None
        self._served = served if served is not None and served.entrance is None else None
        self._is_in_head = True
        self._is_refused = False
        self._is_handed_over = False
        self._head_bytes = 0
        self._head_until: float | None = None
        self._head_timer: asyncio.TimerHandle | None = None
        self._active_at = 0.0
        self._direct = 0
        """Number of direct responses in the current read."""
        self._pieces: list[bytes] | None = None
        """The body of a request that may be responded to directly; None for any other."""
        self._cycles: list[RequestResponseCycle] = []
        self._end: Callable[[], None] | None = None
        """Closes the connection; called once every complete request has its response."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Starts the timer of the first header, or refuses where too few descriptors are left."""
        super().connection_made(transport)
        client, server = self.client, self.server
        self._peer = Peer(
            client[0] if client else "unknown", server or ("127.0.0.1", None), self.scheme or "http"
        )
        self._time_head()
        if not has_room(transport):
            transport.write(NO_DESCRIPTOR)
            transport.close()
            self._is_refused = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Tells the application that the client of every request in progress has disconnected."""
        self._arrivals.parse()
        self._is_in_head = False
        if self._head_timer is not None:
            self._head_timer.cancel()
        super().connection_lost(exc)
        for cycle in self.unfinished():
            _abandon(cycle)

    def data_received(self, data: bytes) -> None:
        """Parses the bytes; where there are other connections, once the event loop has read them, too."""
        if len(self.connections) == 1:
            self.parse(data)
            self._arrivals.send()
        else:
            self._arrivals.add(self, data)

    def parse(self, data: bytes) -> None:
        """Parses the bytes, which may respond directly, and restarts the timers."""
        if self._is_refused or self._end is not None:
            return
        idle_timer, self.timeout_keep_alive_task = self.timeout_keep_alive_task, None
        self._head_bytes += len(data)
        self._direct = 0
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserInvalidMethodError:
            self.send_400_response(_UNKNOWN_METHOD)
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request received.")
        except (
            httptools.HttpParserUpgrade
        ):  # a client that offers HTTP/2 gets HTTP/1.1 (RFC 9110, 7.8)
            if self._is_handed_over:
                self._arrivals.send()
                self.handle_websocket_upgrade()  # another protocol takes the connection over
                return
        if self._pieces is not None:  # only the application can wait for the rest of the body
            self._call_application(self._pieces)
        if self._is_in_head or self._head_bytes > _MOST_IN_HEAD:
            self._expect_bounded_message()
        self._expect_activity(idle_timer)

    def on_message_begin(self) -> None:
        """Begins a request."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        if not self._is_in_head:  # a further request of the same connection
            self._is_in_head = True
            self._head_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keeps a header field, but none from the trailer of a chunked body (RFC 9110, 6.5.1)."""
        if self._is_in_head:
            name = name.lower()
            if name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Starts the application, unless ``Site.respond`` may respond once the body is complete."""
        self._is_in_head = False
        self._head_until = None
        url, parser, cycle = self.url, self.parser, self.cycle
        if (
            self._served is not None
            and (cycle is None or cycle.response_complete)  # type: ignore[redundant-expr]  # uvicorn starts with None
            and self._direct < _MOST_DIRECT
            and not self.expect_100_continue
            and not self.flow.write_paused
            and not parser.should_upgrade()
            and parser.get_http_version() == "1.1"
            and url[:1] == b"/"
            and url.isascii()
            and b"#" not in url
        ):
            self._pieces = []
        else:
            self._call_application(())

    def on_body(self, body: bytes) -> None:
        """Keeps a piece of the body, or hands it to the running application."""
        if self._pieces is None:
            super().on_body(body)
        else:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        """Responds directly where possible, else runs the application."""
        pieces = self._pieces
        if pieces is None or self._served is None:
            super().on_message_complete()
            return
        method = self.parser.get_method().decode("ascii")
        head = RequestHead(method, self._served.targets.get(method, self.url), self.headers)
        response = self._served.site.respond(head, self._peer, b"".join(pieces))
        if not isinstance(response, WireResponse):
            self._call_application(pieces, response)
            super().on_message_complete()
            return
        self._pieces = None
        self._direct += 1
        self._write(response)

    def _call_application(
        self, pieces: Sequence[bytes], continuation: ASGIApp | None = None
    ) -> None:
        """Starts the application, or the rest of a direct response, in uvicorn's way.

        uvicorn queues it behind a request that has no response yet.
        """
        self._pieces = None
        if self.url[:1] != b"/":
            self._take_host_of_target()
        url, fields, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()  # makes the scope, and clears what was parsed
        self.url, self.headers, self.expect_100_continue = url, fields, expects
        self.scope["headers"] = fields
        self.scope[ABORT] = self._abort  # type: ignore[literal-required]  # our own
        self.app = continuation or self.config.loaded_app
        before = self.cycle
        super().on_headers_complete()
        self._is_handed_over = self.cycle is before  # only a WebSocket upgrade gets no new cycle
        if not self._is_handed_over:
            self._cycles = [*self.unfinished(), self.cycle]
        for piece in pieces:
            super().on_body(piece)

    def _write(self, response: WireResponse) -> None:
        """Responds in one write, after the other requests that arrived with this one."""
        content = [STATUS_LINE[response.status]]
        for name, value in self.server_state.default_headers:
            content += (name, b": ", value, b"\r\n")
        for name, value in response.headers:
            content += (name, b": ", value, b"\r\n")
        is_kept = self.parser.should_keep_alive()
        content += (b"\r\n" if is_kept else b"connection: close\r\n\r\n", response.body)
        self._arrivals.responses.append((self.transport, b"".join(content)))
        self.server_state.total_requests += 1
        if not is_kept or len(response.body) > _MOST_WAITING:
            self._arrivals.send()
        if not is_kept:
            self.transport.close()

    def _should_upgrade(self) -> bool:
        """Tells whether another protocol takes over; pending responses come first (RFC 9112, 9.3.2)."""
        return not self.unfinished() and super()._should_upgrade()

    def _take_host_of_target(self) -> None:
        """Replaces the Host header by the host of an absolute-form target (RFC 9112, 3.2.2)."""
        scheme, separator, rest = self.url.partition(b"://")
        names = [name for name, _ in self.headers]
        if separator and scheme.isalpha() and names.count(b"host") == 1:
            authority = re.split(rb"[/?#]", rest, maxsplit=1)[0]
            self.headers[names.index(b"host")] = (b"host", authority)

    # Limits of a message.

    def _expect_bounded_message(self) -> None:
        """Refuses a header that is too large or too slow, and a body whose framing is too large.

        Chunk extensions, leading zeros of chunk sizes and trailers are bytes that the application never
        sees, and so cannot limit (RFC 9112, 7.1.1).
        """
        if self._is_in_head:
            if self._head_bytes > _MOST_IN_HEAD:
                self._refuse(HEADER_BYTES)
            elif self._head_until is None:
                self._time_head()
        elif self._head_bytes > MOST_DRAINED_BYTES + _MOST_IN_HEAD:
            self._refuse(BODY_BYTES)

    def _time_head(self) -> None:
        """Sets the deadline of a request's header; one timer serves all requests of a connection."""
        self._head_until = monotonic() + HEADER_SECONDS.most
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEADER_SECONDS.most, self._check_head)

    def _check_head(self) -> None:
        self._head_timer = None
        self._arrivals.parse()
        if not self._is_in_head or self._head_until is None:
            return
        left = self._head_until - monotonic()
        if left > 0:
            self._head_timer = self.loop.call_later(left, self._check_head)
        else:
            self._refuse(HEADER_SECONDS)

    def _expect_activity(self, timer: asyncio.TimerHandle | None) -> None:
        """Restarts the keep-alive timeout of an idle connection, and stops it for a busy one.

        uvicorn stops its timer with every byte and starts it only with a response, so an empty line
        would keep a connection open for ever. A new timer costs a tenth of a response; one is reused.
        """
        cycle = self.cycle
        is_idle = cycle is None or cycle.response_complete  # type: ignore[redundant-expr]  # uvicorn starts with None
        if is_idle and not self._is_in_head and not self.transport.is_closing():
            self._active_at = monotonic()
            self.timeout_keep_alive_task = timer or self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        elif timer is not None:
            timer.cancel()

    def timeout_keep_alive_handler(self) -> None:
        """Closes the connection after the keep-alive timeout, unless another protocol has it."""
        if self._arrivals.include(self):
            self.timeout_keep_alive_task = None  # the request that has just arrived sets another
            return
        if self._is_handed_over:
            return
        left = self._active_at + self.timeout_keep_alive - monotonic()
        if left > 0:
            self.timeout_keep_alive_task = self.loop.call_later(
                left, self.timeout_keep_alive_handler
            )
        else:
            super().timeout_keep_alive_handler()

    def _refuse(self, limit: Limit) -> None:
        """Closes the connection, after an error response where a request has begun and has none."""
        is_idle = self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]  # uvicorn starts with None
        is_answerable = is_idle if self._is_in_head else not is_idle
        if not is_idle:
            is_answerable &= not self.cycle.response_started
            _abandon(self.cycle)
        self._is_in_head = False
        self._arrivals.send()
        if is_answerable and self._head_bytes > 0 and not self.transport.is_closing():
            self.transport.write(_refusal(limit.exceeded()))
            self._is_refused = True
            self.loop.call_later(_LINGERING, self.transport.close)
            return
        self.transport.close()

    # The end of a connection.

    def unfinished(self) -> list[RequestResponseCycle]:
        """Returns the requests without a complete response, in the order of their arrival."""
        return [cycle for cycle in self._cycles if not cycle.response_complete]

    def on_response_complete(self) -> None:
        """Starts the next pipelined request, or closes a connection that was to end after this one."""
        super().on_response_complete()
        if self._end is not None and not self.unfinished():
            self._end()

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn always ends the connection
        """Finishes the responses for a client that closed only its sending side.

        A client that has left looks the same, so the responses have a short time limit.

        Returns:
            Whether the connection stays open for the responses; never over TLS, which has no
            half-closed connections.
        """
        self._arrivals.parse()
        if self._end is not None or self.scheme != "http":
            return self._end is not None
        cut = self._abandon_incomplete()
        waiting = self.unfinished()
        if not waiting or waiting[-1].response_started:
            return False
        if cut is not None:
            self._end = self.transport.close
        else:
            waiting[-1].keep_alive = False
        self.loop.call_later(HALF_CLOSED_SECONDS.most, self._end_half_closed)
        return True

    def _end_half_closed(self) -> None:
        waiting = self.unfinished()
        if waiting and not waiting[0].response_started:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Responds 400 to bytes that are no request, once earlier requests have their responses."""
        if _UNPARSABLE.begins():
            client = self.client[0] if self.client else "A client"
            _log.warning(
                "%s sent what is not HTTP/1.1 and got 400; no more is logged of it while it goes on.",
                client,
            )
        self._arrivals.send()
        cut = self._abandon_incomplete()
        end: Callable[[], None] = partial(super().send_400_response, msg)
        if cut is not None and cut.response_started:
            end = self.transport.close
        if self.unfinished():
            self._end = end
        else:
            end()

    def shutdown(self) -> None:
        """Closes the connection once its requests have their responses; a stream ends at once.

        Only streams are sent in chunks, and a stream might never end by itself.
        """
        self._arrivals.parse()
        for cycle in self.unfinished():
            if cycle.response_started and cycle.chunked_encoding:
                self.transport.close()
                return
        super().shutdown()

    def _abandon_incomplete(self) -> RequestResponseCycle | None:
        """Drops a request whose body is incomplete, as its rest will not arrive; returns it, if any."""
        incomplete = next((cycle for cycle in self.unfinished() if cycle.more_body), None)
        if incomplete is not None:
            self._cycles.remove(incomplete)
            _abandon(incomplete)
        return incomplete

    def fail(self, error: Exception) -> None:
        """Ends the connection after an error that no response can tell of."""
        message = "Fatal error: a request could not be parsed."
        self.loop.call_exception_handler({"message": message, "exception": error, "protocol": self})
        self.transport.abort()

    def _abort(self, *, at_once: bool) -> None:
        if not at_once:
            self.transport.close()  # once what was written is sent
            return
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()


def _abandon(cycle: RequestResponseCycle) -> None:
    cycle.disconnected = True
    cycle.message_event.set()
