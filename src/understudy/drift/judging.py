"""Finds the rules that the exchanges of a run break, and the broken rules behind a difference.

An evaluator keeps one finding for many exchanges. Here each exchange is judged separately, after
those before it, and once more with one aspect taken from the other deployment's response.
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

    def about(
        self, difference: Difference, number: int, other: "RunJudgement"
    ) -> Sequence[BrokenRule]:
        """Returns the rules that this side breaks because of the aspect that differs.

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
    """A difference as seen from one of its two sides.

    Attributes:
        difference: The difference.
        own: The exchange of this side.
        other: The exchange of the other side.
    """

    difference: Difference
    own: Exchange
    other: Exchange


def judgement(observation: Observation, sides: Iterable[Side]) -> RunJudgement:
    """Judges the exchanges of one run, as they are and with the aspects of the other side.

    Args:
        observation: The run.
        sides: The differences, as seen from this run.
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
        turned,
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


# Finds responses that a deployment repeats where the other one tells the requests apart. A cache with
# too few parts in its key, a stale replica or a gateway that mixes up callers is one fault that breaks
# many rules. A guess names the part of a request that the response depends on. It is right if nearly
# all requests that share this part got the same response at the deployment and different ones at the
# other, for more than one operation: a fault of a single operation is better named by its rule.

RequestKey = tuple[object, ...]

FEWEST_PAIRS: Final = 4
"""Fewest repeated responses for a guess to be right."""

FEWEST_OPERATIONS: Final = 2
"""Fewest operations with repeated responses for a guess to be right."""

SHARE: Final = 0.9
"""Least share of requests that repeat the response before; not all, as caches drop entries."""


class Guess(NamedTuple):
    """A guess that the responses of a deployment depend on a part of the request alone.

    Attributes:
        id: Name in reports.
        statement: One sentence on the behaviour.
        key: Returns the part that the response depends on; None for a request that is not affected.
        is_of_one: True if only the requests of one key are affected, and all get the same response.
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
"""The guesses, from the widest to the narrowest."""


def _agree(aspect: str, own: Exchange, other: Exchange) -> bool:
    return aspects(own).get(aspect) == aspects(other).get(aspect)


def guess_of(rows: Iterable[Compared]) -> Guess | None:
    """Returns the first guess that is right; None without repeated responses.

    Args:
        rows: All requests that were compared.
    """
    ordered = sorted(rows, key=lambda row: row.first.number)
    guesses = (it for guess in GUESSES for it in _of_one(guess, ordered))
    return next((guess for guess in guesses if _is_right(ordered, guess)), None)


def _of_one(guess: Guess, rows: Iterable[Compared]) -> Iterator[Guess]:
    """Yields a guess, or one for each key if it is for the requests of a single key."""
    if not guess.is_of_one:
        yield guess
        return
    for key in filter(None, dict.fromkeys(guess.key(row.first) for row in rows)):
        yield guess._replace(key=partial(_only, key, guess.key))


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
    """Yields each request after the previous one with the same key, from the first success on."""
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
    """Tells whether two responses differ for a client; texts of refusals are for people."""
    if before.status != now.status:
        return True
    return now.response.is_success and _content(before) != _content(now)


def _content(exchange: Exchange) -> tuple[int, bytes]:
    return exchange.status, exchange.response.body


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
        """The rules that exchanges break if repeated responses are left out of the history."""
        again = {number for number, same in self._alike.items() if same[0].number < number}
        return self._run.unseen(self._run.broken.keys(), again)

    def explained(self, rule: str, difference: Difference) -> Difference | None:
        """Returns a difference with the exchanges that explain it; None if it is not explained.

        Args:
            rule: The rule that the difference breaks.
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
        """Yields the exchanges that were compared, each with that of the other deployment."""
        for exchange in exchanges:
            other = self._others.get(exchange.number)
            if other is not None:
                yield exchange, other
