"""Gives a response one aspect of another, to tell whether a rule is about that aspect.

A rule is about a difference if a response stops to break it once it is in that aspect as the other
deployment's response is.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from understudy.exchange.messages import NO_JSON, Exchange, Headers, Response

_STEP: Final = re.compile(r"\[\]|[^.\[\]]+")
"""A step of a member's path: the items of a list, or the name of a member."""

_ABSENT: Final = object()


def with_aspect(exchange: Exchange, aspect: str, other: Exchange) -> Exchange:
    """Returns an exchange whose response is in one aspect as another one is.

    Args:
        exchange: The exchange.
        aspect: The name of the aspect; of one that decides others the whole response is taken.
        other: The exchange whose aspect it gets.
    """
    kind, _, name = aspect.partition(" ")
    if kind == "header":
        return _with_headers(exchange, {name}, other)
    if kind == "redirect":
        return _with_headers(exchange, {"location"}, other)
    if aspect == "error code":
        headers = _with_headers(exchange, {"location"}, other).response.headers
        return replace(exchange, response=Response(exchange.status, headers, other.response.body))
    if kind == "member" and NO_JSON not in {_hashable(exchange), _hashable(other)}:
        path = _STEP.findall("" if name == "body" else name)
        body = _grafted(exchange.body, other.body, path)
        response = replace(exchange.response, body=orjson.dumps(body))
        return replace(exchange, response=_fresh(response))
    return replace(exchange, response=other.response)


def _hashable(exchange: Exchange) -> object:
    """Returns the sentinel of a body that is not JSON, or None."""
    return NO_JSON if exchange.body is NO_JSON else None


def _fresh(response: Response) -> Response:
    """Returns a response of the same parts, which decodes its body anew."""
    return Response(response.status, response.headers, response.body)


def _with_headers(exchange: Exchange, names: set[str], other: Exchange) -> Exchange:
    kept: Headers = tuple(each for each in exchange.response.headers if each[0] not in names)
    taken: Headers = tuple(each for each in other.response.headers if each[0] in names)
    response = Response(exchange.status, (*kept, *taken), exchange.response.body)
    return replace(exchange, response=response)


def _grafted(value: Any, other: Any, path: Sequence[str]) -> Any:
    """Returns a JSON value with the part at a path as another value has it, or without it."""
    if not path:
        return value if other is _ABSENT else other
    step, rest = path[0], path[1:]
    if step == "[]":
        items = other if isinstance(other, list) else []
        if not isinstance(value, list):
            return value
        return [
            _grafted(item, items[min(place, len(items) - 1)] if items else _ABSENT, rest)
            for place, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    part = other.get(step, _ABSENT) if isinstance(other, dict) else _ABSENT
    kept = {name: member for name, member in value.items() if name != step}
    if rest and step in value:
        return {**kept, step: _grafted(value[step], part, rest)}
    return kept if part is _ABSENT else {**kept, step: part}
