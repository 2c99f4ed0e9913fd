"""Reads the time of the store, which is the same for every replica.

The clocks of machines differ. A window, a token or a code that one replica began by its own machine's
time would end too early, or too late, at another. So a replica measures how far its machine's clock
is from the store's, and adds that; what remains is less than the time of one call.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from understudy.mock.server.clock import Clock, ClockSetting, machine_time

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
        """Returns a clock of a world that goes by the store's time."""
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
        """
        self._measured_at = self._machine()
        middle = begun + (self._measured_at - begun) / 2
        seconds, microseconds = map(int, reply)
        its_time = datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)
        self._ahead = its_time - middle
