"""The clock of a mock that is judged over sockets, moved by its admin API and put back at the end.

The admin API is no part of what is judged, so these calls do not go through the gateway; nothing is
called before the run asks for the time, and so ``--plan`` sends nothing.
"""

from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import msgspec

from understudy.deployments.admin_client import AdminClient
from understudy.deployments.clock import ClockState, Time
from understudy.deployments.refusals import NotPermitted
from understudy.deployments.target import Target
from understudy.errors import StartupError

TOLERANCE = timedelta(seconds=2)
"""By which two machines' clocks may differ, and a clock still counts as put back."""


class Reading(msgspec.Struct, frozen=True):
    """What the admin API says of a clock."""

    now: datetime
    rate: float


class MockClock:
    """A mock's clock, by its admin API.

    Args:
        target: Where the mock is; its admin API lies beside the resource API.
        machine_time: The machine's time.
        stood: How the clock stood before an earlier run moved it.
    """

    def __init__(
        self, target: Target, machine_time: Callable[[], datetime], stood: ClockState | None = None
    ) -> None:
        self._site = target.base_url.rstrip("/").rpartition("/")[0]
        self._token = target.credentials.admin_token
        self._machine_time = machine_time
        self._earlier = stood
        self._is_moved = stood is not None

    @property
    def time(self) -> Time:
        """The deployment's time, for a run."""
        return Time(
            now=self.now,
            wait=self.advance,
            advance=self.advance,
            stood=lambda: self._stood,
            put_back=self.put_back,
        )

    def now(self) -> datetime:
        """Returns the mock's time, worked out from the last reading.

        Raises:
            StartupError: There is no clock that could be moved.
        """
        return self._expected(self._last)

    def advance(self, span: timedelta) -> None:
        """Moves the mock's clock on.

        Raises:
            NotPermitted: The mock does not answer any more, or refuses.
        """
        self._stood  # noqa: B018 - how it stood is read before it is moved
        self._is_moved = True
        seconds = {"seconds": span.total_seconds()}
        try:
            self._last = self._read("POST", "/clock/advance", json=seconds)
        except StartupError as error:
            msg = f"the mock's clock cannot be moved: {error}"
            raise NotPermitted(msg) from error

    def put_back(self) -> list[str]:
        """Makes the clock show what it would show had nobody moved it, and proves it.

        Returns:
            What could not be put back, one line.
        """
        if not self._is_moved:
            return []
        stood = self._stood
        wanted = self._expected(stood)
        try:
            if stood.rate == 1 and abs(stood.now - stood.at) <= TOLERANCE:
                self._read("DELETE", "/clock")
            else:
                body = {"now": wanted.isoformat(), "rate": stood.rate}
                self._read("PUT", "/clock", json=body)
            self._last = self._read("GET", "/clock")
        except StartupError as error:
            return [f"the clock: {error}"]
        if self._last.rate == stood.rate and abs(self.now() - self._expected(stood)) <= TOLERANCE:
            return []
        return [
            f"the clock: it shows {self.now().isoformat()} and would be at {wanted.isoformat()}"
        ]

    @cached_property
    def _stood(self) -> ClockState:
        return self._earlier or self._last

    @cached_property
    def _last(self) -> ClockState:
        try:
            return self._read("GET", "/clock")
        except StartupError as error:
            msg = (
                f"[permit] clock = true: there is no mock's clock to move at "
                f"{self._site}/__admin/clock. Leave the key out, or mend base_url. ({error})"
            )
            raise StartupError(msg) from error

    def _read(self, method: str, path: str, **options: Any) -> ClockState:
        try:
            with closing(AdminClient(self._site, token=self._token)) as admin:
                said = msgspec.convert(admin.call(method, path, **options), Reading)
        except (ValueError, msgspec.ValidationError) as error:
            msg = f"what answers {method} /__admin{path} is no mock"
            raise StartupError(msg) from error
        return ClockState(said.now, self._machine_time(), said.rate)

    def _expected(self, reading: ClockState) -> datetime:
        return reading.now + (self._machine_time() - reading.at) * reading.rate
