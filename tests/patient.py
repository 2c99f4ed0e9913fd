"""HTTP requests of tests to servers on this machine: patient, and with one TLS context for all.

httpx waits five seconds for a response, which a busy machine may need, and makes a TLS context for
each request that has no client, which takes longer than the request.
"""

from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import httpx

PATIENCE = 120
"""Seconds that a busy machine may take."""

_OPTIONS: dict[str, Any] = {
    "timeout": PATIENCE,
    "trust_env": False,
    "verify": httpx.create_ssl_context(),
}


def request(method: str, url: httpx.URL | str, **options: Any) -> httpx.Response:
    """Sends a request without a proxy, and waits for its response."""
    return httpx.request(method, url, **_OPTIONS, **options)


def stream(method: str, url: str) -> AbstractContextManager[httpx.Response]:
    """Sends a request, and gives its response before the body is read."""
    return httpx.stream(method, url, **_OPTIONS)


get = partial(request, "GET")
post = partial(request, "POST")
patch = partial(request, "PATCH")
delete = partial(request, "DELETE")
