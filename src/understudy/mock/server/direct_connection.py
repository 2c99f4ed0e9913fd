"""Responds to requests on a connection in one call, without a task and the messages of ASGI."""

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from understudy.mock.server.connection import HttpConnection
from understudy.mock.server.recent_requests import ParsedRequest
from understudy.mock.server.request_context import Peer, RequestHead, path_and_query
from understudy.mock.server.response_sending import WireResponse
from understudy.mock.server.stack import Served

_MOST_AT_ONCE = 50
"""Requests in one read that may have direct responses; a client that pipelines more lets others have their turn first."""


class DirectConnection(HttpConnection):
    """Hands a request that came whole in one read to ``Site.respond`` first.

    Only if that returns None the application itself is called: a task and ASGI's messages cost as
    much as the response to an ordinary request. Bytes that were a whole request before are not
    parsed again.
    """

    _peer: Peer

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._served = self.config.app if isinstance(self.config.app, Served) else None
        self._is_between_messages = True
        self._completed: list[ParsedRequest | None] = []
        """The requests that were completed in this read; None for one that cannot come again."""
        self._begun: ASGIApp | None = None
        """The response to the request that is about to be parsed, where its handler has to wait."""
        self._pieces: list[bytes] | None = None
        """The body of a request that may be responded to directly; None for any other."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Remembers both ends of the connection."""
        super().connection_made(transport)
        client, server = self.client, self.server
        self._peer = Peer(
            client[0] if client else "unknown", server or ("127.0.0.1", None), self.scheme or "http"
        )

    def data_received(self, data: bytes) -> None:
        """Responds at once to bytes that are known, and reads all others."""
        if not self._respond_again(data):
            super().data_received(data)

    def on_message_begin(self) -> None:
        """Notes that a message has begun."""
        super().on_message_begin()
        self._is_between_messages = False

    def on_headers_complete(self) -> None:
        """Starts the application, unless the rest may come in the same read."""
        if self._is_plain():
            self._is_in_head = False
            self._pieces = []
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Takes a piece of the body."""
        if self._pieces is None:
            super().on_body(body)
        else:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        """Responds directly where that can be done, else lets the application do it."""
        self._is_between_messages = True
        pieces = self._pieces
        if pieces is None or self._served is None:
            self._completed.append(None)
            super().on_message_complete()
            return
        head = self._head()
        body = b"".join(pieces)
        response = self._begun or self._served.site.respond(head, self._peer, body)
        self._begun = None
        if not isinstance(response, WireResponse):
            self._completed.append(None)
            self._call_application(pieces, response)
            super().on_message_complete()
            return
        self._pieces = None
        is_kept = self.parser.should_keep_alive()
        self._completed.append((head, body) if is_kept else None)
        self._write(response, is_kept=is_kept)

    def _head(self) -> RequestHead:
        method = self.parser.get_method().decode("ascii")
        return RequestHead(method, *path_and_query(self.url), self.headers)

    def _read(self, data: bytes) -> None:
        """Reads on; only the application can wait for a body that has not arrived."""
        is_whole = self._is_between_messages
        self._completed = []
        super()._read(data)
        if is_whole and self._is_between_messages:
            self._keep_parsed(data)
        if self._pieces is not None:
            self._call_application(self._pieces)

    def _keep_parsed(self, data: bytes) -> None:
        """Keeps the only request that was read, for when the same bytes come again."""
        parsed = self._completed[0] if len(self._completed) == 1 else None
        if parsed is not None and self._served is not None:
            self._served.requests.put(data, self.url, parsed)

    def _respond_again(self, data: bytes) -> bool:
        """Responds directly to bytes that were a whole request before; returns whether it did."""
        served = self._served
        parsed = None if served is None else served.requests.get(data)
        if served is None or parsed is None or not self._can_respond():
            return False
        head, body = parsed
        response = served.site.respond(head, self._peer, body)
        if not isinstance(response, WireResponse):
            self._begun = response
            return False
        self._is_in_head = False
        self._write(response, is_kept=True)
        self._expect_activity(self.timeout_keep_alive_task)
        return True

    def _can_respond(self) -> bool:
        """Tells whether a request may begin, and its response may be sent at once."""
        return (
            self._is_between_messages
            and not self._is_refused
            and self._is_idle()
            and not self.is_ending()
            and not self.flow.write_paused
        )

    def _is_plain(self) -> bool:
        """Tells whether nothing but the application's ``respond`` is needed for a request."""
        return (
            self._served is not None
            and self._is_idle()
            and len(self._completed) < _MOST_AT_ONCE
            and not self.expect_100_continue
            and not self.flow.write_paused
            and not self.parser.should_upgrade()
            and self.parser.get_http_version() == "1.1"
            and self.url[:1] == b"/"
            and self.url.isascii()
            and b"#" not in self.url
        )

    def _call_application(
        self, pieces: Sequence[bytes], continuation: ASGIApp | None = None
    ) -> None:
        """Starts the application, or what is left of a direct response, as uvicorn does it."""
        self._pieces = None
        if continuation is not None:
            self.app = continuation
        super().on_headers_complete()
        self.app = self.config.loaded_app
        for piece in pieces:
            super().on_body(piece)

    def _write(self, response: WireResponse, *, is_kept: bool) -> None:
        """Sends a whole response in one write."""
        content = [STATUS_LINE[response.status]]
        for name, value in self.server_state.default_headers:
            content += (name, b": ", value, b"\r\n")
        end = b"\r\n" if is_kept else b"connection: close\r\n\r\n"
        content += (response.field_lines(), end, response.body)
        self.transport.write(b"".join(content))
        self.server_state.total_requests += 1
        if not is_kept:
            self.transport.close()
