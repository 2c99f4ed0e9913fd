"""Finds the rules that the exchanges of a run break, and the broken rules behind a difference.

An evaluator keeps one finding for many exchanges. Here each exchange is judged separately, after
those before it, and once more with one aspect taken from the other deployment's response.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import orjson

from understudy.drift.differences import Difference, DifferenceKey, aspects, is_relation
from understudy.drift.observing import Observation
from understudy.exchange.messages import NO_JSON, Exchange, Headers, Response
from understudy.interface.rules import Rule
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import Finding
from understudy.verify.history import AGAIN, History
from understudy.verify.readings import options_shown
from understudy.verify.repetitions import Guess, alike_of
from understudy.verify.switches import NUMBER_READINGS

# Replaces one aspect of a response by that of another. A broken rule explains a difference in an
# aspect if the response keeps the rule with the other deployment's aspect.

_STEP: Final = re.compile(r"\[\]|[^.\[\]]+")
"""A step of a member's path: the items of a list, or the name of a member."""

_ABSENT: Final = object()


def with_aspect(exchange: Exchange, aspect: str, other: Exchange) -> Exchange:
    """Returns an exchange with one aspect of its response taken from another exchange.

    Args:
        exchange: The exchange.
        aspect: The name of the aspect; a decisive one takes the whole response.
        other: The exchange whose aspect is taken.
    """
    kind, _, name = aspect.partition(" ")
    if kind == "header":
        return _with_headers(exchange, {name}, other)
    if kind == "redirect":
        return _with_headers(exchange, {"location"}, other)
    if aspect == "error code":
        headers = _with_headers(exchange, {"location"}, other).response.headers
        return replace(exchange, response=Response(exchange.status, headers, other.response.body))
    if kind == "member" and exchange.body is not NO_JSON and other.body is not NO_JSON:
        path = _STEP.findall("" if name == "body" else name)
        body = orjson.dumps(_grafted(exchange.body, other.body, path))
        return replace(exchange, response=replace(exchange.response, body=body))
    return replace(exchange, response=other.response, wire=other.wire)


def _with_headers(exchange: Exchange, names: set[str], other: Exchange) -> Exchange:
    kept: Headers = tuple(each for each in exchange.response.headers if each[0] not in names)
    taken: Headers = tuple(each for each in other.response.headers if each[0] in names)
    response = Response(exchange.status, (*kept, *taken), exchange.response.body)
    return replace(exchange, response=response)


