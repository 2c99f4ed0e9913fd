"""What a single request wishes for itself, by the ``Prefer`` header (RFC 7240) or in its query.

The names are Prism's, so that its users need learn nothing: ``code``, ``example``, ``dynamic`` and
``seed``; ``delay`` and ``fault`` stand beside them. Unlike there, what is not understood is said so.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote_plus

from understudy.errors import MockRefusal, nearest
from understudy.mock.engine.faults import EFFECTS, FIELD_EFFECTS

HEADER = b"prefer"
TWIN = "__"
"""Begins a preference in the query: ``?__code=404``, for pages that cannot set headers."""

NAMES = ("code", "example", "dynamic", "seed", "delay", "fault")
FOREIGN = frozenset({"handling", "respond-async", "return", "wait"})
"""RFC 7240, 4: real clients send these, and nobody here knows them."""

TITLE = "No such preference"

_STATUSES = range(200, 600)
_LONGEST = 60.0
"""Seconds of a delay at most."""


class RequestPreferences(NamedTuple):
    """What a request wishes for.

    Attributes:
        code: The status, with the body that the document has for it.
        example: Name of an example in the document.
        dynamic: A body made from the schema instead of ours.
        seed: Of a made-up body; the world's if None.
        delay: Seconds.
        fault: An effect.
        field: Where it strikes.
        applied: What ``Preference-Applied`` says.
    """

    code: int | None = None
    example: str | None = None
    dynamic: bool = False
    seed: int | None = None
    delay: float = 0.0
    fault: Any = None
    field: str | None = None
    applied: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether the document answers, and no handler."""
        return self.code is not None or self.example is not None or self.dynamic


def preferences_of(header: str, query: str) -> tuple[RequestPreferences | None, str]:
    """Reads the wishes of a request.

    Args:
        header: Of ``Prefer``; may be empty.
        query: As it came.

    Returns:
        The wish, None if there is none, and the query without it.

    Raises:
        MockRefusal: A name or a value is unknown.
    """
    kept, twins = [], {}
    for pair in query.split("&") if query else ():
        name, _, text = pair.partition("=")
        wished = unquote_plus(name).removeprefix(TWIN)
        if TWIN in name and nearest(wished, NAMES):  # others are the client's own business
            twins[wished] = unquote_plus(text)
        else:
            kept.append(pair)
    asked = {**dict(_header_pairs(header)), **twins}
    rest = "&".join(kept) if twins else query
    if not asked:
        return None, rest
    return _wish(asked), rest


def _header_pairs(header: str) -> Iterator[tuple[str, str]]:
    for part in header.replace(";", ",").split(","):
        name, _, text = part.partition("=")
        name = name.strip().lower()
        if name and name not in FOREIGN:
            yield name, text.strip().strip('"')


def _wish(asked: Mapping[str, str]) -> RequestPreferences:
    read: dict[str, Any] = {}
    for name, text in asked.items():
        if name not in NAMES:
            msg = f"{name!r} is no preference{nearest(name, NAMES) or '.'} There are {_all(NAMES)}."
            raise MockRefusal(400, TITLE, msg)
        read |= _READERS[name](text)
    return RequestPreferences(
        **read, applied=", ".join(f"{name}={text}" for name, text in asked.items())
    )


def _code(text: str) -> dict[str, Any]:
    if not (text.isdecimal() and int(text) in _STATUSES):
        msg = f"code={text} is no status; use one from 200 to 599."
        raise MockRefusal(400, TITLE, msg)
    return {"code": int(text)}


def _example(text: str) -> dict[str, Any]:
    return {"example": text}


def _dynamic(text: str) -> dict[str, Any]:
    if text not in {"true", "false"}:
        msg = f"dynamic={text} is neither true nor false."
        raise MockRefusal(400, TITLE, msg)
    return {"dynamic": text == "true"}


def _seed(text: str) -> dict[str, Any]:
    try:
        return {"seed": int(text)}
    except ValueError:
        msg = f"seed={text} is no whole number."
        raise MockRefusal(400, TITLE, msg) from None


def _delay(text: str) -> dict[str, Any]:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= _LONGEST:
        msg = f"delay={text} is no number of seconds from 0 to {_LONGEST:g}."
        raise MockRefusal(400, TITLE, msg)
    return {"delay": seconds}


def _fault(text: str) -> dict[str, Any]:
    effect, _, field = text.partition(":")
    if effect not in EFFECTS:
        hint = nearest(effect, list(EFFECTS)) or "."
        msg = f"fault={effect} is no fault{hint} There are {_all(EFFECTS)}."
        raise MockRefusal(400, TITLE, msg)
    if effect in FIELD_EFFECTS and not field:
        msg = f"fault={effect} strikes a field; name it, as in fault={effect}:display_name."
        raise MockRefusal(400, TITLE, msg)
    return {"fault": effect, "field": field or None}


_READERS = {
    "code": _code,
    "example": _example,
    "dynamic": _dynamic,
    "seed": _seed,
    "delay": _delay,
    "fault": _fault,
}


def _all(words: Any) -> str:
    return ", ".join(words)
