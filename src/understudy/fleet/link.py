"""Links a replica to its store: its connections, its clock, its locks and its turns.

There is one connection for calls, and one on which the replica is notified of turns.

The store gives up a connection with a subscription when too much waits on it, and a whole world may be
more than that.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeGuard
from weakref import WeakValueDictionary

import hiredis

from understudy.fleet.connection import PASS_TURN, Connection, StoreRefusal, packed
from understudy.mock.server.clock import Clock, ClockSetting, machine_time
from understudy.store_address import StoreAddress

# The clocks of machines differ. A window, a token or a code that one replica began by its own
# machine's time would end too early, or too late, at another. So a replica measures how far its
# machine's clock is from the store's, and adds that; what remains is less than the time of one call.

_INTERVAL = timedelta(minutes=1)
"""Time after which the difference is measured again, as clocks run at different rates."""


class StoreClock:
    """The store's time, as this process knows it.

    Args:
        machine: Tells the machine's time.
    """

    def __init__(self, machine: Callable[[], datetime] = machine_time) -> None:
        self._machine = machine
        self._ahead = timedelta(0)
        self._measured_at: datetime | None = None

    def now(self) -> datetime:
        """Returns the store's time."""
        return self._machine() + self._ahead

    def of(self, setting: ClockSetting | None) -> Clock:
        """Returns a clock of a world that follows the store's time."""
        clock = Clock(self.now)
        clock.setting = setting
        return clock

    @property
    def is_due(self) -> bool:
        """True if the difference is to be measured, or the machine's clock was set meanwhile."""
        if self._measured_at is None:
            return True
        return abs(self._machine() - self._measured_at) > _INTERVAL

    def begin(self) -> datetime:
        """Returns when a measurement begins."""
        return self._machine()

    def measure(self, begun: datetime, reply: Sequence[bytes]) -> None:
        """Computes the difference from the reply of the store.

        Args:
            begun: The machine's time at which the call began.
            reply: Unix seconds, and microseconds beyond them, as TIME replies.

        Raises:
            StoreRefusal: The reply is not a time.
        """
        measured_at = self._machine()
        middle = begun + (measured_at - begun) / 2
        try:
            seconds, microseconds = map(int, reply)
            its_time = datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)
        except (TypeError, ValueError, ArithmeticError, OSError) as error:
            msg = "What it replies to TIME is not a time"
            raise StoreRefusal(msg) from error
        self._measured_at, self._ahead = measured_at, its_time - middle


class Locks:
    """The locks of the running event loop, by the names of what they lock."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._loop: asyncio.AbstractEventLoop | None = None

    def of(self, name: str) -> asyncio.Lock:
        """Returns the lock of this name."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._locks = WeakValueDictionary()  # those of another loop cannot be waited for here
        return self._locks.setdefault(name, asyncio.Lock())

    async def acquire(self, names: Iterable[str]) -> list[asyncio.Lock]:
        """Acquires the locks of these names, all or none; returns them."""
        acquired: list[asyncio.Lock] = []
        try:
            for name in sorted(names):  # in one order, so that no two wait for each other
                lock = self.of(name)
                await lock.acquire()
                acquired.append(lock)
        except asyncio.CancelledError:
            for lock in acquired:
                lock.release()
            raise
        return acquired


# Where two replicas work on requests of one world at once, only one of them can commit, and the
# other one works on them again: twice as often with twice the replicas. So a replica whose commits
# are refused one after another asks the store for a turn. Until it has committed, others wait for
# theirs, each for one group of requests; the next replica is notified by a message that has what
# changed meanwhile. Turns are advice, which decides about nothing: a turn that is not used ends
# after a moment, and the store compares the tags of worlds as always.

CHANNEL: Final = "understudy:replica:"
"""Prefix of the channel on which the store notifies a replica of its turn."""

_PATIENCE: Final = 0.1
"""Seconds that a request waits for a turn: twice as long as an unused one lasts (``lua/shared.lua``)."""

_GRACE: Final = 0.001
"""Seconds after which a turn is passed on that came before the next request to its world."""


@dataclass(slots=True)
class _Turn:
    """A turn that a replica waits for.

    Attributes:
        tag: The tag of the replica's copy of the world when it began to wait.
        has_come: Whether it is this replica's turn.
        news: What changed meanwhile, as the store replies; None where that is of no use.
        waiter: Done when the turn has come; None while no request waits for it.
    """

    tag: bytes
    has_come: bool = False
    news: Sequence[Any] | None = None
    waiter: asyncio.Future[None] | None = None