def _grafted(value: Any, other: Any, path: Sequence[str]) -> Any:
    """Returns a JSON value whose part at a path is taken from another value, or removed as there."""
    if not path:
        return value if other is _ABSENT else other
    step, rest = path[0], path[1:]
    if step == "[]":
        items = other if isinstance(other, list) else []
        if not isinstance(value, list):
            return value
        return [
            _grafted(item, items[min(place, len(items) - 1)] if items else _ABSENT, rest)
            for place, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    part = other.get(step, _ABSENT) if isinstance(other, dict) else _ABSENT
    kept = {name: member for name, member in value.items() if name != step}
    if rest and step in value:
        return {**kept, step: _grafted(value[step], part, rest)}
    return kept if part is _ABSENT else {**kept, step: part}


BROKEN: Final = "broken"
KEPT: Final = "kept"


class BrokenRule(NamedTuple):
    """A rule that an exchange breaks.

    Attributes:
        rule: The rule.
        is_open: True if the contract leaves the question open, and the rule is an assumption.
        actual: The behaviour of the deployment.
    """

    rule: Rule
    is_open: bool
    actual: str


Breaches = Mapping[str, BrokenRule]
"""The rules that an exchange breaks, by id."""


def _nothing(_judged: Collection[int], _unseen: Collection[int]) -> Mapping[int, Breaches]:
    """Returns no breaches, for a run without exchanges to judge again."""
    return {}


@dataclass(frozen=True)
class RunJudgement:
    """The rules that the exchanges of one run break and keep.

    Attributes:
        broken: The rules that an exchange breaks, by its number.
        kept: The ids of the rules that apply to an exchange and that it keeps, by its number.
        cured: The broken rules that an exchange keeps with the other's aspect, by difference. A rule
            that no longer applies with that aspect, as to a refusal, does not explain the difference.
        caused: The kept rules that an exchange breaks with the other's aspect, by difference.
        options: The options of switches that an exchange shows, by its number; for a switch that
            takes a number: whether the sent number was accepted.
        rules: Every rule, by its id.
        exchanges: The exchanges of the run, in order.
        unseen: Judges the exchanges with the first numbers again, those with the second numbers
            left out of the history.
        roots: Id of a rule to the id of the rule that is the root cause of all its findings.
        turned: The switches whose option changes with the other's aspect, by difference.
    """

    broken: Mapping[int, Breaches]
    cured: Mapping[DifferenceKey, Breaches]
    caused: Mapping[DifferenceKey, Breaches]
    options: Mapping[int, Mapping[str, str]]
    rules: Mapping[str, Rule]
    exchanges: Sequence[Exchange] = ()
    kept: Mapping[int, frozenset[str]] = field(default_factory=dict)
    unseen: Callable[[Collection[int], Collection[int]], Mapping[int, Breaches]] = _nothing
    roots: Mapping[str, str] = field(default_factory=dict)
    turned: Mapping[DifferenceKey, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def checked(self) -> frozenset[str]:
        """The rules that some exchange keeps, and which are therefore judged by exchange."""
        return frozenset().union(*self.kept.values())

    def judges(self, rule: str) -> bool:
        """Tells whether some exchange keeps or breaks a rule; a used-up budget leaves rules out."""
        return rule in self.checked or any(rule in broken for broken in self.broken.values())

    def about(
        self, difference: Difference, number: int, other: "RunJudgement"
    ) -> Sequence[BrokenRule]:
        """Returns the rules that this side's exchange with a number breaks because of the aspect that differs."""
        key = difference.key
        names = {*self.cured.get(key, {}), *other.caused.get(key, {})}
        return [it for name, it in self.broken.get(number, {}).items() if name in names]


NO_JUDGEMENT = RunJudgement({}, {}, {}, {}, {})
"""The judgement of a run that ended before anything could be judged."""


class Judgements(NamedTuple):
    """The judgements of the three runs of a comparison."""

    first: RunJudgement
    second: RunJudgement
    other: RunJudgement


class Side(NamedTuple):
    """A difference as seen from one of its two sides."""

    difference: Difference
    own: Exchange
    other: Exchange


def judgement(observation: Observation, sides: Iterable[Side]) -> RunJudgement:
    """Judges the exchanges of one run, as they are and with the aspects of the other side."""
    evaluator = observation.evaluator
    if evaluator is None:
        return NO_JUDGEMENT
    by_exchange: dict[int, list[Side]] = {}
    for side in sides:
        by_exchange.setdefault(side.own.number, []).append(side)
    broken: dict[int, Breaches] = {}
    cured: dict[DifferenceKey, Breaches] = {}
    caused: dict[DifferenceKey, Breaches] = {}
    options: dict[int, Mapping[str, str]] = {}
    turned: dict[DifferenceKey, frozenset[str]] = {}
    elsewhere = _by_exchange(observation.findings)
    history = evaluator.history.emptied()
    kept: dict[int, frozenset[str]] = {}
    for exchange in observation.exchanges:
        before, kept[exchange.number] = judged_rules(evaluator, exchange, history)
        broken[exchange.number] = {**elsewhere.get(exchange.number, {}), **before}
        for side in by_exchange.get(exchange.number, ()):
            options[exchange.number] = dict(_options(exchange, history))
            changed = with_aspect(exchange, side.difference.aspect, side.other)
            shown = dict(_options(changed, history))
            turned[side.difference.key] = frozenset(
                name
                for name, option in options[exchange.number].items()
                if shown.get(name) != option
            )
            after, then_kept = judged_rules(evaluator, changed, history)
            key = side.difference.key
            cured[key] = {name: before[name] for name in before if name in then_kept}
            caused[key] = {name: after[name] for name in after if name in kept[exchange.number]}
        history.add(exchange)
    exchanges, roots = observation.exchanges, _roots(observation)
    unseen = partial(_judged_without, evaluator, exchanges)
    return RunJudgement(
        broken, cured, caused, options, evaluator.rules, exchanges, kept, unseen, roots, turned
    )


def _roots(observation: Observation) -> dict[str, str]:
    """Returns the rules whose findings all have one root cause by verify, each with that cause."""
    found: dict[str, set[str]] = {}
    for finding in observation.outcome.findings:
        root = observation.outcome.roots.get((finding.rule.id, finding.exchange.number), "")
        found.setdefault(finding.rule.id, set()).add(root)
    return {rule: min(roots) for rule, roots in found.items() if len(roots) == 1 and roots != {""}}


def _judged_without(
    evaluator: Evaluator,
    exchanges: Sequence[Exchange],
    numbers: Collection[int],
    unseen: Collection[int],
) -> dict[int, Breaches]:
    """Returns the rules that exchanges break if others are left out of the history before them."""
    history = evaluator.history.emptied()
    broken = {}
    for exchange in exchanges:
        if exchange.number in numbers:
            broken[exchange.number], _ = judged_rules(evaluator, exchange, history)
        if exchange.number not in unseen:
            history.add(exchange)
    return broken


def _options(exchange: Exchange, history: History) -> Iterator[tuple[str, str]]:
    """Yields the rules with a switch whose option an exchange shows, each with that option."""
    yield from options_shown(exchange, history)
    for reading in NUMBER_READINGS:
        trial = reading.trial(exchange, history)
        if trial is not None:
            yield reading.rule, f"{trial.number} {'accepted' if trial.is_accepted else 'refused'}"


def _by_exchange(findings: Iterable[Finding]) -> dict[int, dict[str, BrokenRule]]:
    """Returns the findings of a run by exchange: rules on sequences have no check to run again."""
    by_exchange: dict[int, dict[str, BrokenRule]] = {}
    for finding in findings:
        breach = BrokenRule(finding.rule, finding.is_note, finding.actual)
        by_exchange.setdefault(finding.exchange.number, {})[finding.rule.id] = breach
    return by_exchange


def judged_rules(
    evaluator: Evaluator, exchange: Exchange, history: History
) -> tuple[Breaches, frozenset[str]]:
    """Returns the rules that an exchange breaks, given the history before it, and those it keeps."""
    found: dict[str, BrokenRule] = {}
    kept: set[str] = set()
    if exchange.source == AGAIN:  # sent only to confirm a finding
        return found, frozenset()
    for rule, result in evaluator.results(exchange, history, evaluator.rules):
        if result.holds:
            kept.add(rule.id)
        elif rule.id not in found or found[rule.id].is_open:
            is_open = evaluator.is_open(rule, result, exchange)
            found[rule.id] = BrokenRule(rule, is_open, result.actual)
    return found, frozenset(kept - found.keys())


def last_similar(exchange: Exchange, exchanges: Iterable[Exchange]) -> Exchange | None:
    """Returns the last of some exchanges with the same operation and caller, if possible the same.

    The same are those with equal parameters and an equal query.
    """
    wanted = exchange.operation, exchange.identity.name
    alike = [it for it in exchanges if (it.operation, it.identity.name) == wanted]
    best = [it for it in alike if _inputs(it) == _inputs(exchange)] or alike
    return best[-1] if best else None


def _inputs(exchange: Exchange) -> object:
    return exchange.values, exchange.request.pairs


class RepeatedRun:
    """Finds the differences of one run that repeated responses explain.

    A repeated response explains a difference only if the response was right where it was first sent;
    else there is another cause. A broken rule of another response is explained too, if the response
    keeps the rule once the repeated ones are left out of the history.

    Args:
        guess: The guess that is right.
        run: The judgement of the run.
        others: The exchange of the other deployment, by the number of the run's exchange.
    """

    def __init__(self, guess: Guess, run: RunJudgement, others: Mapping[int, Exchange]) -> None:
        self._guess, self._run, self._others = guess, run, others
        self._alike = alike_of(run.exchanges, guess)
        self._again = {number for number, same in self._alike.items() if same[0].number < number}

    @cached_property
    def _left(self) -> Mapping[int, Breaches]:
        """The rules that exchanges break if repeated responses are left out of the history."""
        return self._run.unseen(self._run.broken.keys(), self._again)

    def explained(self, rule: str, difference: Difference) -> Difference | None:
        """Returns a difference with the exchanges that explain it; None if it is not explained."""
        number, aspect = difference.exchange.number, difference.aspect
        broken = self._run.broken
        for it in self._alike.get(number, ()):
            if aspect.startswith("rule "):
                if rule not in broken.get(it.number, ()):
                    return replace(difference, after=(it,))
            elif it.number != number and it.number in self._others:
                other = self._others[it.number]
                if aspects(it).get(aspect) == aspects(other).get(aspect):
                    return replace(difference, after=(it, other))
        if is_relation(aspect):  # to the read before, if that was a repeated response
            earlier = (it for it in self._run.exchanges if it.number < number)
            before = last_similar(difference.exchange, earlier)
            return difference if before is not None and before.number in self._again else None
        is_broken = rule in broken.get(number, ())
        return difference if is_broken and rule not in self._left.get(number, ()) else None
