"""What one load of a server gave, and whether the machine let it be measured."""

import json
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

LOADED = 0.25
"""Cores of other work from which figures are not to be trusted."""


@dataclass(frozen=True)
class Load:
    """What wrk measured.

    Attributes:
        rate: Requests a second.
        p50: Milliseconds.
        p99: Milliseconds.
        requests: How many were answered.
        other_cores: Cores that neither the server nor wrk used, and that worked meanwhile.
    """

    rate: float
    p50: float
    p99: float
    requests: int = 0
    other_cores: float = 0.0


class NotServed(Exception):
    """The server did not start, or does not do this work; its text says why."""


def parsed(output: str) -> Load:
    """Reads what the script of a workload wrote.

    Raises:
        NotServed: More than a few requests failed.
    """
    result = re.search(r"RESULT (\{.*\})", output)
    if result is None:
        msg = f"wrk says {output.strip()[-200:]!r}"
        raise NotServed(msg)
    figures: dict[str, Any] = json.loads(result[1])
    if figures["failed"] > figures["requests"] / 1000:
        msg = f"{figures['failed']} of {figures['requests']} requests failed"
        raise NotServed(msg)
    rate = figures["requests"] / (figures["microseconds"] / 1e6)
    return Load(rate, figures["p50"] / 1000, figures["p99"] / 1000, figures["requests"])


@dataclass(frozen=True)
class Spread:
    """The same figure of several rounds.

    Attributes:
        median: Of all rounds.
        least: Of all rounds.
        most: Of all rounds.
    """

    median: float
    least: float
    most: float

    def text(self, form: str = ",.0f") -> str:
        """Returns the median, and behind it the least and the most where they differ in print."""
        median, least, most = (
            format(value, form) for value in (self.median, self.least, self.most)
        )
        return median if least == most else f"{median} ({least} to {most})"


def spread(values: Iterable[float]) -> Spread | None:
    """Returns the spread of the rounds; None where there is no round."""
    rounds = list(values)
    return Spread(statistics.median(rounds), min(rounds), max(rounds)) if rounds else None


def ratios(ours: Iterable[float], theirs: Iterable[float]) -> Spread | None:
    """Returns the spread of what we reach of another's figure, round by round.

    Both figures of a round are measured within a minute of one another, so that a machine that is
    slower in one round changes the ratio little.
    """
    return spread(our / their for our, their in zip(ours, theirs, strict=False) if their)


def warning(load_average: float, cores: int, other_cores: Sequence[float]) -> str | None:
    """Returns why the figures are not to be trusted, or None.

    Args:
        load_average: Of the minute before the first load.
        cores: Of the machine.
        other_cores: What other work used during each load.
    """
    reasons = []
    if load_average > cores / 2:
        reasons.append(f"the load average was {load_average:.1f} on {cores} cores before it began")
    disturbed = [other for other in other_cores if other > LOADED]
    if len(disturbed) > len(other_cores) / 10:
        reasons.append(
            f"other work used up to {max(disturbed):.1f} of {cores} cores during "
            f"{len(disturbed)} of {len(other_cores)} loads"
        )
    if not reasons:
        return None
    return f"Do not trust these figures: {'; '.join(reasons)}. Run it again on a quiet machine."
