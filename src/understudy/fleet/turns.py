"""Takes turns with other replicas at worlds that several of them change at once.

Where two replicas work on requests of one world at once, only one of them can commit, and the other one
works on them again: twice as often with twice the replicas. So a replica whose commits are refused one
after another asks the store for a turn. Until it has committed, others wait for theirs, each for one
group of requests; the next replica is notified by a message that has what changed meanwhile.

Turns are advice, which decides about nothing: a turn that is not used ends after a moment, and the store
compares the tags of worlds as always.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

import hiredis

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
