"""Serves MCP by streamable HTTP, guarded as the admin API of the mock is."""

import socket
from typing import Final

import orjson
import uvicorn
from anyio import to_thread
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.mcp_server.server import Assembled
from understudy.mcp_server.session_worlds import SESSION_HEADER, SessionWorlds
from understudy.mock.server.guards import reason_against

PATH: Final = "/mcp"


def application(assembled: Assembled, token: str | None) -> ASGIApp:
    """Returns the ASGI application of an MCP server.

    Args:
        assembled: The server.
        token: The token that lets in callers from other machines; None lets in no other machine.
    """
    # the guard looks at Host and Origin, by the rules of the admin API instead of the SDK's
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    transport = assembled.server.streamable_http_app(
        streamable_http_path=PATH, transport_security=unguarded
    )
    return _Guarded(_EndingWorlds(transport, assembled.worlds), token)


class _Guarded:
    """Refuses requests that the admin API would refuse."""

    def __init__(self, application: ASGIApp, token: str | None) -> None:
        self._application = application
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            client = (scope.get("client") or ("",))[0]
            reason = reason_against(client, dict(scope["headers"]), self._token, frozenset())
            if reason is not None:
                await _refuse(reason)(scope, receive, send)
                return
        await self._application(scope, receive, send)


def _refuse(reason: str) -> Response:
    problem = {"type": "about:blank", "title": "Forbidden", "status": 403, "detail": reason}
    return Response(orjson.dumps(problem), 403, media_type="application/problem+json")


class _EndingWorlds:
    """Deletes the world of a session that its client ends by ``DELETE``."""

    def __init__(self, application: ASGIApp, worlds: SessionWorlds) -> None:
        self._application = application
        self._worlds = worlds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "DELETE":
            session = dict(scope["headers"]).get(SESSION_HEADER.encode())
            if session is not None:  # before the response, after which the client expects it
                await to_thread.run_sync(self._worlds.end, session.decode("latin-1"))
        await self._application(scope, receive, send)


def serve(application: ASGIApp, listener: socket.socket) -> None:
    """Serves an application on a bound socket until SIGINT or SIGTERM."""
    configuration = uvicorn.Config(
        application, log_config=None, access_log=False, proxy_headers=False, server_header=False
    )
    uvicorn.Server(configuration).run(sockets=[listener])
