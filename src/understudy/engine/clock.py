"""The time of a world. Nothing else in the house asks the machine what time it is."""

from collections.abc import Callable
from datetime import UTC, datetime


def _machine_time() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the one place that may


class Clock:
    """Tells a world's time.

    Args:
        read: Where the time comes from; an aware instant. Tests hand in their own.
    """

    __slots__ = ("now",)

    def __init__(self, read: Callable[[], datetime] = _machine_time) -> None:
        self.now = read
