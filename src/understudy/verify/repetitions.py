"""Sends again what has shown an answer only once, since a deployment may answer by chance.

What showed the answer is a probe or an experiment; it is sent whole, because the answer may need
what it sends before. A repetition only sends, too: the readings and the checks say whether it
shows the same.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from understudy.exchange.messages import Exchange
from understudy.verify.checks import CheckResult, InternalError, Unmet, check_results
from understudy.verify.evaluator import RuleRecord
from understudy.verify.findings import Finding
from understudy.verify.permits import Refusal, Unreachable
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import PROBES, Probe
from understudy.verify.readings import Trials
from understudy.verify.run import Run
from understudy.verify.switches import EXPERIMENTS, NUMBER_EXPERIMENTS


class _Sender(NamedTuple):
    """A probe or an experiment, by its name in reports, which can be sent again."""

    name: str
    run: Callable[[ProbeClient], object]


@dataclass
class Repetitions:
    """The outcome of the repetitions of a run.

    Attributes:
        contradictory: Rule without a switch to how its repetition differs.
        confirmed: Rules without a switch whose repetition shows the same.
        requests: Rule to the requests of the repetitions that were sent for it alone.
    """

    contradictory: dict[str, str] = field(default_factory=dict)
    confirmed: set[str] = field(default_factory=set)
    requests: dict[str, int] = field(default_factory=dict)

    def repeat(self, run: Run, once: Mapping[str, str]) -> None:
        """Sends again what showed the answers that were seen once.

        A sender for which the budget or a permission is used up is left out, and its facts stay.

        Args:
            run: The run.
            once: Rule to the sender of the exchange that shows its answer.

        Raises:
            Unreachable: The deployment no longer responds.
        """
        for sender in _senders():
            rules = [rule for rule, name in once.items() if name == sender.name]
            if rules:
                self._repeat(run, sender, rules)

    def repeat_numbers(self, run: Run, trials: Trials) -> None:
        """Tries the two numbers beside each answer again, if they were tried once.

        Raises:
            Unreachable: The deployment no longer responds.
        """
        for search in NUMBER_EXPERIMENTS:
            client = ProbeClient(run.gateway, search.name, run.exchanges)
            for number in trials.tried_once(search.rule):
                _send(partial(search.run, client, number))
                trials.heed(run.exchanges)

    def _repeat(self, run: Run, sender: _Sender, rules: list[str]) -> None:
        records = run.evaluator.records
        before = {rule: _Count.of(records[rule]) for rule in rules if rule in records}
        sent, again = run.gateway.sent, list[Exchange]()
        remember = again.append
        run.gateway.listeners.append(remember)
        try:
            _send(partial(sender.run, ProbeClient(run.gateway, sender.name, again)))
        finally:
            run.gateway.listeners.remove(remember)
        if len(rules) == 1:
            self.requests[rules[0]] = run.gateway.sent - sent
        own_results = _judged_alone(run, again)
        for rule, count in before.items():
            later = _Count.of(records[rule])
            difference = count.difference(later, own_results[rule])
            if difference:
                self.contradictory[rule] = difference
            elif later.checks > count.checks or count.is_shown_by(own_results[rule]):
                self.confirmed.add(rule)


class _Count(NamedTuple):
    """The check results of a rule, and how often the breach was seen that decides on its fact."""

    checks: int
    breach: Finding | None

    @classmethod
    def of(cls, record: RuleRecord) -> "_Count":
        return cls(record.checks, deciding_breach(record.findings))

    def difference(self, later: "_Count", own_results: Sequence[CheckResult]) -> str:
        """Returns how a repetition contradicts these results; empty if it does not.

        Args:
            later: The results after the repetition.
            own_results: What the repetition shows alone: a check that judges the first request of a
                kind says nothing of a second one.
        """
        if self.breach is None:
            return f"as assumed, and then {later.breach.actual}" if later.breach else ""
        if later.checks == self.checks and not own_results:
            return ""
        is_as_before = later.breach is not None and later.breach.count > self.breach.count
        is_as_before = is_as_before or self.is_shown_by(own_results)
        return "" if is_as_before else f"{self.breach.actual}, and then as assumed"

    def is_shown_by(self, own_results: Sequence[CheckResult]) -> bool:
        """Tells whether what a repetition shows alone is the same: no breach, or one."""
        has_breach = any(not result.holds for result in own_results)
        return bool(own_results) and has_breach == (self.breach is not None)


def _judged_alone(run: Run, exchanges: Sequence[Exchange]) -> Mapping[str, list[CheckResult]]:
    """Returns what exchanges show of each rule without those that were sent before them."""
    history, results = run.evaluator.history.emptied(), defaultdict[str, list[CheckResult]](list)
    for exchange in exchanges:
        for checked in check_results(exchange, history, run.evaluator.rules.keys()):
            if not isinstance(checked, (InternalError, Unmet)):
                rule, result = checked
                results[rule].append(result)
        history.add(exchange)
    return results


def deciding_breach(findings: list[Finding]) -> Finding | None:
    """Returns the breach that shows what a deployment does otherwise: the first note, or finding."""
    notes = (each for each in findings if each.is_note)
    return next(notes, None) or next(iter(findings), None)


def is_repeatable(probe: Probe) -> bool:
    """Tells whether a probe may be sent twice: one that uses up a limit may not."""
    return "exhaust" not in probe.needs


def _senders() -> Iterator[_Sender]:
    for probe in PROBES:
        if is_repeatable(probe):
            yield _Sender(f"probe {probe.name}", partial(_send_whole, probe))
    for experiment in EXPERIMENTS:
        yield _Sender(experiment.name, experiment.run)


def _send_whole(probe: Probe, client: ProbeClient) -> None:
    for _part in probe.steps(client):
        pass


def _send(sender: Callable[[], object]) -> None:
    """Sends a repetition as far as the budget and the permissions reach.

    Raises:
        Unreachable: The deployment no longer responds.
    """
    try:
        sender()
    except Unreachable:
        raise
    except Refusal:
        return  # what was seen once stays so
