"""Tells from an exchange whether a number was accepted: a size, a count of bytes, an age."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from typing import Final, NamedTuple

from understudy.exchange.messages import Exchange
from understudy.interface.facts import Fact
from understudy.interface.operations import (
    LIST_AVATARS,
    QR_CODE,
    TOKEN,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.interface.switch_values import NumberRange
from understudy.verify.account_history import (
    ABLE,
    avatars_owned,
    changes_in,
    has_texts_only,
    ids_in,
)
from understudy.verify.catalogue import catalogue
from understudy.verify.checks import (
    TOO_MANY,
    CheckResult,
    Condition,
    expect,
    is_get,
    is_public_profile,
    may_manage,
    may_read,
    proven,
    succeeded,
)
from understudy.verify.grant_history import age_of_code, client_is_proven, gives_token
from understudy.verify.history import History
from understudy.verify.pictures import DEFAULT_SIZE, has_one_parameter, picture_of
from understudy.verify.readings.searching import Bracket, bracket_of
from understudy.verify.rules.avatar_uploads import (
    file_in,
    has_few_bytes,
    is_narrow,
    is_of_taken_type,
    is_small,
    is_square,
    query_is_in_order,
    sends_one_file,
)
from understudy.verify.rules.code_grant import UNSPENT
from understudy.verify.rules.qr_codes import size_is_number
from understudy.verify.shapes import EDITABLE

CLOSE: Final = 2.0
"""Seconds around the end of a code in which the way of a request decides whether it counts."""


class Trial(NamedTuple):
    """A number that a request tried.

    Attributes:
        number: The number, as a multiple of the step of its range.
        is_accepted: Whether the deployment's own number is this one or a larger one.
        exchange: The exchange.
        tried: The number that was sent; one less where the deployment's own is the smallest taken.
    """

    number: int
    is_accepted: bool
    exchange: Exchange
    tried: int

    def described(self) -> str:
        """Returns in words what the deployment did with the number that was sent."""
        is_smallest = self.tried < self.number
        return f"{self.tried} {'accepted' if self.is_accepted != is_smallest else 'refused'}"


@dataclass(frozen=True, slots=True)
class NumberReading:
    """A way in which exchanges show whether a number is accepted.

    Attributes:
        rule: Id of the rule whose switch takes the number.
        operation: Where it shows.
        when: What must hold of an exchange before it shows anything.
        number: Returns the number that the request tries; None where that cannot be told exactly.
        is_accepted: Whether the response accepts it.
        is_smallest: Whether it is the smallest number that a deployment takes, and not the largest.
    """

    rule: str
    operation: str
    when: tuple[Condition, ...]
    number: Callable[[Exchange, History], int | None]
    is_accepted: Callable[[Exchange], bool]
    is_smallest: bool = False

    def trial(self, exchange: Exchange, history: History) -> Trial | None:
        """Returns what an exchange shows; None where it shows nothing of the range."""
        if exchange.operation != self.operation or exchange.status == TOO_MANY:
            return None
        if not (exchange.response.is_success or exchange.response.is_refusal):
            return None
        if not all(condition(exchange, history) for condition in self.when):
            return None
        number = self.number(exchange, history)
        if number is None or number < range_of(self.rule).least:
            return None
        is_accepted = self.is_accepted(exchange) != self.is_smallest
        return Trial(number, is_accepted, exchange, number - self.is_smallest)

    def expectation(self, fact: Fact) -> str:
        """Returns in words what a deployment does that is as it was learnt."""
        bound = f"from {fact.reading} on" if self.is_smallest else f"up to {fact.reading}"
        return f"{bound} accepted, as learnt on {fact.learnt}"


@cache
def range_of(rule: str) -> NumberRange:
    """Returns the numbers that the switch of a rule takes."""
    switch = proven(catalogue()[rule].switch)
    return proven(switch.range)


def _bytes_of_file(exchange: Exchange, history: History) -> int:
    return proven(file_in(exchange, history)).size


def _side_of_picture(exchange: Exchange, history: History) -> int:
    return proven(file_in(exchange, history)).side


def _number_above_width(exchange: Exchange, history: History) -> int:
    return _requested_width(exchange, history) + 1


def _requested_width(exchange: Exchange, _history: History) -> int:
    return int(exchange.request.query["size"])


def _lifetime_tried(exchange: Exchange, history: History) -> int | None:
    """Returns the shortest lifetime by which a code of this age still counts."""
    age, step = age_of_code(exchange, history).total_seconds(), range_of(LIFETIME).step
    is_close = abs(age - round(age / step) * step) < CLOSE
    return None if is_close else ceil(age / step) * step


def is_below_default(exchange: Exchange, history: History) -> bool:
    """Tells whether a width is requested below which the default is never (interface, Limits)."""
    return 0 <= _requested_width(exchange, history) < DEFAULT_SIZE


def _is_success(exchange: Exchange) -> bool:
    return exchange.response.is_success


def _has_requested_width(exchange: Exchange) -> bool:
    width = int(exchange.request.query["size"])
    return exchange.response.is_success and picture_of(exchange).size == (width, width)


def length_rule(member: str) -> str:
    """Returns the id of the rule on how long the text of a profile member may be."""
    return f"{member.replace('_', '-')}-length"


def _length_reading(member: str) -> "NumberReading":
    """Returns the reading of an update that sets a member to a plain text, and nothing else."""

    def is_plain(exchange: Exchange, _history: History) -> bool:
        text: str = changes_in(exchange)[member]
        return text.isascii() and text.isprintable() and text == text.strip()

    def names_it_alone(exchange: Exchange, _history: History) -> bool:
        return list(changes_in(exchange)) == [member]

    def length(exchange: Exchange, _history: History) -> int:
        return len(changes_in(exchange)[member])

    def is_kept(exchange: Exchange) -> bool:
        is_shown = exchange.json_object.get(member) == changes_in(exchange)[member]
        return exchange.response.is_success and is_shown

    when = (*ABLE, names_it_alone, has_texts_only, is_plain)
    return NumberReading(length_rule(member), UPDATE_PROFILE, when, length, is_kept)


def avatars_are_counted(exchange: Exchange, history: History) -> bool:
    """Tells whether it is known how many avatars the account has."""
    return avatars_owned(exchange, history) is not None


LIFETIME: Final = "code-lifetime"
AVATARS_MOST: Final = "avatars-most"

NUMBER_READINGS: Final[Sequence[NumberReading]] = (
    NumberReading(
        "upload-size-limit",
        UPLOAD_AVATAR,
        (may_manage, query_is_in_order, sends_one_file, is_of_taken_type, is_square, is_narrow),
        _bytes_of_file,
        _is_success,
    ),
    NumberReading(
        "upload-largest-side",
        UPLOAD_AVATAR,
        (may_manage, query_is_in_order, sends_one_file, is_of_taken_type, is_square, has_few_bytes),
        _side_of_picture,
        _is_success,
    ),
    NumberReading(
        AVATARS_MOST,
        UPLOAD_AVATAR,
        (
            *(may_manage, query_is_in_order, sends_one_file),
            *(is_of_taken_type, is_square, is_small, avatars_are_counted),
        ),
        lambda exchange, history: proven(avatars_owned(exchange, history)) + 1,
        _is_success,
    ),
    NumberReading(
        AVATARS_MOST,
        LIST_AVATARS,
        (may_read, succeeded),
        lambda exchange, _history: len(ids_in(exchange)),
        _is_success,
    ),
    NumberReading(
        "qr-size-bounds",
        QR_CODE,
        (is_get, has_one_parameter, size_is_number, is_public_profile),
        _requested_width,
        _has_requested_width,
    ),
    NumberReading(
        "qr-smallest-size",
        QR_CODE,
        (is_get, has_one_parameter, size_is_number, is_public_profile, is_below_default),
        _number_above_width,
        _has_requested_width,
        is_smallest=True,
    ),
    *map(_length_reading, EDITABLE),
    NumberReading(LIFETIME, TOKEN, (client_is_proven, *UNSPENT), _lifetime_tried, gives_token),
)
"""The exchanges that show on which side of a deployment's number another one is."""


