"""Worlds of MCP sessions: each session gets one of its own, which ends with it.

A session is what the transport calls one: the process on stdio, ``Mcp-Session-Id`` by HTTP. Protocol
version 2026-07-28 has no sessions by HTTP; there a client names the world that `create_world` made.
"""

import ssl
import threading
from contextlib import suppress
from typing import Any, Final

import httpx
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from understudy.errors import StartupError
from understudy.testing.world import MockWorld
from understudy.verify.admin_client import AdminClient

IDLE_SECONDS: Final = 3600
"""A world whose session was lost is deleted after this time without a request."""

SESSION_HEADER: Final = "mcp-session-id"

_THE_PROCESS: Final = ""
"""Key of the one session of a server on stdio."""


class SessionWorlds:
    """The worlds that the sessions of one server made.

    Args:
        mock: The admin API of the mock.

    Attributes:
        mock: The same.
        transport: The connections to the mock that requests of every session share; cookies are not shared.
    """

    def __init__(self, mock: AdminClient) -> None:
        self.mock = mock
        self.transport = httpx.HTTPTransport(
            verify=ssl.create_default_context() if mock.url.startswith("https:") else False
        )
        self._worlds: dict[str, MockWorld] = {}
        self._current: dict[str, str] = {}
        self._lock = threading.Lock()

    def create(self, session: str | None, **options: Any) -> MockWorld:
        """Creates the world of a session; the one that it had before is deleted.

        Args:
            session: The session's key; None for a client without a session, whose worlds end when idle.
            options: The members of ``POST /__admin/worlds``.

        Raises:
            StartupError: The mock refuses the options.
        """
        with self._lock:
            return self._create(session, options)

    def find(self, session: str | None, name: str | None) -> MockWorld:
        """Returns a world by its name, or the session's own, which is created at its first use.

        Raises:
            ToolError: There is no such world, or no session that could have one.
            StartupError: The mock creates no world.
        """
        with self._lock:
            if name is None and session is not None:
                name = self._current.get(session)
            if name in self._worlds:
                return self._worlds[name]
            if name is not None:
                msg = f"There is no world {name!r} of this server; create_world makes one."
                raise ToolError(msg)
            if session is None:
                msg = "This connection has no session; call create_world, and pass its name as `world`."
                raise ToolError(msg)
            return self._create(session, {})

    def end(self, session: str) -> None:
        """Deletes the world of a session."""
        with self._lock:
            self._end(session)

    def close(self) -> None:
        """Deletes every world."""
        with self._lock:
            for name in list(self._worlds):
                self._delete(name)
            self._current.clear()
            self.transport.close()

    def _create(self, session: str | None, options: dict[str, Any]) -> MockWorld:
        world = MockWorld(self.mock, idle_seconds=IDLE_SECONDS, **options)
        if session is not None:
            self._end(session)
            self._current[session] = world.name
        self._worlds[world.name] = world
        return world

    def _end(self, session: str) -> None:
        name = self._current.pop(session, None)
        if name is not None:
            self._delete(name)

    def _delete(self, name: str) -> None:
        with suppress(StartupError):  # it ended already, when idle or with its mock
            self._worlds.pop(name).close()


ToolContext = Context[SessionWorlds, Any]
"""The context that tools get, with the worlds of the server."""


def session_of(context: ToolContext) -> str | None:
    """Returns the key of the session of a call; None by HTTP without a session."""
    headers = context.headers
    return _THE_PROCESS if headers is None else headers.get(SESSION_HEADER)


def world_of(context: ToolContext, name: str | None) -> MockWorld:
    """Returns the world that a call means.

    Raises:
        ToolError: There is no such world, or no session that could have one.
        StartupError: The mock creates no world.
    """
    return context.request_context.lifespan_context.find(session_of(context), name)
