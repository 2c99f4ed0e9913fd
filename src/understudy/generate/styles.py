"""How values are written into a path, a query, a header, a cookie or a form (OpenAPI 3.0.3, 4.7.12.2)."""

from collections.abc import Callable, Iterable
from typing import Any

from understudy.generate.drafts import dumps, encoded
from understudy.openapi.operations import Parameter

_SEPARATORS = {"spaceDelimited": "%20", "pipeDelimited": "|"}

Write = Callable[[str], str]


def written(value: Any) -> str:
    """Returns a value as a text, before it is encoded; lists and objects as JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return dumps(value)
    return "" if value is None else str(value)


def query_pairs(parameter: Parameter, value: Any) -> tuple[tuple[str, str], ...]:
    """Returns the encoded names and values that a query parameter is written as."""
    name = encoded(parameter.name)
    if parameter.is_json or not isinstance(value, list | dict):
        return ((name, encoded(written(value))),)
    if isinstance(value, dict) and parameter.style == "deepObject":
        return tuple((f"{name}%5B{encoded(k)}%5D", encoded(written(v))) for k, v in value.items())
    if parameter.explode:
        items = value.items() if isinstance(value, dict) else ((parameter.name, v) for v in value)
        return tuple((encoded(str(k)), encoded(written(v))) for k, v in items)
    separator = _SEPARATORS.get(parameter.style, ",")
    return ((name, separator.join(encoded(written(item)) for item in _flat(value))),)


def text_of(parameter: Parameter, value: Any, write: Write = encoded) -> str:
    """Returns the text of a path, header or cookie parameter.

    Args:
        parameter: The parameter.
        value: What it is to say.
        write: Encodes a text, which headers leave alone.
    """

    def said(item: Any) -> str:
        return write(written(item))

    if parameter.is_json:
        return said(value)
    if parameter.style == "matrix":
        return _matrix(parameter, value, said)
    head, joint = (".", ".") if parameter.style == "label" else ("", ",")
    if isinstance(value, dict) and parameter.explode:
        return head + joint.join(f"{write(str(k))}={said(v)}" for k, v in value.items())
    if isinstance(value, list | dict):
        joint = joint if parameter.explode else ","
        return head + joint.join(map(said, _flat(value)))
    return head + said(value)


def _matrix(parameter: Parameter, value: Any, said: Callable[[Any], str]) -> str:
    name = parameter.name
    if isinstance(value, list | dict) and parameter.explode:
        named = value.items() if isinstance(value, dict) else ((name, item) for item in value)
        return "".join(f";{k}={said(v)}" for k, v in named)
    items = _flat(value) if isinstance(value, list | dict) else [value]
    return f";{name}=" + ",".join(map(said, items))


def _flat(value: list[Any] | dict[str, Any]) -> Iterable[Any]:
    """Returns the items of a list, or names and values of an object by turns."""
    if isinstance(value, list):
        return value
    return [item for pair in value.items() for item in pair]
