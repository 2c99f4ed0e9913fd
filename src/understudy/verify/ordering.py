"""Orders the parts of the probes, so that parts that settle much are sent before those that repeat it.

The order follows from the measured schedule, what each part settles and what it costs, and from
the catalogue: which checks can make a finding at any deployment.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from understudy.verify.catalogue import catalogue
from understudy.verify.checks import CHECKS
from understudy.verify.probing import Probe
from understudy.verify.schedule import Part

AGAIN = 0.25
"""The worth of settling a check once more, as a share of settling it the time before."""

OTHERWISE = 0.1
"""The worth of settling a check for the first time with another credential, or for a write."""

RARITY = 0.2
"""The exponent by which a check loses worth with the number of parts that settle it."""

NOTED = 0.35
"""The worth of a check that can only note, as a share of one that can make a finding."""

Settled = Counter[str | tuple[str, str]]
"""The number of times that checks were settled, in all and with the credential of a part."""

Weights = Mapping[str, float]
"""The worth of settling each check for the first time."""


def order_of_parts(probes: Sequence[Probe], ended: Container[str]) -> Iterator[Probe]:
    """Yields the probe whose next parts settle most for each request, again and again.

    A check that was settled before is worth less and less; what moves time or uses up a limit comes
    last.

    Args:
        probes: The probes that may run.
        ended: Names of the probes that have ended; read after each part.
    """
    settled_before: Settled = Counter()
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
            for part in staged[place].parts[done : done + 1]:
                _add(settled_before, part)
            if staged[place].name not in ended:
                heappush(
                    waiting,
                    (-_worth(staged[place], done + 1, settled_before, weights), place, done + 1),
                )


def in_order(probes: Sequence[Probe]) -> list[Probe]:
    """Returns the probes in the order in which they begin, if each has the parts it declares."""
    ended: set[str] = set()
    begun: dict[str, int] = {}
    for probe in order_of_parts(probes, ended):
        begun[probe.name] = begun.get(probe.name, 0) + 1
        if begun[probe.name] == len(probe.parts):
            ended.add(probe.name)
    return sorted(probes, key=lambda probe: list(begun).index(probe.name))


def _weights(probes: Sequence[Probe]) -> Weights:
    """Returns what each check is worth: more where few parts settle it and where it binds."""
    parts = Counter(check for probe in probes for part in probe.parts for check in part.checks)
    noted = _checks_that_only_note()
    return {
        check: count**-RARITY * (NOTED if check in noted else 1) for check, count in parts.items()
    }


def _checks_that_only_note() -> set[str]:
    """Returns the names of the checks of what we chose, which binds no other deployment."""
    rules = catalogue()
    return {
        check.name
        for check in CHECKS
        if check.is_choice or all(rules[rule].status == "assumed" for rule in check.rules)
    }


def _worth(probe: Probe, done: int, settled_before: Settled, weights: Weights) -> float:
    """Returns the most that the next parts settle for a request, however many parts ahead."""
    best = settled = cost = 0.0
    settled_by_then = settled_before.copy()
    for part in probe.parts[done:]:
        settled += sum(
            weights[check] * _novelty((check, by), settled_by_then) for check, by in part.questions
        )
        _add(settled_by_then, part)
        cost += part.cost
        best = max(best, settled / cost)
    return best


def _novelty(question: tuple[str, str], settled_before: Settled) -> float:
    """Returns what a question is worth after those that were settled before."""
    check, _ = question
    if question not in settled_before and check in settled_before:
        return OTHERWISE
    return AGAIN ** settled_before[question]


def _add(settled_before: Settled, part: Part) -> None:
    settled_before.update(part.questions)
    settled_before.update(part.checks)
