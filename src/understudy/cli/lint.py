"""``understudy lint``: lists what is wrong with a document."""

import shlex
import sys
from pathlib import Path

import click

from understudy.cli.command_options import Overlays
from understudy.cli.exit_codes import last_lines
from understudy.cli.options import FILE, takes
from understudy.terminal import counted, echo, printable_line


@click.command(context_settings={"show_default": True})
@click.argument("document", type=FILE, metavar="FILE")
@takes(Overlays)
@click.option("--json", "is_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    help="Lowest severity that sets exit code 1.",
)
def lint(changes: Overlays, document: Path, fail_on: str, *, is_json: bool) -> None:
    """List what is wrong with an OpenAPI document.

    Losses are what cannot be taken as it was written; contradictions are valid, but cannot be meant.
    Each has its place, and a severity: an error is not served as it was written.

    Exit codes: 0 nothing that --fail-on names; 1 something; 2 the file cannot be read.
    """
    # Documents and their validators take 0.1 s to import, which other commands need not wait for.
    from understudy.cli.output_records import print_record
    from understudy.openapi.linting import lint as lint_document
    from understudy.openapi.linting import lint_report
    from understudy.openapi.loader import load

    report = lint_report(document, lint_document(load(document, changes.overlays)))
    if is_json:
        print_record(report)
    else:
        for entry in report.diagnostics:
            place = entry.file if entry.line is None else f"{entry.file}:{entry.line}"
            colour = "red" if entry.severity == "error" else "yellow"
            severity = click.style(entry.severity, fg=colour)
            rule = click.style(f"[{entry.rule}]", dim=True)
            text = printable_line(f"{entry.pointer}: {entry.message}")
            click.echo(f"{printable_line(place)}: {severity}: {text} {rule}")
        echo(f"{counted(report.errors, 'error')}, {counted(report.warnings, 'warning')}.")
    found = report.errors + (report.warnings if fail_on == "warning" else 0)
    about = counted(found, "error" if fail_on == "error" else "diagnostic")
    reason = f"{about} in {printable_line(str(document))}" if found else ""
    sys.exit(last_lines(reason, f"understudy serve --document {shlex.quote(str(document))}"))
