"""Runs the same requests at a deployment, there again, and at another one, and compares."""

from collections.abc import Sequence
from dataclasses import dataclass

from understudy.deployments.deployment import Deployment
from understudy.deployments.exchange import Exchange
from understudy.drift.causes import DriftCause, ExplainedBy, Judgements, causes
from understudy.drift.differences import Difference, compared, differences
from understudy.drift.judging import Side, judgement
from understudy.drift.observing import Observation, observed
from understudy.verify.history import History
from understudy.verify.outcome import Outcome
from understudy.verify.run import RunOptions


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
        other_history: The exchanges with the other deployment, for the same.
    """

    causes: tuple[DriftCause, ...]
    requests: int
    first: Outcome
    second: Outcome
    other: Outcome
    history: History
    other_history: History

    def steps(self, difference: Difference) -> tuple[Exchange, ...]:
        """Returns the fewest exchanges that show a difference: those that issued what it uses."""
        return tuple(sorted(self.history.with_origins([difference.exchange]), key=_number))

    def steps_at_other(self, difference: Difference) -> tuple[Exchange, ...]:
        """Returns the fewest exchanges that show a difference at the other deployment."""
        return tuple(sorted(self.other_history.with_origins([difference.other]), key=_number))

    @property
    def runs(self) -> Sequence[Outcome]:
        """The three runs, in their order."""
        return self.first, self.second, self.other


def compare(
    deployment: Deployment,
    other: Deployment,
    options: RunOptions,
    explained_by: ExplainedBy | None = None,
    *,
    are_people_alike: bool = False,
) -> Drift:
    """Compares two deployments, and undoes what was changed at both.

    Args:
        deployment: The deployment, which gets the requests twice.
        other: The one that it is compared with.
        options: The rules whose probes are sent, and who listens.
        explained_by: Finds what differs in the documents of the two; None without documents.
        are_people_alike: True if both have the same people.

    Raises:
        StartupError: A run cannot begin: a file is not as it must be, or nothing responds.
    """
    first, second = observed(deployment, options), observed(deployment, options)
    theirs = observed(other, options)
    rows = list(compared(first.exchanges, second.exchanges, theirs.exchanges))
    found = [each for row in rows for each in differences(row, are_people_alike=are_people_alike)]
    return Drift(
        causes=tuple(causes(found, rows, _judgements(found, first, second, theirs), explained_by)),
        requests=len(rows),
        first=first.outcome,
        second=second.outcome,
        other=theirs.outcome,
        history=_history(deployment, first.exchanges),
        other_history=_history(other, theirs.exchanges),
    )


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


def _number(exchange: Exchange) -> int:
    return exchange.number
