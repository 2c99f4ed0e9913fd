"""Sends the same requests twice to a deployment and once to another one, and compares."""

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

# Reduces a difference to the shortest sequence of requests that shows it (delta debugging). Earlier
# requests are left out at the mock first, where requests cost nothing; the remaining sequence is
# confirmed at the deployment, within a number of requests and with every change undone.

MOST_REQUESTS: Final = 100
"""Requests to the deployment that may be spent on confirming sequences, those that undo apart."""

MOST_BEFORE: Final = 30
"""Requests before a difference that are tried, the most recent ones of the same sender."""


@dataclass(frozen=True, slots=True)
class ShortestSequence:
    """The shortest sequence of requests that was confirmed to show a difference.

    Attributes:
        steps: The exchanges with the deployment; the last one shows the difference.
        steps_at_other: The exchanges with the other deployment.
    """

    steps: tuple[Exchange, ...]
    steps_at_other: tuple[Exchange, ...]


@dataclass
class ReplayTrials:
    """Replays sequences at one deployment, and restores its state after each.

    Attributes:
        run: The run that sends the requests.
        evaluator: Judges the replayed exchanges.
        history: The exchanges of the comparison, among them those that issued tokens and codes.
        reset: Restores the state before a sequence.
        most: Number of requests that may still be sent; None for no limit.
    """

    run: Run
    evaluator: Evaluator
    history: History
    reset: Callable[[], object]
    most: int | None = None

    def shown(
        self, aspect: str, wanted: str, exchanges: Sequence[Exchange]
    ) -> tuple[Exchange, ...] | None:
        """Replays exchanges, and returns the new ones if the last shows the wanted value, else None.

        Args:
            aspect: The name of the aspect.
            wanted: Its value.
            exchanges: The exchanges to replay, after those that issue the tokens and codes in them.
        """
        steps = self.history.with_origins(exchanges)
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
    """Finds the shortest sequence for each difference.

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
        """Groups the requests by their senders."""
        for row in self.rows:
            self._senders.setdefault(row.first.source, []).append(row)

    def shortest(self, difference: Difference) -> ShortestSequence | None:
        """Returns the shortest sequence that shows a difference at both; None if none does."""
        sent = self._senders.get(difference.exchange.source, [])
        places = [at for at, row in enumerate(sent) if row.first is difference.exchange]
        if not places:  # the request was sent to one side only
            return None
        (place,) = places
        earlier = sent[max(0, place - MOST_BEFORE) : place]
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
        """Yields the requests that the mock needs, then those that either side needs."""
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
    """Returns a subset from which no request can be left out; None if even all show no difference.

    Args:
        rows: The requests, in order.
        is_shown: Tells whether a subset of them, in order, still shows the difference.
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
    """Returns the shortest sequence of each difference, if one could be confirmed.

    Args:
        deployments: The deployment and the mock.
        reset: Restores the mock's state before a sequence.
        sides: The evaluator and the exchanges of each of the two.
        rows: The requests that were compared.
        differences: One difference of each kind.

    Raises:
        StartupError: A run cannot begin.
    """
    is_over = deployments[0].allowance.is_over  # the mock's replays take time of the same run
    with ExitStack() as stack:
        runs = []
        for deployment in deployments:
            stack.enter_context(locked(deployment))
            timed = replace(deployment, allowance=replace(deployment.allowance, is_over=is_over))
            runs.append(start(timed, RunOptions(needs_interface=False)))
        stack.callback(runs[0].undo.restore)
        (judge, history), (other_judge, other_history) = sides
        own = ReplayTrials(runs[0], judge, history, runs[0].undo.restore_changes, MOST_REQUESTS)
        other = ReplayTrials(runs[1], other_judge, other_history, reset)
        minimiser = Minimiser(own, other, rows)
        found = {it.key: minimiser.shortest(it) for it in differences if not is_over()}
    return {key: sequence for key, sequence in found.items() if sequence is not None}


NOT_SHORTENED: Final = "Not every difference was reduced to its fewest requests: the time of the run is used up (--max-time)."

