"""The wire to a deployment: sockets, and a patience for a whole answer.

httpx's timeouts are of one step, so an answer that comes byte by byte would take for ever. When the
patience ends, the connection is shut, which ends whatever waits for it.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import httpx

PATIENCE = timedelta(seconds=60)
"""For one answer, from its request to its last byte."""


class DeploymentTransport(httpx.HTTPTransport):
    """Sockets to a deployment.

    Args:
        patience: How long one answer may take.
    """

    def __init__(self, patience: timedelta = PATIENCE) -> None:
        super().__init__()
        self._patience = patience
        self._streams: list[Any] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, and returns an answer whose body is cut when the patience ends.

        Raises:
            httpx.HTTPError: No answer came, or not in time.
        """
        watch = Watchdog(self._patience, self._streams)
        request.extensions["trace"] = self._trace
        try:
            response = super().handle_request(request)
        except httpx.HTTPError as error:
            watch.end()
            raise watch.reason(error) from error
        return httpx.Response(
            response.status_code, headers=response.headers, stream=WatchedStream(response, watch)
        )

    def _trace(self, name: str, info: dict[str, Any]) -> None:
        if name in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            # in place, as the watch under way knows this list
            self._streams[:] = [stream for stream in self._streams if _is_open(stream)]
            self._streams.append(info["return_value"])


class Watchdog:
    """Shuts every connection when the patience ends; a run has one answer under way at a time.

    Attributes:
        is_cut: Whether it ended.
    """

    def __init__(self, patience: timedelta, streams: list[Any]) -> None:
        self._seconds = patience.total_seconds()
        self._streams = streams
        self.is_cut = False
        self._timer = threading.Timer(self._seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Watches no more."""
        self._timer.cancel()

    def reason(self, error: httpx.HTTPError) -> httpx.HTTPError:
        """Returns why a connection broke."""
        return self.slowness if self.is_cut else error

    @property
    def slowness(self) -> httpx.ReadTimeout:
        """What is said of an answer that was cut."""
        return httpx.ReadTimeout(f"the answer took longer than {self._seconds:g} s and was cut")

    def _cut(self) -> None:
        self.is_cut = True
        for stream in self._streams:
            with suppress(OSError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


class WatchedStream(httpx.SyncByteStream):
    """A body whose connection is watched until its end."""

    def __init__(self, response: httpx.Response, watch: Watchdog) -> None:
        self._response = response
        self._watch = watch

    def __iter__(self) -> Iterator[bytes]:
        """Yields the body as it came.

        Raises:
            httpx.HTTPError: It ended too early, or did not end in time.
        """
        try:
            yield from self._response.stream  # type: ignore[misc]  # a synchronous one
        except httpx.HTTPError as error:
            raise self._watch.reason(error) from error
        if self._watch.is_cut:  # a body that ends with its connection looks whole
            raise self._watch.slowness

    def close(self) -> None:
        """Lets go of the connection."""
        self._watch.end()
        self._response.close()


def _is_open(stream: Any) -> bool:
    return bool(stream.get_extra_info("socket").fileno() != -1)
