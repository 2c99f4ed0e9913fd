"""Options that ``verify`` and ``drift`` share: which reports are written, and what fails."""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from understudy import plugins

Command = TypeVar("Command", bound=Callable[..., Any])

Reports = tuple[tuple[str, Path], ...]
"""Format and file of each report."""

GITHUB: Final = "github"
"""The report that needs no file: GitHub reads it from the log, and from its own summary file."""

FAIL_ON = ("findings", "not-checked", "notes", "nothing")


def parsed_by(
    formats: Callable[[], Collection[str]], foreign: Callable[[], Collection[str]] = tuple
) -> Callable[..., Reports]:
    """Returns what parses the values of ``--report``.

    Args:
        formats: Returns the formats that are written to files; called where there is a value.
        foreign: Returns those of other packages; called where a format is none of ours.
    """

    def parse(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> Reports:
        known = formats() if texts else ()
        if any(text.partition("=")[0] not in (*known, GITHUB) for text in texts):
            known = (*known, *foreign())
        return tuple(_report(text, known) for text in texts)

    return parse


def _report(text: str, formats: Collection[str]) -> tuple[str, Path]:
    """Parses one value.

    Raises:
        BadParameter: It is not a known format with a file.
    """
    from understudy.errors import nearest

    name, _, path = text.partition("=")
    if name == GITHUB and not path:
        return name, Path()
    if name not in formats:
        known = (*formats, GITHUB)
        hint = nearest(name, list(known)) or f"; formats are {', '.join(known)}"
        msg = f"there is no report format {name!r}{hint}"
        raise click.BadParameter(msg)
    if not path:
        msg = f"{text!r} names no file; write {name}=FILE"
        raise click.BadParameter(msg)
    return name, Path(path)


report_option: Final = click.option(
    "--report",
    "reports",
    multiple=True,
    callback=parsed_by(
        partial(plugins.names, "reports"), partial(plugins.foreign_names, "reports")
    ),
    metavar="FORMAT=FILE",
    help="Write a report: json, junit, html, sarif, har, gitlab or markdown; or `github`, without a"
    " file: annotations and the job summary. Repeatable.",
)

fail_on_option: Final = click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="What sets the exit code; repeatable.  [default: findings, and in CI not-checked]",
)

baseline_option: Final = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="File of known findings, each accepted until a date.",
)

_PRINTING: Final = (
    click.option(
        "--json", is_flag=True, help="Print the JSON report, and the text to standard error."
    ),
    click.option(
        "--verbose", is_flag=True, help="Print consequences, notes and unchecked rules in full."
    ),
)


def printing_options(command: Command) -> Command:
    """Adds the options that say how much is printed to a command."""
    for option in reversed(_PRINTING):
        command = option(command)
    return command
