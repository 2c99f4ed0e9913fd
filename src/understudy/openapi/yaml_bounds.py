"""Refuses YAML that would overflow the stack, or grow by powers, when it is read.

libyaml's composer calls itself for each level, and an alias repeats all that its anchor holds.
Its parser does neither, so its events are counted first where that can matter.
"""

import re
from pathlib import Path
from typing import Any, Final

import yaml

from understudy.errors import StartupError
from understudy.limits import YAML_DEPTH, YAML_VALUES, Limit

_ANCHOR: Final = re.compile(rb"(?:^|[\s\[,])&[^\s\[\]{},&]", re.MULTILINE)
_LEVEL: Final = re.compile(rb"[\[{]|[-?][ \n]")
"""The bytes that may begin a level."""

_SMALL = 200_000
"""Bytes of a file that cannot hold too many values."""

_HARMLESS = 2000
"""So many levels do no harm, even if each is within the one before."""


def expect_bounded(content: bytes, path: Path) -> None:
    """Accepts a file whose values can be read.

    Args:
        content: The file.
        path: What names it in a message.

    Raises:
        StartupError: It is nested too deeply, or its aliases expand to too many values.
    """
    is_small = len(content) < _SMALL and len(_LEVEL.findall(content)) < _HARMLESS
    if is_small and not _ANCHOR.search(content):
        return
    counter = _Counter()
    for event in yaml.parse(content, yaml.CSafeLoader):
        counter.take(event)
        limit = counter.exceeded
        if limit is not None:
            raise beyond(limit, path)


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


class _Counter:
    """Counts the levels and the values of a file, event by event."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._levels: list[tuple[str | None, int]] = [(None, 0)]

    @property
    def exceeded(self) -> Limit | None:
        """The limit that the file is beyond."""
        if len(self._levels) > YAML_DEPTH.most:
            return YAML_DEPTH
        return YAML_VALUES if self._levels[-1][1] > YAML_VALUES.most else None

    def take(self, event: yaml.Event) -> None:
        """Counts the values that an event begins, ends or repeats."""
        match event:
            case yaml.CollectionStartEvent():
                self._levels.append((event.anchor, 0))
            case yaml.CollectionEndEvent():
                anchor, size = self._levels.pop()
                self._add(size + 1, anchor)
            case yaml.AliasEvent():
                self._add(self._sizes.get(event.anchor or "", 1), None)
            case yaml.ScalarEvent():
                self._add(1, event.anchor)
            case _:
                pass

    def _add(self, size: int, anchor: str | None) -> None:
        within, count = self._levels[-1]
        self._levels[-1] = (within, count + size)
        if anchor is not None:
            self._sizes[anchor] = size
