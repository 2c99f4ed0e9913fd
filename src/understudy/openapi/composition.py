"""Counts the schemas that a validator applies to one value, before it is compiled.

Each level of ``allOf``, ``anyOf``, ``oneOf`` and ``$ref`` multiplies them: a document of 300 bytes can
ask for 9 to the 12th, and no validator stops in the middle.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress

from understudy.errors import StartupError
from understudy.openapi.loader import Node

COMPOSING = ("allOf", "anyOf", "oneOf")


class Composition:
    """Counts for the schemas of one document; a schema is counted once.

    Args:
        follow: Returns the schema that a reference leads to.
    """

    def __init__(self, follow: Callable[[Node], Node]) -> None:
        self._follow = follow
        self._counts: dict[str, int] = {}

    def count(self, schema: Node) -> int:
        """Returns how many schemas apply to one value of a schema, itself among them.

        A schema that composes itself counts once there, as it has no end otherwise.
        """
        known = self._counts.get(schema.pointer)
        if known is not None:
            return known
        self._counts[schema.pointer] = 1  # for a cycle
        total = 1 + sum(self.count(part) for part in self._parts(schema))
        self._counts[schema.pointer] = total
        return total

    def _parts(self, schema: Node) -> Iterator[Node]:
        if not isinstance(schema.value, dict):
            return
        if isinstance(schema.value.get("$ref"), str):
            with suppress(StartupError):  # the compiler says what a reference lacks
                yield self._follow(schema)
        for keyword in COMPOSING:
            parts = schema.child(keyword)
            if parts is not None and isinstance(parts.value, list):
                yield from (part for _, part in parts.children())
