"""The request log: one line per request, coloured on a terminal, plain text or JSON elsewhere."""

from collections.abc import Callable
from datetime import datetime

import click
import orjson

from understudy.cli.status_colours import COLOURS
from understudy.mock.engine.journaling import RequestListener
from understudy.mock.engine.masking import masked_query
from understudy.mock.engine.request_context import RequestContext
from understudy.mock.settings import Log

Write = Callable[[str], None]


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

    def record(exchange: RequestContext) -> None:
        write(line(exchange))

    return record


def _target(exchange: RequestContext) -> str:
    query = masked_query(exchange.query.decode("latin-1"))
    return f"{exchange.path}?{query}" if query else exchange.path


def _clock(instant: datetime) -> str:
    return instant.strftime("%H:%M:%S")


def _who(exchange: RequestContext) -> str:
    return exchange.principal.person if exchange.principal else "-"


def _text(exchange: RequestContext) -> str:
    line = (
        f"{_clock(exchange.started)}  {exchange.status}  {exchange.method:<6} {_target(exchange)}"
        f"  {exchange.seconds * 1000:.1f} ms  {_who(exchange)}"
    )
    return "\n".join([line, *(f"          {note}" for note in exchange.notes)])


def _coloured(exchange: RequestContext) -> str:
    status = click.style(exchange.status, fg=COLOURS.get(exchange.status // 100), bold=True)
    faint = click.style(f"{exchange.seconds * 1000:.1f} ms  {_who(exchange)}", dim=True)
    time = click.style(_clock(exchange.started), dim=True)
    line = f"{time}  {status}  {exchange.method:<6} {_target(exchange)}  {faint}"
    notes = (click.style(f"          {note}", fg="yellow") for note in exchange.notes)
    return "\n".join([line, *notes])


def _json(exchange: RequestContext) -> str:
    endpoint = exchange.endpoint
    entry = {
        "time": exchange.started.isoformat(),
        "method": exchange.method,
        "target": _target(exchange),
        "status": exchange.status,
        "milliseconds": round(exchange.seconds * 1000, 3),
        "operation": endpoint.operation.operation_id if endpoint else None,
        "person": exchange.principal.person if exchange.principal else None,
        "notes": exchange.notes,
    }
    return orjson.dumps(entry).decode()
