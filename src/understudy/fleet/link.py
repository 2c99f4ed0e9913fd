"""Links a replica to its store: by one connection for calls, and one on which it is notified of turns.

The store gives up a connection with a subscription when too much waits on it, and a whole world may be
more than that.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeGuard

from understudy.fleet.address import StoreAddress
from understudy.fleet.connection import Connection
from understudy.fleet.locks import Locks
from understudy.fleet.packing import packed
from understudy.fleet.refusals import StoreRefusal
from understudy.fleet.scripts import PASS_TURN
from understudy.fleet.store_clock import StoreClock
from understudy.fleet.turns import Turns


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
