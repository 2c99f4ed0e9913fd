"""Shows two responses beside one another: their heads, and the members of their bodies that differ."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from understudy.exchange.masking import masked, masked_fields
from understudy.exchange.messages import Exchange
from understudy.exchange.shown import BODY_SHOWN, text_of
from understudy.verify.reports.grouping import counted

QUIET_HEADERS: Final = frozenset({"connection", "content-length", "date", "server"})
"""Headers of responses that tell nothing of a difference."""

_ABSENT: Final = object()


def shown_response(
    exchange: Exchange, secrets: Mapping[str, str], other: Exchange | None = None
) -> str:
    """Returns a response as text: the status, headers, and the start of its body.

    Args:
        exchange: The exchange.
        secrets: Each secret, and the variable that replaces it.
        other: The exchange beside it: of two JSON objects the members that differ are shown, if any
            do; None to show all.
    """
    response = exchange.response
    lines = [f"HTTP {response.status}"]
    lines += [
        f"{name}: {text}"
        for name, text in masked_fields(response.headers, secrets)
        if name not in QUIET_HEADERS
    ]
    body, alike = _differing(exchange.body, other.body if other is not None else None)
    text = text_of(response.body if body is None else orjson.dumps(body))
    if text is None:
        lines += ["", f"({len(response.body)} bytes)"]
    elif text:
        rest = "…" if len(text) > BODY_SHOWN else ""
        lines += ["", masked(text[:BODY_SHOWN], secrets) + rest]
    if alike:
        verb = "is" if alike == 1 else "are"
        lines += [f"({counted(alike, 'more member')} {verb} the same at both)"]
    return "\n".join(lines)


def _differing(body: Any, other: Any) -> tuple[dict[str, Any] | None, int]:
    """Returns the members of an object that another has not alike, and the number of the rest.

    None stands for the whole body, where nothing differs or one of both is not an object.
    """
    if not (isinstance(body, dict) and isinstance(other, dict)):
        return None, 0
    differing = {name: value for name, value in body.items() if other.get(name, _ABSENT) != value}
    is_more = differing or other.keys() - body.keys()
    return (differing, len(body) - len(differing)) if is_more else (None, 0)
