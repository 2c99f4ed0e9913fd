"""The reference in this process: no sockets, a clock that moves when it is told."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from flask import Flask
from tests.proofs.reference.parts import SOUND, Parts
from tests.proofs.reference.service import Addresses, Options
from tests.proofs.reference.serving import DEFAULTS, applications

ADDRESSES = Addresses("http://reference.test", "http://accounts.reference.test")
BEGINNING = datetime(2026, 5, 4, 10, 0, tzinfo=UTC)


class MovableClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self._now = BEGINNING

    def __call__(self) -> datetime:
        """Returns the time."""
        return self._now

    def move(self, span: timedelta) -> None:
        """Moves it ahead."""
        self._now += span


class InProcess(httpx.BaseTransport):
    """Sends requests to both applications of a reference as good as new.

    Attributes:
        clock: Its clock.
    """

    def __init__(self, options: Options = DEFAULTS, parts: Parts = SOUND) -> None:
        self.clock = MovableClock()
        apps = applications(ADDRESSES, options, self.clock, parts)
        self._resource, self._authorization = (
            httpx.WSGITransport(_with_latin_path(app), raise_app_exceptions=False) for app in apps
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request and returns the whole response."""
        is_resource = str(request.url).startswith(ADDRESSES.site)
        site = self._resource if is_resource else self._authorization
        response = site.handle_request(request)
        content = response.read()
        return httpx.Response(response.status_code, headers=response.headers, content=content)


def _with_latin_path(app: Flask) -> Callable[..., Iterable[bytes]]:
    """Returns an application that gets its path and the end of a body as servers give them, not httpx."""

    def call(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"].encode().decode("latin-1")
        return app({**environ, "PATH_INFO": path, "wsgi.input_terminated": True}, start_response)

    return call
