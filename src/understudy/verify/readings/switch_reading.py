"""Defines a way in which exchanges show an option of a switch."""

from collections.abc import Callable
from dataclasses import dataclass

from understudy.exchange.messages import Exchange
from understudy.verify.checks import TOO_MANY, Condition
from understudy.verify.history import History

Read = Callable[[Exchange], str]
"""Returns the option that an exchange shows; a status that is none is what the deployment does."""


@dataclass(frozen=True, slots=True)
class SwitchReading:
    """A way in which exchanges show an option of a switch.

    Attributes:
        rule: Id of the rule that has the switch.
        operations: Where it shows.
        when: What must hold of an exchange before it shows anything.
        read: The option that it shows.
        is_of_limits: Whether a 429 shows something too.
    """

    rule: str
    operations: tuple[str, ...]
    when: tuple[Condition, ...]
    read: Read
    is_of_limits: bool = False

    def option(self, exchange: Exchange, history: History) -> str | None:
        """Returns the option that an exchange shows; None where it shows none."""
        if exchange.operation not in self.operations:
            return None
        if exchange.status == TOO_MANY and not self.is_of_limits:
            return None
        if not all(condition(exchange, history) for condition in self.when):
            return None
        return self.read(exchange)
