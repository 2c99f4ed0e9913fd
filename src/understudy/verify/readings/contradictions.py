"""Judges an exchange by what was learnt of the deployment before."""

from collections.abc import Iterator, Mapping

from understudy.exchange.messages import Exchange
from understudy.interface.facts import OTHERWISE, Fact, is_as_chosen
from understudy.interface.rules import Rule
from understudy.verify.checks import CheckResult, expect
from understudy.verify.history import History
from understudy.verify.readings.number_readings import number_contradictions
from understudy.verify.readings.switch_readings import READINGS


def binds(fact: Fact, rule: Rule, result: CheckResult) -> bool:
    """Tells whether a deployment must meet what a check judges, as it was learnt to keep its rule.

    Of a rule with a switch that is so where the fact says nothing else: a number says nothing of
    other numbers, and that a request is refused says nothing of how. Those are facts of their own.

    Args:
        fact: What was learnt of the rule.
        rule: The rule.
        result: What a check of the rule says of an exchange.
    """
    if not is_as_chosen(fact, rule):
        return False
    return rule.switch is None or (rule.switch.range is None and not result.is_form)


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
