"""Sends the same bytes to two mocks: one may respond directly, the other goes by its stack alone.

Both are served by the real HTTP protocol on a transport of ours, in one event loop, with clocks that
stand still. What they write, what they journal, and the state they end in have to be the same.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.quality.entrances.traffic import Sent, traffic
from uvicorn.server import ServerState

from understudy.mock.admin import journal_entries
from understudy.mock.app import Mock
from understudy.mock.engine.clock import Clock
from understudy.mock.engine.connection import HttpConnection
from understudy.mock.engine.request_context import RequestContext
from understudy.mock.engine.server import configuration, warm_up
from understudy.mock.settings import Settings

NOW = datetime(2026, 11, 22, tzinfo=UTC)
RENEWED = 500
"""Connections after which both mocks are made anew."""

PATIENCE = 2000
"""Turns of the event loop in which a response is expected; threads draw and check pictures."""


class Wire(asyncio.Transport):
    """A transport, and the socket that it asks for addresses, which remembers what was written."""

    def __init__(self) -> None:
        super().__init__({"socket": self})
        self.written = b""
        self._is_closed = False

    def fileno(self) -> int:
        """Returns the number of a descriptor, as a socket does."""
        return 3

    def getsockname(self) -> tuple[str, int]:
        """Returns the address of the server."""
        return "127.0.0.1", 8080

    def getpeername(self) -> tuple[str, int]:
        """Returns the address of the client."""
        return "127.0.0.1", 50_000

    def write(self, data: Any) -> None:
        """Takes what is sent to the client."""
        self.written += bytes(data)

    def close(self) -> None:
        """Ends the connection."""
        self._is_closed = True

    def abort(self) -> None:
        """Ends the connection."""
        self._is_closed = True

    def is_closing(self) -> bool:
        """Tells whether the connection has ended."""
        return self._is_closed

    def pause_reading(self) -> None:
        """Does nothing: whatever was sent is read."""

    def resume_reading(self) -> None:
        """Does nothing, likewise."""


class Entrance:
    """A mock as clients reach it.

    Args:
        is_direct: Whether it may respond directly.
    """

    def __init__(self, *, is_direct: bool) -> None:
        self.mock = Mock(Settings(seed=3))
        self.mock.world.clock = Clock(lambda: NOW)
        self.entries: list[RequestContext] = []
        self.mock.world.journal.listeners.append(self.entries.append)
        self._is_direct = is_direct

    async def send(self, sent: Sent) -> Wire:
        """Sends bytes on a new connection, and returns what came back."""
        site = self.mock.authorization if sent.is_authorization else self.mock.resource
        await warm_up(site)
        settings = configuration(site if self._is_direct else _by_the_stack(site), None)
        settings.load()
        connection, wire = HttpConnection(settings, ServerState(), {}), Wire()
        connection.connection_made(wire)
        for piece in sent.pieces:
            connection.data_received(piece)
            await _settled(connection)
            if wire.is_closing():
                break
        connection.connection_lost(None)
        await _tasks_done(connection)
        return wire

    def journal(self) -> list[object]:
        """Returns what was journalled since the last call."""
        told: list[object] = [
            (e.number, e.notes, e.identity, e.fault, _requested(e), journal_entries.response(e))
            for e in self.entries
        ]
        self.entries.clear()
        return told


def _requested(entry: RequestContext) -> dict[str, Any]:
    endpoint = entry.endpoint
    operation = endpoint.operation.operation_id if endpoint else None
    reason = entry.refusal and (entry.refusal.problem.message, entry.refusal.rules[:1])
    return {**journal_entries.request(entry), "operation": operation, "refusal": reason}


def _by_the_stack(site: Any) -> Any:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await site(scope, receive, send)

    return application


async def _settled(connection: HttpConnection) -> None:
    """Lets the connection work until it waits for the client, or has responded."""
    for turn in range(PATIENCE):
        await asyncio.sleep(0 if turn < 20 else 0.001)
        cycle = connection.cycle
        if cycle is None or cycle.response_complete or cycle.more_body:  # type: ignore[redundant-expr]  # uvicorn starts with None
            return


async def _tasks_done(connection: HttpConnection) -> None:
    if connection.tasks:
        await asyncio.wait(connection.tasks)


@dataclass
class Comparison:
    """What was compared.

    Attributes:
        connections: How many were opened to each mock.
        responses: How many responses the direct entrance's connections gave.
        differences: What differed, with the bytes that show it.
    """

    connections: int = 0
    responses: int = 0
    differences: list[str] = field(default_factory=list)


async def compare(connections: int, seed: int) -> Comparison:
    """Sends the traffic of a seed both ways.

    Args:
        connections: How many are opened to each mock.
        seed: Of the traffic.
    """
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    logging.getLogger("understudy").setLevel(logging.CRITICAL)
    result = Comparison()
    for number, sent in zip(range(connections), traffic(seed), strict=False):
        if number % RENEWED == 0:
            direct, stack = Entrance(is_direct=True), Entrance(is_direct=False)
        wires = await direct.send(sent), await stack.send(sent)
        result.connections += 1
        result.responses += wires[0].written.count(b"HTTP/1.1 ")
        ends = [(wire.written, wire.is_closing()) for wire in wires]
        journals = [direct.journal(), stack.journal()]
        states = [entrance.mock.world.snapshot() for entrance in (direct, stack)]
        for what, (first, second) in (("wire", ends), ("journal", journals), ("state", states)):
            if first != second:
                message = f"seed {seed}, {number}, {what}: {sent.pieces!r:.600}"
                ends_in = f"\n  direct {first!r:.1500}\n  stack  {second!r:.1500}"
                result.differences.append(message + ends_in)
    return result
