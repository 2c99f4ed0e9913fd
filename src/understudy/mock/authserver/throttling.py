"""Limits failed attempts at secrets, codes and passwords (RFC 6749, 10.10; RFC 9700, 4)."""

from dataclasses import dataclass
from datetime import timedelta

from understudy.errors import TooManyRequests
from understudy.interface.rules import upholds
from understudy.mock.server.worlds import Collection, World
from understudy.mock.store.applications import FailedAttempts

FAILURES = 10
"""Failed attempts allowed per minute and name."""

PAUSE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Attempts:
    """The attempts at one secret.

    Attributes:
        world: The world, whose clock is used.
        collection: Where failed attempts of this kind are counted.
        name: Owner of the secret, the key in the collection.
    """

    world: World
    collection: Collection[FailedAttempts]
    name: str

    def failed(self) -> None:
        """Counts a failed attempt."""
        now = self.world.clock.now()
        failed = self.world.get(self.collection, self.name)
        if failed is None or now >= failed.since + PAUSE:
            failed = FailedAttempts(now, 0)
        counted = FailedAttempts(failed.since, failed.count + 1)
        self.world.put(self.collection, self.name, counted)


@upholds("guessing-slowed")
def hold_off(world: World, collection: Collection[FailedAttempts], name: str) -> Attempts:
    """Returns the attempts at a secret, unless there were too many.

    Raises:
        TooManyRequests: There were too many failed attempts within a minute.
    """
    failed = world.get(collection, name)
    now = world.clock.now()
    if failed is not None and failed.count >= FAILURES and now < failed.since + PAUSE:
        seconds = int((failed.since + PAUSE - now).total_seconds()) + 1
        msg = f"Too many failed attempts; wait {seconds} seconds."
        raise TooManyRequests(msg, code="slow_down", headers=(("retry-after", str(seconds)),))
    return Attempts(world, collection, name)
