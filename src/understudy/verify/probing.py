"""Registers probes: a well-chosen request, or a short sequence, and the rules that it is for.

A probe only sends. What its exchanges mean is for the checks to say, so that a generated case or a
recording can settle the same rules. A probe of several parts is a generator: at each ``yield``
another probe may go on, so that what reveals much is sent before what repeats it in other words.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from understudy.verify.probe_client import ProbeClient
from understudy.verify.schedule import Part, measured

Parts = Iterator[object]
"""The parts of a probe; only the end of a part matters: after it another probe may go on."""

Run = Callable[[ProbeClient], Parts | None]


@dataclass(frozen=True, slots=True)
class Probe:
    """A sequence of requests and the rules that it is for.

    Attributes:
        name: What reports call it.
        rules: Ids of the rules that it is for.
        parts: What it sends, in order, as measured; a probe that turns out to have more parts
            goes on with them when all others have ended.
        needs: What the target must give or permit, as named in ``needs``.
        run: The function.
    """

    name: str
    rules: tuple[str, ...]
    parts: tuple[Part, ...]
    needs: tuple[str, ...]
    run: Run

    @property
    def cost(self) -> int:
        """The approximate number of requests."""
        return sum(part.cost for part in self.parts)

    @property
    def tokens(self) -> int:
        """The number of access tokens that it has issued, about."""
        return sum(part.tokens for part in self.parts)

    @property
    def is_last(self) -> bool:
        """Tells whether it moves time or uses up a limit, and so comes after all others."""
        return bool({"clock", "exhaust"} & set(self.needs))

    def steps(self, client: ProbeClient) -> Parts:
        """Yields after each of its parts; a plain function is a single step."""
        parts = self.run(client)
        if parts is not None:
            yield from parts


PROBES: Final[list[Probe]] = []


def probe(*rules: str, needs: tuple[str, ...] = ()) -> Callable[[Run], Run]:
    """Registers a probe.

    What its parts settle and cost is measured: ``make schedule`` after a change.

    Args:
        rules: Ids of ``rules.yaml`` that it is for; each must be settled by one of its parts.
        needs: What the target must give or permit.
    """

    def register(run: Run) -> Run:
        parts = measured().get(run.__name__, (Part(()),))
        PROBES.append(Probe(run.__name__, rules, parts, needs, run))
        return run

    return register
