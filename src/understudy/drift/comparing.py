"""Runs the same requests at a deployment, there again, and at another one, and compares."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from understudy.drift.causes import DriftCause, ExplainedBy, causes
from understudy.drift.differences import (
    Difference,
    DifferenceKey,
    compared,
    differences,
    senders,
)
from understudy.drift.judging import Judgements, Side, judgement
from understudy.drift.learnt_facts import ChangedFact, learnt_facts
from understudy.drift.minimising import ShortestSequence, shortest_sequences
from understudy.drift.observing import (
    LIMITS_SPARED,
    Observation,
    is_limited_for_the_hour,
    observed,
    sparing_limits,
)
from understudy.exchange.messages import Exchange
from understudy.interface.facts import Fact
from understudy.verify.deployment import Deployment
from understudy.verify.history import History
from understudy.verify.outcome import Outcome
from understudy.verify.run import RunOptions
from understudy.verify.wording import as_on_the_wire

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
    shortest: Mapping[DifferenceKey, ShortestSequence] = field(default_factory=dict)
    changed_facts: tuple[ChangedFact, ...] = ()
    not_compared: tuple[str, ...] = ()

    def steps(self, difference: Difference) -> tuple[Exchange, ...]:
        """Returns the fewest exchanges that show a difference, as they were sent and received.

        Where none were confirmed, those that issued what its request uses.
        """
        sequence = self.shortest.get(difference.key)
        history = self.second_history if difference.is_of_second_run else self.history
        steps = sequence.steps if sequence else _with_origins(history, difference.exchange)
        return tuple(map(as_on_the_wire, steps))

    def steps_at_other(self, difference: Difference) -> tuple[Exchange, ...]:
        """Returns the fewest exchanges that show a difference at the other deployment."""
        sequence = self.shortest.get(difference.key)
        if sequence is not None:
            return tuple(map(as_on_the_wire, sequence.steps_at_other))
        return tuple(map(as_on_the_wire, _with_origins(self.other_history, difference.other)))

    def steps_of_fact(self, changed: ChangedFact) -> tuple[Exchange, ...]:
        """Returns the exchanges that show a changed fact, after those that issued what they use."""
        steps = sorted(self.history.with_origins(changed.steps), key=_number)
        return tuple(map(as_on_the_wire, steps))

    @property
    def runs(self) -> Sequence[Outcome]:
        """The three runs, in their order."""
        return self.first, self.second, self.other


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
        deployment: The deployment, which gets the requests twice.
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
    history, other_history = (
        _history(deployment, first.exchanges),
        _history(other, theirs.exchanges),
    )
    second_history = _history(deployment, second.exchanges)
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
            f"Not compared is what was sent to one side alone ({len(alone)} senders: {names}): the "
            "target files name other credentials, people or permissions, or a budget was used up."
        )


def _kinds(by_cause: Sequence[DriftCause]) -> list[Difference]:
    """Returns the first difference of each kind, as reports show it; those of two runs alone."""
    kinds: dict[tuple[str, ...], Difference] = {}
    for cause in by_cause:
        for each in cause.differences if cause.fault != "unsteady" else ():
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


def _history(deployment: Deployment, exchanges: Sequence[Exchange]) -> History:
    history = History(deployment.target)
    for exchange in exchanges:
        history.add(exchange)
    return history


def _with_origins(history: History, exchange: Exchange) -> list[Exchange]:
    """Returns an exchange after those that issued what its request uses."""
    return sorted(history.with_origins([exchange]), key=_number)


def _number(exchange: Exchange) -> int:
    return exchange.number
