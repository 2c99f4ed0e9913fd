"""A settable clock for each world; the only module of the mock that reads the machine's clock."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

Instant = Annotated[datetime, Meta(tz=True)]
"""An aware datetime; Python refuses to compare aware ones with naive ones."""

FIRST = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(9000, 1, 1, tzinfo=UTC)
"""Bounds of a world's time, far enough from datetime's own that adding a lifetime cannot overflow."""


machine_time: Final[Callable[[], datetime]] = partial(datetime.now, UTC)  # noqa: TID251 - the one place that may
"""Returns the machine's time; a partial, since it runs for every request."""


def written(instant: datetime) -> str:
    """Returns an instant as the admin API writes it: UTC, with ``Z`` (RFC 3339)."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ClockSetting(NamedTuple):
    """The setting of a clock: the time that it showed at a machine time, and its rate.

    Attributes:
        set_at: Machine's time when the clock was set.
        shown: Time that the clock showed at ``set_at``.
        rate: Seconds of this clock per second of the machine; 0 for a frozen clock.
    """

    set_at: datetime
    shown: datetime
    rate: float


class Clock:
    """Tells a world's time; it can be frozen, set, and run at a rate.

    Args:
        read: Returns the machine's time as an aware datetime; replaced in tests.

    Attributes:
        now: Returns the world's time, in UTC.
    """

    __slots__ = ("_read", "_setting", "now")

    def __init__(self, read: Callable[[], datetime] = machine_time) -> None:
        self._read = read
        self._setting: ClockSetting | None = None
        self.now = read  # no extra call per request until the clock is set

    @property
    def rate(self) -> float:
        """Seconds of this clock per second of the machine; 0 for a frozen clock."""
        return 1.0 if self._setting is None else self._setting.rate

    def put(self, instant: datetime | None = None, rate: float | None = None) -> None:
        """Sets the clock to another instant, another rate, or both.

        Raises:
            OverflowError: The instant is not between FIRST and LAST; the clock is unchanged.
        """
        shown = self.now() if instant is None else instant
        if not FIRST <= shown <= LAST:
            msg = f"{shown} is not between the years {FIRST.year} and {LAST.year}"
            raise OverflowError(msg)
        shown = shown.astimezone(UTC)
        self._setting = ClockSetting(self._read(), shown, self.rate if rate is None else rate)
        self.now = self._time_by_setting

    def advance(self, span: timedelta) -> None:
        """Moves the clock forward, even a frozen one.

        Raises:
            OverflowError: The new time would be later than LAST; the clock is unchanged.
        """
        self.put(self.now() + span)

    def copy(self) -> "Clock":
        """Returns a clock with the same source of time, without this clock's setting."""
        return Clock(self._read)

    def reset(self) -> None:
        """Shows the machine's time again."""
        self._setting = None
        self.now = self._read

    @property
    def setting(self) -> ClockSetting | None:
        """The setting of the clock; None where it shows the machine's time."""
        return self._setting

    @setting.setter
    def setting(self, setting: ClockSetting | None) -> None:
        self.reset()
        if setting is not None:
            self._setting = setting
            self.now = self._time_by_setting

    def _time_by_setting(self) -> datetime:
        if self._setting is None:
            return self._read()
        set_at, shown, rate = self._setting
        try:
            return min(max(FIRST, shown + (self._read() - set_at) * rate), LAST)
        except OverflowError:
            return LAST
