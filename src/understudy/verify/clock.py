"""The deployment's clock: reads it, waits or moves it, and restores it."""

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from understudy.errors import StartupError
from understudy.verify.admin_client import AdminClient
from understudy.verify.permits import NotPermitted
from understudy.verify.target import Target


class ClockState(Struct, frozen=True):
    """The state of a deployment's clock before it was moved.

    Attributes:
        now: The time that it showed.
        at: The machine's time at that moment.
        rate: Its seconds per second of the machine; 0 where it was frozen.
    """

    now: datetime
    at: datetime
    rate: float


@dataclass(frozen=True, slots=True)
class Time:
    """The deployment's time, and the ways to influence it.

    Attributes:
        now: Returns the time as an aware datetime.
        wait: Waits for a span, by sleeping or by moving a mock's clock.
        advance: Moves the clock at once; None where it cannot be moved.
        mock: The mock's clock, which can be restored; None if there is nothing to restore.
    """

    now: Callable[[], datetime]
    wait: Callable[[timedelta], None]
    advance: Callable[[timedelta], None] | None = None
    mock: "MockClock | None" = None


def machine_time() -> datetime:
    """Returns the machine's time, without the mock's own clock: verify shares no code with it."""
    return datetime.now(UTC)  # noqa: TID251 - the one place of the judge that may


def machine_clock() -> Time:
    """Returns the machine's time, where waiting means sleeping."""

    def wait(span: timedelta) -> None:
        threading.Event().wait(max(0.0, span.total_seconds()))

    return Time(machine_time, wait)


# A mock's clock is moved by its admin API, which is not judged, so these calls do not go through the
# gateway. Nothing is called before the run reads the time, so ``--plan`` sends nothing.

TOLERANCE = timedelta(seconds=2)
"""Largest difference to the expected time at which the clock is regarded as restored."""


class MockClock:
    """Reads, moves and restores a mock's clock through the admin API.

    Args:
        target: The mock; its admin API is beside the resource API.
        original: The state before an earlier run moved the clock; None where none did.
    """

    def __init__(self, target: Target, original: ClockState | None = None) -> None:
        self._site = target.base_url.rstrip("/").rpartition("/")[0]
        self._token = target.credentials.admin_token
        self._earlier = original
        self._is_moved = original is not None

    @property
    def time(self) -> Time:
        """The deployment's time, as a run uses it."""
        return Time(self.now, self.advance, self.advance, self)

    def now(self) -> datetime:
        """Returns the mock's time, calculated from the last reading.

        Raises:
            StartupError: No mock with a clock responds there.
        """
        return self._expected(self._last)

    def advance(self, span: timedelta) -> None:
        """Advances the mock's clock.

        Raises:
            NotPermitted: The mock no longer responds, or refuses.
        """
        self.original  # noqa: B018 - the state is read before the clock is moved
        self._is_moved = True
        seconds = {"seconds": span.total_seconds()}
        try:
            self._last = self._read("POST", "/clock/advance", json=seconds)
        except StartupError as error:
            msg = f"the mock's clock cannot be moved: {error}"
            raise NotPermitted(msg) from error

    def resume(self, original: ClockState) -> None:
        """Chooses the state before an earlier run as the one to restore."""
        self._earlier, self._is_moved = original, True
        self.__dict__.pop("original", None)  # clears the cached property

    def put_back(self) -> list[str]:
        """Sets the clock to the time that it would show without the moves, and verifies it.

        Returns:
            One line if it could not be restored, else none.
        """
        if not self._is_moved:
            return []
        original = self.original
        wanted = self._expected(original)
        try:
            if original.rate == 1 and abs(original.now - original.at) <= TOLERANCE:
                self._read("DELETE", "/clock")
            else:
                body = {"now": wanted.isoformat(), "rate": original.rate}
                self._read("PUT", "/clock", json=body)
            self._last = self._read("GET", "/clock")
        except StartupError as error:
            return [f"the clock: {error}"]
        difference = abs(self.now() - self._expected(original))
        if self._last.rate == original.rate and difference <= TOLERANCE:
            return []
        return [
            f"the clock: it shows {self.now().isoformat()} and should show {wanted.isoformat()}"
        ]

    @cached_property
    def original(self) -> ClockState:
        """The state before the first move, which ``put_back`` restores."""
        return self._earlier or self._last

    @cached_property
    def _last(self) -> ClockState:
        try:
            return self._read("GET", "/clock")
        except StartupError as error:
            msg = (
                f"[permit] clock = true: no mock has its clock at {self._site}/__admin/clock. "
                f"Leave the key out, or correct base_url. ({error})"
            )
            raise StartupError(msg) from error

    def _read(self, method: str, path: str, **options: Any) -> ClockState:
        try:
            with closing(AdminClient(self._site, token=self._token)) as admin:
                shown = admin.call(method, path, **options)
            return msgspec.convert({**shown, "at": machine_time()}, ClockState)
        except (TypeError, ValueError) as error:
            msg = f"the response to {method} /__admin{path} is not a mock's"
            raise StartupError(msg) from error

    def _expected(self, reading: ClockState) -> datetime:
        return reading.now + (machine_time() - reading.at) * reading.rate
