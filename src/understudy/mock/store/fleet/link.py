"""Links a replica to its store: by one connection, on which the store notifies it of turns, too."""

from collections.abc import Callable
from contextlib import suppress

from understudy.mock.store.fleet.address import StoreAddress
from understudy.mock.store.fleet.connection import Connection
from understudy.mock.store.fleet.locks import Locks
from understudy.mock.store.fleet.packing import packed
from understudy.mock.store.fleet.refusals import StoreRefusal
from understudy.mock.store.fleet.scripts import PASS_TURN
from understudy.mock.store.fleet.store_clock import StoreClock
from understudy.mock.store.fleet.turns import Turns


class StoreLink:
    """The connection of a replica to its store, which is opened when it is needed.

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
        self._opening = Locks()

    async def connected(self) -> Connection:
        """Returns the connection, once it is known how far the machine's clock is from the store's.

        Raises:
            OSError: The store does not respond.
            StoreRefusal: It does not let this process in, or not do what it has to.
        """
        if self._connection is not None and self._connection.is_usable and not self.clock.is_due:
            return self._connection
        async with self._opening.of(""):
            if self._connection is None or not self._connection.is_usable:
                self.turns.forget_all()
                self._connection = await Connection.open(self._address)
                await self._connection.subscribe(self.turns.channel, self.turns.notify)
            self.clock.measure(self.clock.begin(), await self._connection.call("TIME"))
        return self._connection

    def close(self) -> None:
        """Closes the connection; the next call opens another one."""
        self.turns.forget_all()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _pass_turn(self, name: str) -> None:
        """Gives the turn at a world to the next replica, as this one has no use for it."""
        message = packed({"name": name, "replica": self.turns.replica})
        with suppress(OSError, StoreRefusal):  # turns end by themselves
            await (await self.connected()).run(PASS_TURN, message)
