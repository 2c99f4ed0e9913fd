"""Slows down whoever guesses secrets, codes and passwords (RFC 6749, 10.10; RFC 9700, 4)."""

from dataclasses import dataclass
from datetime import timedelta

from understudy.errors import TooManyRequests
from understudy.interface.rules import upholds
from understudy.mock.engine.windows import Window
from understudy.mock.engine.worlds import World

FAILURES = 10
"""Wrong guesses that one name takes in a minute before it takes no more."""

PAUSE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Attempts:
    """The attempts at one name.

    Attributes:
        world: Whose clock counts.
        name: What is being guessed at, such as ``password of ada``.
    """

    world: World
    name: str

    def failed(self) -> None:
        """Notes a wrong guess."""
        windows, now = self.world.windows, self.world.clock.now()
        window = windows.get(self.name)
        if window is None or now >= window.opened + PAUSE:
            window = Window(now, 0)
        windows[self.name] = window._replace(used=window.used + 1)


@upholds("guessing-slowed")
def hold_off(world: World, name: str) -> Attempts:
    """Returns the attempts at a name, while there may be more.

    Raises:
        TooManyRequests: There were too many wrong ones within a minute.
    """
    window = world.windows.get(name)
    now = world.clock.now()
    if window is not None and window.used >= FAILURES and now < window.opened + PAUSE:
        seconds = int((window.opened + PAUSE - now).total_seconds()) + 1
        msg = f"Too many wrong attempts; wait {seconds} seconds."
        raise TooManyRequests(msg, code="slow_down", headers=(("retry-after", str(seconds)),))
    return Attempts(world, name)
