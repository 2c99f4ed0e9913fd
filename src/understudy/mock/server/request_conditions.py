"""Compares requests with the conditions of stubs, faults and searches, which use WireMock's names."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

import orjson
import re2
from msgspec import UNSET

from understudy.errors import BadRequest
from understudy.limits import PATTERN_BYTES, PATTERN_CHARACTERS
from understudy.mock.server.faults import RequestCondition, TextCondition, is_comparison
from understudy.mock.server.request_context import RequestContext
from understudy.openapi.pointers import escape

_OPTIONS: Final = re2.Options()
"""RE2 instead of ``re``: no expression of a caller takes more than linear time."""
_OPTIONS.dot_nl = True
_OPTIONS.log_errors = False
_OPTIONS.max_mem = PATTERN_BYTES.most
"""Bounds compilation: nested repetitions such as ``((a{99}){99}){99}`` are short and take seconds."""


def fits(text: str | None, pattern: Mapping[str, Any]) -> bool:
    """Tells whether a text meets all comparisons of a pattern in WireMock's notation.

    Args:
        text: Text to compare; None: absent from the request.
        pattern: Comparison name, such as ``equalTo``, to its operand.

    Raises:
        BadRequest: A regular expression is invalid.
    """
    if pattern.get("absent"):
        return text is None
    if text is None:
        return False
    options = {**pattern}
    is_folded = options.pop("caseInsensitive", False)
    return all(_COMPARISONS[name](text, wanted, is_folded) for name, wanted in options.items())


def _equal_json(text: str, wanted: Any, _is_folded: bool) -> bool:  # noqa: FBT001 - as above
    try:
        expected = orjson.loads(wanted) if isinstance(wanted, str) else wanted
        return bool(orjson.loads(text) == expected)
    except ValueError:
        return False


_COMPARISONS: Mapping[str, Callable[[str, Any, bool], bool]] = {
    "equalTo": lambda text, wanted, is_folded: (
        text.lower() == wanted.lower() if is_folded else text == wanted
    ),
    "contains": lambda text, wanted, _: wanted in text,
    "doesNotContain": lambda text, wanted, _: wanted not in text,
    "matches": lambda text, wanted, _: is_like(wanted, text),
    "doesNotMatch": lambda text, wanted, _: not is_like(wanted, text),
    "equalToJson": _equal_json,
    "absent": lambda _text, _wanted, _: True,
}


def is_like(expression: str, text: str) -> bool:
    """Tells whether a regular expression matches a whole text.

    Raises:
        BadRequest: The expression is invalid.
        LimitExceeded: The expression is too long.
    """
    PATTERN_CHARACTERS.check(len(expression))
    try:
        return re2.fullmatch(expression, text, options=_OPTIONS) is not None
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        msg = f"{expression[:100]!r} is not a regular expression in RE2's syntax: {reason}."
        raise BadRequest(msg) from error


class Misfit(NamedTuple):
    """One part of a condition that a request does not meet.

    Attributes:
        where: Place in the request, such as ``path profileIdentifier``.
        expected: Value or comparison that the condition has for this place.
        actual: Value that the request has there; None: absent.
    """

    where: str
    expected: Any
    actual: Any


def misfits(condition: RequestCondition, context: RequestContext) -> Iterator[Misfit]:
    """Yields the parts of a condition that a request does not meet.

    Raises:
        BadRequest: A regular expression is invalid.
    """
    person = context.principal.person if context.principal else None
    if condition.person not in {None, person}:
        yield Misfit("person", condition.person, person)
    if condition.path:
        yield from _other_texts("path", condition.path, context.path_arguments.items())
    if condition.query:
        query = parse_qsl(context.query.decode("latin-1"), keep_blank_values=True)
        yield from _other_texts("query", condition.query, query)
    if condition.header:
        sent = context.headers.items()
        fields = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in sent]
        names = {name.lower(): wanted for name, wanted in condition.header.items()}
        yield from _other_texts("header", names, fields)
    if condition.body is not UNSET:
        yield from _other_parts("body", _body(context), condition.body)


def _other_texts(
    place: str, conditions: Mapping[str, TextCondition], texts: Iterable[tuple[str, str]]
) -> Iterator[Misfit]:
    """Yields the named conditions that no sent text of the same name meets; names may be sent twice."""
    by_name: dict[str, list[str]] = {}
    for name, text in texts:
        by_name.setdefault(name, []).append(text)
    for name, wanted in conditions.items():
        sent: Sequence[str | None] = by_name.get(name, (None,))
        if isinstance(wanted, str):
            is_fit = wanted in sent
        else:
            is_fit = any(fits(text, wanted) for text in sent)
        if not is_fit:
            yield Misfit(f"{place} {name}", wanted, sent[-1])


def _body(context: RequestContext) -> Any:
    """Returns the body's JSON value, or a form's fields as an object; None for any other body."""
    try:
        return orjson.loads(context.body)
    except ValueError:
        return dict(parse_qsl(context.body.decode("latin-1"), keep_blank_values=True)) or None


_MISSING: Final = object()
"""Sentinel: the object lacks the member; a member that is null is present."""


def _other_parts(place: str, value: Any, part: Any) -> Iterator[Misfit]:
    """Yields the places where a JSON value does not contain the wanted part.

    An object contains a part whose members it has; further members are ignored. A part may be a
    comparison for a string, such as ``{"contains": "x"}``.
    """
    if isinstance(part, dict) and isinstance(value, dict):
        for name, member in part.items():
            yield from _other_parts(f"{place}/{escape(name)}", value.get(name, _MISSING), member)
        return
    if isinstance(part, list) and isinstance(value, list) and len(value) == len(part):
        for number, (item, wanted) in enumerate(zip(value, part, strict=True)):
            yield from _other_parts(f"{place}/{number}", item, wanted)
        return
    actual = None if value is _MISSING else value
    if isinstance(part, dict) and (isinstance(value, str) or value is _MISSING):
        is_fit = is_comparison(part) and fits(actual, part)
    else:
        is_fit = type(value) is type(part) and bool(value == part)
    if not is_fit:
        yield Misfit(place, part, actual)


def expect_comparisons(value: Any) -> None:
    """Checks every regular expression of a condition, at any depth.

    Raises:
        BadRequest: A regular expression is invalid.
    """
    if isinstance(value, dict) and is_comparison(value):
        fits("", value)  # compiles its expressions
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            expect_comparisons(part)
