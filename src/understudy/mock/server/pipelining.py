"""Responds in the order of the requests, and to each of them, where a client pipelines.

uvicorn knows the last request of a connection only: it writes the response to one that it cannot parse
before those to earlier requests, ends the connection before them where a client half-closes it, and
tells nobody but the last that the client has gone.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from understudy.mock.server.episodes import Episode

_log = logging.getLogger(__name__)

_uvicorn_log = _log.getChild("uvicorn")
_uvicorn_log.setLevel(logging.ERROR)  # it warns of each request that it cannot parse

_UNPARSABLE = Episode()


class PipelinedProtocol(HttpToolsProtocol):
    """Keeps every request of a connection that has not been responded to."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = _uvicorn_log
        self._cycles: list[RequestResponseCycle] = []
        self._end: Callable[[], None] | None = None
        """Ends the connection, once the requests that came whole have their responses."""

    def is_ending(self) -> bool:
        """Tells whether further bytes of the client are ignored, as the connection is to end."""
        return self._end is not None

    def on_headers_complete(self) -> None:
        """Starts the application, or queues the request behind one that has no response yet."""
        super().on_headers_complete()
        self._cycles = [*self.unfinished(), self.cycle]

    def connection_lost(self, exc: Exception | None) -> None:
        """Tells the application, for every request that it works on, that nobody waits for it."""
        super().connection_lost(exc)
        for cycle in self.unfinished():
            _abandon(cycle)

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn always ends the connection
        """Lets a client have its responses that sent whole requests and will send no more.

        Returns:
            Whether the connection stays open until they are sent; not over TLS, which has no
            half-closed connections.
        """
        if self.is_ending() or self.scheme != "http":
            return self.is_ending()
        cut = self._abandon_incomplete()
        waiting = self.unfinished()
        if not waiting or waiting[-1].response_started:
            return False
        if cut is not None:
            self._end = self.transport.close
        else:
            waiting[-1].keep_alive = False
        return True

    def send_400_response(self, msg: str) -> None:
        """Responds to what is not a request, after the responses to the requests before it."""
        if _UNPARSABLE.begins():
            client = self.client[0] if self.client else "A client"
            _log.warning(
                "%s sent what is not HTTP/1.1 and got 400; no more is logged of it while it goes on.",
                client,
            )
        cut = self._abandon_incomplete()
        end: Callable[[], None] = partial(super().send_400_response, msg)
        if cut is not None and cut.response_started:
            end = self.transport.close
        if self.unfinished():
            self._end = end
        else:
            end()

    def on_response_complete(self) -> None:
        """Goes on with the next request, or ends the connection."""
        super().on_response_complete()
        if self._end is not None and not self.unfinished():
            self._end()

    def unfinished(self) -> list[RequestResponseCycle]:
        """Returns the requests that have no whole response yet, in their order."""
        return [cycle for cycle in self._cycles if not cycle.response_complete]

    def _abandon_incomplete(self) -> RequestResponseCycle | None:
        """Waits no longer for the body of the last request; returns that request, if it did."""
        incomplete = next((cycle for cycle in self.unfinished() if cycle.more_body), None)
        if incomplete is not None:
            self._cycles.remove(incomplete)
            _abandon(incomplete)
        return incomplete


def _abandon(cycle: RequestResponseCycle) -> None:
    cycle.disconnected = True
    cycle.message_event.set()
