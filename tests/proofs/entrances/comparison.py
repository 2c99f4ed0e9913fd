"""Sends the same bytes to two mocks: one may respond directly, the other goes by its stack alone.

Both are served by the real HTTP protocol on a transport of ours, in one event loop, with clocks that
stand still. What they write, what they journal, and the state they end in have to be the same.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from tests.proofs.entrances.ordinary import OWNERS, PETSTORE
from tests.proofs.entrances.traffic import Sent, pet_traffic, traffic
from uvicorn.server import ServerState

from understudy.fleet.connection import send_once
from understudy.mock.admin import requests
from understudy.mock.app import Mock
from understudy.mock.server.clock import Clock
from understudy.mock.server.protocol import HttpConnection
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.serving import configuration
from understudy.mock.settings import Settings
from understudy.store_address import store_address

SERVICE = Settings(seed=3, user_info=True)
PET_STORE = Settings(seed=3, document=PETSTORE, overlays=(OWNERS,))
NOW = datetime(2026, 11, 22, tzinfo=UTC)
RENEWED = 500
"""Connections after which both mocks are made anew."""

MOST = 20
"""Differences after which a comparison stops, as both mocks are made anew after each."""

EARLY = 20
"""Turns in which a request is refused whose body is awaited."""

PATIENCE = 2000
"""Turns of the event loop in which a response is expected; threads draw and check pictures."""


class Wire(asyncio.Transport):
    """A transport, and the socket that it asks for addresses, which remembers what was written."""

    def __init__(self, protocol: asyncio.BaseProtocol) -> None:
        super().__init__({"socket": self})
        self._protocol = protocol
        self.written = b""
        self._is_closed = False

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Returns what the bytes of the client are for."""
        return self._protocol

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
        """Takes what is sent to the client; after the end it is dropped, as asyncio does."""
        if not self._is_closed:
            self.written += bytes(data)

    def setsockopt(self, *_option: object) -> None:
        """Takes an option of the socket."""

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


class Calls:
    """The calls of a store that have no reply yet.

    Attributes:
        open: How many there are.
    """

    def __init__(self) -> None:
        self.open = 0

    def count(self, store: Any) -> None:
        """Counts the calls of a store."""
        run = store.run

        async def counted(message: Mapping[str, Any]) -> Any:
            self.open += 1
            try:
                return await run(message)
            finally:
                self.open -= 1

        store.run = counted


class Entrance:
    """A mock as clients reach it.

    Args:
        is_direct: Whether it may respond directly.
        settings: Of the mock.
        state: URL of a store, whose worlds begin anew; None: they are in memory.
    """

    def __init__(
        self, *, is_direct: bool, settings: Settings = SERVICE, state: str | None = None
    ) -> None:
        if state is not None:
            send_once(store_address(state), ("FLUSHALL",))
        self.mock = Mock(settings if state is None else replace(settings, state=state))
        self._calls = Calls()
        if self.mock._store is not None:
            self._calls.count(self.mock._store)
        self.mock.world.clock = Clock(lambda: NOW)
        self.entries: list[RequestContext] = []
        self.mock.world.journal.listeners.append(self.entries.append)
        self._is_direct = is_direct

    async def send(self, sent: Sent) -> Wire:
        """Sends bytes on a new connection, and returns what came back."""
        site = self.mock.authorization if sent.is_authorization else self.mock.resource
        settings = configuration(site if self._is_direct else _by_the_stack(site), None)
        settings.load()
        state = ServerState()
        if self._is_direct:  # what arrives waits for the reads of other connections
            state.connections.add(self)  # type: ignore[arg-type]  # stands for one
        connection = HttpConnection(settings, state, {})
        wire = Wire(connection)
        connection.connection_made(wire)
        for number, piece in enumerate(sent.pieces, 1):
            connection.data_received(piece)
            is_last = number == len(sent.pieces) and sent.is_half_closed
            if is_last and not wire.is_closing() and not connection.eof_received():
                wire.close()
            await self._settled(connection, wire)
            if wire.is_closing():
                break
        connection.connection_lost(None)
        await _tasks_done(connection)
        return wire

    async def _settled(self, connection: HttpConnection, wire: Wire) -> None:
        """Lets the connection work until it waits for the client, or has responded."""
        for turn in range(PATIENCE):
            await asyncio.sleep(0 if turn < 20 else 0.001)
            waiting = [cycle for cycle in connection.unfinished() if not cycle.more_body]
            if wire.is_closing() or not waiting:
                break
        turns = 0
        while turns < EARLY:
            await asyncio.sleep(0.001 if self._calls.open else 0)
            turns = 0 if self._calls.open else turns + 1

    def state(self) -> list[object]:
        """Returns what every world holds."""
        return [(world.name, world.snapshot()) for world in self.mock.worlds]

    def journal(self) -> list[object]:
        """Returns what was journalled since the last call."""
        told: list[object] = [
            (e.number, e.notes, e.identity, e.fault, _requested(e), requests.response(e))
            for e in self.entries
        ]
        self.entries.clear()
        return told


