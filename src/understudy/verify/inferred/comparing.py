"""Compares what was sent with what is read back, as far as a difference is certain.

A service may add members, write an instant in another way, or leave out what is null.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from understudy.verify.value_texts import as_json

_SHOWN = 80
"""Characters of a value that a difference shows."""


def agrees(expected: Any, actual: Any) -> bool:
    """Tells whether a value can be another one that was sent through a service."""
    if expected == actual and isinstance(expected, bool) == isinstance(actual, bool):
        return True
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(agrees(value, actual.get(name)) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(agrees, expected, actual))
    if isinstance(expected, str) and isinstance(actual, str):
        instant = _instant(expected)
        return instant is not None and instant == _instant(actual)
    return False


def differing(
    expected: Mapping[str, Any], actual: Mapping[str, Any], ignored: Iterable[str] = ()
) -> list[str]:
    """Returns the names of the members whose values differ from the expected ones."""
    left_out = set(ignored)
    return [
        name
        for name, value in expected.items()
        if name not in left_out and not agrees(value, actual.get(name))
    ]


def shown(members: Mapping[str, Any], names: Iterable[str]) -> str:
    """Returns some members as a report shows them; one that is missing is said to be."""
    return ", ".join(
        f"{name} {as_json(members[name])[:_SHOWN]}" if name in members else f"no {name}"
        for name in names
    )


def _instant(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