class Turns:
    """The turns that a replica waits for, by the names of worlds.

    Args:
        replica: Names the replica.
        is_wanted: Tells whether any request uses a world, or waits for it.
        pass_on: Gives the turn at a world to the next replica.
    """

    def __init__(
        self,
        replica: str,
        *,
        is_wanted: Callable[[str], bool],
        pass_on: Callable[[str], Coroutine[Any, Any, None]],
    ) -> None:
        self.replica = replica
        self._is_wanted = is_wanted
        self._pass_on = pass_on
        self._turns: dict[str, _Turn] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def channel(self) -> str:
        """The channel on which the store notifies this replica."""
        return f"{CHANNEL}{self.replica}"

    def expect(self, name: str, tag: bytes) -> None:
        """Takes that the replica waits for a turn at a world, with a copy of this tag."""
        self._turns[name] = _Turn(tag)

    def forget_all(self) -> None:
        """Forgets every turn, as no notification reaches this replica."""
        self._turns.clear()

    async def wait(self, name: str, tag: bytes) -> Sequence[Any] | None:
        """Waits for the turn at a world, if the replica is to have one.

        Args:
            name: The world.
            tag: That of the copy of the world.

        Returns:
            What changed there, as the store replies; None where that does not concern this copy.
        """
        turn = self._turns.get(name)
        if turn is None:
            return None
        if not turn.has_come:
            turn.waiter = asyncio.get_running_loop().create_future()
            await asyncio.wait((turn.waiter,), timeout=_PATIENCE)
        if self._turns.get(name) is turn:
            del self._turns[name]
        return turn.news if turn.tag == tag else None

    def notify(self, message: bytes) -> None:
        """Takes a message of the store: it is this replica's turn."""
        reader = hiredis.Reader()
        reader.feed(message)
        name, tag, news = reader.gets()
        turn = self._turns.get(name.decode())
        if turn is None:
            self._pass(name.decode())
            return
        turn.has_come = True
        turn.news = news if turn.tag == tag else None
        if turn.waiter is not None and not turn.waiter.done():
            turn.waiter.set_result(None)
        if not self._is_wanted(name.decode()):
            asyncio.get_running_loop().call_later(_GRACE, self._pass_unused, name.decode(), turn)

    def _pass_unused(self, name: str, turn: _Turn) -> None:
        """Passes on a turn that no request has begun to use."""
        if self._turns.get(name) is turn and not self._is_wanted(name):
            del self._turns[name]
            self._pass(name)

    def _pass(self, name: str) -> None:
        task = asyncio.get_running_loop().create_task(self._pass_on(name))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class StoreLink:
    """The connections of a replica to its store, which are opened when they are needed.

    Args:
        address: The server.
        replica: Names the replica.
        is_wanted: Tells whether any request uses a world, or waits for it.

    Attributes:
        clock: Tells the store's time.
        turns: The turns at worlds that several replicas change at once.
    """

    def __init__(
        self, address: StoreAddress, replica: str, is_wanted: Callable[[str], bool]
    ) -> None:
        self.clock = StoreClock()
        self.turns = Turns(replica, is_wanted=is_wanted, pass_on=self._pass_turn)
        self._address = address
        self._connection: Connection | None = None
        self._notices: Connection | None = None
        self._opening = Locks()

    async def connected(self) -> Connection:
        """Returns the connection, once it is known how far the machine's clock is from the store's.

        Raises:
            OSError: The store does not respond.
            StoreRefusal: It does not let this process in, or not do what it has to.
        """
        if _is_usable(self._connection) and _is_usable(self._notices) and not self.clock.is_due:
            return self._connection
        async with self._opening.of(""):
            if not _is_usable(self._notices):
                self.turns.forget_all()
                self._notices = await Connection.open(self._address)
                await self._notices.subscribe(self.turns.channel, self.turns.notify)
            if not _is_usable(self._connection):
                self._connection = await Connection.open(self._address)
            self.clock.measure(self.clock.begin(), await self._connection.call("TIME"))
        return self._connection

    def close(self) -> None:
        """Closes the connections; the next call opens others."""
        self.turns.forget_all()
        for connection in (self._connection, self._notices):
            if connection is not None:
                connection.close()
        self._connection = self._notices = None

    async def _pass_turn(self, name: str) -> None:
        """Gives the turn at a world to the next replica, as this one has no use for it."""
        message = packed({"name": name, "replica": self.turns.replica})
        with suppress(OSError, StoreRefusal):  # turns end by themselves
            await (await self.connected()).run(PASS_TURN, message)


def _is_usable(connection: Connection | None) -> TypeGuard[Connection]:
    return connection is not None and connection.is_usable
