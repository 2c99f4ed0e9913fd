"""``understudy journal``: the requests that a running mock received, and its responses."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import orjson

from understudy.cli import completion
from understudy.cli.command_options import RunningMock
from understudy.cli.exit_codes import last_lines
from understudy.cli.options import takes, words_of
from understudy.errors import StartupError
from understudy.terminal import COLOURS, echo, printable_line


def _status(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """Checks that a text is a status, or a class of statuses such as 4XX.

    Raises:
        BadParameter: The text is neither.
    """
    if text is not None and not re.fullmatch(r"[1-5](\d\d|XX)", text.upper()):
        msg = f"{text!r} is not a status; write one such as 404, or a class such as 4XX."
        raise click.BadParameter(msg)
    return text


@click.command()
@takes(RunningMock)
@click.option("--follow", is_flag=True, help="Print each new request as it arrives, until Ctrl-C.")
@click.option(
    "--operation",
    metavar="ID",
    shell_complete=completion.operations,
    help="Only requests of this operationId, or of this method and path.",
)
@click.option(
    "--status", callback=_status, help="Only responses of this status, or of a class such as 4XX."
)
@click.option(
    "--person",
    metavar="SLUG",
    shell_complete=completion.people,
    help="Only requests that were authenticated as this person.",
)
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Show at most this many, the latest.",
)
@click.option("--json", "is_json", is_flag=True, help="Print each exchange as a line of JSON.")
@click.option(
    "--har",
    type=click.Path(readable=False, path_type=Path, dir_okay=False),
    help="Write the whole journal as HAR 1.2, for a browser's developer tools.",
)
def journal(running: RunningMock, **options: Any) -> None:
    """Show the requests and responses of a running mock."""
    mock = running.client()
    if options["har"] is not None:
        _write_har(mock, options["har"])
        return
    names = ("operation", "status", "person")
    wanted = {name: options[name] for name in names if options[name] is not None}
    page = mock.call("GET", "/requests", params={**wanted, "limit": options["limit"]})
    for entry in reversed(page["requests"]):
        _show(entry, is_json=options["is_json"])
    if page["requests"] and not (options["is_json"] or options["follow"]):
        refused = (it["id"] for it in page["requests"] if it.get("reason"))
        shown = str(next(refused, page["requests"][0]["id"]))
        mock_words = words_of(running, ("url", "world"))
        last_lines(following=shlex.join(["understudy", "explain", shown, *mock_words]))
    if not page["meta"]["total"] and not options["follow"]:
        click.echo(_nothing(mock, wanted), err=True)
    if options["follow"]:
        for entry in mock.follow(wanted):
            _show(entry, is_json=options["is_json"])


def _nothing(mock: Any, wanted: dict[str, str]) -> str:
    """Returns why no request is shown: the mock received none, or none matches the filters.

    Raises:
        StartupError: The filter names a person that does not exist.
    """
    if not wanted:
        return "The mock has received no request yet."
    if "person" in wanted:
        from understudy.errors import nearest

        people = [person["slug"] for person in mock.call("GET", "/worlds/default")["people"]]
        if wanted["person"] not in people:
            hint = nearest(wanted["person"], people) or "; `understudy fixtures` lists people."
            msg = f"--person {wanted['person']}: there is no such person{hint}"
            raise StartupError(msg)
    filters = " ".join(f"--{name} {text}" for name, text in wanted.items())
    return f"No request matches {filters}."


def _show(entry: Any, *, is_json: bool) -> None:
    if is_json:
        echo(orjson.dumps(entry))
        return
    request, status = entry["request"], entry["response"]["status"]
    time = request["loggedDateString"][11:19]
    coloured = click.style(status, fg=COLOURS.get(status // 100), bold=True)
    about = f"{entry['timing']['totalTime']:.1f} ms  {entry['person'] or '-'}"
    number = click.style(f"{entry['id']:>5}", bold=True)
    faint = click.style(printable_line(about), dim=True)
    target = printable_line(f"{request['method']:<6} {request['url']}")
    click.echo(f"{number}  {time}  {coloured}  {target}  {faint}")
    decided = [f"answered by {entry['stub']}"] if entry["stub"] else []
    for note in [*decided, *filter(None, [entry.get("reason")]), *entry["notes"]]:
        echo(f"                 {printable_line(note)}", fg="yellow")


def _write_har(mock: Any, path: Path) -> None:
    archive = mock.call("GET", "/requests/har")
    path.write_bytes(orjson.dumps(archive, option=orjson.OPT_INDENT_2))
    click.echo(f"{len(archive['log']['entries'])} exchanges are in {path}; secrets are masked.")