def _requested(entry: RequestContext) -> dict[str, Any]:
    endpoint = entry.endpoint
    operation = endpoint.operation.operation_id if endpoint else None
    reason = entry.refusal and (entry.refusal.problem.message, entry.refusal.rules[:1])
    return {**requests.request(entry), "operation": operation, "refusal": reason}


def _by_the_stack(site: Any) -> Any:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await site(scope, receive, send)

    return application


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


def _end(wire: Wire, sent: Sent) -> tuple[bytes, bool]:
    """Returns what came back, and whether the connection was ended.

    Only a response that was not yet written when the client half-closed says that it is the last.
    """
    if sent.is_half_closed:
        return wire.written.replace(b"connection: close\r\n", b""), wire.is_closing()
    return wire.written, wire.is_closing()


async def compare(
    connections: int,
    seed: int,
    settings: Settings = SERVICE,
    most: int = MOST,
    state: str | None = None,
) -> Comparison:
    """Sends the traffic of a seed both ways.

    Args:
        connections: How many are opened to each mock.
        seed: Of the traffic.
        settings: Of both mocks; those of the pet store get its traffic.
        most: Differences after which it stops.
        state: URL of a store for the worlds of the mock that may respond directly; it is emptied.
    """
    sending = pet_traffic if settings is PET_STORE else traffic
    logging.getLogger("understudy").setLevel(logging.CRITICAL)
    result = Comparison()
    begin = partial(_entrances, settings, state)
    direct, stack = begin()
    for number, sent in zip(range(connections), sending(seed), strict=False):
        wires = await direct.send(sent), await stack.send(sent)
        result.connections += 1
        result.responses += wires[0].written.count(b"HTTP/1.1 ")
        ends = [_end(wire, sent) for wire in wires]
        journals = [direct.journal(), stack.journal()]
        states = [direct.state(), stack.state()]
        for what, (first, second) in (("wire", ends), ("journal", journals), ("state", states)):
            if first != second:
                message = f"seed {seed}, {number}, {what}: {sent!r:.600}"
                ends_in = f"\n  direct {first!r:.1500}\n  stack  {second!r:.1500}"
                result.differences.append(message + ends_in)
        if len(result.differences) >= most:
            break
        if number % RENEWED == RENEWED - 1 or ends[0] != ends[1] or journals[0] != journals[1]:
            await direct.mock.close()
            direct, stack = begin()
    await direct.mock.close()
    return result


def _entrances(settings: Settings, state: str | None) -> tuple[Entrance, Entrance]:
    """Returns a mock that may respond directly, and one that does not, both as they begin."""
    direct = Entrance(is_direct=True, settings=settings, state=state)
    return direct, Entrance(is_direct=False, settings=settings)
