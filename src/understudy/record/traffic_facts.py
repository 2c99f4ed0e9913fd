"""Collects what traffic shows of the questions that the interface leaves open, as facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.facts import Facts, Unsettled
from understudy.interface.rules import Rule
from understudy.verify.history import History
from understudy.verify.learner import fact_of_switch
from understudy.verify.readings import options_shown
from understudy.verify.shown_requests import SHOWN

_CONTRADICTION: Final = "the readings contradict each other: {}"


@dataclass
class ShownOption:
    """Counts the exchanges that show one option of a switch.

    Attributes:
        seen: The number of exchanges.
        lines: Some of them in a few words.
    """

    seen: int = 0
    lines: dict[str, None] = field(default_factory=dict)


@dataclass
class TrafficFacts:
    """The options that exchanges have shown so far.

    Attributes:
        shown: Rule to option to what shows it.
    """

    shown: dict[str, dict[str, ShownOption]] = field(default_factory=dict)

    def read(self, exchange: Exchange, history: History) -> None:
        """Reads an exchange, before it is added to the history."""
        for rule, option in options_shown(exchange, history):
            name = "a token" if exchange.identity.kind == "unknown" else exchange.identity.name
            shown = self.shown.setdefault(rule, {}).setdefault(option, ShownOption())
            shown.seen += 1
            if len(shown.lines) < SHOWN:
                shown.lines[f"{exchange.operation} as {name}: {exchange.status}"] = None

    def facts(self, rules: Mapping[str, Rule], deployment: str, day: date, requests: int) -> Facts:
        """Returns the facts file of the recording.

        Args:
            rules: The catalogue.
            deployment: What the deployment is called.
            day: The day of the recording.
            requests: The number of exchanges.
        """
        settled, unsettled = [], []
        for rule, options in self.shown.items():
            switch = rules[rule].switch
            if switch is None:
                continue
            if len(options) > 1:
                unsettled.append(Unsettled(rule, _CONTRADICTION.format(", ".join(options))))
                continue
            ((option, shown),) = options.items()
            lines = tuple(shown.lines)
            settled.append(
                fact_of_switch(rule, switch, option, shown_by=lines, seen=shown.seen, day=day)
            )
        return Facts(deployment, day.isoformat(), requests, tuple(settled), tuple(unsettled))
