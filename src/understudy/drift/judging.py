"""Finds the rules that the exchanges of a run break, and those that a difference is about.

An evaluator keeps one finding for many exchanges. Here each exchange is judged by itself, beside
those before it, and again with an aspect of the other deployment's response.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import orjson

from understudy.drift.differences import Difference, DifferenceKey
from understudy.drift.observing import Observation
from understudy.exchange.messages import NO_JSON, Exchange, Headers, Response
from understudy.interface.rules import Rule
from understudy.verify.checks import CheckResult, InternalError, Unmet, check_results, expect
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import DOCUMENT, Finding
from understudy.verify.history import History
from understudy.verify.readings import contradictions, options_shown
from understudy.verify.run import AGAIN
from understudy.verify.switches import NUMBER_READINGS

# Gives a response one aspect of another, to tell whether a rule is about that aspect. A rule is
# about a difference if a response stops to break it once it is in that aspect as the other
# deployment's response is.

_STEP: Final = re.compile(r"\[\]|[^.\[\]]+")
"""A step of a member's path: the items of a list, or the name of a member."""

_ABSENT: Final = object()


def with_aspect(exchange: Exchange, aspect: str, other: Exchange) -> Exchange:
    """Returns an exchange whose response is in one aspect as another one is.

    Args:
        exchange: The exchange.
        aspect: The name of the aspect; of one that decides others the whole response is taken.
        other: The exchange whose aspect it gets.
    """
    kind, _, name = aspect.partition(" ")
    if kind == "header":
        return _with_headers(exchange, {name}, other)
    if kind == "redirect":
        return _with_headers(exchange, {"location"}, other)
    if aspect == "error code":
        headers = _with_headers(exchange, {"location"}, other).response.headers
        return replace(exchange, response=Response(exchange.status, headers, other.response.body))
    if kind == "member" and NO_JSON not in {_hashable(exchange), _hashable(other)}:
        path = _STEP.findall("" if name == "body" else name)
        body = _grafted(exchange.body, other.body, path)
        response = replace(exchange.response, body=orjson.dumps(body))
        return replace(exchange, response=_fresh(response))
    return replace(exchange, response=other.response)


def _hashable(exchange: Exchange) -> object:
    """Returns the sentinel of a body that is not JSON, or None."""
    return NO_JSON if exchange.body is NO_JSON else None


def _fresh(response: Response) -> Response:
    """Returns a response of the same parts, which decodes its body anew."""
    return Response(response.status, response.headers, response.body)


def _with_headers(exchange: Exchange, names: set[str], other: Exchange) -> Exchange:
    kept: Headers = tuple(each for each in exchange.response.headers if each[0] not in names)
    taken: Headers = tuple(each for each in other.response.headers if each[0] in names)
    response = Response(exchange.status, (*kept, *taken), exchange.response.body)
    return replace(exchange, response=response)


