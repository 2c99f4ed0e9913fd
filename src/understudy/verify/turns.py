"""Arranges the steps of a finding as a script sends them: pauses, repetitions, requests at once."""

from collections.abc import Collection
from datetime import timedelta
from math import ceil
from typing import Final, NamedTuple

from understudy.exchange.messages import Exchange
from understudy.verify.findings import Finding
from understudy.verify.permits import SAFE

_MOMENT: Final = timedelta(seconds=1)
"""The shortest time between two steps that a script waits."""


class Turn(NamedTuple):
    """Steps that a script sends at the same moment, mostly one.

    Attributes:
        places: Their indexes among the steps of the finding.
        times: How often they are sent.
        seconds: Seconds to wait before.
    """

    places: tuple[int, ...]
    times: int = 1
    seconds: int = 0

    @property
    def described_pause(self) -> str:
        """The time to wait before, as ``14 days, 0:02:00``."""
        return str(timedelta(seconds=self.seconds))


def turns(finding: Finding, issuing: Collection[int]) -> list[Turn]:
    """Returns the turns in which the steps of a finding are sent.

    Args:
        finding: The finding.
        issuing: The steps whose responses have values that later steps need, by index.
    """
    arranged: list[Turn] = []
    for place, step in enumerate(finding.steps):
        last = arranged[-1] if arranged else Turn(())
        before = finding.steps[place - 1] if place else None
        seconds = _seconds(before, step) if finding.needs_time else 0
        is_issuing = bool({place, place - 1} & set(issuing))
        if not is_issuing and _are_at_once(before, step):
            arranged[-1] = last._replace(places=(*last.places, place))
        elif not (is_issuing or seconds or last.places[1:]) and _are_alike(before, step):
            arranged[-1] = last._replace(times=last.times + 1)
        else:
            arranged.append(Turn((place,), seconds=seconds))
    if finding.attempts > 1:
        times = arranged[0].times + finding.attempts - 1
        arranged[0] = arranged[0]._replace(times=times)
    return arranged


def _seconds(before: Exchange | None, step: Exchange) -> int:
    """Returns the seconds between two steps, rounded up; 0 for less than one."""
    passed = step.at - before.at if before is not None else timedelta(0)
    return ceil(passed.total_seconds()) if passed >= _MOMENT else 0


def _are_alike(before: Exchange | None, step: Exchange) -> bool:
    return before is not None and before.request == step.request


def _are_at_once(before: Exchange | None, step: Exchange) -> bool:
    """Tells whether two writes were sent at the same moment: one began before the other ended."""
    if before is None or {before.request.method, step.request.method} & SAFE:
        return False
    first, second = sorted((before, step), key=lambda each: each.at)
    return second.at < first.at + timedelta(milliseconds=first.elapsed_ms)
