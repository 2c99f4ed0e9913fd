"""Finds the rules that the exchanges of a run break, and those that a difference is about.

An evaluator keeps one finding for many exchanges. Here each exchange is judged by itself, beside
those before it, and again with an aspect of the other deployment's response.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import orjson

from understudy.drift.differences import DECISIVE, Compared, Difference, DifferenceKey, aspects
from understudy.drift.observing import Observation
from understudy.exchange.messages import NO_JSON, Exchange, Headers, Response
from understudy.interface.rules import Rule
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import Finding
from understudy.verify.history import AGAIN, History
from understudy.verify.readings import options_shown
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
        roots: Id of a rule to that of the rule which all its findings follow from.
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
    return RunJudgement(
        broken,
        cured,
        caused,
        options,
        evaluator.rules,
        exchanges,
        kept,
        unseen,
        _roots(observation),
    )


def _roots(observation: Observation) -> dict[str, str]:
    """Returns the rules of which all findings follow from one other rule, as verify finds out, too."""
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
    for rule, result in evaluator.results(exchange, history, evaluator.rules):
        if result.holds:
            kept.add(rule.id)
        elif rule.id not in found or found[rule.id].is_open:
            is_open = evaluator.is_open(rule, result, exchange)
            found[rule.id] = BrokenRule(rule, is_open, result.actual)
    return found, frozenset(kept - found.keys())


# Finds responses that a deployment repeats where the other one tells the requests apart.
# A cache keyed by too little, a copy that is read too late, a caller whom a gateway knows no more: each is one
# fault, and many rules see it where their requests meet it. A guess names what requests have in common. It is
# right if nearly all of them got the same response at the deployment although the other one's differ, for more
# than one operation; a fault of one operation is named by its rule.
#

RequestKey = tuple[object, ...]

FEWEST_PAIRS: Final = 4
"""Repeated responses that a guess needs."""

FEWEST_OPERATIONS: Final = 2
"""Operations of which a guess needs repeated responses."""

SHARE: Final = 0.9
"""Share of the pairs that repeat the response before; what a cache has dropped is read anew."""


class Guess(NamedTuple):
    """A guess that the responses of a deployment depend on a part of the request alone.

    Attributes:
        id: What reports call it.
        statement: What the deployment does then.
        key: Returns what the requests have in common; None for a request that it is not about.
        is_of_one: True if it is about the requests of one key alone, which never get another response.
    """

    id: str
    statement: str
    key: Callable[[Exchange], RequestKey | None]
    is_of_one: bool = False


def _of_read(*parts: Callable[[Exchange], object]) -> Callable[[Exchange], RequestKey | None]:
    def key(exchange: Exchange) -> RequestKey | None:
        is_read = exchange.request.method == "GET"
        return (exchange.site, *(part(exchange) for part in parts)) if is_read else None

    return key


def _path(exchange: Exchange) -> object:
    return exchange.path


def _query(exchange: Exchange) -> object:
    return exchange.request.pairs


def _caller(exchange: Exchange) -> object:
    return exchange.request.header("authorization")


GUESSES: Final = (
    Guess(
        "one-response-to-caller",
        "Every request of one caller gets the same response.",
        lambda exchange: (exchange.identity.name,),
        is_of_one=True,
    ),
    Guess(
        "repeated-for-path",
        "A read gets the response of an earlier one of the same path, whoever asks and whatever the "
        "parameters are.",
        _of_read(_path),
    ),
    Guess(
        "repeated-for-url",
        "A read gets the response of an earlier one of the same URL, whoever asks.",
        _of_read(_path, _query),
    ),
    Guess(
        "repeated-for-caller",
        "A read gets the response of an earlier one by the same caller, whatever the parameters are.",
        _of_read(_path, _caller),
    ),
    Guess(
        "repeated-after-change",
        "A read gets the response of the same read before a change.",
        _of_read(_path, _query, _caller),
    ),
)
"""The guesses, those that explain most first."""


def _agree(aspect: str, own: Exchange, other: Exchange) -> bool:
    return aspects(own).get(aspect) == aspects(other).get(aspect)


def guess_of(rows: Iterable[Compared]) -> Guess | None:
    """Returns what the responses of a deployment depend on, by the first guess that is right.

    Args:
        rows: All requests that were compared.
    """
    ordered = sorted(rows, key=lambda row: row.first.number)
    guesses = (it for guess in GUESSES for it in _of_one(guess, ordered))
    return next((guess for guess in guesses if _is_right(ordered, guess)), None)


def _of_one(guess: Guess, rows: Iterable[Compared]) -> Iterator[Guess]:
    """Yields a guess, or one for each key if it is about one alone."""
    if not guess.is_of_one:
        yield guess
        return
    for one in filter(None, dict.fromkeys(guess.key(row.first) for row in rows)):
        yield guess._replace(key=partial(_only, one, guess.key))


def _only(
    wanted: RequestKey, key: Callable[[Exchange], RequestKey | None], exchange: Exchange
) -> RequestKey | None:
    return wanted if key(exchange) == wanted else None


def _is_right(rows: Sequence[Compared], guess: Guess) -> bool:
    operations: list[str] = []
    different = 0
    for before, row in _neighbours(rows, guess):
        if _is_other(before.other, row.other):
            is_repeated = _content(before.first) == _content(row.first)
            different += not is_repeated
            operations += [row.first.operation] if is_repeated else []
    fewest = max(FEWEST_PAIRS, SHARE * (len(operations) + different))
    return len(operations) >= fewest and len(set(operations)) >= FEWEST_OPERATIONS


def _neighbours(rows: Sequence[Compared], guess: Guess) -> Iterator[tuple[Compared, Compared]]:
    """Yields each request with the one before that has its key, from the first that succeeded."""
    latest: dict[RequestKey, Compared] = {}
    for row in rows:
        key = guess.key(row.first)
        if key is None:
            continue
        if key in latest:
            yield latest[key], row
        if guess.is_of_one or key in latest or row.first.response.is_success:
            latest[key] = row


def _is_other(before: Exchange, now: Exchange) -> bool:
    """Tells whether two responses mean something else; texts of refusals are for people."""
    if before.status != now.status:
        return True
    return now.response.is_success and _content(before) != _content(now)


def _content(exchange: Exchange) -> tuple[int, bytes]:
    return exchange.status, exchange.response.body


class RepeatedRun:
    """Tells which differences are explained by the responses that a run repeats.

    A response that is repeated is not about what differs in it where it was right; what differed there
    already is another cause. Another response breaks a rule for them if it does only after them.
    """

    def __init__(self, guess: Guess, run: RunJudgement, others: Mapping[int, Exchange]) -> None:
        self._guess, self._run, self._others = guess, run, others
        self._alike: dict[int, Sequence[Exchange]] = {}
        alike = defaultdict[RequestKey, list[Exchange]](list)
        for exchange in run.exchanges:
            key = guess.key(exchange)
            if key is not None:
                same = alike[*key, *_content(exchange)]
                same.append(exchange)
                self._alike[exchange.number] = same

    @cached_property
    def _left(self) -> Mapping[int, Breaches]:
        """The rules that exchanges break where repeated responses were not seen before them."""
        again = {number for number, same in self._alike.items() if same[0].number < number}
        return self._run.unseen(self._run.broken.keys(), again)

    def explained(self, rule: str, difference: Difference) -> Difference | None:
        """Returns a difference with the exchanges that explain it; None where none do.

        Args:
            rule: The rule that it is about.
            difference: The difference.
        """
        number, aspect = difference.exchange.number, difference.aspect
        broken, same = self._run.broken, self._alike.get(number, ())
        if self._guess.is_of_one:
            is_decided = aspect.startswith("rule ") or aspect in DECISIVE
            return difference if is_decided and len(same) > 1 else None
        right: Iterator[tuple[Exchange, ...]]
        if aspect.startswith("rule "):
            right = ((it,) for it in same if rule not in broken.get(it.number, ()))
        else:
            right = (
                it for it in self._pairs(same) if it[0].number != number and _agree(aspect, *it)
            )
        origin = next(right, None)
        if origin is not None:
            return replace(difference, after=origin)
        is_broken = rule in broken.get(number, ())
        return difference if is_broken and rule not in self._left.get(number, ()) else None

    def _pairs(self, exchanges: Iterable[Exchange]) -> Iterator[tuple[Exchange, Exchange]]:
        """Yields those of some exchanges that were compared, each with that of the other deployment."""
        for each in exchanges:
            other = self._others.get(each.number)
            if other is not None:
                yield each, other
