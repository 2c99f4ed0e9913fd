"""Judges an exchange by what was learnt of the deployment before."""

from collections.abc import Iterator, Mapping

from understudy.deployments.exchange import Exchange
from understudy.interface.facts import OTHERWISE, Fact
from understudy.verify.checks import CheckResult, expect
from understudy.verify.history import History
from understudy.verify.readings.number_readings import number_contradictions
from understudy.verify.readings.switch_readings import READINGS


def contradictions(
    exchange: Exchange, history: History, facts: Mapping[str, Fact]
) -> Iterator[tuple[str, CheckResult]]:
    """Yields what an exchange shows of the questions that facts answer, each with its rule.

    Args:
        exchange: The exchange.
        history: What was exchanged before.
        facts: By rule.
    """
    if not facts:
        return
    for reading in READINGS:
        fact = facts.get(reading.rule)
        if fact is None or fact.reading == OTHERWISE:
            continue
        option = reading.option(exchange, history)
        if option is not None:
            result = expect(
                option == fact.reading,
                f"{fact.reading}, as learnt on {fact.learnt}",
                option,
            )
            yield reading.rule, result._replace(is_learnt=True)
    for rule, result in number_contradictions(exchange, history, facts):
        yield rule, result._replace(is_learnt=True)
