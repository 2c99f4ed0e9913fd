"""``understudy cleanup``: undoes what a killed run of verify left changed."""

import os
import shlex
from pathlib import Path

import click

from understudy.cli.exit_codes import last_lines
from understudy.cli.options import FILE
from understudy.terminal import counted, echo


@click.command()
@click.argument("journal", type=FILE)
@click.option(
    "--target",
    type=FILE,
    help="Target file of the run.  [default: the file beside JOURNAL that ends in .toml]",
)
@click.option("--json", "is_json", is_flag=True, help="Print the result as JSON.")
def cleanup(journal: Path, target: Path | None, *, is_json: bool) -> None:
    """Undo what a killed run of verify left changed.

    JOURNAL is the file that the run kept; everything is read back afterwards, to prove it.
    """
    # httpx and the evaluator take a second to import, which other commands need not wait for.
    from understudy.api.opening import restore
    from understudy.cli.interrupts import ended_by_sigterm

    with ended_by_sigterm():
        left = restore(journal, target or journal.with_suffix(".toml"), os.environ)
    if is_json:
        from understudy.cli.output_records import PrintedUndo, print_record

        print_record(PrintedUndo(not left, list(left)))
    for line in left:
        echo(f"not undone: {line}", err=True)
    if left:
        again = f"understudy cleanup {shlex.quote(str(journal))}"
        raise SystemExit(last_lines(f"{counted(len(left), 'change')} not undone", again))
    if not is_json:
        echo("All changes of the run were undone.")
