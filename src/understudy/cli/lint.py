"""``understudy lint``: lists what is wrong with a document."""

import sys
from pathlib import Path

import click

from understudy.cli.command_options import Overlays
from understudy.cli.exit_codes import ExitCode
from understudy.cli.options import takes
from understudy.terminal import echo, printable_line


@click.command(context_settings={"show_default": True})
@click.argument(
    "document", type=click.Path(readable=False, path_type=Path), metavar="FILE", required=False
)
@takes(Overlays)
@click.option(
    "--format",
    "name",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Format of the output.",
)
@click.option("--json", "is_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    help="Lowest severity that sets exit code 1.",
)
@click.option(
    "--schema", "is_schema", is_flag=True, help="Print the JSON Schema of --format json, and stop."
)
def lint(changes: Overlays, document: Path | None, name: str, fail_on: str, **flags: bool) -> None:
    """List what is wrong with an OpenAPI document.

    Losses are what cannot be taken as it was written; contradictions are valid, but cannot be meant.
    Each has its place, and a severity: an error is not served as it was written.

    Exit codes: 0 nothing that --fail-on names; 1 something; 2 the file cannot be read.
    """
    # Documents and their validators take 0.1 s to import, which other commands need not wait for.
    from understudy.openapi.linting import lint_report, report_schema

    if flags["is_schema"]:
        from understudy.record_schemas import schema_text

        echo(schema_text(report_schema()), nl=False)
        return
    if document is None:
        msg = "Name the document: understudy lint FILE."
        raise click.UsageError(msg)
    import msgspec

    from understudy.openapi.linting import lint as lint_document
    from understudy.openapi.loader import load

    report = lint_report(document, lint_document(load(document, changes.overlays)))
    if name == "json" or flags["is_json"]:
        echo(msgspec.json.format(msgspec.json.encode(report), indent=2))
    else:
        for entry in report.diagnostics:
            place = entry.file if entry.line is None else f"{entry.file}:{entry.line}"
            colour = "red" if entry.severity == "error" else "yellow"
            severity = click.style(entry.severity, fg=colour)
            rule = click.style(f"[{entry.rule}]", dim=True)
            text = printable_line(f"{entry.pointer}: {entry.message}")
            click.echo(f"{printable_line(place)}: {severity}: {text} {rule}")
        echo(f"{_counted(report.errors, 'error')}, {_counted(report.warnings, 'warning')}.")
    if report.errors or (fail_on == "warning" and report.warnings):
        sys.exit(ExitCode.FINDINGS)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
