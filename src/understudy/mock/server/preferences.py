"""Reads the preferences and the switch options of a single request.

Preferences come in the ``Prefer`` header (RFC 7240), or in query parameters. ``code``, ``example``,
``dynamic`` and ``seed`` have the names that the mock server Prism gives them; the others are added.
Unlike in Prism, an unknown preference is refused.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_plus

from understudy.errors import MockRefusal, StartupError, nearest
from understudy.mock.server.faults import (
    EFFECTS,
    MOST_EVENTS,
    MOST_FIELD_CHARACTERS,
    NO_PLAN,
    StreamPlan,
)
from understudy.mock.server.request_context import (
    CHOOSE_HEADER,
    OWN_PREFIX,
    RequestContext,
    Step,
)

NAMES = ("code", "example", "dynamic", "seed", "delay", "fault", "events", "interval", "then")
FOREIGN = frozenset({"handling", "respond-async", "return", "wait"})
"""Preferences of RFC 7240, section 4, that real clients send; they are ignored."""

TITLE = "No such preference"


class RequestPreferences(NamedTuple):
    """Preferences of a single request (RFC 7240).

    Attributes:
        code: Status of the response, with the body that the document declares for this status.
        example: Name of the document's example to respond with.
        dynamic: Whether the body is generated from the schema.
        seed: Seed of a generated body; the world's seed by default.
        delay: Seconds to wait before the response.
        fault: Kind of fault to inject.
        field: Member of the body that the fault changes.
        stream: Number and times of a stream's items.
        texts: Name of each preference to its text, as the client wrote it.
    """

    code: int | None = None
    example: str | None = None
    dynamic: bool = False
    seed: int | None = None
    delay: float = 0.0
    fault: str | None = None
    field: str | None = None
    stream: StreamPlan = NO_PLAN
    texts: Mapping[str, str] = MappingProxyType({})

    @property
    def is_from_document(self) -> bool:
        """True if the response comes from the document, and not from a handler."""
        return self.code is not None or self.example is not None or self.dynamic

    def applied(self, *, is_stream: bool) -> str:
        """Returns the value of ``Preference-Applied``; empty if the response obeys no preference.

        Args:
            is_stream: Whether the response is a stream whose items are sent one at a time.
        """
        texts = self.texts.items()
        obeyed = (it for it in texts if is_stream or it[0] not in StreamPlan._fields)
        return ", ".join(f"{name}={text}" for name, text in obeyed)


NO_PREFERENCES: Final = RequestPreferences()


def preferences_of(header: str, query: str) -> tuple[RequestPreferences | None, str]:
    """Reads the preferences of a request.

    Args:
        header: Value of the ``Prefer`` header; may be empty.
        query: Raw query string.

    Returns:
        The preferences (None if the request has none), and the query without preferences.

    Raises:
        MockRefusal: The name or the value of a preference is unknown.
    """
    other_pairs, in_query = [], {}
    for pair in query.split("&") if query else ():
        name, _, text = pair.partition("=")
        preference = unquote_plus(name).removeprefix(OWN_PREFIX)
        # a name that is not even similar is a parameter of the API that happens to have the prefix
        if OWN_PREFIX in name and nearest(preference, NAMES):
            in_query[preference] = unquote_plus(text)
        else:
            other_pairs.append(pair)
    texts = {**dict(_header_pairs(header)), **in_query}
    rest = "&".join(other_pairs) if in_query else query
    return (_read(texts) if texts else None), rest


def _header_pairs(header: str) -> Iterator[tuple[str, str]]:
    for part in header.replace(";", ",").split(","):
        name, _, text = part.partition("=")
        name = name.strip().lower()
        if name and name not in FOREIGN:
            yield name, text.strip().strip('"')


def _read(texts: Mapping[str, str]) -> RequestPreferences:
    values: dict[str, Any] = {}
    for name, text in texts.items():
        if name not in NAMES:
            msg = f"{name!r} is not a preference{nearest(name, NAMES) or '.'} There are {_all(NAMES)}."
            raise MockRefusal(400, TITLE, msg)
        values |= _fault(text) if name == "fault" else {name: _value(name, text)}
    plan = {name: values.pop(name) for name in StreamPlan._fields if name in values}
    return RequestPreferences(**values, stream=StreamPlan(**plan), texts=texts)


def _fault(text: str) -> dict[str, Any]:
    effect, _, field = text.partition(":")
    if effect not in EFFECTS:
        hint = nearest(effect, list(EFFECTS)) or "."
        msg = f"fault={effect:.40} is not a fault{hint} There are {_all(EFFECTS)}."
        raise MockRefusal(400, TITLE, msg)
    if EFFECTS[effect].needs_field and not field:
        msg = f"fault={effect} changes a field; name it, as in fault={effect}:display_name."
        raise MockRefusal(400, TITLE, msg)
    if len(field) > MOST_FIELD_CHARACTERS:
        msg = (
            f"fault={effect} names a field of {len(field)} characters; "
            f"at most {MOST_FIELD_CHARACTERS} are read."
        )
        raise MockRefusal(400, TITLE, msg)
    return {"fault": effect, "field": field or None}


def _value(name: str, text: str) -> Any:
    """Returns the typed value of a preference, as its row in ``_VALUES`` says."""
    pattern, read, expected = _VALUES[name]
    if not pattern.fullmatch(text) or (name in _MOST and read(text) > _MOST[name]):
        msg = f"{name}={text:.40} is {expected}."
        raise MockRefusal(400, TITLE, msg)
    return read(text)


_SECONDS = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_MOST: Final[Mapping[str, float]] = {"delay": 60.0, "interval": 60.0, "events": MOST_EVENTS}
"""Upper bounds: times in seconds, and the number of items of a stream."""

_VALUES: Final[Mapping[str, tuple[re.Pattern[str], Callable[[str], Any], str]]] = {
    "code": (re.compile("[2-5][0-9][0-9]"), int, "not a status; use one from 200 to 599"),
    "example": (re.compile(".*", re.DOTALL), str, "not the name of an example"),
    "dynamic": (re.compile("true|false"), "true".__eq__, "neither true nor false"),
    "seed": (re.compile("-?[0-9]{1,18}"), int, "not a whole number of at most 18 digits"),
    "delay": (_SECONDS, float, "not a number of seconds from 0 to 60"),
    "events": (re.compile("[0-9]{1,18}"), int, "not a whole number from 0 to 10,000"),
    "interval": (_SECONDS, float, "not a number of seconds from 0 to 60"),
    "then": (re.compile("end|stay"), str, "neither end nor stay"),
}
"""Name of each preference but ``fault`` to the pattern of its value, its parser, and its error text."""


def _all(words: Any) -> str:
    return ", ".join(words)


Choose = Callable[[Sequence[str]], Mapping[str, str]]
"""Reads ``name=option`` texts; raises StartupError for an unknown switch or option."""


def choosing(choose: Choose) -> Step:
    """Returns the step that reads ``X-Mock-Choose: avatar-delete-status=200, scopes=ignored``."""

    def take_choices(context: RequestContext) -> None:
        header = context.headers.get(CHOOSE_HEADER)
        if header is None:
            return
        texts = [text.strip() for text in header.decode("latin-1").split(",") if text.strip()]
        try:
            context.choices = {**context.choices, **choose(texts)}
        except StartupError as error:
            raise MockRefusal(400, "No such choice", str(error)) from error

    return take_choices
