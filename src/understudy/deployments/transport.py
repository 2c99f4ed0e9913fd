"""The HTTP transport to a deployment, with a total timeout for a whole response.

httpx's timeouts are for single reads, so a response that arrives byte by byte would take for ever.
When the total timeout ends, the connection is shut down, which ends the read that waits for it.
"""

import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import httpx

from understudy.deployments.watchdog import Watch, Watchdog

TOTAL_TIMEOUT = timedelta(seconds=60)
"""The total timeout of one response, from its request to its last byte."""


class DeploymentTransport(httpx.HTTPTransport):
    """Sends requests over sockets.

    Args:
        timeout: The total timeout of one response.
    """

    def __init__(self, timeout: timedelta = TOTAL_TIMEOUT) -> None:
        super().__init__()
        self._streams: list[Any] = []
        self._watchdog = Watchdog(timeout.total_seconds(), self._cut)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, and returns a response whose body is cut when the timeout ends.

        Raises:
            httpx.HTTPError: No response was received, or not in time.
        """
        watch = self._watchdog.begin()
        request.extensions["trace"] = self._trace
        try:
            response = super().handle_request(request)
        except httpx.HTTPError as error:
            self._watchdog.end(watch)
            raise watch.reason(error) from error
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=WatchedStream(response, self._watchdog, watch),
        )

    def __exit__(self, *_exception: object) -> None:
        """Closes; the inherited way would close the connections alone."""
        self.close()

    def close(self) -> None:
        """Closes every connection, and ends the thread that watches them."""
        super().close()
        self._watchdog.close()

    def _trace(self, name: str, info: dict[str, Any]) -> None:
        if name in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            self._streams = [stream for stream in self._streams if _is_open(stream)]
            self._streams.append(info["return_value"])

    def _cut(self) -> None:
        """Shuts down every connection; a run awaits one response at a time."""
        for stream in self._streams:
            with suppress(OSError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


class WatchedStream(httpx.SyncByteStream):
    """A response body whose connection is watched until its end."""

    def __init__(self, response: httpx.Response, watchdog: Watchdog, watch: Watch) -> None:
        self._response = response
        self._watchdog = watchdog
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
        self._watchdog.end(self._watch)
        self._response.close()


def _is_open(stream: Any) -> bool:
    return bool(stream.get_extra_info("socket").fileno() != -1)
