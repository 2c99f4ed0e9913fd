"""Writes values as findings show them: as JSON, which readers in any language know."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from understudy.exchange.messages import NO_JSON

BITING = (
    "A&B=C #1 + 2 %41_100%",
    "東京 🎭 שלום",
    '"it\'s" <b> \\ ;',
)
"""Texts that something changes which is not careful: addresses, markup, bytes for characters."""


def as_json(value: object) -> str:
    """Returns a value as JSON; what JSON does not have is written as text."""
    if value is NO_JSON:
        return "no JSON"
    return json.dumps(value, default=_plain, ensure_ascii=False)  # with spaces, so that it wraps


Pairs = dict[str, tuple[object, object]]
"""Names of members to two values of each."""


def differing_pairs(
    one: Mapping[str, object], other: Mapping[str, object], names: Iterable[str]
) -> Pairs:
    """Returns which of these members differ between two objects, each with both values."""
    pairs = {name: (one.get(name), other.get(name)) for name in names}
    return {name: (first, second) for name, (first, second) in pairs.items() if first != second}


def as_pairs(values: Pairs, first: str = "was", second: str = "is") -> str:
    """Returns members with two values each, such as ``location: was "Port", is ""``."""
    return "; ".join(
        f"{name}: {first} {as_json(one)}, {second} {as_json(other)}"
        for name, (one, other) in values.items()
    )


def as_text(value: object) -> str:
    """Returns a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else as_json(value)


def _plain(value: object) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)
