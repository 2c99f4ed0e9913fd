"""Matches exchanges with WireMock's request patterns, extended by members of the mock."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson
import re2

from understudy.errors import BadRequest
from understudy.limits import PATTERN_BYTES, PATTERN_CHARACTERS, PATTERNS, SEARCH_SECONDS
from understudy.mock.admin.journal_entries import operation_id
from understudy.mock.server.request_context import RequestContext

Pattern = Mapping[str, Any]

_OPTIONS: Final = re2.Options()
"""RE2 takes time in proportion to the text, whatever the expression is."""
_OPTIONS.dot_nl = True
_OPTIONS.log_errors = False
_OPTIONS.max_mem = PATTERN_BYTES.most
"""A repetition of repetitions is small as a text, and takes seconds to compile."""


def search(entries: Sequence[RequestContext], pattern: Pattern) -> list[RequestContext]:
    """Returns the exchanges that fit a pattern. It may take long, and so belongs into a thread.

    Raises:
        BadRequest: A regular expression is invalid.
        LimitExceeded: The pattern has too many comparisons, or they take too long.
    """
    PATTERNS.check(sum(len(tests) for tests in pattern.values() if isinstance(tests, list | dict)))
    end = perf_counter() + SEARCH_SECONDS.most
    found = []
    for context in entries:
        if perf_counter() > end:
            raise SEARCH_SECONDS.exceeded()
        if matches(context, pattern):
            found.append(context)
    return found


def matches(context: RequestContext, pattern: Pattern) -> bool:
    """Tells whether an exchange fits a pattern in every respect that the pattern names.

    Raises:
        BadRequest: A regular expression is invalid.
    """
    return all(_TESTS[name](context, wanted) for name, wanted in pattern.items())


def _url(context: RequestContext) -> str:
    query = context.query.decode("latin-1")
    return f"{context.path}?{query}" if query else context.path


def _method(context: RequestContext, wanted: str) -> bool:
    return wanted in {"ANY", context.method}


def _status(context: RequestContext, wanted: Any) -> bool:
    return str(context.status) == str(wanted) or str(wanted).upper() == f"{context.status // 100}XX"


def _headers(context: RequestContext, wanted: Mapping[str, Pattern]) -> bool:
    headers = {
        name.decode("latin-1"): text.decode("latin-1") for name, text in context.headers.items()
    }
    return all(_fits(headers.get(name.lower()), text) for name, text in wanted.items())


def _query(context: RequestContext, wanted: Mapping[str, Pattern]) -> bool:
    parameters = dict(parse_qsl(context.query.decode("latin-1"), keep_blank_values=True))
    return all(_fits(parameters.get(name), text) for name, text in wanted.items())


def _body(context: RequestContext, wanted: list[Pattern]) -> bool:
    text = context.body.decode("utf-8", "replace")
    return all(_fits(text, pattern) for pattern in wanted)


def _person(context: RequestContext, wanted: str) -> bool:
    return context.principal is not None and context.principal.person == wanted


_TESTS: Mapping[str, Callable[[RequestContext, Any], bool]] = {
    "method": _method,
    "url": lambda context, wanted: _url(context) == wanted,
    "urlPath": lambda context, wanted: context.path == wanted,
    "urlPattern": lambda context, wanted: _is_like(wanted, _url(context)),
    "urlPathPattern": lambda context, wanted: _is_like(wanted, context.path),
    "headers": _headers,
    "queryParameters": _query,
    "bodyPatterns": _body,
    "operation": lambda context, wanted: operation_id(context) == wanted,
    "status": _status,
    "person": _person,
    "identity": lambda context, wanted: context.identity == wanted,
    "fault": lambda context, wanted: context.fault == wanted,
}


def _fits(text: str | None, pattern: Pattern) -> bool:
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
    "matches": lambda text, wanted, _: _is_like(wanted, text),
    "doesNotMatch": lambda text, wanted, _: not _is_like(wanted, text),
    "equalToJson": _equal_json,
    "absent": lambda _text, _wanted, _: True,
}


def _is_like(expression: str, text: str) -> bool:
    PATTERN_CHARACTERS.check(len(expression))
    try:
        return re2.fullmatch(expression, text, options=_OPTIONS) is not None
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        msg = f"{expression[:100]!r} is not a regular expression in RE2's syntax: {reason}."
        raise BadRequest(msg) from error
