"""Registers readings, which tell a switch's option from exchanges, and experiments that send them.

A reading is a pure function of an exchange and the exchanges before it, as a check is, so that
probes, experiments and recorded traffic settle the same questions. An experiment is the smallest
request that distinguishes the options, or tries a number, if no probe sends one; it only sends.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any, Final, NamedTuple, TypeVar

from understudy.exchange.messages import Exchange
from understudy.interface.facts import Fact
from understudy.interface.rules import NumberRange
from understudy.verify.catalogue import catalogue
from understudy.verify.checks import Condition, demands, expect_status, proven
from understudy.verify.history import History

UPLOADING: Final = ("owner", "writes", "uploads")
"""The needs of an experiment that uploads pictures."""

DELETED: Final = "the uploaded avatars are deleted"
ISSUED: Final = "the tokens that were issued remain"
PUT_BACK: Final = "the clock is put back, where it was moved"

Read = Callable[[Exchange], str]
"""Returns the option that an exchange shows, or a status if the deployment has none of them."""


@dataclass(frozen=True, slots=True)
class SwitchReading:
    """A way in which exchanges show an option of a switch.

    Attributes:
        rule: Id of the rule that has the switch.
        operations: The operations whose exchanges show it.
        when: Conditions that an exchange must meet to show it.
        read: Returns the option that the exchange shows.
        is_of_limits: Whether a 429 can show it too.
        able: Further conditions for refusals: that the caller was able to make the request, which a
            success shows by itself.
    """

    rule: str
    operations: tuple[str, ...]
    when: tuple[Condition, ...]
    read: Read
    is_of_limits: bool = False
    able: Sequence[Condition] = ()

    def option(self, exchange: Exchange, history: History) -> str | None:
        """Returns the option that an exchange shows; None if it shows none."""
        if exchange.operation not in self.operations:
            return None
        if exchange.status == HTTPStatus.TOO_MANY_REQUESTS and not self.is_of_limits:
            return None
        conditions = self.when if exchange.response.is_success else (*self.when, *self.able)
        if not all(condition(exchange, history) for condition in conditions):
            return None
        return self.read(exchange)


READINGS: Final[list[SwitchReading]] = []
"""Every registered reading of a switch with options, in the order of the sections."""


def reading(
    rule: str,
    *,
    on: Iterable[str],
    when: Sequence[Condition],
    read: Read | str,
    **kind: Any,
) -> None:
    """Registers a reading; the arguments are those of ``SwitchReading``.

    Args:
        rule: Id of the rule that has the switch.
        on: The operations whose exchanges show it.
        when: Conditions that an exchange must meet to show it.
        read: Returns the option that it shows; or the only option that it can show.
        kind: ``is_of_limits`` and ``able``.
    """
    reads = read if callable(read) else lambda _: read
    READINGS.append(SwitchReading(rule, tuple(on), tuple(when), reads, **kind))


def status_of(exchange: Exchange) -> str:
    """Returns the status as the option."""
    return str(exchange.status)


def by_success(success: str, refusal: str) -> Read:
    """Returns a function that reads one option from a success and the other from a refusal."""

    def read(exchange: Exchange) -> str:
        if exchange.response.is_success:
            return success
        return refusal if exchange.response.is_refusal else status_of(exchange)

    return read


def error_form(exchange: Exchange, member: str = "code") -> str:
    """Returns the status and the error code of a response, as a switch takes them.

    Args:
        exchange: The exchange.
        member: The member of the body that is the code.
    """
    code = exchange.json_object.get(member)
    return f"{exchange.status} {code}" if isinstance(code, str) and code else status_of(exchange)


def oauth_error_form(exchange: Exchange) -> str:
    """Returns the status and the error of a response of the authorization server (RFC 6749, 5.2)."""
    return error_form(exchange, "error")


def two_errors(
    rule: str,
    operation: str,
    status: int,
    *,
    when: Sequence[Condition],
    alone: dict[str, Sequence[Condition]],
) -> None:
    """Registers the check and the readings of the error for which a request with two is refused.

    Its refusal is compared with the refusals of requests that have one of the errors alone.

    Args:
        rule: Id of the rule that assumes an answer.
        operation: The operation.
        status: The status that the rule assumes.
        when: Conditions of a request with both errors.
        alone: By option, the conditions of a request that has this error alone.
    """
    demands(operation)(rule, when, expect_status, status)

    def is_refused_for(option: str) -> Condition:
        def condition(exchange: Exchange, history: History) -> bool:
            refusals = {error: _refusal_of(operation, alone[error], history) for error in alone}
            if None in refusals.values() or len(set(refusals.values())) < len(refusals):
                return False
            return _refusal(exchange) == refusals[option]

        return condition

    for option in alone:
        reading(rule, on=[operation], when=[*when, is_refused_for(option)], read=option)


def _refusal_of(
    operation: str, when: Sequence[Condition], history: History
) -> tuple[int, object] | None:
    """Returns how the newest request that meets these conditions was refused."""
    for before in history.of(operation):
        if before.response.is_refusal and all(holds(before, history) for holds in when):
            return _refusal(before)
    return None


def _refusal(exchange: Exchange) -> tuple[int, object]:
    return exchange.status, exchange.json_object.get("code")


class Trial(NamedTuple):
    """A number that a request tried.

    Attributes:
        number: The number, as a multiple of the step of its range.
        is_accepted: Whether the deployment's own number is this one or a larger one.
        exchange: The exchange.
        tried: The number that was sent; one less than ``number`` for a lower limit.
    """

    number: int
    is_accepted: bool
    exchange: Exchange
    tried: int

    def described(self) -> str:
        """Returns in words what the deployment did with the number that was sent."""
        is_smallest = self.tried < self.number
        return f"{self.tried} {'accepted' if self.is_accepted != is_smallest else 'refused'}"


def was_accepted(exchange: Exchange) -> bool:
    """Tells whether a success shows that a number was accepted."""
    return exchange.response.is_success


@dataclass(frozen=True, slots=True)
class NumberReading:
    """A way in which exchanges show whether a number is accepted.

    Attributes:
        rule: Id of the rule whose switch takes the number.
        operation: The operation whose exchanges show it.
        when: Conditions that an exchange must meet to show it.
        number: Returns the number that the request tries; None if that is ambiguous.
        is_accepted: Whether the response accepts it.
        is_smallest: Whether it is the smallest number that a deployment takes, and not the largest.
    """

    rule: str
    operation: str
    when: Sequence[Condition]
    number: Callable[[Exchange, History], int | None]
    is_accepted: Callable[[Exchange], bool] = was_accepted
    is_smallest: bool = False

    def trial(self, exchange: Exchange, history: History) -> Trial | None:
        """Returns the number that an exchange tried; None if it tried none of the range."""
        if exchange.operation != self.operation or exchange.status == HTTPStatus.TOO_MANY_REQUESTS:
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
        """Returns in words the behaviour that a learned fact lets expect."""
        bound = f"from {fact.reading} on" if self.is_smallest else f"up to {fact.reading}"
        return f"{bound} accepted, as learnt on {fact.learnt}"


@cache  # the catalogue does not change
def range_of(rule: str) -> NumberRange:
    """Returns the range of the numbers that the switch of a rule takes."""
    switch = proven(catalogue()[rule].switch)
    return proven(switch.range)


NUMBER_READINGS: Final[list[NumberReading]] = []
"""Every registered reading of a switch that takes a number."""


def number_reading(rule: str, operation: str, **kind: Any) -> None:
    """Registers a reading of a number; the arguments are those of ``NumberReading``."""
    NUMBER_READINGS.append(NumberReading(rule, operation, **kind))


@dataclass(frozen=True, slots=True)
class Experiment:
    """Requests that answer one question, or that try a number if the answer is one.

    Attributes:
        rule: Id of the rule that assumes an answer.
        run: Sends them; gets the client, and the number to try if the answer is one.
        needs: What the target must give or permit, as named in ``needs``.
        requests: The number of requests, or of those of a trial, including those that undo it.
        undo: How the run undoes its changes; empty if nothing is changed.
        likely: The numbers that operators choose, in ascending order; they are tried first.
        sends_bytes: Whether the number is one of bytes that are sent.
        alike: Id of a rule whose number is likely to be the same; empty without one.
        uploads: The most uploads of a run, if the number is one of avatars, which can only be
            counted up; 0 if the range can be halved.
    """

    rule: str
    run: Callable[..., object]
    needs: tuple[str, ...]
    requests: int = 1
    undo: str = ""
    likely: tuple[int, ...] = ()
    sends_bytes: bool = False
    alike: str = ""
    uploads: int = 0

    @property
    def name(self) -> str:
        """The name of its sender in reports."""
        return f"experiment {self.run.__name__.strip('_')}"

    @property
    def tries_numbers(self) -> bool:
        """True if the answer is a number, which trials narrow down."""
        return proven(catalogue()[self.rule].switch).range is not None


EXPERIMENTS: Final[list[Experiment]] = []
"""Every registered experiment."""

Send = TypeVar("Send", bound=Callable[..., object])


def experiment(rule: str, **kind: Any) -> Callable[[Send], Send]:
    """Registers the function of an experiment; the arguments are those of ``Experiment``."""

    def register(run: Send) -> Send:
        EXPERIMENTS.append(Experiment(rule, run, **kind))
        return run

    return register
