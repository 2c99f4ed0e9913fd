"""The base of every scenario: a client, the exchanges so far, and an end where a rule breaks."""

from typing import Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine

from understudy.exchange.messages import Exchange
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import RuleBroken, Run


class Machine(RuleBasedStateMachine):
    """A scenario.

    Args:
        run: The run that it belongs to.
        name: Its name in reports.
        goes_on: True to go on after a broken rule, where sequences are compared and not judged.
    """

    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Run, name: str, *, goes_on: bool = False) -> None:
        super().__init__()
        self.run = run
        self.goes_on = goes_on
        # earlier exchanges would blur the cause
        run.evaluator.history = run.evaluator.history.emptied()
        self.client = ProbeClient(run.gateway, f"scenario {name}")
        self.steps: list[Exchange] = []

    def send(self, method: str, path: str, who: str = "anonymous", **more: Any) -> Exchange:
        """Sends a request, and ends the scenario if the response breaks a rule.

        Raises:
            RuleBroken: The response breaks a rule, and the scenario does not go on.
        """
        exchange = self.client.send(method, path, who, **more)
        self.steps.append(exchange)
        for rule, result in self.run.evaluator.broken:
            if rule.startswith("rate-limit"):
                continue  # others may use up the same hour
            self._break(rule, result.expected, result.actual)
        return exchange

    def expect(self, rule: str, actual: object, expected: object) -> None:
        """Compares the deployment with the model.

        Raises:
            RuleBroken: They differ, and the scenario does not go on.
        """
        if actual != expected:
            self.run.evaluator.disagree(rule, self.steps[-1], str(expected), str(actual))
            self._break(rule, str(expected), str(actual))

    def _break(self, rule: str, expected: str, actual: str) -> None:
        if self.goes_on:
            return
        self.run.broken = RuleBroken(rule, expected, actual, tuple(self.steps))
        raise self.run.broken
