"""``understudy stub``: lists, makes and deletes stubs of a running mock."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click
import orjson

from understudy.cli import completion
from understudy.cli.command_options import RunningMock
from understudy.cli.exit_codes import last_lines
from understudy.cli.options import takes, words_of
from understudy.terminal import echo

_PLACES = ("path", "query", "header")


def _pairs(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    wrong = next((text for text in texts if "=" not in text), None)
    if wrong is not None:
        msg = f"{wrong!r} has no value; write it as NAME=TEXT."
        raise click.BadParameter(msg)
    return dict(text.split("=", 1) for text in texts)


def _json(_ctx: click.Context, option: click.Parameter, text: str | None) -> Any:
    """Reads JSON from the value, from a file after ``@``, or from standard input for ``-``.

    Raises:
        BadParameter: The text is not JSON, or the file cannot be read.
    """
    if text is None:
        return None
    try:
        if text == "-":
            return orjson.loads(sys.stdin.buffer.read())
        return orjson.loads(Path(text[1:]).read_bytes() if text.startswith("@") else text)
    except (ValueError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        msg = f"{text:.60} cannot be read: {why}; write JSON, @FILE, or - for standard input."
        raise click.BadParameter(msg, param=option) from error


@click.command()
@click.argument("operation", required=False, shell_complete=completion.operations)
@takes(RunningMock)
@click.option("--status", type=click.IntRange(200, 599), help="Status of the response.")
@click.option(
    "--body", metavar="JSON", callback=_json, help="Body of the response; @FILE reads it."
)
@click.option(
    "--merge",
    metavar="JSON",
    callback=_json,
    help="Changes members of the body that the mock would send.",
)
@click.option("--path", metavar="NAME=TEXT", multiple=True, callback=_pairs, help="Path parameter.")
@click.option(
    "--query", metavar="NAME=TEXT", multiple=True, callback=_pairs, help="Query parameter."
)
@click.option("--header", metavar="NAME=TEXT", multiple=True, callback=_pairs, help="Header.")
@click.option(
    "--person", metavar="SLUG", shell_complete=completion.people, help="Who is signed in."
)
@click.option("--times", type=click.IntRange(1), help="Requests that it answers.  [default: all]")
@click.option("--delay", metavar="TIME", help="Waits before it answers, such as 200ms.")
@click.option(
    "--allow-invalid", is_flag=True, help="Accept a response that the document does not allow."
)
@click.option(
    "--before-validation", is_flag=True, help="Answer requests that the mock would refuse, too."
)
@click.option("--stub", metavar="JSON", callback=_json, help="The whole stub; @FILE reads it.")
@click.option("--delete", metavar="ID", help="Delete this stub; `all` deletes every one.")
def stub(running: RunningMock, **options: Any) -> None:
    """Answer an operation otherwise than the mock would, or list stubs.

    OPERATION is an operationId, or METHOD /PATH as the document has it; without it, stubs are listed.
    A stub that the document does not allow is refused, with every place that breaks it.
    """
    mock = running.client()
    if options["delete"] is not None:
        name = options["delete"]
        mock.call("DELETE", "/stubs" if name == "all" else f"/stubs/{name}")
        echo("All stubs were deleted." if name == "all" else f"{name} was deleted.", err=True)
    elif options["stub"] is not None:
        _create(running, options["stub"])
    elif options["operation"] is not None:
        _create(running, _described(options))
    else:
        _list(mock.call("GET", "/stubs"))


def _create(running: RunningMock, described: Any) -> None:
    echo(running.client().call("POST", "/stubs", json=described)["id"])  # alone, for a script
    mock_words = words_of(running, ("url", "world"))
    last_lines(following=shlex.join(["understudy", "stub", *mock_words]))


def _described(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the stub that the options describe."""
    from understudy.testing.world import stub_body

    names = ("status", "body", "merge", *_PLACES, "person", "times", "delay")
    given = {name: options[name] for name in names if options[name] not in (None, {})}
    flags = ("allow_invalid", "before_validation")
    given |= {name: True for name in flags if options[name]}
    return stub_body(options["operation"], **given)


def _list(stubs: list[Any]) -> None:
    for it in stubs:
        left = f"  {it['times']} more" if "times" in it else ""
        echo(f"{it['id']}  {it['operation']}  answered {it['answered']}{left}")
        if "nearest" in it:
            echo(f"  {it['why_unused']}")
    if not stubs:
        click.echo(
            "There is no stub; `understudy stub OPERATION --merge JSON` makes one.", err=True
        )
