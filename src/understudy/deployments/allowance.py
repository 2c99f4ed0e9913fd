"""Defines what a run may use of a deployment: requests, time, pauses."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from understudy.deployments.clock import machine_time

POLITE_INTERVAL: Final = timedelta(milliseconds=50)
"""The least time between two requests to a deployment that is not on this machine."""

MOVABLE_PAUSE: Final = timedelta(hours=2)
"""The longest wait for the hour's limit where waiting only moves a mock's clock."""


def never() -> bool:
    """Returns False: the run has all the time it wants."""
    return False


@dataclass(frozen=True, slots=True)
class Allowance:
    """The requests and the time that a run may use.

    Attributes:
        requests: Requests in total; None for no limit but the hour's.
        is_over: Returns True once the run's time is used up, by the machine's clock: the
            deployment's can be moved.
        pause: The longest pause for an hourly limit.
        interval: The shortest time between two requests.
    """

    requests: int | None = None
    is_over: Callable[[], bool] = never
    pause: timedelta = timedelta(0)
    interval: timedelta = timedelta(0)


def over_after(span: timedelta | None) -> Callable[[], bool]:
    """Returns an ``Allowance.is_over`` whose time starts now and ends after `span`.

    Args:
        span: None for no end.
    """
    if span is None:
        return never
    end = machine_time() + span
    return lambda: machine_time() >= end
