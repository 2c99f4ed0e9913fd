"""Tells which facts about a deployment still hold, and which have changed since they were learnt.

A fact has changed if both runs contradict it in the same way. Without evidence it still holds.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

from understudy.drift.observing import Observation
from understudy.exchange.messages import Exchange
from understudy.interface.facts import AS_ASSUMED, OTHERWISE, Fact
from understudy.interface.rules import Rule
from understudy.verify.catalogue import catalogue
from understudy.verify.checks import proven
from understudy.verify.evaluator import Evaluator
from understudy.verify.learner import fact_of_switch
from understudy.verify.readings import Trials, shown_options

_PASSING: Final = re.compile(r"(?<!status )\b\d+\b|\b[0-9a-f]{16,}\b")
"""The parts of a behaviour that differ from day to day: counts and identifiers, not statuses."""

_BY_MOMENTS: Final = frozenset({"rate-limit-window"})
"""Rules whose option is read from a point in time, which under load can be a second late."""


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A fact that no longer holds at a deployment.

    Attributes:
        rule: The rule that leaves the question open.
        fact: The fact that was learnt.
        now: The reading that both runs show.
        steps: The exchanges of the first run that show it.
    """

    rule: Rule
    fact: Fact
    now: str
    steps: tuple[Exchange, ...]

    @property
    def before(self) -> str:
        """The reading that was learnt."""
        return value_of(self.fact)


class LearntFacts(NamedTuple):
    """The facts that a comparison assumes.

    Attributes:
        standing: The facts that still hold, by rule.
        changed: The facts that have changed, in the order of the catalogue.
    """

    standing: Mapping[str, Fact] = {}
    changed: tuple[ChangedFact, ...] = ()

    @property
    def changed_rules(self) -> frozenset[str]:
        """The ids of the rules whose fact has changed."""
        return frozenset(each.rule.id for each in self.changed)

    def is_followed(self, rule: str) -> bool:
        """Tells whether a fact about a rule still holds, and the mock follows it by a switch."""
        fact = self.standing.get(rule)
        is_switched = fact is not None and catalogue()[rule].switch is not None
        return is_switched and not self.explains(rule)

    def explains(self, rule: str) -> bool:
        """Tells whether a fact about a rule still holds, and the mock has no option for it."""
        fact = self.standing.get(rule)
        return fact is not None and fact.reading == OTHERWISE


NO_FACTS: Final = LearntFacts()


class _Shown(NamedTuple):
    """The reading that a run shows, and the exchanges that show it."""

    value: str
    steps: tuple[Exchange, ...]


def value_of(fact: Fact) -> str:
    """Returns the reading of a fact in words."""
    return fact.actual or fact.reading


def learnt_facts(facts: Mapping[str, Fact], first: Observation, second: Observation) -> LearntFacts:
    """Splits facts into those that still hold and those that both runs contradict alike."""
    shown, again = _contradicting(facts, first), _contradicting(facts, second)
    rules = catalogue()
    changed = tuple(
        ChangedFact(rules[name], facts[name], *shown[name])
        for name in rules
        if name in shown and name in again and shown[name].value == again[name].value
    )
    names = {each.rule.id for each in changed}
    return LearntFacts({name: facts[name] for name in facts if name not in names}, changed)


def _contradicting(facts: Mapping[str, Fact], run: Observation) -> dict[str, _Shown]:
    """Returns the readings of a run that contradict facts, by rule."""
    if run.evaluator is None:
        return {}
    return {
        **_of_options(facts, run, run.evaluator),
        **_of_numbers(facts, run, run.evaluator),
        **_of_checks(facts, run),
    }


def _of_options(
    facts: Mapping[str, Fact], run: Observation, evaluator: Evaluator
) -> dict[str, _Shown]:
    shown = {
        rule: {_in_words(rule, option): shown_by[0] for option, shown_by in options.items()}
        for rule, options in shown_options(run.exchanges, evaluator.history.emptied()).items()
        if rule in facts
    }
    contradicting = {}
    for rule, values in shown.items():
        before = value_of(facts[rule])
        # for points in time one of several readings is enough
        is_shown = before in values if rule in _BY_MOMENTS else values.keys() == {before}
        if not is_shown:
            first = next(exchange for value, exchange in values.items() if value != before)
            contradicting[rule] = _Shown(" and ".join(sorted(values)), (first,))
    return contradicting


def _in_words(rule: str, option: str) -> str:
    """Returns an option in the words that a fact uses for it."""
    switch = proven(catalogue()[rule].switch)
    return value_of(fact_of_switch(rule, switch, option, shown_by=(), seen=1, day=date.min))


def _of_numbers(
    facts: Mapping[str, Fact], run: Observation, evaluator: Evaluator
) -> dict[str, _Shown]:
    trials = Trials(evaluator.history.emptied())
    trials.heed(run.exchanges)
    shown = {}
    for rule in facts.keys() & trials.by_rule.keys():
        bracket, before = trials.bracket(rule), value_of(facts[rule])
        is_outside = before.isdecimal() and not bracket.low <= int(before) < bracket.high
        is_another = bracket.is_settled and bracket.value != before
        if bracket.is_contradictory or not (is_outside or is_another):
            continue
        steps = tuple(trial.exchange for trial in trials.neighbours(rule))
        shown[rule] = _Shown(bracket.value if bracket.is_settled else str(bracket), steps)
    return shown


def _of_checks(facts: Mapping[str, Fact], run: Observation) -> dict[str, _Shown]:
    """Returns the rules without a switch for which the checks of a run contradict the fact."""
    by_number = {exchange.number: exchange for exchange in run.exchanges}
    shown = {}
    for outcome in run.outcome.rules:
        fact = facts.get(outcome.rule.id)
        if fact is None or outcome.rule.switch is not None or not outcome.checks:
            continue
        breaches = [it for it in run.findings if it.rule.id == outcome.rule.id]
        if not breaches and fact.reading == OTHERWISE:
            steps = [by_number[it] for it in outcome.exchanges if it in by_number]
            shown[outcome.rule.id] = _Shown(AS_ASSUMED, tuple(steps[:1]))
        elif breaches and _is_otherwise(fact, {it.actual for it in breaches}):
            shown[outcome.rule.id] = _Shown(breaches[0].actual or OTHERWISE, breaches[0].steps)
    return shown


def _is_otherwise(fact: Fact, actual: Collection[str]) -> bool:
    """Tells whether the behaviour that breaks a rule differs from the behaviour in a fact."""
    if fact.reading != OTHERWISE or not fact.actual:
        return fact.reading != OTHERWISE
    return _lasting(fact.actual) not in {_lasting(text) for text in actual}


def _lasting(text: str) -> str:
    """Returns a behaviour without the numbers and identifiers that differ from day to day."""
    return _PASSING.sub("#", text.strip())