@dataclass
class Trials:
    """The numbers that the exchanges of a run have tried.

    Attributes:
        history: The exchanges that were read.
        by_rule: Rule to its trials.
    """

    history: History
    by_rule: dict[str, list[Trial]] = field(default_factory=dict)
    _read: int = 0

    def heed(self, exchanges: Sequence[Exchange]) -> None:
        """Reads the exchanges that were not read before, of a list that grows."""
        for exchange in exchanges[self._read :]:
            for reading in NUMBER_READINGS:
                trial = reading.trial(exchange, self.history)
                if trial is not None:
                    self.by_rule.setdefault(reading.rule, []).append(trial)
            self.history.add(exchange)
        self._read = len(exchanges)

    def bracket(self, rule: str) -> Bracket:
        """Returns what the trials leave of the range of a rule."""
        trials: Iterable[Trial] = self.by_rule.get(rule, ())
        tried = ((each.number, each.is_accepted) for each in trials)
        is_smallest = any(each.is_smallest for each in NUMBER_READINGS if each.rule == rule)
        return bracket_of(range_of(rule), tried, is_smallest=is_smallest)

    def neighbours(self, rule: str) -> list[Trial]:
        """Returns the largest number that was accepted and the smallest that was refused."""
        bracket = self.bracket(rule)
        ends = {bracket.low: True, bracket.high: False}
        trials = self.by_rule.get(rule, ())
        return [each for each in trials if ends.get(each.number) is each.is_accepted]

    def tried_once(self, rule: str) -> list[int]:
        """Returns those of the two numbers beside the answer that were tried only once."""
        if rule not in self.by_rule or not self.bracket(rule).is_settled:
            return []
        times = Counter(each.number for each in self.neighbours(rule))
        return [number for number, count in times.items() if count == 1]


def number_contradictions(
    exchange: Exchange, history: History, facts: Mapping[str, Fact]
) -> Iterator[tuple[str, CheckResult]]:
    """Yields whether an exchange is as the facts about numbers say, each with its rule."""
    for reading in NUMBER_READINGS:
        fact = facts.get(reading.rule)
        if fact is None or not fact.reading.isdecimal():
            continue
        trial = reading.trial(exchange, history)
        if trial is not None:
            is_as_learnt = trial.is_accepted == (trial.number <= int(fact.reading))
            yield (
                reading.rule,
                expect(is_as_learnt, reading.expectation(fact), trial.described()),
            )
