"""Runs the same requests at a deployment, there again, and at another one, and compares."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Final

from understudy.drift.causes import DriftCause, causes, confirmed
from understudy.drift.differences import (
    ABSENT,
    Compared,
    Difference,
    DifferenceKey,
    ExplainedBy,
    aspects,
    compared,
    differences,
    relations,
    senders,
)
from understudy.drift.judging import BROKEN, KEPT, Judgements, Side, judged_rules, judgement
from understudy.drift.learnt_facts import ChangedFact, learnt_facts
from understudy.drift.observing import (
    LIMITS_SPARED,
    Observation,
    is_limited_for_the_hour,
    observed,
    replay,
    sparing_limits,
)
from understudy.exchange.messages import Exchange
from understudy.interface.facts import Fact
from understudy.verify.catalogue import catalogue
from understudy.verify.deployment import Deployment, locked
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import Outcome
from understudy.verify.history import History
from understudy.verify.permits import Refusal
from understudy.verify.run import Run, RunOptions, start
from understudy.verify.wording import as_on_the_wire

# Reduces a difference to the shortest sequence of requests that shows it (delta debugging). The
# requests before it are left out at the mock first, where they cost nothing; what remains is
# confirmed at the deployment, within a number of requests and with every change undone.

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
            history = self.evaluator.history.emptied(*before)
            broken, _ = judged_rules(self.evaluator, last, history)
            return BROKEN if rule in broken else KEPT
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


SENDERS_NAMED: Final = 3
"""Senders that were at one side alone and are named; of others there is the number."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The differences between two deployments.

    Attributes:
        causes: The differences by their causes.
        requests: The number of requests that were compared.
        first: The judgement of the deployment.
        second: The judgement of its second run, which shows what is noise.
        other: The judgement of the other deployment.
        history: The exchanges of the first run, for the requests that another one needs.
        second_history: The exchanges of the second run, for the same.
        other_history: The exchanges with the other deployment, for the same.
        third: A third run of the rules that one of the first two broke; None without any.
        shortest: The shortest sequences that were confirmed, by the difference.
        changed_facts: The facts that no longer hold at the deployment.
        not_compared: What was not compared, and why, in one line each.
    """

    causes: tuple[DriftCause, ...]
    requests: int
    first: Outcome
    second: Outcome
    other: Outcome
    history: History
    second_history: History
    other_history: History
    third: Outcome | None = None
    shortest: Mapping[DifferenceKey, ShortestSequence] = field(default_factory=dict)
    changed_facts: tuple[ChangedFact, ...] = ()
    not_compared: tuple[str, ...] = ()

    def steps(self, difference: Difference) -> tuple[Exchange, ...]:
        """Returns the fewest exchanges that show a difference, as they were sent and received.

        Where none were confirmed, those that issued what its request uses.
        """
        sequence = self.shortest.get(difference.key)
        history = self.second_history if difference.is_of_second_run else self.history
        needed = (*difference.after[:1], difference.exchange)
        steps = sequence.steps if sequence else _with_origins(history, *needed)
        return tuple(map(as_on_the_wire, steps))

    def steps_at_other(self, difference: Difference) -> tuple[Exchange, ...]:
        """Returns the fewest exchanges that show a difference at the other deployment."""
        sequence = self.shortest.get(difference.key)
        if sequence is not None:
            return tuple(map(as_on_the_wire, sequence.steps_at_other))
        needed = (*difference.after[1:], difference.other)
        steps = _with_origins(self.other_history, *needed)
        return tuple(map(as_on_the_wire, steps))

    def steps_of_fact(self, changed: ChangedFact) -> tuple[Exchange, ...]:
        """Returns the exchanges that show a changed fact, after those that issued what they use."""
        steps = sorted(self.history.with_origins(changed.steps), key=_number)
        return tuple(map(as_on_the_wire, steps))

    @property
    def runs(self) -> Sequence[Outcome]:
        """The runs, in their order."""
        third = () if self.third is None else (self.third,)
        return self.first, self.second, self.other, *third


@dataclass(frozen=True, slots=True)
class MockBeside:
    """A mock that a deployment is compared with.

    Attributes:
        has_same_people: True if it has the people of the deployment.
        facts: What was learnt of the deployment, by rule, and the mock follows.
        reset: Restores the state of the mock, where differences are minimised; None to minimise
            nothing.
    """

    has_same_people: bool = False
    facts: Mapping[str, Fact] = field(default_factory=dict)
    reset: Callable[[], object] | None = None


NO_MOCK: Final = MockBeside()
"""Compares with a deployment that is not a mock, of which nothing is known."""


def compare(
    deployment: Deployment,
    other: Deployment,
    options: RunOptions,
    explained_by: ExplainedBy | None = None,
    mock: MockBeside = NO_MOCK,
) -> Drift:
    """Compares two deployments, and undoes what was changed at both.

    Args:
        deployment: The deployment, which gets the requests twice, and those for the rules that it broke
            in one of the two runs a third time.
        other: The one that it is compared with.
        options: The rules whose probes are sent, and who listens.
        explained_by: Finds what differs in the documents of the two; None without documents.
        mock: The mock that the other deployment is.

    Raises:
        StartupError: A run cannot begin: a file is not as it must be, or nothing responds.
    """
    is_spared = is_limited_for_the_hour(deployment)
    if is_spared:
        deployment, other = sparing_limits(deployment), sparing_limits(other)
    first = observed(deployment, options, facts=mock.facts)
    second = observed(deployment, options, facts=mock.facts)
    theirs = observed(other, options, bounds=first.bounds)
    learnt = learnt_facts(mock.facts, first, second)
    rows = list(compared(first.exchanges, second.exchanges, theirs.exchanges))
    found = [
        each for row in rows for each in differences(row, are_people_alike=mock.has_same_people)
    ]
    judgements = _judgements(found, first, second, theirs)
    by_cause = causes(found, rows, judgements, explained_by, learnt)
    known = catalogue()
    doubtful = tuple(it.rule for it in by_cause if it.fault == "unsteady" and it.rule in known)
    third = observed(deployment, replace(options, rules=doubtful)) if doubtful else None
    if third is not None:
        by_cause = confirmed(by_cause, {it.rule.id for it in third.findings if not it.is_note})
    history, second_history, other_history = (
        History(each.target).emptied(*run.exchanges)
        for each, run in ((deployment, first), (deployment, second), (other, theirs))
    )
    shortest: Mapping[DifferenceKey, ShortestSequence] = {}
    if mock.reset is not None and first.evaluator is not None and theirs.evaluator is not None:
        sides = (first.evaluator, history), (theirs.evaluator, other_history)
        pair = deployment, other
        shortest = shortest_sequences(pair, mock.reset, sides, rows, _kinds(by_cause))
    return Drift(
        causes=tuple(by_cause),
        requests=len(rows),
        first=first.outcome,
        second=second.outcome,
        other=theirs.outcome,
        third=None if third is None else third.outcome,
        history=history,
        second_history=second_history,
        other_history=other_history,
        shortest=shortest,
        changed_facts=learnt.changed,
        not_compared=(*((LIMITS_SPARED,) if is_spared else ()), *_one_sided(first, theirs)),
    )


def _one_sided(first: Observation, theirs: Observation) -> Iterator[str]:
    """Yields which senders were at one of two deployments alone, in one line."""
    own, other = senders(first.exchanges), senders(theirs.exchanges)
    alone = sorted(own ^ other)
    if alone:
        names = ", ".join(alone[:SENDERS_NAMED]) + (", …" if alone[SENDERS_NAMED:] else "")
        yield (
            f"Requests that were sent to one side only are not compared (from {names}): the target "
            "files name other credentials, people or permissions, or a budget was used up."
        )


def _kinds(by_cause: Sequence[DriftCause]) -> list[Difference]:
    """Returns the first difference of each kind, as reports show it; those of two runs alone.

    A repeated response is shown by the request whose response it was, which another may have sent.
    """
    kinds: dict[tuple[str, ...], Difference] = {}
    for cause in by_cause:
        for each in cause.differences if cause.fault != "unsteady" else ():
            if each.after:
                continue
            kind = each.exchange.operation, each.exchange.identity.name
            kinds.setdefault((*kind, each.aspect, each.ours, each.theirs, cause.rule), each)
    return list(kinds.values())


def _judgements(
    found: Sequence[Difference], first: Observation, second: Observation, theirs: Observation
) -> Judgements:
    """Returns how the exchanges of the three runs are judged, with the aspects that differ."""
    return Judgements(
        judgement(first, [Side(each, each.exchange, each.other) for each in found]),
        judgement(second, ()),
        judgement(theirs, [Side(each, each.other, each.exchange) for each in found]),
    )


def _with_origins(history: History, *exchanges: Exchange) -> list[Exchange]:
    """Returns exchanges after those that issued what their requests use."""
    return sorted(history.with_origins(exchanges), key=_number)


def _number(exchange: Exchange) -> int:
    return exchange.number
