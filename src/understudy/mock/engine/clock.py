"""The time of a world. Nothing else in the house asks the machine what time it is."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

LAST = datetime.max.replace(tzinfo=UTC)
"""Where time stops: Python counts no further."""


def machine_time() -> datetime:
    """Returns the machine's time."""
    return datetime.now(UTC)  # noqa: TID251 - the one place that may


def written(instant: datetime) -> str:
    """Returns an instant as the admin API writes it: UTC, with ``Z`` (RFC 3339)."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ClockSetting(NamedTuple):
    """Where a clock was put, and how it runs from there.

    Attributes:
        put: The reading when it was put.
        shown: What it was made to show then.
        rate: Its seconds to one of the machine's; 0 for a frozen clock.
    """

    put: datetime
    shown: datetime
    rate: float


class Clock:
    """Tells a world's time; it can be frozen, set, and run at a rate.

    Args:
        read: Where the time comes from; an aware instant. Tests hand in their own.

    Attributes:
        now: Returns the world's time.
    """

    __slots__ = ("_hands", "_read", "now")

    def __init__(self, read: Callable[[], datetime] = machine_time) -> None:
        self._read = read
        self._hands: ClockSetting | None = None
        self.now = read  # until it is moved, a world's time costs nothing

    @property
    def rate(self) -> float:
        """Its seconds to one of the machine's; 0 for a frozen clock."""
        return 1.0 if self._hands is None else self._hands.rate

    def put(self, instant: datetime | None = None, rate: float | None = None) -> None:
        """Shows another instant, runs at another rate, or both."""
        shown = self.now() if instant is None else instant
        self._hands = ClockSetting(self._read(), shown, self.rate if rate is None else rate)
        self.now = self._moved

    def advance(self, span: timedelta) -> None:
        """Moves on, frozen or not.

        Raises:
            OverflowError: Python counts no further.
        """
        self.put(self.now() + span)

    def twin(self) -> "Clock":
        """Returns a clock of its own that goes with the same machine's time."""
        return Clock(self._read)

    def reset(self) -> None:
        """Goes with the machine's time again."""
        self._hands = None
        self.now = self._read

    @property
    def hands(self) -> ClockSetting | None:
        """What a clock of the same world needs to show the same; None where it was not moved."""
        return self._hands

    @hands.setter
    def hands(self, hands: ClockSetting | None) -> None:
        self.reset()
        if hands is not None:
            self._hands = hands
            self.now = self._moved

    def _moved(self) -> datetime:
        if self._hands is None:
            return self._read()
        put, shown, rate = self._hands
        try:
            return shown + (self._read() - put) * rate
        except OverflowError:
            return LAST
