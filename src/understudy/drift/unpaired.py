"""Finds the rules that a deployment broke where there is no response to compare.

Rules can be broken in one of two runs alone, or by a response to a request that another run did not
send, such as one that undoes a change.
"""

from collections.abc import Container, Iterator
from typing import Final

from understudy.drift.differences import Difference
from understudy.drift.judging import BROKEN, KEPT, BrokenRule, Judgements, RunJudgement
from understudy.exchange.messages import Exchange
from understudy.interface.rules import Rule

BROKEN_ONCE: Final = "broken in one of two runs"


def unpaired(of: Judgements, named: Container[str]) -> Iterator[tuple[Rule, Difference]]:
    """Yields the rules that the deployment broke in one run or in both, and the other one never.

    Args:
        of: The judgements of the three runs.
        named: Ids of the rules that are causes already.
    """
    own, again = _first_breaches(of.first), _first_breaches(of.second)
    for name in dict.fromkeys((*own, *again)):
        if name in named or any(name in broken for broken in of.other.broken.values()):
            continue
        breach, exchange = own[name] if name in own else again[name]
        other = _like(exchange, of.other)
        if other is not None:
            value = BROKEN if name in own and name in again else BROKEN_ONCE
            is_second = name not in own
            yield (
                breach.rule,
                Difference(f"rule {name}", value, KEPT, exchange, other, is_second),
            )


def _first_breaches(run: RunJudgement) -> dict[str, tuple[BrokenRule, Exchange]]:
    """Returns the rules of the contract that a run broke, with the first exchange that did."""
    first: dict[str, tuple[BrokenRule, Exchange]] = {}
    for exchange in run.exchanges:
        for name, breach in run.broken.get(exchange.number, {}).items():
            if not breach.is_open:
                first.setdefault(name, (breach, exchange))
    return first


def _like(exchange: Exchange, run: RunJudgement) -> Exchange | None:
    """Returns the last exchange of another run with the same operation and caller."""
    wanted = exchange.operation, exchange.identity.name
    alike = [it for it in run.exchanges if (it.operation, it.identity.name) == wanted]
    return alike[-1] if alike else None
