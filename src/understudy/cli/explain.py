"""``understudy explain``: why the mock responded as it did."""

from typing import Any

import click
import orjson

from understudy.cli.command_options import RunningMock
from understudy.cli.options import takes
from understudy.errors import StartupError
from understudy.terminal import echo, printable, printable_line

LAST = "last"


def _number(_ctx: click.Context, _argument: click.Parameter, text: str) -> int | None:
    """Parses the id of a request; returns None for ``last``.

    Raises:
        BadParameter: The text is neither an id nor ``last``.
    """
    if text == LAST:
        return None
    if not text.removeprefix("#").isdecimal():
        msg = (
            f"{text!r} is not the id of a request; `understudy journal` shows ids, or write {LAST}"
        )
        raise click.BadParameter(msg)
    return int(text.removeprefix("#"))


@click.command()
@takes(RunningMock)
@click.argument("number", callback=_number, metavar="ID|last")
@click.option("--json", "is_json", is_flag=True, help="Print the whole explanation as JSON.")
def explain(running: RunningMock, number: int | None, *, is_json: bool) -> None:
    """Explain why a running mock responded as it did.

    ID is the number that the log and `understudy journal` show; `last` is the latest request.
    """
    mock = running.client()
    entry = mock.call("GET", f"/requests/{_last(mock) if number is None else number}")
    if is_json:
        echo(orjson.dumps(entry, option=orjson.OPT_INDENT_2))
        return
    for line in _lines(entry):
        click.echo(line)


def _last(mock: Any) -> int:
    """Returns the id of the latest request.

    Raises:
        StartupError: The mock has received no request yet.
    """
    latest = mock.call("GET", "/requests", params={"limit": 1})["requests"]
    if not latest:
        msg = "The mock has received no request yet; send one, and ask again."
        raise StartupError(msg)
    number: int = latest[0]["id"]
    return number


def _lines(entry: Any) -> list[str]:
    why = entry["explanation"]
    request, operation, about = entry["request"], why.get("operation"), why.get("about")
    lines = [
        click.style(
            printable_line(f"{request['method']} {request['url']} → {entry['response']['status']}"),
            bold=True,
        ),
        "",
        _line("operation", f"{operation['id']}  {operation['document']}" if operation else "none"),
        _line("world", why["world"]),
        _line("identity", f"{why['person'] or 'anonymous'} ({why['identity']})"),
    ]
    if about:
        origin = about["fixture"] or "made in this world"
        changed = ", changed since" if about["changed"] else ""
        lines.append(_line("about", f"{about['person']}  {origin}{changed}"))
    if why.get("inference"):
        lines += _inference(why["inference"])
    if why["fault"]:
        lines.append(_line("fault", why["fault"]))
    if entry["stub"]:
        lines.append(_line("stub", f"{entry['stub']}; `understudy stub` lists it"))
    if entry["preference"]:
        lines.append(_line("preferred", entry["preference"]))
    lines += _refusal(why.get("refusal"))
    lines += [_line("switch", f"{s['name']}={s['option']}  ({s['rule']})") for s in why["switches"]]
    lines += [_line("rule", f"{rule['id']}: {rule['statement']}") for rule in why["rules"]]
    return lines + [_line("note", note) for note in why["notes"]]


def _inference(inference: Any) -> list[str]:
    """Returns the lines on the inferred state of the operation, and on how to correct it."""
    sure = f"{inference['confidence']:.0%} sure"
    return [
        _line("inferred", f"{inference['role']} of {inference['resource']}, {sure}"),
        *(_line("because", reason) for reason in inference["reasons"]),
        _line("override", inference["override"]),
    ]


def _refusal(refusal: Any) -> list[str]:
    if not refusal:
        return []
    lines = [_line("refused", refusal["message"])]
    breach = refusal["breach"]
    if breach:
        lines += [
            _line("where", breach["where"] or "the whole body"),
            _line("expected", orjson.dumps(breach["expected"]).decode()),
            _line("actual", orjson.dumps(breach["actual"]).decode()),
            _line("document", breach["document"]),
        ]
    return lines


def _line(label: str, text: str) -> str:
    return f"{click.style(f'{label:>10}', dim=True)}  {printable(text)}"
