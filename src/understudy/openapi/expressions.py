"""Evaluates the runtime expressions in callback addresses (OpenAPI 3.1.0, 4.8.20.3)."""

import re
from collections.abc import Mapping
from typing import Any, Final

from understudy.openapi.pointers import value_at

_EMBEDDED: Final = re.compile(r"\{(\$[^{}]*)\}")  # an expression within an address
_EXPRESSION: Final = re.compile(
    r"\$(?:(?P<plain>url|method|statusCode)"
    r"|(?P<side>request|response)\."
    r"(?:(?P<place>header|query|path)\.(?P<name>.+)|body(?P<pointer>#.*)?))"
)


ExchangeValues = Mapping[str, Any]
"""The parts of an exchange by the names that expressions use: ``url``, ``method``, ``statusCode``,
``request`` and ``response``. The last two are mappings with the parsed ``body``, and with ``header``
(names in lower case), ``query`` and ``path``, each a mapping by name."""


def unread_expressions(address: str) -> list[str]:
    """Returns the invalid expressions of an address, or the address if it is relative and has none."""
    expressions = [address] if address.startswith("$") else _EMBEDDED.findall(address)
    is_fixed = not expressions and "://" in address
    unread = [it for it in expressions if _EXPRESSION.fullmatch(it) is None]
    return unread if expressions or is_fixed else [address]


def evaluated(address: str, exchange: ExchangeValues) -> str:
    """Returns an address with each expression replaced by its value in an exchange.

    Raises:
        LookupError: The exchange lacks a value; the error's argument is the expression.
    """
    if address.startswith("$"):
        return _text(address, exchange)
    return _EMBEDDED.sub(lambda match: _text(match[1], exchange), address)


def _text(expression: str, exchange: ExchangeValues) -> str:
    match = _EXPRESSION.fullmatch(expression)
    value = None if match is None else _value(match, exchange)
    if value is None or isinstance(value, dict | list):
        raise LookupError(expression)
    return str(value)


def _value(match: re.Match[str], exchange: ExchangeValues) -> Any:
    if match["plain"]:
        return exchange[match["plain"]]
    message = exchange[match["side"]]
    if match["place"]:
        name = match["name"].lower() if match["place"] == "header" else match["name"]
        return message.get(match["place"], {}).get(name)
    try:
        return value_at(message["body"], match["pointer"] or "#")
    except LookupError:
        return None
