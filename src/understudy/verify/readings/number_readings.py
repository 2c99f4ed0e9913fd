"""Tells from an exchange whether a number was accepted: a size, a count of bytes, an age."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from typing import Final, NamedTuple

from understudy.deployments.exchange import Exchange
from understudy.interface.facts import Fact
from understudy.interface.operations import QR_CODE, TOKEN, UPLOAD_AVATAR
from understudy.interface.switch_values import NumberRange
from understudy.verify.catalogue import catalogue
from understudy.verify.checks import TOO_MANY, Condition, proven
from understudy.verify.conditions import is_get, is_public_profile, may_manage
from understudy.verify.history import History
from understudy.verify.qr_pictures import has_one_parameter, picture_of
from understudy.verify.readings.searching import Bracket, bracket_of
from understudy.verify.rules.avatar_uploads import (
    file_in,
    is_of_taken_type,
    is_square,
    query_is_in_order,
    sends_one_file,
)
from understudy.verify.rules.code_grant import UNSPENT
from understudy.verify.rules.qr_codes import size_is_number
from understudy.verify.token_history import age_of_code, client_is_proven, gives_token

CLOSE: Final = 2.0
"""Seconds around the end of a code in which the way of a request decides whether it counts."""


class Trial(NamedTuple):
    """A number that a request tried.

    Attributes:
        number: The number, as a multiple of the step of its range.
        is_accepted: Whether the deployment accepted it.
        exchange: The exchange.
    """

    number: int
    is_accepted: bool
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class NumberReading:
    """A way in which exchanges show whether a number is accepted.

    Attributes:
        rule: Id of the rule whose switch takes the number.
        operation: Where it shows.
        when: What must hold of an exchange before it shows anything.
        number: Returns the number that the request tries; None where that cannot be told exactly.
        is_accepted: Whether the response accepts it.
    """

    rule: str
    operation: str
    when: tuple[Condition, ...]
    number: Callable[[Exchange, History], int | None]
    is_accepted: Callable[[Exchange], bool]

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
        return Trial(number, self.is_accepted(exchange), exchange)


@cache
def range_of(rule: str) -> NumberRange:
    """Returns the numbers that the switch of a rule takes."""
    switch = proven(catalogue()[rule].switch)
    return proven(switch.range)


def _bytes_of_file(exchange: Exchange, history: History) -> int:
    return proven(file_in(exchange, history)).size


def _requested_width(exchange: Exchange, _history: History) -> int:
    return int(exchange.request.query["size"])


def _lifetime_tried(exchange: Exchange, history: History) -> int | None:
    """Returns the shortest lifetime by which a code of this age still counts."""
    age, step = age_of_code(exchange, history).total_seconds(), range_of(LIFETIME).step
    is_close = abs(age - round(age / step) * step) < CLOSE
    return None if is_close else ceil(age / step) * step


def _is_success(exchange: Exchange) -> bool:
    return exchange.response.is_success


def _has_requested_width(exchange: Exchange) -> bool:
    width = int(exchange.request.query["size"])
    return exchange.response.is_success and picture_of(exchange).size == (width, width)


LIFETIME: Final = "code-lifetime"

NUMBER_READINGS: Final[Sequence[NumberReading]] = (
    NumberReading(
        "upload-size-limit",
        UPLOAD_AVATAR,
        (may_manage, query_is_in_order, sends_one_file, is_of_taken_type, is_square),
        _bytes_of_file,
        _is_success,
    ),
    NumberReading(
        "qr-size-bounds",
        QR_CODE,
        (is_get, has_one_parameter, size_is_number, is_public_profile),
        _requested_width,
        _has_requested_width,
    ),
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
        return bracket_of(range_of(rule), ((each.number, each.is_accepted) for each in trials))

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
) -> Iterator[tuple[Fact, Trial]]:
    """Yields the facts about numbers that an exchange is about, with what it tries."""
    for reading in NUMBER_READINGS:
        fact = facts.get(reading.rule)
        if fact is None or not fact.reading.isdecimal():
            continue
        trial = reading.trial(exchange, history)
        if trial is not None:
            yield fact, trial