SENDERS_NAMED: Final = 3
"""Most senders that a line on one-sided requests names."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The differences between two deployments.

    Attributes:
        causes: The differences by their causes.
        requests: The number of requests that were compared.
        first: The judgement of the deployment.
        second: The judgement of its second run, which tells noise from differences.
        other: The judgement of the other deployment.
        history: The exchanges of the first run, among them those that issued tokens and codes.
        second_history: The exchanges of the second run.
        other_history: The exchanges with the other deployment.
        third: A third run of the rules that only one of the first two broke; None without any.
        shortest: The shortest sequences that were confirmed, by difference.
        changed_facts: The facts that no longer hold at the deployment.
        not_compared: One line for each part that was not compared, with the reason.
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
        """Returns the shortest sequence of a difference, as it was sent and received.

        Without a confirmed one, its exchange after those that issued the tokens and codes in it.
        """
        sequence = self.shortest.get(difference.key)
        history = self.second_history if difference.is_of_second_run else self.history
        needed = (*difference.after[:1], difference.exchange)
        steps = sequence.steps if sequence else history.with_origins(needed)
        return tuple(map(as_on_the_wire, steps))

    def steps_at_other(self, difference: Difference) -> tuple[Exchange, ...]:
        """Returns the shortest sequence of a difference at the other deployment."""
        sequence = self.shortest.get(difference.key)
        if sequence is not None:
            return tuple(map(as_on_the_wire, sequence.steps_at_other))
        needed = (*difference.after[1:], difference.other)
        return tuple(map(as_on_the_wire, self.other_history.with_origins(needed)))

    def steps_of_fact(self, changed: ChangedFact) -> tuple[Exchange, ...]:
        """Returns the exchanges that show a changed fact, after those that issued their tokens."""
        return tuple(map(as_on_the_wire, self.history.with_origins(changed.steps)))

    @property
    def runs(self) -> Sequence[Outcome]:
        """The runs, in their order."""
        third = () if self.third is None else (self.third,)
        return self.first, self.second, self.other, *third


@dataclass(frozen=True, slots=True)
class MockBeside:
    """A mock that a deployment is compared with.

    Attributes:
        has_same_people: True if the mock has the accounts of the deployment.
        facts: The facts that were learnt of the deployment and that the mock follows, by rule.
        reset: Restores the mock's state while sequences are shortened; None to shorten none.
    """

    has_same_people: bool = False
    facts: Mapping[str, Fact] = field(default_factory=dict)
    reset: Callable[[], object] | None = None


NO_MOCK: Final = MockBeside()
"""Stands for no mock: the other deployment is a real one."""


def compare(
    deployment: Deployment,
    other: Deployment,
    options: RunOptions,
    explained_by: ExplainedBy | None = None,
    mock: MockBeside = NO_MOCK,
) -> Drift:
    """Compares two deployments, and undoes all changes at both.

    Args:
        deployment: The deployment. It gets the requests twice, and a third time those for rules that
            it broke in only one of the two runs.
        other: The deployment or mock that it is compared with.
        options: The rules whose probes are sent, and the listeners to progress.
        explained_by: Finds the change of the documents behind a difference; None without documents.
        mock: What is known of the mock, if the other deployment is one.

    Raises:
        StartupError: A run cannot begin: a file is invalid, or a deployment does not respond.
    """
    is_spared = is_limited_for_the_hour(deployment)
    if is_spared:
        deployment, other = sparing_limits(deployment), sparing_limits(other)
    first = observed(deployment, options, facts=mock.facts)
    second = observed(deployment, options, facts=mock.facts)
    theirs = observed(other, options, bounds=first.bounds)
    learnt = learnt_facts(mock.facts, first, second)
    rows = list(compared(first.exchanges, second.exchanges, theirs.exchanges))
    found = [it for row in rows for it in differences(row, are_people_alike=mock.has_same_people)]
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
        not_compared=(
            *((LIMITS_SPARED,) if is_spared else ()),
            *_one_sided(first, theirs),
            *((NOT_SHORTENED,) if deployment.allowance.is_over() else ()),
        ),
    )


def _one_sided(first: Observation, theirs: Observation) -> Iterator[str]:
    """Yields one line that names the senders of requests to only one of the two deployments."""
    own, other = senders(first.exchanges), senders(theirs.exchanges)
    alone = sorted(own ^ other)
    if alone:
        names = ", ".join(alone[:SENDERS_NAMED]) + (", …" if alone[SENDERS_NAMED:] else "")
        yield (
            f"Requests that were sent to one side only are not compared (from {names}): the target "
            "files name other credentials, people or permissions, or a budget was used up."
        )


def _kinds(by_cause: Sequence[DriftCause]) -> list[Difference]:
    """Returns the first difference of each kind, the kinds being those of reports.

    Left out are differences of only one run, and repeated responses: these need the request that
    got the response first, which another sender may have sent.
    """
    kinds: dict[tuple[str, ...], Difference] = {}
    for cause in by_cause:
        for it in cause.differences if cause.fault != "unsteady" else ():
            if it.after:
                continue
            kind = it.exchange.operation, it.exchange.identity.name
            kinds.setdefault((*kind, it.aspect, it.ours, it.theirs, cause.rule), it)
    return list(kinds.values())


def _judgements(
    found: Sequence[Difference], first: Observation, second: Observation, theirs: Observation
) -> Judgements:
    """Judges the exchanges of the three runs, as they are and with the aspects that differ."""
    return Judgements(
        judgement(first, [Side(each, each.exchange, each.other) for each in found]),
        judgement(second, ()),
        judgement(theirs, [Side(each, each.other, each.exchange) for each in found]),
    )