def _grafted(value: Any, other: Any, path: Sequence[str]) -> Any:
    """Returns a JSON value with the part at a path as another value has it, or without it."""
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
        is_open: True if the contract leaves it open, and understudy assumed.
        actual: The behaviour of the deployment.
    """

    rule: Rule
    is_open: bool
    actual: str


Breaches = Mapping[str, BrokenRule]
"""Id of a rule to how an exchange breaks it."""


def _nothing(_judged: Collection[int], _unseen: Collection[int]) -> Mapping[int, Breaches]:
    """Returns nothing, for a run of which there is nothing to judge again."""
    return {}


@dataclass(frozen=True)
class RunJudgement:
    """The rules of one side of the exchanges that differ.

    Attributes:
        broken: The rules that the exchange breaks, by its number.
        kept: The ids of the rules that apply to the exchange and that it keeps, by its number.
        cured: The rules that it keeps with the other's aspect instead, by the difference. One that
            no longer applies then, such as to a refusal, is not about the difference.
        caused: The rules that it keeps, and breaks with the other's aspect, by the difference.
        options: The options of switches that the exchange shows, by its number; of a switch that
            takes a number whether the one that was sent was accepted.
        rules: Every rule, by its id.
        exchanges: The exchanges of the run, in order.
        unseen: Returns what some exchanges break where others were not seen before them; takes the
            numbers of both.
    """

    broken: Mapping[int, Breaches]
    cured: Mapping[DifferenceKey, Breaches]
    caused: Mapping[DifferenceKey, Breaches]
    options: Mapping[int, Mapping[str, str]]
    rules: Mapping[str, Rule]
    exchanges: Sequence[Exchange] = ()
    kept: Mapping[int, frozenset[str]] = field(default_factory=dict)
    unseen: Callable[[Collection[int], Collection[int]], Mapping[int, Breaches]] = _nothing

    @cached_property
    def checked(self) -> frozenset[str]:
        """The rules that any exchange of the run keeps, which so are judged by exchange."""
        return frozenset().union(*self.kept.values())

    def about(
        self, difference: Difference, number: int, other: "RunJudgement"
    ) -> Sequence[BrokenRule]:
        """Returns the rules that this side breaks by the aspect in which it differs.

        Args:
            difference: The difference.
            number: The number of this side's exchange.
            other: The judgement of the other side.
        """
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
    """A difference as one side of it is judged.

    Attributes:
        difference: The difference.
        own: The exchange of this side.
        other: The exchange of the other side.
    """

    difference: Difference
    own: Exchange
    other: Exchange


def judgement(observation: Observation, sides: Iterable[Side]) -> RunJudgement:
    """Returns how one side of the differences of a comparison breaks rules.

    Args:
        observation: The run of that side.
        sides: The differences, each with the side's exchange and that of the other side.
    """
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
    elsewhere = _by_exchange(observation.findings)
    history = evaluator.history.emptied()
    kept: dict[int, frozenset[str]] = {}
    for exchange in observation.exchanges:
        before, kept[exchange.number] = judged_rules(evaluator, exchange, history)
        broken[exchange.number] = {**elsewhere.get(exchange.number, {}), **before}
        for side in by_exchange.get(exchange.number, ()):
            options[exchange.number] = dict(_options(exchange, history))
            changed = with_aspect(exchange, side.difference.aspect, side.other)
            after, then_kept = judged_rules(evaluator, changed, history)
            key = side.difference.key
            cured[key] = {name: before[name] for name in before if name in then_kept}
            caused[key] = {name: after[name] for name in after if name in kept[exchange.number]}
        history.add(exchange)
    exchanges = observation.exchanges
    unseen = partial(_judged_without, evaluator, exchanges)
    return RunJudgement(broken, cured, caused, options, evaluator.rules, exchanges, kept, unseen)


def _judged_without(
    evaluator: Evaluator,
    exchanges: Sequence[Exchange],
    numbers: Collection[int],
    unseen: Collection[int],
) -> dict[int, Breaches]:
    """Returns what some exchanges break where others were not seen before them, by their numbers."""
    history = evaluator.history.emptied()
    broken = {}
    for each in exchanges:
        if each.number in numbers:
            broken[each.number], _ = judged_rules(evaluator, each, history)
        if each.number not in unseen:
            history.add(each)
    return broken


def _options(exchange: Exchange, history: History) -> Iterator[tuple[str, str]]:
    """Yields each rule with a switch that an exchange shows something of, with what it shows."""
    yield from options_shown(exchange, history)
    for reading in NUMBER_READINGS:
        trial = reading.trial(exchange, history)
        if trial is not None:
            yield reading.rule, f"{trial.number} {'accepted' if trial.is_accepted else 'refused'}"


def _by_exchange(findings: Iterable[Finding]) -> dict[int, dict[str, BrokenRule]]:
    """Returns the rules that a run found broken, by exchange: those of sequences have no check."""
    by_exchange: dict[int, dict[str, BrokenRule]] = {}
    for finding in findings:
        breach = BrokenRule(finding.rule, finding.is_note, finding.actual)
        by_exchange.setdefault(finding.exchange.number, {})[finding.rule.id] = breach
    return by_exchange


def judged_rules(
    evaluator: Evaluator, exchange: Exchange, history: History
) -> tuple[Breaches, frozenset[str]]:
    """Returns the rules that an exchange breaks, after those before it, and those that it keeps."""
    found: dict[str, BrokenRule] = {}
    kept: set[str] = set()
    if exchange.source == AGAIN:  # sent to show a finding once more, and judged by that alone
        return found, frozenset()
    for rule, result in _results(evaluator, exchange, history):
        if result.holds:
            kept.add(rule.id)
        elif rule.id not in found or found[rule.id].is_open:
            is_open = evaluator.is_open(rule, result, exchange)
            found[rule.id] = BrokenRule(rule, is_open, result.actual)
    return found, frozenset(kept - found.keys())


def _results(
    evaluator: Evaluator, exchange: Exchange, history: History
) -> Iterator[tuple[Rule, CheckResult]]:
    rules = evaluator.rules
    for checked in check_results(exchange, history, rules.keys()):
        if not isinstance(checked, (Unmet, InternalError)) and checked[0] in rules:
            yield rules[checked[0]], checked[1]
    for name, result in contradictions(exchange, history, evaluator.facts):
        if name in rules:
            yield rules[name], result
    operation, judge = (
        evaluator.routes.operation(exchange.operation),
        evaluator.documents.get(exchange.site),
    )
    if operation is not None and judge is not None and DOCUMENT.id in rules:
        error = judge.error(exchange, operation)
        yield DOCUMENT, expect(not error, "a response that the document allows", error)
