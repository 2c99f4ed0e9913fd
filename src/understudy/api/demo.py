"""A mock with three faults in its responses, typical of gateways and unfinished releases."""

from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.mock.app import Mock
from understudy.mock.server.request_context import Addresses
from understudy.mock.settings import Settings

FAULTS: Final = (
    "the gateway accepts `Bearer` and not `bearer`",
    "a QR code without a size is 120 pixels wide",
    "an unknown profile is answered with 400 and not with 404",
)
"""The faults of the staging, as its first screen lists them."""


def plain(url: str, auth_url: str) -> tuple[ASGIApp, ASGIApp]:
    """Returns the applications of a mock: those of its resource API and its authorization server."""
    mock = Mock(Settings(log="off"), None, Addresses(url, auth_url))
    return mock.resource, mock.authorization


def staging(url: str, *, is_fixed: bool) -> ASGIApp:
    """Returns the application of the staging server, with both APIs at one address."""
    mock = Mock(Settings(log="off", single_port=True), None, Addresses(url, url))
    return mock.resource if is_fixed else faulty(mock.resource)


def faulty(application: ASGIApp) -> ASGIApp:
    """Returns an application with the staging server's faults; its console and pages have none."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        is_api = scope["type"] == "http" and scope["path"].startswith("/v3/")
        if not is_api:
            await application(scope, receive, send)
            return
        is_lookup = scope["path"].startswith("/v3/profiles/")
        await application(_changed(scope), receive, _with_400(send) if is_lookup else send)

    return serve


def _changed(scope: Scope) -> Scope:
    """Returns a request as the faulty gateway passes it on."""
    headers = [
        (name, value)
        for name, value in scope["headers"]
        if name != b"authorization" or not value.startswith(b"bearer ")
    ]
    if len(headers) < len(scope["headers"]):
        headers.append((b"authorization", b"Bearer unknown-to-the-gateway"))
    query = scope["query_string"]
    if scope["path"].startswith("/v3/qr-code/") and "size" not in dict(parse_qsl(query.decode())):
        query = query + b"&size=120" if query else b"size=120"
    return {**scope, "headers": headers, "query_string": query}


def _with_400(send: Send) -> Callable[[MutableMapping[str, Any]], Awaitable[None]]:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start" and message["status"] == HTTPStatus.NOT_FOUND:
            message = {**message, "status": HTTPStatus.BAD_REQUEST}
        await send(message)

    return sent
