"""Writes how two deployments differ, for a terminal and for a pull request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from understudy.drift.causes import DriftCause, Fault
from understudy.drift.comparing import Drift
from understudy.drift.differences import Difference
from understudy.verify.findings import ANSWERS, Finding
from understudy.verify.reports.grouping import counted
from understudy.verify.reports.markdown import folded, plain
from understudy.verify.reproducing import commands

TITLES: Final[Mapping[Fault, str]] = {
    "deployment": "The deployment breaks a rule",
    "other": "The other one breaks a rule",
    "documents": "Their documents differ",
    "silent": "The contract is silent, and they chose otherwise",
    "unexplained": "No rule is about it",
}


class Kind(NamedTuple):
    """Differences of one operation, caller and aspect with the same values.

    Attributes:
        text: The operation, the aspect and both values, and how often it was seen.
        first: The first of them.
    """

    text: str
    first: Difference


@dataclass(frozen=True, slots=True)
class DriftReport:
    """The report of a comparison.

    Attributes:
        result: The comparison.
        deployment: Base URL of the deployment.
        other: Base URL of the other one, or the mock.
        secrets: Each secret, and the variable that replaces it.
    """

    result: Drift
    deployment: str
    other: str
    secrets: Mapping[str, str]

    @property
    def total(self) -> str:
        """The last line: how many causes there are, and of how many requests."""
        return (
            f"{counted(len(self.result.causes), 'cause')} of difference between "
            f"{self.deployment} and {self.other}; {self.result.requests} requests compared"
        )

    def sections(self) -> Iterator[tuple[str, list[DriftCause]]]:
        """Yields the causes by whose fault they are, with a title."""
        for fault, title in TITLES.items():
            members = [cause for cause in self.result.causes if cause.fault == fault]
            if members:
                yield title, members

    def kinds(self, cause: DriftCause) -> list[Kind]:
        """Returns the differences of a cause, each kind once."""
        kinds: dict[str, list[Difference]] = {}
        for each in cause.differences:
            text = f"{place(each)}: {each.aspect} {each.ours}, there {each.theirs}"
            kinds.setdefault(text, []).append(each)
        return [
            Kind(f"{text} ({len(members)} times)" if members[1:] else text, members[0])
            for text, members in kinds.items()
        ]

    def commands(self, difference: Difference) -> list[str]:
        """Returns the lines of a shell script that shows a difference at the deployment."""
        steps = self.result.steps(difference)
        finding = Finding(ANSWERS, difference.theirs, difference.ours, steps)
        return commands(finding, self.secrets)

    def markdown(self) -> str:
        """Returns the report as a page in Markdown."""
        lines = ["## understudy drift", "", f"{plain(self.total)}.", ""]
        for title, causes in self.sections():
            lines += [f"### {title}", ""]
            for cause in causes:
                statement = f": {plain(cause.statement)}" if cause.statement else ""
                lines += [f"**{plain(cause.rule)}**{statement}", ""]
                kinds = self.kinds(cause)
                lines += [*(f"- {plain(kind.text)}" for kind in kinds), ""]
                lines += folded("Commands", "\n".join(self.commands(kinds[0].first)))
        return "\n".join(lines).rstrip() + "\n"


def place(difference: Difference) -> str:
    """Returns the operation of a difference, and who asked."""
    exchange = difference.exchange
    operation = exchange.operation or f"{exchange.request.method} {exchange.path}"
    return f"{operation} as {exchange.identity.name}"
