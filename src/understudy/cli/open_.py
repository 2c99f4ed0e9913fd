"""``understudy open``: opens a capsule in a running mock."""

from pathlib import Path
from typing import Any

import click

from understudy.cli.mock_options import client, mock_options
from understudy.errors import StartupError


@click.command("open")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@mock_options
def open_(file: Path, url: str, world: str | None, admin_token: str | None) -> None:
    """Open a capsule in a running mock, before the same request.

    The mock must have the fixtures and the document that the capsule was made with. The clock is
    frozen at the moment of the capsule, so that the same requests get the same responses.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        msg = f"{file} cannot be read: {error.strerror}. Save one with GET /__admin/capsule."
        raise StartupError(msg) from error
    headers = {"Content-Type": "application/zip"}
    mock = client(url, world, admin_token)
    opened = mock.call("POST", "/capsule", content=content, headers=headers)
    for line in lines(opened):
        click.echo(line)


def lines(opened: Any) -> list[str]:
    """Returns what was opened, and what can be done next."""
    number = opened["request"]
    place = f"before request {number}" if number else f"after request {opened['requests']}"
    where = "" if opened["world"] == "default" else f" --world {opened['world']}"
    return [
        f"The world {opened['world']} stands {place}; its clock is frozen at {opened['now']}.",
        f"understudy journal{where} lists the {opened['requests']} requests of the capsule"
        + (f", and understudy explain {number}{where} explains that one." if number else "."),
    ]
