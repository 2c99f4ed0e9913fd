"""Worlds of MCP sessions: each session gets a separate world, which is deleted with the session.

On stdio the process is one session; by HTTP ``Mcp-Session-Id`` identifies a session. Protocol version
2026-07-28 has no sessions by HTTP: there a client passes the name of the world from `create_world`.
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
"""Time without requests after which a world is deleted, in case its session was lost."""

SESSION_HEADER: Final = "mcp-session-id"

_THE_PROCESS: Final = ""
"""Key of the only session of a server on stdio."""


class SessionWorlds:
    """The worlds that the sessions of one server created.

    Attributes:
        mock: The admin API of the mock.
        transport: The connection pool to the mock, shared by all sessions, unlike cookies.
    """

    def __init__(self, mock: AdminClient) -> None:
        self.mock = mock
        self.transport = httpx.HTTPTransport(
            verify=ssl.create_default_context() if mock.url.startswith("https:") else False
        )
        self._worlds: dict[str, MockWorld] = {}
        self._current: dict[str, str] = {}
        # finding a world may create it, and that ends an earlier one, all with the lock
        self._lock = threading.RLock()

    def create(self, session: str | None, **options: Any) -> MockWorld:
        """Creates a world for a session, and deletes the session's earlier one.

        Args:
            session: Key of the session; None for a client without one, whose worlds end when idle.
            options: The members of ``POST /__admin/worlds``.

        Raises:
            StartupError: The mock refuses the options.
        """
        with self._lock:
            world = MockWorld(self.mock, idle_seconds=IDLE_SECONDS, **options)
            if session is not None:
                self.end(session)
                self._current[session] = world.name
            self._worlds[world.name] = world
            return world

    def find(self, session: str | None, name: str | None) -> MockWorld:
        """Returns a world by its name, or the session's world, which is created at the first use.

        Raises:
            ToolError: There is no such world, or neither a name nor a session is given.
            StartupError: The mock refuses to create a world.
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
            return self.create(session)

    def end(self, session: str) -> None:
        """Deletes the world of a session."""
        with self._lock:
            name = self._current.pop(session, None)
            if name is not None:
                self._delete(name)

    def close(self) -> None:
        """Deletes every world."""
        with self._lock:
            for name in list(self._worlds):
                self._delete(name)
            self._current.clear()
            self.transport.close()

    def _delete(self, name: str) -> None:
        with suppress(StartupError):  # the world was deleted as idle, or the mock has ended
            self._worlds.pop(name).close()


ToolContext = Context[SessionWorlds, Any]
"""The context that tools get, with the worlds of the server."""


def session_of(context: ToolContext) -> str | None:
    """Returns the key of a call's session; None for a call by HTTP without a session."""
    headers = context.headers
    return _THE_PROCESS if headers is None else headers.get(SESSION_HEADER)


def world_of(context: ToolContext, name: str | None) -> MockWorld:
    """Returns the world of a call: the one that it names, else that of its session.

    Raises:
        ToolError: There is no such world, or neither a name nor a session is given.
        StartupError: The mock refuses to create a world.
    """
    return context.request_context.lifespan_context.find(session_of(context), name)
