"""Finds the line of a place in a file, from its JSON pointer."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import yaml

from understudy.openapi.pointers import steps_of

_LARGEST = 2_000_000
"""Bytes of a file in which lines are looked for: finding them takes longer than reading."""

_MERGE = "tag:yaml.org,2002:merge"


class Lines:
    """The lines of one YAML or JSON file.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._root: yaml.Node | None = None
        if path.is_file() and path.stat().st_size <= _LARGEST:
            with suppress(
                yaml.YAMLError, UnicodeDecodeError
            ):  # JSON that is not YAML, as with tabs
                self._root = yaml.compose(path.read_bytes(), yaml.CSafeLoader)

    def of(self, pointer: str) -> int | None:
        """Returns the line of a place, or of what is closest around it; None if it is not known."""
        node = self._root
        if node is None:
            return None
        line = 1
        for step in steps_of(pointer):
            match node:
                case yaml.MappingNode():
                    pair = next(_pairs(node, step), None)
                    if pair is None:
                        return line
                    line, node = pair[0].start_mark.line + 1, pair[1]
                case yaml.SequenceNode() if step.isdecimal() and int(step) < len(node.value):
                    node = node.value[int(step)]
                    line = node.start_mark.line + 1
                case _:
                    return line
        return line


def _pairs(node: yaml.Node, name: str) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Yields the members of this name in a mapping, and then in those that are merged into it."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _pairs(item, name)
    if isinstance(node, yaml.MappingNode):
        yield from (pair for pair in node.value if pair[0].value == name)
        for key, value in node.value:
            if key.tag == _MERGE:
                yield from _pairs(value, name)
