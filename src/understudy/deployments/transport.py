"""The HTTP transport to a deployment, with a total timeout for a whole response.

httpx's timeouts are for single reads, so a response that arrives byte by byte would take for ever.
When the total timeout ends, the connection is shut down, which ends the read that waits for it.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import httpx

TOTAL_TIMEOUT = timedelta(seconds=60)
"""The total timeout of one response, from its request to its last byte."""


class DeploymentTransport(httpx.HTTPTransport):
    """Sends requests over sockets.

    Args:
        timeout: The total timeout of one response.
    """

    def __init__(self, timeout: timedelta = TOTAL_TIMEOUT) -> None:
        super().__init__()
        self._timeout = timeout
        self._streams: list[Any] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, and returns a response whose body is cut when the timeout ends.

        Raises:
            httpx.HTTPError: No response was received, or not in time.
        """
        watch = Watchdog(self._timeout, self._streams)
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
            # in place, as the current watchdog refers to this list
            self._streams[:] = [stream for stream in self._streams if _is_open(stream)]
            self._streams.append(info["return_value"])


class Watchdog:
    """Shuts down every connection when the timeout ends; a run awaits one response at a time.

    Attributes:
        is_cut: True if the timeout ended.
    """

    def __init__(self, timeout: timedelta, streams: list[Any]) -> None:
        self._seconds = timeout.total_seconds()
        self._streams = streams
        self.is_cut = False
        self._timer = threading.Timer(self._seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Cancels the timer."""
        self._timer.cancel()

    def reason(self, error: httpx.HTTPError) -> httpx.HTTPError:
        """Returns the error that explains a broken connection."""
        return self.slowness if self.is_cut else error

    @property
    def slowness(self) -> httpx.ReadTimeout:
        """The error of a response that was cut."""
        return httpx.ReadTimeout(f"the response took longer than {self._seconds:g} s and was cut")

    def _cut(self) -> None:
        self.is_cut = True
        for stream in self._streams:
            with suppress(OSError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


class WatchedStream(httpx.SyncByteStream):
    """A response body whose connection is watched until its end."""

    def __init__(self, response: httpx.Response, watch: Watchdog) -> None:
        self._response = response
        self._watch = watch

    def __iter__(self) -> Iterator[bytes]:
        """Yields the body as it is received.

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
        """Closes the connection."""
        self._watch.end()
        self._response.close()


def _is_open(stream: Any) -> bool:
    return bool(stream.get_extra_info("socket").fileno() != -1)
