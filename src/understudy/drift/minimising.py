"""Reduces a difference to the shortest sequence of requests that shows it (delta debugging).

The requests before it are left out at the mock first, where they cost nothing; what remains is
confirmed at the deployment, within a number of requests and with every change undone.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from understudy.drift.aspects import aspects
from understudy.drift.differences import ABSENT, Compared, Difference, DifferenceKey
from understudy.drift.judging import BROKEN, KEPT, breaches
from understudy.drift.relations import relations
from understudy.drift.replaying import replay
from understudy.exchange.messages import Exchange
from understudy.verify.deployment import Deployment
from understudy.verify.evaluator import Evaluator
from understudy.verify.history import History
from understudy.verify.permits import Refusal
from understudy.verify.run import Run, RunOptions, start
from understudy.verify.run_lock import locked

MOST_REQUESTS: Final = 100
"""Requests to the deployment, beside those that undo, that confirming sequences may take."""

MOST_BEFORE: Final = 30
"""Requests of a sender before a difference that are tried; those longest ago are left out."""


@dataclass(frozen=True, slots=True)
class ShortestSequence:
    """The fewest requests that were seen to show a difference.

    Attributes:
        steps: The exchanges with the deployment, that which differs last.
        steps_at_other: The exchanges with the other deployment.
    """

    steps: tuple[Exchange, ...]
    steps_at_other: tuple[Exchange, ...]


@dataclass
class ReplayTrials:
    """Replays sequences at one deployment, each from the state before.

    Attributes:
        run: The run that sends them.
        evaluator: Judges what is replayed.
        history: The exchanges of the comparison, for the requests that another one needs.
        reset: Restores the state before a sequence.
        most: The requests that are left; None for no limit.
    """

    run: Run
    evaluator: Evaluator
    history: History
    reset: Callable[[], object]
    most: int | None = None

    def shown(
        self, aspect: str, wanted: str, exchanges: Sequence[Exchange]
    ) -> tuple[Exchange, ...] | None:
        """Returns what was exchanged if the last response is in one aspect as wanted, else None.

        Args:
            aspect: The name of the aspect.
            wanted: Its value.
            exchanges: The exchanges to send again; those that issue what they use are sent too.
        """
        complete = self.history.with_origins(exchanges)
        steps = sorted(complete, key=lambda each: each.number)
        if self.most is not None:
            if len(steps) > self.most:
                return None
            self.most -= len(steps)
        try:
            replayed = replay(self.run.gateway, steps)
        except Refusal:
            return None
        finally:
            self.reset()
        return tuple(replayed) if self._value(aspect, replayed) == wanted else None

    def _value(self, aspect: str, replayed: Sequence[Exchange]) -> str:
        """Returns the value of an aspect of the last exchange."""
        *before, last = replayed
        rule = aspect.removeprefix("rule ")
        if rule != aspect:
            history = self.evaluator.history.emptied()
            for exchange in before:
                history.add(exchange)
            return BROKEN if rule in breaches(self.evaluator, last, history) else KEPT
        related = relations(replayed, replayed)[-1]
        return {**aspects(last), **related}.get(aspect, ABSENT)


@dataclass
class Minimiser:
    """Finds the shortest sequences of differences.

    Attributes:
        own: Replays at the deployment.
        other: Replays at the mock.
        rows: The requests that were compared, in order.
    """

    own: ReplayTrials
    other: ReplayTrials
    rows: Sequence[Compared]
    _senders: dict[str, list[Compared]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sorts the requests by their senders."""
        for row in self.rows:
            self._senders.setdefault(row.first.source, []).append(row)

    def shortest(self, difference: Difference) -> ShortestSequence | None:
        """Returns the shortest sequence that shows a difference at both; None if none was seen."""
        senders = self._senders.get(difference.exchange.source, [])
        places = [at for at, row in enumerate(senders) if row.first is difference.exchange]
        if not places:  # a request that only one side was sent
            return None
        (place,) = places
        earlier = senders[max(0, place - MOST_BEFORE) : place]
        needed = minimised(earlier, lambda rows: self._at_other(difference, rows) is not None)
        if needed is None:
            return None
        for rows in self._candidates(difference, needed, earlier):
            steps = self._at_deployment(difference, rows)
            there = self._at_other(difference, rows) if steps is not None else None
            if steps is not None and there is not None:
                return ShortestSequence(steps, there)
        return None

    def _candidates(
        self, difference: Difference, needed: Sequence[Compared], earlier: Sequence[Compared]
    ) -> Iterator[Sequence[Compared]]:
        """Yields the requests that the mock needs, and then those that the deployment needs too."""
        yield needed
        if len(needed) < len(earlier):
            again = minimised(
                earlier, lambda rows: self._at_deployment(difference, rows) is not None
            )
            if again is not None:
                yield [row for row in earlier if row in needed or row in again]

    def _at_deployment(
        self, difference: Difference, rows: Sequence[Compared]
    ) -> tuple[Exchange, ...] | None:
        exchanges = [*(row.first for row in rows), difference.exchange]
        return self.own.shown(difference.aspect, difference.ours, exchanges)

    def _at_other(
        self, difference: Difference, rows: Sequence[Compared]
    ) -> tuple[Exchange, ...] | None:
        exchanges = [*(row.other for row in rows), difference.other]
        return self.other.shown(difference.aspect, difference.theirs, exchanges)


def minimised(
    rows: Sequence[Compared], is_shown: Callable[[Sequence[Compared]], bool]
) -> list[Compared] | None:
    """Returns requests of which none can be left out; None if even all of them do not show it.

    Args:
        rows: The requests, in order.
        is_shown: Tells whether some of them, in order, still show it.
    """
    if is_shown([]):
        return []
    kept = list(rows)
    if not is_shown(kept):
        return None
    size = max(1, len(kept) // 2)
    while True:
        for begin in range(0, len(kept), size):
            fewer = kept[:begin] + kept[begin + size :]
            if len(fewer) < len(kept) and is_shown(fewer):
                kept = fewer
                break
        else:
            if size == 1:
                return kept
            size = max(1, size // 2)


def shortest_sequences(
    deployments: tuple[Deployment, Deployment],
    reset: Callable[[], object],
    sides: tuple[tuple[Evaluator, History], tuple[Evaluator, History]],
    rows: Sequence[Compared],
    differences: Sequence[Difference],
) -> dict[DifferenceKey, ShortestSequence]:
    """Returns the shortest sequence of each kind of difference that could be confirmed.

    Args:
        deployments: The deployment, and the mock.
        reset: Restores the mock's state before a sequence.
        sides: How the exchanges of each are judged, and its exchanges of the comparison.
        rows: The requests that were compared.
        differences: One of each kind.

    Raises:
        StartupError: A run cannot begin.
    """
    with ExitStack() as stack:
        runs = []
        for each in deployments:
            stack.enter_context(locked(each))
            runs.append(start(each, RunOptions(needs_interface=False)))
        stack.callback(runs[0].undo.restore)
        (judge, history), (other_judge, other_history) = sides
        own = ReplayTrials(runs[0], judge, history, runs[0].undo.restore_changes, MOST_REQUESTS)
        other = ReplayTrials(runs[1], other_judge, other_history, reset)
        minimiser = Minimiser(own, other, rows)
        found = {each.key: minimiser.shortest(each) for each in differences}
    return {key: sequence for key, sequence in found.items() if sequence is not None}
