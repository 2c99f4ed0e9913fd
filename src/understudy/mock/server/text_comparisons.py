"""Compares texts of requests with what a pattern asks for, in WireMock's words."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson
import re2

from understudy.errors import BadRequest
from understudy.limits import PATTERN_BYTES, PATTERN_CHARACTERS

_OPTIONS: Final = re2.Options()
"""RE2 takes time in proportion to the text, whatever the expression is."""
_OPTIONS.dot_nl = True
_OPTIONS.log_errors = False
_OPTIONS.max_mem = PATTERN_BYTES.most
"""A repetition of repetitions is small as a text, and takes seconds to compile."""


def fits(text: str | None, pattern: Mapping[str, Any]) -> bool:
    """Tells whether a text, or None for the lack of one, fits comparisons by name, as WireMock has them.

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


def _equal(text: str, wanted: str, is_folded: bool) -> bool:  # noqa: FBT001 - of one shape in the table
    return text.lower() == wanted.lower() if is_folded else text == wanted


def _equal_json(text: str, wanted: Any, _is_folded: bool) -> bool:  # noqa: FBT001 - as above
    try:
        expected = orjson.loads(wanted) if isinstance(wanted, str) else wanted
        return bool(orjson.loads(text) == expected)
    except ValueError:
        return False


_COMPARISONS: Mapping[str, Callable[[str, Any, bool], bool]] = {
    "equalTo": _equal,
    "contains": lambda text, wanted, _: wanted in text,
    "doesNotContain": lambda text, wanted, _: wanted not in text,
    "matches": lambda text, wanted, _: is_like(wanted, text),
    "doesNotMatch": lambda text, wanted, _: not is_like(wanted, text),
    "equalToJson": _equal_json,
    "absent": lambda _text, _wanted, _: True,
}


_FLAGS: Final = frozenset({"absent", "caseInsensitive"})


def is_comparison(value: Mapping[str, Any]) -> bool:
    """Tells whether an object holds comparisons of a text, and not members of JSON."""
    return bool(value) and all(
        name in _FLAGS or (name in _COMPARISONS and isinstance(text, str))
        for name, text in value.items()
    )


def is_like(expression: str, text: str) -> bool:
    """Tells whether a regular expression matches a whole text.

    Raises:
        BadRequest: The expression is invalid.
        LimitExceeded: It is too long.
    """
    PATTERN_CHARACTERS.check(len(expression))
    try:
        return re2.fullmatch(expression, text, options=_OPTIONS) is not None
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        msg = f"{expression[:100]!r} is not a regular expression in RE2's syntax: {reason}."
        raise BadRequest(msg) from error
