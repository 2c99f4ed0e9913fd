"""Prints a report on a terminal: findings, notes, rules not checked, and the verdict last."""

from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from understudy.reports.console import print_line
from understudy.reports.content import Cause, Comparison, Entry, Report, Section, ShownSide
from understudy.terminal import counted, printable

REASONS: Final = 6
"""Reasons for unchecked rules that are printed without ``--verbose``."""

WIDE: Final = 120
"""Columns of a terminal from which both sides are printed next to each other."""

LINES_SHOWN: Final = 12
"""Lines of a response that are printed without ``--verbose``."""

CHARACTERS_SHOWN: Final = 320
"""Characters of a response's line that are printed without ``--verbose``: four terminal lines."""

ENTRIES_SHOWN: Final = 6
"""Findings of a cause that are printed without ``--verbose``."""

NAMES_SHOWN: Final = 3
"""Names of consequences, and further places of a change, that are printed without ``--verbose``."""

INDENT: Final = 4
"""Columns before the sides of an entry."""


def print_report(console: Console, report: Report, *, is_verbose: bool = False) -> None:
    """Prints a report.

    Args:
        console: The terminal, or a file.
        report: The report.
        is_verbose: True to print consequences, both sides, whole responses and all reasons.
    """
    page = _Page(console, is_verbose)
    for section in report.sections:
        page.print_section(section)
    for comparison in report.comparisons:
        page.print_comparison(comparison)
    page.print_unchecked(report)
    for line in (*report.remarks, *(report.details if is_verbose else ())):
        page.line(line, "dim")
    for line in report.since:
        page.line(line)
    if report.variables:
        command, places = report.exports
        page.line(f"Before running the commands: {command}{f'  ({places})' if places else ''}")
    for line in report.alarms:
        page.line(line, "bold red")
    page.line(report.verdict, "bold red" if report.is_bad else "bold green")


@dataclass(frozen=True, slots=True)
class _Page:
    """Prints the parts of a report on a console, in full if verbose."""

    console: Console
    is_verbose: bool

    def line(self, text: str, style: str = "", *, indent: int = 0, hanging: int = 0) -> None:
        print_line(self.console, text, style, indent=indent, hanging=hanging)

    def whole(self, text: str, style: str = "") -> None:
        """Prints a line unwrapped, so that it can be copied."""
        self.console.print(Text(" " * INDENT + printable(text), style), soft_wrap=True)

    def print_section(self, section: Section) -> None:
        if section.is_expected and not self.is_verbose:
            more = counted(len(section.causes), "more cause")
            self.line(f"{more} as learnt; --verbose lists them", "dim")
            return
        if section.introduction:
            self.print_notes(section)
            return
        if section.topic:
            self.line(section.title, "bold")
        for cause in section.causes:
            self.print_cause(cause, "bold yellow" if section.is_note else "bold red")

    def print_notes(self, section: Section) -> None:
        """Prints a line for each cause, as nothing has to be done about it."""
        self.line(section.introduction, "yellow")
        for cause in section.causes:
            first, *others = cause.entries
            more = f" (and {len(others)} more)" if others else ""
            text = f"note: {cause.name}: {_joined(first.summary)}{more}"
            self.line(text, "yellow", indent=2, hanging=2)
            for command in first.sides[0].commands.splitlines() if self.is_verbose else ():
                self.whole(command, "cyan")
        self.console.print()

    def print_cause(self, cause: Cause, style: str) -> None:
        self.line(cause.heading, style)
        if cause.heading != cause.name:
            self.line(f"{cause.severity}; rule {cause.broken}", "dim", indent=2)
        if cause.readings:
            self.line("; ".join(f"{name}: {text}" for name, text in cause.readings), indent=2)
        listed = cause.entries if self.is_verbose else cause.entries[:ENTRIES_SHOWN]
        for number, entry in enumerate(listed):
            self.print_entry(entry, is_first=not number)
        if cause.entries[len(listed) :]:
            more = len(cause.entries) - len(listed)
            self.line(f"and {more} more of this cause; --verbose lists them", "dim", indent=2)
        names = cause.names_of_consequences
        if names:
            is_listed = self.is_verbose or len(names) <= NAMES_SHOWN
            text = cause.following if is_listed else cause.following.partition(":")[0]
            self.line(text, indent=2)
        for consequence in cause.consequences if self.is_verbose else ():
            self.print_cause(consequence, style)
        self.console.print()

    def print_entry(self, entry: Entry, *, is_first: bool) -> None:
        self.line(entry.label, "bold", indent=2)
        for name, text in entry.facts:
            self.line(f"{name:<8}  {_joined(text)}", indent=INDENT, hanging=10)
        if len(entry.sides) == 1:
            self._print_side(entry.sides[0])
        elif is_first or self.is_verbose:
            self._print_sides(entry.sides)

    def _print_sides(self, sides: tuple[ShownSide, ...]) -> None:
        if self.console.width >= WIDE and self.console.is_terminal:
            table = Table.grid(padding=(0, 3), expand=True)
            for _ in sides:
                table.add_column(ratio=1, overflow="fold")
            table.add_row(*(Text("\n").join(self._side(side)) for side in sides))
            self.console.print(Padding(table, (0, 0, 0, INDENT)))
            return
        for side in sides:
            self.line(side.title, "dim", indent=INDENT)
            self._print_side(side)

    def _print_side(self, side: ShownSide) -> None:
        for line in self._side(side):
            self.whole(line.plain, str(line.style))

    def _side(self, side: ShownSide) -> list[Text]:
        lines = side.response.splitlines()
        shown = lines if self.is_verbose else lines[:LINES_SHOWN]
        more = [f"({len(lines) - len(shown)} more lines)"] if lines[len(shown) :] else []
        return [
            *(Text(printable(line), "cyan") for line in side.commands.splitlines()),
            *(Text(printable(self._clipped(line))) for line in (*shown, *more)),
        ]

    def _clipped(self, line: str) -> str:
        """Returns the start of a long line of a response; the whole line if verbose."""
        is_whole = self.is_verbose or len(line) <= CHARACTERS_SHOWN
        return line if is_whole else f"{line[:CHARACTERS_SHOWN]}…"

    def print_comparison(self, comparison: Comparison) -> None:
        self.line(comparison.title, "bold")
        for change in comparison.changes:
            self.line(change.summary, "bold yellow" if change.is_breaking else "", indent=2)
            self.line(f"{change.effect}; {change.pointer}", "dim", indent=INDENT)
            shown = change.further if self.is_verbose else change.further[:NAMES_SHOWN]
            for place in shown:
                self.line(f"also {place}", "dim", indent=INDENT)
            if change.further[len(shown) :]:
                more = len(change.further) - len(shown)
                self.line(f"also in {more} more places; --verbose lists them", "dim", indent=INDENT)

    def print_unchecked(self, report: Report) -> None:
        if not report.unchecked:
            return
        hint = "" if self.is_verbose else "; --verbose lists them"
        self.line(f"Rules not checked, by reason{hint}:", "dim")
        shown = report.unchecked if self.is_verbose else report.unchecked[:REASONS]
        for reason, rules in shown:
            self.line(f"{len(rules):3}  {reason}", "dim", indent=2, hanging=5)
            if self.is_verbose:
                self.line(", ".join(rules), "dim", indent=7)
        rest = report.unchecked[len(shown) :]
        if rest:
            count = sum(len(rules) for _, rules in rest)
            self.line(f"{count:3}  for {counted(len(rest), 'other reason')}", "dim", indent=2)


def _joined(text: str) -> str:
    return " ".join(text.split())
