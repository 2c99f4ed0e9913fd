"""Writes values as findings show them: as JSON, which readers in any language know."""

import json
from typing import Any

from understudy.deployments.exchange import NO_JSON


def as_json(value: object) -> str:
    """Returns a value as JSON; what JSON does not have is written as text."""
    if value is NO_JSON:
        return "no JSON"
    return json.dumps(value, default=_plain, ensure_ascii=False)  # with spaces, so that it wraps


def as_text(value: object) -> str:
    """Returns a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else as_json(value)


def _plain(value: object) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)
