"""Learns from a run how a deployment behaves where the interface leaves the behaviour open."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import NamedTuple

from msgspec import structs

from understudy.errors import StartupError
from understudy.exchange.messages import Exchange
from understudy.interface.facts import (
    AS_ASSUMED,
    OTHERWISE,
    TWICE,
    Fact,
    Facts,
    Unsettled,
    sureness,
)
from understudy.interface.rules import Rule, Switch
from understudy.verify.catalogue import catalogue
from understudy.verify.checks import CheckResult, InternalError, Unmet, check_results
from understudy.verify.deployment import Deployment
from understudy.verify.evaluator import UNJUDGED, RuleRecord
from understudy.verify.findings import Finding, Outcome, RuleOutcome
from understudy.verify.permits import Refusal, Unreachable
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import PROBES, Probe
from understudy.verify.readings import (
    NOT_TRIED,
    SENDERS,
    Trials,
    carry_out_experiments,
    shown_options,
)
from understudy.verify.run import Run, RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.shown_requests import SHOWN, command_of, commands_of
from understudy.verify.switches import EXPERIMENTS
from understudy.verify.target import Target

# A probe or experiment whose answer was seen only once is repeated, since it may be due to chance.
# It is repeated as a whole, because the answer may depend on the requests before it.


class _Sender(NamedTuple):
    """A probe or an experiment, by its name in reports, which can be sent again."""

    name: str
    run: Callable[[ProbeClient], object]


@dataclass
class Repetitions:
    """The outcome of the repetitions of a run.

    Attributes:
        contradictory: By rule without a switch, how its repetition differs.
        confirmed: Rules without a switch whose repetition shows the same answer.
        requests: By rule, the number of requests of repetitions that were sent for it alone.
    """

    contradictory: dict[str, str] = field(default_factory=dict)
    confirmed: set[str] = field(default_factory=set)
    requests: dict[str, int] = field(default_factory=dict)

    def repeat(self, run: Run, once: Mapping[str, str]) -> None:
        """Repeats the probes and experiments whose answers were seen once.

        Those that the budget or a permission no longer allows are skipped, and their facts remain.

        Args:
            run: The run.
            once: By rule, the sender of the exchange that shows its answer.

        Raises:
            Unreachable: The deployment no longer responds.
        """
        for sender in _senders():
            rules = [rule for rule, name in once.items() if name == sender.name]
            if rules:
                self._repeat(run, sender, rules)

    def repeat_numbers(self, run: Run, trials: Trials) -> None:
        """Tries the two numbers on both sides of each answer again, if they were tried only once.

        Raises:
            Unreachable: The deployment no longer responds.
        """
        for search in (each for each in EXPERIMENTS if each.tries_numbers):
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
    """The number of a rule's check results, and the breach that decides its fact."""

    checks: int
    breach: Finding | None

    @classmethod
    def of(cls, record: RuleRecord) -> "_Count":
        return cls(record.checks, deciding_breach(record.findings))

    def difference(self, later: "_Count", own_results: Sequence[CheckResult]) -> str:
        """Returns how a repetition contradicts these results; empty if it does not.

        Args:
            later: The results after the repetition.
            own_results: The results of the repetition judged alone, since a check that judges only
                the first request of a kind gives none for the second.
        """
        if self.breach is None:
            return f"as assumed, and then {later.breach.actual}" if later.breach else ""
        if later.checks == self.checks and not own_results:
            return ""
        is_as_before = later.breach is not None and later.breach.count > self.breach.count
        is_as_before = is_as_before or self.is_shown_by(own_results)
        return "" if is_as_before else f"{self.breach.actual}, and then as assumed"

    def is_shown_by(self, own_results: Sequence[CheckResult]) -> bool:
        """Tells whether the results of a repetition judged alone agree: no breach, or one."""
        has_breach = any(not result.holds for result in own_results)
        return bool(own_results) and has_breach == (self.breach is not None)


def _judged_alone(run: Run, exchanges: Sequence[Exchange]) -> Mapping[str, list[CheckResult]]:
    """Returns each rule's results for these exchanges without the ones before them."""
    history, results = run.evaluator.history.emptied(), defaultdict[str, list[CheckResult]](list)
    for exchange in exchanges:
        for checked in check_results(exchange, history, run.evaluator.rules.keys()):
            if not isinstance(checked, (InternalError, Unmet)):
                rule, result = checked
                results[rule].append(result)
        history.add(exchange)
    return results


def deciding_breach(findings: list[Finding]) -> Finding | None:
    """Returns the breach that decides a rule's fact: its first note, or else its first finding."""
    notes = (each for each in findings if each.is_note)
    return next(notes, None) or next(iter(findings), None)


def _senders() -> Iterator[_Sender]:
    for probe in PROBES:
        if not probe.is_exhausting:
            yield _Sender(f"probe {probe.name}", partial(_send_whole, probe))
    for experiment in EXPERIMENTS:
        if not experiment.tries_numbers:
            yield _Sender(experiment.name, experiment.run)


