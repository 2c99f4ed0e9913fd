"""Orders the parts of the probes, so that what reveals much is sent before what repeats it.

The order follows from the measured schedule alone: what each part settles, and what it costs.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from understudy.verify.probing import Probe
from understudy.verify.schedule import Part

AGAIN = 0.25
"""What settling a check once more is worth, beside settling it the time before."""

OTHERWISE = 0.1
"""What it is worth to settle a check for the first time with another credential, or for a write."""

RARITY = 0.2
"""How much more a check is worth that few parts settle: with so many parts, to the power of this."""

Asked = Counter[str | tuple[str, str]]
"""How often checks were settled, and how often with the credential that a part uses."""

Weights = Mapping[str, float]
"""What settling each check for the first time is worth."""


def turns(probes: Sequence[Probe], over: Container[str]) -> Iterator[Probe]:
    """Yields the probe whose next parts settle most for each request, again and again.

    A check that was settled before counts less and less; what moves time or uses up a limit comes
    last.

    Args:
        probes: All that may run.
        over: Names of those that came to their end; looked at after each turn.
    """
    settled_before: Asked = Counter()
    for is_last in (False, True):
        staged = [probe for probe in probes if probe.is_last == is_last]
        weights = _weights(staged)
        waiting = [
            (-_worth(probe, 0, settled_before, weights), place, 0)
            for place, probe in enumerate(staged)
        ]
        heapify(waiting)
        while waiting:
            _, place, done = heappop(waiting)
            now = (-_worth(staged[place], done, settled_before, weights), place, done)
            if waiting and now > waiting[0]:  # the worth only falls, so no other is worth more
                heappush(waiting, now)
                continue
            yield staged[place]
            for ahead in staged[place].parts[done : done + 1]:
                _ask(settled_before, ahead)
            if staged[place].name not in over:
                heappush(
                    waiting,
                    (-_worth(staged[place], done + 1, settled_before, weights), place, done + 1),
                )


def in_order(probes: Sequence[Probe]) -> list[Probe]:
    """Returns the probes in the order in which they begin, if each has the parts it declares."""
    over: set[str] = set()
    begun: dict[str, int] = {}
    for whose in turns(probes, over):
        begun[whose.name] = begun.get(whose.name, 0) + 1
        if begun[whose.name] == len(whose.parts):
            over.add(whose.name)
    return sorted(probes, key=lambda whose: list(begun).index(whose.name))


def _weights(probes: Sequence[Probe]) -> Weights:
    """Returns what each check is worth: a little more where few parts settle it."""
    parts = Counter(check for probe in probes for part in probe.parts for check in part.checks)
    return {check: count**-RARITY for check, count in parts.items()}


def _worth(probe: Probe, done: int, settled_before: Asked, weights: Weights) -> float:
    """Returns the most that the next parts settle for a request, however far one looks ahead."""
    best = settled = cost = 0.0
    here = settled_before.copy()
    for ahead in probe.parts[done:]:
        settled += sum(weights[check] * _news((check, by), here) for check, by in ahead.questions)
        _ask(here, ahead)
        cost += ahead.cost
        best = max(best, settled / cost)
    return best


def _news(question: tuple[str, str], settled_before: Asked) -> float:
    """Returns what a question is worth after those that were settled before."""
    check, _ = question
    if question not in settled_before and check in settled_before:
        return OTHERWISE
    return AGAIN ** settled_before[question]


def _ask(settled_before: Asked, ahead: Part) -> None:
    settled_before.update(ahead.questions)
    settled_before.update(ahead.checks)
