"""Prints the differences on a terminal: by cause, and both sides beside one another where there is room."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from understudy.drift.reports.content import (
    DriftReport,
    ReportedCause,
    ReportedDifference,
    ReportedDocuments,
    ReportedFact,
)
from understudy.drift.reports.wording import (
    CHANGED_FACTS,
    breaks,
    grouped,
    heading,
    mark,
    sections,
    total,
)
from understudy.terminal import printable
from understudy.verify.reports.grouping import counted
from understudy.verify.reports.terminal import REASONS

INDENT: Final = 6
"""Columns before both sides of a difference."""

WIDE: Final = 120
"""Columns of a terminal on which both sides stand beside one another."""

LINES_SHOWN: Final = 12
"""Lines of a response that are printed without ``--verbose``."""

CHARACTERS_SHOWN: Final = 320
"""Characters of a line of a response that are printed without ``--verbose``: four lines of a terminal."""

PLACES_SHOWN: Final = 3
"""Further places of one change that are printed without ``--verbose``."""


def print_report(console: Console, report: DriftReport, *, is_verbose: bool) -> None:
    """Prints a report.

    Args:
        console: The terminal, or a file.
        report: The report.
        is_verbose: True to print both sides of every difference, and whole responses.
    """
    page = _Page(console, is_verbose=is_verbose)
    page.print_facts(report.changed_facts)
    for title, causes in sections(report):
        page.print_section(title, causes)
    for pair in report.documents:
        page.print_documents(pair)
    reasons = report.not_checked if is_verbose else report.not_checked[:REASONS]
    for line in (*report.not_compared, *reasons):
        page.line(line, "dim")
    if report.not_checked[len(reasons) :]:
        page.line(
            f"and {len(report.not_checked) - len(reasons)} more reasons; --verbose lists them",
            "dim",
        )
    page.line(total(report), "bold")
    for line in (*report.not_restored, *report.stopped):
        page.line(line, "bold red")


class _Page:
    """The console, and how much of a report is printed there."""

    def __init__(self, console: Console, *, is_verbose: bool) -> None:
        self._console = console
        self._is_verbose = is_verbose

    def line(self, text: str, style: str = "") -> None:
        self._console.print(Text(printable(text), style), soft_wrap=True)

    def print_facts(self, facts: list[ReportedFact]) -> None:
        if facts:
            self.line(CHANGED_FACTS, "bold")
        for fact in facts:
            self.line(f"  {fact.rule}: {fact.question}", "bold yellow")
            self.line(f"    now {fact.now}; {fact.before} when learnt on {fact.learnt}{mark(fact)}")
            self.line(f"    {fact.request}")
            for line in self._side(fact.commands, fact.response):
                self._console.print(Text(" " * INDENT).append(line), soft_wrap=True)

    def print_section(self, title: str, causes: list[ReportedCause]) -> None:
        if causes[0].fault == "learnt" and not self._is_verbose:
            more = counted(len(causes), "more cause")
            self.line(f"{more} as learnt; --verbose lists them", "dim")
            return
        self.line(title, "bold")
        for cause in causes:
            self.print_cause(cause)

    def print_cause(self, cause: ReportedCause) -> None:
        statement = f": {cause.statement}" if cause.statement else ""
        self.line(f"  {cause.rule}{statement}", "bold yellow")
        if cause.readings:
            self.line(f"    the deployment: {cause.readings[0]}; the other: {cause.readings[-1]}")
        for number, difference in enumerate(cause.differences):
            self.line(f"    {difference.summary}{mark(difference)}")
            if self._is_verbose or not number:
                self._print_sides(difference)

    def _print_sides(self, difference: ReportedDifference) -> None:
        ours = self._side(difference.commands, difference.response)
        theirs = self._side(difference.other_commands, difference.other_response)
        if self._console.width >= WIDE and self._console.is_terminal:
            table = Table.grid(padding=(0, 3), expand=True)
            table.add_column(ratio=1, overflow="fold")
            table.add_column(ratio=1, overflow="fold")
            table.add_row(_joined(ours), _joined(theirs))
            self._console.print(Padding(table, (0, 0, 0, INDENT)))
            return
        for title, lines in (("deployment", ours), ("other", theirs)):
            self.line(f"{' ' * INDENT}{title}", "dim")
            for line in lines:
                self._console.print(Text(" " * INDENT).append(line), soft_wrap=True)

    def _side(self, commands: str, response: str) -> list[Text]:
        lines = response.splitlines()
        shown = lines if self._is_verbose else lines[:LINES_SHOWN]
        more = [f"({len(lines) - len(shown)} more lines)"] if lines[len(shown) :] else []
        return [
            *(Text(printable(line), "cyan") for line in commands.splitlines()),
            *(Text(printable(self._clipped(line))) for line in (*shown, *more)),
        ]

    def _clipped(self, line: str) -> str:
        """Returns the start of a line of a response, unless all of it is wanted."""
        is_whole = self._is_verbose or len(line) <= CHARACTERS_SHOWN
        return line if is_whole else f"{line[:CHARACTERS_SHOWN]}…"

    def print_documents(self, pair: ReportedDocuments) -> None:
        if not pair.changes:
            return
        self.line(heading(pair), "bold")
        for change, places in grouped(pair.changes):
            style = "bold yellow" if change.breaks else ""
            self.line(f"  {change.summary}{mark(change)}", style)
            self.line(f"    {breaks(change)}; {change.pointer}", "dim")
            for place in self._places(places):
                self.line(f"    also {place}", "dim")

    def _places(self, places: list[str]) -> Iterator[str]:
        shown = places if self._is_verbose else places[:PLACES_SHOWN]
        yield from shown
        if len(places) > len(shown):
            yield f"in {len(places) - len(shown)} more places; --verbose lists them"


def _joined(lines: list[Text]) -> Text:
    return Text("\n").join(lines)
