"""Says which files have too many levels or values to be read."""

from pathlib import Path
from typing import Any

from understudy.errors import StartupError
from understudy.limits import YAML_DEPTH, Limit


def beyond(limit: Limit, path: Path) -> StartupError:
    """Returns the error of a file that is beyond a limit."""
    return StartupError(
        f"{path} is beyond the limit {limit.name}: at most {limit.most:,} {limit.of}."
    )


def is_nested_too_deeply(value: Any) -> bool:
    """Tells whether a value that was read has more levels than a file may have."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(YAML_DEPTH.most + 1):
        if not level:
            return False
        level = [
            below
            for container in level
            for below in (container.values() if isinstance(container, dict) else container)
            if isinstance(below, dict | list)
        ]
    return True
