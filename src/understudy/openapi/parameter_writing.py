"""Serialises parameter values for path, query, header, cookie and form (OpenAPI 3.0.3, 4.7.12.2)."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from understudy.openapi.operations import FieldEncoding, Parameter

_SEPARATORS = {"spaceDelimited": "%20", "pipeDelimited": "|"}

_KEPT = ":/?@!$'()*,;"
"""Reserved characters without a special meaning in a query (RFC 3986, 2.2 and 3.4)."""

Encode = Callable[[str], str]
"""A function that encodes the text of a value."""


def encoded(text: str) -> str:
    """Returns a text percent-encoded: everything but letters, digits and ``-._~``."""
    return quote(text, safe="", errors="surrogatepass")


def written(value: Any) -> str:
    """Returns the text of a value before percent-encoding; lists and objects as JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def query_pairs(parameter: Parameter, value: Any) -> tuple[tuple[str, str], ...]:
    """Returns the percent-encoded name and value pairs of a query parameter."""
    name = encoded(parameter.name)
    if parameter.is_json or not isinstance(value, list | dict):
        text = written(value)
        return ((name, quote(text, safe=_KEPT) if parameter.keeps_reserved else encoded(text)),)
    if parameter.style == "deepObject":
        return tuple(_deep_pairs(name, value))
    if parameter.explode:
        members = value.items() if isinstance(value, dict) else [(parameter.name, value)]
        items = ((encoded(str(k)), item) for k, v in members for item in items_of(v))
        return tuple((name, encoded(written(item))) for name, item in items)
    separator = _SEPARATORS.get(parameter.style, ",")
    return ((name, separator.join(encoded(written(item)) for item in _flat(value))),)


def query_texts(parameter: Parameter, value: Any) -> tuple[tuple[str, str], ...]:
    """Returns the name and value pairs of a query parameter, before percent-encoding."""
    return tuple((unquote(name), unquote(text)) for name, text in query_pairs(parameter, value))


def form_pairs(
    members: Mapping[str, Any], encodings: Mapping[str, FieldEncoding]
) -> Iterator[tuple[str, str]]:
    """Yields the percent-encoded name and value pairs of a form.

    Without a declared style, each item of a list is a separate field, and an object is JSON.
    """
    for name, value in members.items():
        encoding = encodings.get(name, FieldEncoding())
        if encoding.style and isinstance(value, list | dict):
            field = Parameter(
                name,
                "query",
                required=True,
                style=encoding.style,
                explode=encoding.explode,
                schema=None,
            )
            yield from query_pairs(field, value)
        else:
            for item in items_of(value):
                yield encoded(name), encoded(written(item))


def items_of(value: Any) -> list[Any]:
    """Returns the values of a form field, each of which is sent as a separate field."""
    return value if isinstance(value, list) else [value]


def _deep_pairs(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yields ``name[member]=value`` at any depth; a list of scalars repeats its name."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _deep_pairs(f"{name}%5B{encoded(str(key))}%5D", member)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _deep_pairs(f"{name}%5B{index}%5D", item)
    else:
        for item in value if isinstance(value, list) else [value]:
            yield name, encoded(written(item))


def text_of(parameter: Parameter, value: Any, encode: Encode = encoded) -> str:
    """Returns the text of a path, header or cookie parameter.

    Args:
        parameter: The parameter.
        value: The value of the parameter.
        encode: Encodes the texts; for headers a function that leaves them unchanged.
    """

    def text(item: Any) -> str:
        return encode(written(item))

    if parameter.is_json:
        return text(value)
    if parameter.style == "matrix":
        return _matrix(parameter, value, text)
    head, joint = (".", ".") if parameter.style == "label" else ("", ",")
    if isinstance(value, dict) and parameter.explode:
        return head + joint.join(f"{encode(str(k))}={text(v)}" for k, v in value.items())
    if isinstance(value, list | dict):
        joint = joint if parameter.explode else ","
        return head + joint.join(map(text, _flat(value)))
    return head + text(value)


def _matrix(parameter: Parameter, value: Any, text: Callable[[Any], str]) -> str:
    name = parameter.name
    if isinstance(value, list | dict) and parameter.explode:
        named = value.items() if isinstance(value, dict) else ((name, item) for item in value)
        return "".join(f";{k}={text(v)}" for k, v in named)
    items = _flat(value) if isinstance(value, list | dict) else [value]
    return f";{name}=" + ",".join(map(text, items))


def _flat(value: list[Any] | dict[str, Any]) -> Iterable[Any]:
    """Returns the items of a list, or the names and values of an object in turn."""
    if isinstance(value, list):
        return value
    return [item for pair in value.items() for item in pair]
