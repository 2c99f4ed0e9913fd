"""Links a replica to its store: connections, clock, locks and turns.

A second connection is subscribed to the channel that notifies of turns: the store closes a subscribed
connection whose output buffer is too full, and the reply with a whole world could fill it.
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

# The clocks of machines differ, so a window, token or code from one replica would expire too early or
# too late at another. So each replica measures the offset of its clock from the store's, and adds it;
# the remaining error is less than the duration of a call.

_INTERVAL = timedelta(minutes=1)
"""Time after which the offset is measured again, as clocks run at different rates."""


class StoreClock:
    """Tells the store's time, from the machine's clock and a measured offset."""

    def __init__(self, machine: Callable[[], datetime] = machine_time) -> None:
        self._machine = machine
        self._ahead = timedelta(0)
        self._measured_at: datetime | None = None

    def now(self) -> datetime:
        """Returns the store's time."""
        return self._machine() + self._ahead

    def of(self, setting: ClockSetting | None) -> Clock:
        """Returns a world's clock that is based on the store's time."""
        clock = Clock(self.now)
        clock.setting = setting
        return clock

    @property
    def is_due(self) -> bool:
        """True if the offset must be measured: for the first time, or an interval has passed.

        The interval is also exceeded if the machine's clock was set, in either direction.
        """
        if self._measured_at is None:
            return True
        return abs(self._machine() - self._measured_at) > _INTERVAL

    def begin(self) -> datetime:
        """Returns the machine's time at the beginning of a measurement."""
        return self._machine()

    def measure(self, begun: datetime, reply: Sequence[bytes]) -> None:
        """Computes the offset from the store's reply, as of the middle of the call.

        Args:
            begun: The machine's time at the beginning of the call.
            reply: The reply to TIME: Unix seconds, and microseconds.

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
    """Named locks of the running event loop."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._loop: asyncio.AbstractEventLoop | None = None

    def of(self, name: str) -> asyncio.Lock:
        """Returns the lock with a name."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._locks = WeakValueDictionary()  # asyncio locks are bound to their event loop
        return self._locks.setdefault(name, asyncio.Lock())

    async def acquire(self, names: Iterable[str]) -> list[asyncio.Lock]:
        """Acquires the locks with these names, all or none, and returns them."""
        acquired: list[asyncio.Lock] = []
        try:
            for name in sorted(names):  # always in the same order, so that no deadlock occurs
                lock = self.of(name)
                await lock.acquire()
                acquired.append(lock)
        except asyncio.CancelledError:
            for lock in acquired:
                lock.release()
            raise
        return acquired


# If several replicas handle requests of one world at once, only one can commit, and the others have
# to repeat theirs; the more replicas, the more repetitions. So a replica whose commit is refused gets
# a turn from the store. Until it has committed, other replicas wait for theirs, each for one group of
# requests. The message that notifies the next replica contains the changes meanwhile. Turns are only
# advice: an unused turn expires after a moment, and the store still compares the tags of worlds.

CHANNEL: Final = "understudy:replica:"
"""Prefix of the channel on which the store notifies a replica of its turn."""

_PATIENCE: Final = 0.1
"""Seconds that a request waits for a turn: twice the lifetime of an unused one (TURN_LASTS in Lua)."""

_GRACE: Final = 0.001
"""Seconds for which a turn is kept for the next request to its world, before it is passed on."""


@dataclass(slots=True)
class _Turn:
    """A turn that a replica waits for.

    Attributes:
        tag: The tag of the replica's copy of the world when it began to wait.
        has_come: Whether it is this replica's turn.
        news: The store's reply with the changes since ``tag``; None if it is for another tag.
        waiter: Done when the turn has come; None while no request waits for it.
    """

    tag: bytes
    has_come: bool = False
    news: Sequence[Any] | None = None
    waiter: asyncio.Future[None] | None = None


class Turns:
    """The turns that a replica waits for, by the names of worlds.

    Args:
        replica: The id of the replica.
        is_wanted: Tells whether any request uses a world, or waits for it.
        pass_on: Passes the turn at a world on to the next replica.
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
        """Notes that the store has queued the replica for a turn at a world."""
        self._turns[name] = _Turn(tag)

    def forget_all(self) -> None:
        """Forgets all turns, since notifications may have been lost."""
        self._turns.clear()

    async def wait(self, name: str, tag: bytes) -> Sequence[Any] | None:
        """Waits for the turn at a world, if the replica is queued for one.

        Returns:
            The store's reply with the changes since the tag; None if there are none for it.
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
        """Handles the store's message that it is this replica's turn."""
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
    """The connections of a replica to its store, opened on demand.

    Args:
        address: The server.
        replica: The id of the replica.
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
        """Returns the open connection, with the offset of the clock measured.

        Raises:
            OSError: The store does not respond.
            StoreRefusal: The store refuses authentication, or a command.
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
        """Closes the connections; the next call opens new ones."""
        self.turns.forget_all()
        for connection in (self._connection, self._notices):
            if connection is not None:
                connection.close()
        self._connection = self._notices = None

    async def _pass_turn(self, name: str) -> None:
        """Passes an unused turn at a world on to the next replica."""
        message = packed({"name": name, "replica": self.turns.replica})
        with suppress(OSError, StoreRefusal):  # the turn would expire anyway
            await (await self.connected()).run(PASS_TURN, message)


def _is_usable(connection: Connection | None) -> TypeGuard[Connection]:
    return connection is not None and connection.is_usable
