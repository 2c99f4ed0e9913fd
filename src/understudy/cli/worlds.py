"""``understudy worlds``: lists the worlds of a store that replicas share, and deletes one."""

from datetime import timedelta
from typing import Any

import click

from understudy.terminal import echo


@click.command()
@click.option(
    "--store",
    "url",
    required=True,
    envvar="UNDERSTUDY_STATE",
    show_envvar=True,
    metavar="URL",
    help="The store, as `understudy serve --state` has it: valkey://host:6379/0.",
)
@click.option("--end", "ended", metavar="NAME", help="Delete this world, with all that it holds.")
@click.option("--json", "is_json", is_flag=True, help="Print the worlds as JSON.")
def worlds(url: str, ended: str | None, *, is_json: bool) -> None:
    """List the worlds of a store that several mocks share.

    With --end, lists those that are left. No mock needs to run.
    """
    # The client library of the store is an optional dependency.
    from understudy.cli.output_records import PrintedWorld, print_record
    from understudy.fleet.stored_worlds import end_stored_world, stored_worlds

    if ended is not None:
        end_stored_world(url, ended)
    listed = [PrintedWorld(*row) for row in stored_worlds(url)]
    if is_json:
        print_record(listed)
        return
    rows = [("WORLD", "BYTES", "RECORDS", "REQUESTS", "IDLE", "ENDS IN")]
    rows += map(_row, listed)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *others in rows:
        cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        echo("  ".join([name.ljust(widths[0]), *cells]))


def _row(world: Any) -> tuple[str, str, str, str, str, str]:
    numbers = (f"{world.bytes:,}", f"{world.records:,}", f"{world.requests:,}")
    return (world.name, *numbers, _span(world.idle_seconds), _span(world.ends_in_seconds))


def _span(seconds: float | None) -> str:
    return "never" if seconds is None else str(timedelta(seconds=seconds)).partition(".")[0]
