"""The request log: one line per request, coloured on a terminal, plain text or JSON elsewhere."""

import textwrap
from collections.abc import Callable
from datetime import datetime

import click
import orjson

from understudy.cli.status_colours import COLOURS
from understudy.mock.server.journaling import RequestListener
from understudy.mock.server.masking import masked_query, secret_names
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.worlds import DEFAULT
from understudy.mock.settings import Log
from understudy.terminal import printable_line

Write = Callable[[str], None]

REASON_WIDTH = 160
"""Characters of the reason of a refusal; ``understudy explain`` shows all of it."""

INDENT = " " * 16


def log_lines(log: Log, write: Write, *, is_terminal: bool) -> RequestListener | None:
    """Returns a listener that writes a line for each request; None if the log is off.

    Args:
        log: The setting of ``--log``.
        write: Writes a line, given without its line end.
        is_terminal: Whether to colour the lines.
    """
    if log == "off":
        return None
    line = _json if log == "json" else _coloured if is_terminal else _text

    def record(context: RequestContext) -> None:
        write(line(context))

    return record


def _target(context: RequestContext) -> str:
    query = masked_query(context.query.decode("latin-1"), secret_names(context))
    return printable_line(f"{context.path}?{query}" if query else context.path)


def _id(context: RequestContext) -> str:
    """Returns the id that ``understudy explain`` takes; calls of the admin API have none."""
    return f"#{context.number}" if context.number else "-"


def _clock(instant: datetime) -> str:
    return instant.strftime("%H:%M:%S")


def _who(context: RequestContext) -> str:
    person = context.principal.person if context.principal else "-"
    world = context.world.name
    return person if world == DEFAULT else f"{person}  world {world}"


def _reason(context: RequestContext) -> str:
    """Returns why a request was refused, in a few words; empty if it was not."""
    if context.refusal is None:
        return ""
    return textwrap.shorten(printable_line(context.refusal.problem.message), REASON_WIDTH)


def _remarks(context: RequestContext) -> list[str]:
    reason = _reason(context)
    return [*([reason] if reason else []), *map(printable_line, context.notes)]


def _text(context: RequestContext) -> str:
    line = (
        f"{_clock(context.started)}  {_id(context):>4}  {context.status}  {context.method:<6}"
        f" {_target(context)}  {context.seconds * 1000:.1f} ms  {_who(context)}"
    )
    return "\n".join([line, *(f"{INDENT}{remark}" for remark in _remarks(context))])


def _coloured(context: RequestContext) -> str:
    status = click.style(context.status, fg=COLOURS.get(context.status // 100), bold=True)
    faint = click.style(f"{context.seconds * 1000:.1f} ms  {_who(context)}", dim=True)
    start = click.style(f"{_clock(context.started)}  {_id(context):>4}", dim=True)
    line = f"{start}  {status}  {context.method:<6} {_target(context)}  {faint}"
    remarks = (click.style(f"{INDENT}{remark}", fg="yellow") for remark in _remarks(context))
    return "\n".join([line, *remarks])


def _json(context: RequestContext) -> str:
    endpoint = context.endpoint
    entry = {
        "time": context.started.isoformat(),
        "id": context.number or None,
        "world": context.world.name,
        "method": context.method,
        "target": _target(context),
        "status": context.status,
        "milliseconds": round(context.seconds * 1000, 3),
        "operation": endpoint.operation.operation_id if endpoint else None,
        "person": context.principal.person if context.principal else None,
        "reason": _reason(context) or None,
        "notes": context.notes,
    }
    return orjson.dumps(entry).decode()
