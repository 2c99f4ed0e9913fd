"""Keeps what the steps of a sequence that is being sent hand on, and judges their responses."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from understudy.exchange.messages import Exchange
from understudy.generate.cases import Case
from understudy.generate.sequence_steps import SequenceStep, broken_assertions, captured


@dataclass
class CurrentSequence:
    """The sequence whose steps are being sent.

    Attributes:
        items: Values of the variables that its steps captured.
    """

    items: dict[str, str] = field(default_factory=dict)

    def begin(self, case: Case) -> None:
        """Forgets the items of the sequence before, at the first step of another."""
        if case.step is not None and case.step.number == 1:
            self.items.clear()

    def has(self, names: Iterable[str]) -> bool:
        """Tells whether earlier steps captured all of these variables."""
        return set(names) <= self.items.keys()

    def judged(self, step: SequenceStep, exchange: Exchange, outcome: str) -> str:
        """Returns the outcome of a step, and keeps what later steps need.

        Args:
            step: The step.
            exchange: Its request and response.
            outcome: The outcome by its status and by the document.
        """
        if outcome.startswith("failed"):
            return outcome
        values = captured(step, exchange.body, exchange.response.header("location"))
        self.items.update(values)
        missing = [
            f"a value for {it.variable}" for it in step.captures if it.variable not in values
        ]
        broken = [*missing, *broken_assertions(step, exchange.body, self.items)]
        return f"failed: the response does not show: {'; '.join(broken)}" if broken else outcome
