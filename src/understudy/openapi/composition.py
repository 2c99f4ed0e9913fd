"""Counts the schemas that apply to one value, and finds those that contain themselves in several ways."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final
from urllib.parse import unquote

from understudy.errors import StartupError
from understudy.openapi.loader import Node
from understudy.openapi.pointers import objects_in, value_at

COMPOSING: Final = ("allOf", "anyOf", "oneOf")

APPLIED: Final = (*COMPOSING, "not", "if", "then", "else")
"""Keywords whose schemas apply to the same value."""


class Composition:
    """Counts the schemas that a validator applies to one value, each schema once.

    A validator follows every branch of ``allOf``, ``anyOf``, ``oneOf`` and ``$ref``, and cannot be
    interrupted. Each level multiplies the branches: a document of 300 bytes can ask for 9 to the 12th.

    Args:
        follow: Returns the schema that a reference leads to.
    """

    def __init__(self, follow: Callable[[Node], Node]) -> None:
        self._follow = follow
        self._counts: dict[str, int] = {}

    def count(self, schema: Node) -> int:
        """Returns how many schemas apply to one value of a schema, the schema itself included.

        A recursive occurrence of a schema counts as one, since the sum would be infinite.
        """
        known = self._counts.get(schema.pointer)
        if known is not None:
            return known
        self._counts[schema.pointer] = 1  # what a cycle back to this schema adds
        total = 1 + sum(self.count(part) for part in self._parts(schema))
        self._counts[schema.pointer] = total
        return total

    def _parts(self, schema: Node) -> Iterator[Node]:
        if not isinstance(schema.value, dict):
            return
        if isinstance(schema.value.get("$ref"), str):
            with suppress(StartupError):  # the compiler reports a reference that leads nowhere
                yield self._follow(schema)
        for part in filter(None, map(schema.child, APPLIED)):
            if isinstance(part.value, list):
                yield from (each for _, each in part.children())
            else:
                yield part


def knots(raw: Any) -> frozenset[str]:
    """Returns the pointers of schemas that contain themselves on several paths through other such ones.

    A single such schema is not reported: a base whose alternatives each contain the base is usual.
    """
    referred = {unquote(it["$ref"]) for it in objects_in(raw) if isinstance(it.get("$ref"), str)}
    circles = {pointer: _applied(raw, pointer) for pointer in referred}
    size = -1
    while size != len(circles):  # drop schemas without predecessor or successor: on no cycle
        size = len(circles)
        targets = set().union(*circles.values())
        circles = {it: to & circles.keys() for it, to in circles.items() if it in targets}
        circles = {it: to for it, to in circles.items() if to}
    forks = {pointer for pointer, to in circles.items() if len(to) > 1}
    return frozenset(fork for fork in forks if (_reached(circles, fork) & forks) - {fork})


def _applied(raw: Any, pointer: str) -> set[str]:
    """Returns the pointers that the schema at a pointer refers to for the same value."""
    applied: set[str] = set()
    with suppress(LookupError):
        pending = [value_at(raw, pointer)]
        while pending:
            part = pending.pop()
            if isinstance(part, dict):
                if isinstance(part.get("$ref"), str):
                    applied.add(unquote(part["$ref"]))
                pending += [part[keyword] for keyword in APPLIED if keyword in part]
            elif isinstance(part, list):
                pending += part
    return applied


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """Returns the nodes of a graph that can be reached from a start, the start included."""
    reached, pending = {start}, [start]
    while pending:
        found = graph.get(pending.pop(), set()) - reached
        reached |= found
        pending += found
    return reached
