"""``understudy export``: writes the state of a running mock as fixtures."""

import io
import shlex
import zipfile
from pathlib import Path

import click

from understudy.cli.command_options import RunningMock
from understudy.cli.options import takes
from understudy.errors import StartupError


@click.command()
@takes(RunningMock)
@click.argument(
    "directory", type=click.Path(readable=False, path_type=Path, file_okay=False), metavar="DIR"
)
@click.option("--json", "is_json", is_flag=True, help="Print where it was written as JSON.")
def export(running: RunningMock, directory: Path, *, is_json: bool) -> None:
    """Write the state of a running mock as a fixtures directory.

    DIR must be new or empty. `understudy serve --fixtures DIR` starts from them.
    """
    packed = running.client().fetch("/export")
    if directory.exists() and any(directory.iterdir()):
        msg = f"{directory} already exists; name a new directory, or an empty one."
        raise StartupError(msg)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(directory)
        names = archive.namelist()
    if is_json:
        from understudy.cli.output_records import PrintedExport, print_record

        print_record(PrintedExport(str(directory), len(names)))
        return
    click.echo(f"The world was written to {directory}.")
    # only another document has items, which none but its own mock can serve
    document = "--document DOCUMENT " if "items.jsonl" in names else ""
    click.echo(f"Next: understudy serve {document}--fixtures {shlex.quote(str(directory))}")
