"""Makes exchanges for tests of checks, without sending anything."""

from datetime import UTC, datetime
from typing import Any

from understudy.exchange.messages import ANONYMOUS_IDENTITY, Exchange, Request, Response

BASE_URL = "http://127.0.0.1:1/v3"


def exchange_of(path: str, *, status: int = 200, method: str = "GET", **more: Any) -> Exchange:
    """Returns an exchange of the resource API.

    Args:
        path: Below the base URL.
        status: Of the response.
        method: Of the request.
        more: Further attributes of the exchange, such as ``operation``.
    """
    attributes = {
        "number": 1,
        "source": "test",
        "identity": ANONYMOUS_IDENTITY,
        "request": Request(method, BASE_URL + path),
        "response": Response(status),
        "at": datetime(2030, 1, 1, tzinfo=UTC),
        "site": "resource",
        "path": path,
    }
    return Exchange(**{**attributes, **more})