def _send_whole(probe: Probe, client: ProbeClient) -> None:
    for _part in probe.steps(client):
        pass


def _send(sender: Callable[[], object]) -> None:
    """Sends a repetition as far as the budget and the permissions allow.

    Raises:
        Unreachable: The deployment no longer responds.
    """
    try:
        sender()
    except Unreachable:
        raise
    except Refusal:
        return  # the answer remains as one that was seen once


@dataclass(frozen=True, slots=True)
class Learnt:
    """The result of learning from a run.

    Attributes:
        facts: The facts, and the questions that are not settled.
        outcome: The outcome of the run.
    """

    facts: Facts
    outcome: Outcome


@dataclass
class Learner:
    """Carries out experiments and repetitions, and reads the options that exchanges show.

    Attributes:
        run: The run; None until the probes have ended.
        shown: By rule and option, the exchanges that show it, as of the last reading.
        trials: The numbers that were tried; None until the probes have ended.
        lacking: By rule, the reason why its experiment could not run.
        repetitions: The repetitions of answers that were seen only once.
        stopped: Why the experiments ended early; empty where they did not.
    """

    run: Run | None = None
    shown: Mapping[str, Mapping[str, Sequence[Exchange]]] = field(default_factory=dict)
    trials: Trials | None = None
    lacking: dict[str, str] = field(default_factory=dict)
    repetitions: Repetitions = field(default_factory=Repetitions)
    stopped: str = ""

    def read(self) -> None:
        """Reads the options that the exchanges so far show."""
        if self.run is not None:
            history = self.run.evaluator.history.emptied()
            self.shown = shown_options(self.run.exchanges, history)

    def experiment(self, run: Run) -> None:
        """Sends the experiments whose question is still open after the probes."""
        self.run = run
        self.read()
        wanted = run.evaluator.rules.keys() - self.shown.keys()
        self.trials = Trials(run.evaluator.history.emptied())
        try:
            self.lacking = carry_out_experiments(
                run.gateway, run.exchanges, wanted, self.trials, run.evaluator.facts
            )
        except Refusal as refusal:  # reported as the reason of the questions that it leaves open
            self.stopped = str(refusal)
            raise

    def repeat(self, run: Run) -> None:
        """Repeats what has shown an answer only once, as far as the budget allows."""
        self.read()
        if self.trials is not None:
            self.trials.heed(run.exchanges)
            self.repetitions.repeat_numbers(run, self.trials)
        self.repetitions.repeat(run, dict(self._seen_once(run)))

    def _seen_once(self, run: Run) -> Iterator[tuple[str, str]]:
        """Yields each rule whose answer one exchange shows, with the sender of the exchange."""
        for rule, options in self.shown.items():
            exchanges = [each for shown in options.values() for each in shown]
            if len(exchanges) == 1 and rule in run.evaluator.rules:
                yield rule, exchanges[0].source
        by_number = {each.number: each for each in run.exchanges}
        for rule, record in run.evaluator.records.items():
            if run.evaluator.rules[rule].switch is not None:
                continue
            breach = deciding_breach(record.findings)
            if breach is not None and breach.count == 1:
                yield rule, breach.exchange.source
            elif breach is None and record.checks == 1:
                yield rule, by_number[record.exchanges[0]].source


def learn(deployment: Deployment, options: RunOptions) -> Learnt:
    """Learns how a deployment behaves where rules leave it open, and undoes the run's changes.

    Args:
        deployment: The deployment.
        options: The rules, or none for every rule that leaves something open; and the listeners.

    Raises:
        StartupError: A rule leaves nothing open, or the run cannot begin.
    """
    questions = open_rules(options.rules)
    learner = Learner()
    phases = (("experiments", learner.experiment), ("repetitions", learner.repeat))
    outcome = carry_out(deployment, replace(options, rules=tuple(questions), phases=phases))
    learner.read()
    day = deployment.time.now().date()
    senders = Counter(SENDERS.get(each.source) for each in outcome.exchanges)
    repeated = learner.repetitions.requests
    settled = [_settled(ended, learner, outcome, day, deployment.target) for ended in outcome.rules]
    facts = Facts(
        deployment=deployment.target.base_url,
        learnt=day.isoformat(),
        requests=outcome.requests,
        facts=tuple(
            structs.replace(each, requests=senders[each.rule] or repeated.get(each.rule, 0))
            for each in settled
            if isinstance(each, Fact)
        ),
        unsettled=tuple(each for each in settled if isinstance(each, Unsettled)),
    )
    return Learnt(facts, outcome)


def open_rules(wanted: Sequence[str] = ()) -> dict[str, Rule]:
    """Returns the rules whose question the interface leaves open, by id.

    Args:
        wanted: Ids of the rules; empty for every one.

    Raises:
        StartupError: There is no such rule, or it leaves nothing open.
    """
    rules = catalogue(wanted)
    questions = {
        name: rule for name, rule in rules.items() if rule.status == "assumed" or rule.switch
    }
    for name in wanted:
        if name not in questions:
            msg = f"--rules {name}: the interface leaves nothing open there; `understudy verify` judges it."
            raise StartupError(msg)
    return questions


