"""Compares requests with the condition of a stub, a fault or a search of the journal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import orjson
from msgspec import UNSET

from understudy.mock.server.faults import RequestCondition, TextCondition
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.text_comparisons import fits, is_comparison


class Misfit(NamedTuple):
    """One respect in which a request is not what a condition asks for.

    Attributes:
        where: The place, such as ``path profileIdentifier``.
        expected: What the condition asks for.
        actual: What the request has there; None: nothing.
    """

    where: str
    expected: Any
    actual: Any


def misfits(condition: RequestCondition, context: RequestContext) -> Iterator[Misfit]:
    """Yields the respects in which a request is not what a condition asks for.

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
        body = _body(context)
        if not _contains(body, condition.body):
            yield Misfit("body", condition.body, body)


def _other_texts(
    place: str, conditions: Mapping[str, TextCondition], texts: Iterable[tuple[str, str]]
) -> Iterator[Misfit]:
    """Yields the conditions that no text of their name fits; a parameter may be sent twice."""
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
    """Returns the body as JSON, or a form as an object; None where it is neither."""
    try:
        return orjson.loads(context.body)
    except ValueError:
        return dict(parse_qsl(context.body.decode("latin-1"), keep_blank_values=True)) or None


def _contains(value: Any, part: Any) -> bool:
    """Tells whether a value of JSON contains another: of objects, its members among others.

    A text may be compared as texts elsewhere in the request are.
    """
    if isinstance(part, dict):
        if isinstance(value, str):
            return is_comparison(part) and fits(value, part)
        return isinstance(value, dict) and all(
            name in value and _contains(value[name], member) for name, member in part.items()
        )
    if isinstance(part, list):
        return (
            isinstance(value, list) and len(value) == len(part) and all(map(_contains, value, part))
        )
    return type(value) is type(part) and bool(value == part)


def expect_comparisons(value: Any) -> None:
    """Reads every regular expression of a condition, at whatever depth it stands.

    Raises:
        BadRequest: One is invalid.
    """
    if isinstance(value, dict) and is_comparison(value):
        fits("", value)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            expect_comparisons(part)
