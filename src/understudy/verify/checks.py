"""Registers checks, and asks them of an exchange.

A check is a pure function of an exchange and what was exchanged before. It answers with a verdict,
or with None where the exchange gives it nothing to say; so silence never counts as passing.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from understudy.deployments.exchange import Exchange
from understudy.verify.history import History

TOO_MANY = 429


class CheckResult(NamedTuple):
    """What a check says of an exchange.

    Attributes:
        holds: Whether the rule holds here.
        expected: What the rule asks for, in a few words.
        actual: What was found instead, or as well.
        evidence: Earlier exchanges without which this one says nothing.
    """

    holds: bool
    expected: str
    actual: str = ""
    evidence: tuple[Exchange, ...] = ()


Judge = Callable[[Exchange, History], CheckResult | None]


@dataclass(frozen=True, slots=True)
class Check:
    """A check and the rules that it judges.

    Attributes:
        rules: Their ids.
        operations: What it looks at; empty for every exchange.
        judge: The function.
        is_of_limits: Whether it also judges a 429, which to others says nothing.
    """

    rules: tuple[str, ...]
    operations: frozenset[str]
    judge: Judge
    is_of_limits: bool = False


CHECKS: Final[list[Check]] = []
"""In the order of the interface's sections, as ``checks`` imports them."""


def check(
    *rules: str, on: Iterable[str] = (), is_of_limits: bool = False
) -> Callable[[Judge], Judge]:
    """Registers a check.

    Args:
        rules: Ids of ``rules.yaml``.
        on: The operations whose exchanges it is asked about; all where none is given.
        is_of_limits: Whether a 429 means something to it.
    """

    def register(judge: Judge) -> Judge:
        CHECKS.append(Check(rules, frozenset(on), judge, is_of_limits))
        return judge

    return register


class InternalError(NamedTuple):
    """A check that could not cope with an answer, which is ours to mend and no finding."""

    rules: tuple[str, ...]
    reason: str


def check_results(
    exchange: Exchange, history: History
) -> Iterator[tuple[str, CheckResult] | InternalError]:
    """Yields what the checks say of an exchange, by rule."""
    for registered in CHECKS:
        if registered.operations and exchange.operation not in registered.operations:
            continue
        if exchange.status == TOO_MANY and not registered.is_of_limits:
            continue
        try:
            verdict = registered.judge(exchange, history)
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            yield InternalError(registered.rules, f"{type(error).__name__}: {error}")
            continue
        if verdict is not None:
            for rule in registered.rules:
                yield rule, verdict


def expect(
    condition: object, expected: str, actual: object = "", *evidence: Exchange | None
) -> CheckResult:
    """Returns the verdict that a condition gives."""
    seen = tuple(exchange for exchange in evidence if exchange is not None)
    return CheckResult(bool(condition), expected, str(actual)[:300], seen)


def expect_equal(
    actual: object, expected: object, what: str, *evidence: Exchange | None
) -> CheckResult:
    """Returns the verdict that a value must equal another."""
    return expect(
        actual == expected, f"{what} is {expected!r}"[:300], f"{what} is {actual!r}", *evidence
    )


def expect_status(exchange: Exchange, *wanted: int) -> CheckResult:
    """Returns the verdict that the status must be one of these."""
    words = " or ".join(str(number) for number in wanted)
    return expect(exchange.status in wanted, f"status {words}", f"status {exchange.status}")


def expect_refused(exchange: Exchange) -> CheckResult:
    """Returns the verdict that the request must be refused, whatever the status says."""
    return expect(exchange.response.is_refusal, "a refusal, 4XX", f"status {exchange.status}")


def expect_accepted(exchange: Exchange) -> CheckResult:
    """Returns the verdict that the request must succeed."""
    return expect(exchange.response.is_success, "success, 2XX", f"status {exchange.status}")