def _settled(
    ended: RuleOutcome, learner: Learner, outcome: Outcome, day: date, target: Target
) -> Fact | Unsettled:
    """Returns the fact that a run has shown for a rule, or why there is none."""
    switch = ended.rule.switch
    if switch is None:
        return _without_switch(ended, learner, outcome, day, target)
    if switch.range is not None:
        return _number(ended, learner, day, target)
    shown = learner.shown.get(ended.rule.id, {})
    if len(shown) > 1:
        why = "; ".join(f"{option}: {_line(each[0])}" for option, each in shown.items())
        return Unsettled(ended.rule.id, f"the readings contradict each other: {why}")
    if not shown:
        why = learner.lacking.get(ended.rule.id) or ended.reason or learner.stopped
        why = why or "no exchange shows it"
        return Unsettled(ended.rule.id, why)
    ((option, shown_by),) = shown.items()
    return fact_of_switch(
        ended.rule.id,
        switch,
        option,
        shown_by=commands_of(shown_by, target),
        seen=len(shown_by),
        day=day,
    )


def fact_of_switch(
    rule: str, switch: Switch, option: str, *, shown_by: tuple[str, ...], seen: int, day: date
) -> Fact:
    """Returns the fact that a deployment takes an option of a switch.

    Args:
        rule: The id of the switch's rule.
        switch: The switch.
        option: The option that exchanges show, or a status that is none of the switch's options.
        shown_by: Some of the exchanges, as commands or in a few words each.
        seen: The number of exchanges.
        day: The day.
    """
    is_option = option in switch
    return Fact(
        rule=rule,
        reading=option if is_option else OTHERWISE,
        shown_by=shown_by,
        seen=seen,
        learnt=day.isoformat(),
        actual="" if is_option else f"status {option}" if option.isdecimal() else option,
        sure=sureness(seen),
    )


def _number(ended: RuleOutcome, learner: Learner, day: date, target: Target) -> Fact | Unsettled:
    """Returns the number that the trials of a run have found, or why there is none."""
    rule, trials = ended.rule.id, learner.trials
    # UNJUDGED says that no check judges a number, which is no reason that trials found none
    unchecked = "" if rule in UNJUDGED else ended.reason
    why = learner.lacking.get(rule) or unchecked or learner.stopped
    if trials is None:
        return Unsettled(rule, why or NOT_TRIED)
    bracket = trials.bracket(rule)
    if bracket.is_contradictory:
        return Unsettled(rule, f"the trials contradict each other: {bracket}")
    if not bracket.is_settled:
        tried = "" if why and str(bracket) == NOT_TRIED else str(bracket)
        return Unsettled(rule, "; ".join(filter(None, (tried, why))))
    is_option = bracket.value.isdecimal()
    neighbours = sorted(trials.neighbours(rule), key=lambda each: each.number)
    commands = (command_of(each.exchange, target, f", at {each.tried}") for each in neighbours)
    return Fact(
        rule=rule,
        reading=bracket.value if is_option else OTHERWISE,
        shown_by=tuple(dict.fromkeys(commands))[:SHOWN],
        seen=len(neighbours),
        learnt=day.isoformat(),
        actual="" if is_option else bracket.value,
        sure=sureness(min(Counter(each.number for each in neighbours).values(), default=0)),
    )


def _without_switch(
    ended: RuleOutcome, learner: Learner, outcome: Outcome, day: date, target: Target
) -> Fact | Unsettled:
    """Returns the fact that the checks of a rule without a switch show, or why there is none."""
    if not ended.checks:
        return Unsettled(ended.rule.id, ended.reason)
    difference = learner.repetitions.contradictory.get(ended.rule.id)
    if difference:
        return Unsettled(ended.rule.id, f"its repetition contradicts it: {difference}")
    breaches = (*outcome.notes, *outcome.findings)
    breach = next((each for each in breaches if each.rule.id == ended.rule.id), None)
    seen = ended.checks if breach is None else breach.count
    if ended.rule.id in learner.repetitions.confirmed:
        seen = max(seen, TWICE)
    numbers = set(ended.exchanges) if breach is None else {each.number for each in breach.steps}
    return Fact(
        rule=ended.rule.id,
        reading=AS_ASSUMED if breach is None else OTHERWISE,
        shown_by=commands_of(
            (each for each in outcome.exchanges if each.number in numbers), target
        ),
        seen=seen,
        learnt=day.isoformat(),
        actual="" if breach is None else breach.actual,
        sure=sureness(seen),
    )


def _line(exchange: Exchange) -> str:
    """Returns an exchange in a few words, without identifiers and secrets."""
    return f"{exchange.title or exchange.operation} as {exchange.identity.name}: {exchange.status}"
