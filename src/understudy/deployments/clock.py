"""The deployment's time, as a run asks for it, lets it pass and puts it back."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec import Struct


class ClockState(Struct, frozen=True):
    """A deployment's clock as it stood before it was moved.

    Attributes:
        now: What it showed.
        at: The machine's time then.
        rate: Its seconds to one of the machine's; 0 where it was frozen.
    """

    now: datetime
    at: datetime
    rate: float


@dataclass(frozen=True, slots=True)
class Time:
    """The deployment's time, and what can be done about it.

    Attributes:
        now: Tells it, as an aware instant.
        wait: Lets it pass, as seconds that go by or by moving a mock's clock.
        advance: Moves it at once; None where the deployment's time cannot be moved.
        stood: Tells how it stood at first; None where nobody needs it put back.
        put_back: Makes it as it stood, and returns what could not be, one line each.
    """

    now: Callable[[], datetime]
    wait: Callable[[timedelta], None]
    advance: Callable[[timedelta], None] | None = None
    stood: Callable[[], ClockState] | None = None
    put_back: Callable[[], list[str]] | None = None
