"""Splits composed schemas into alternatives, each a list of schemas that all apply."""

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Final

from understudy.openapi.loader import Document, Node
from understudy.openapi.validators import COMPOSING

MOST_ALTERNATIVES: Final = 512
"""Number of alternatives that one schema is split into; one with more is compared as a whole."""

UNSPLIT: Final = "x-unsplit"
"""Keyword of a schema that is not split: it holds how the schema is composed."""

Parts = tuple[Node, ...]
"""Schemas that all apply to one value."""


class Alternatives:
    """Splits the schemas of one document; each schema once, as a few can ask for millions.

    Args:
        document: The document, in one dialect.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[str, list[Parts]] = {}

    def of(self, parts: Parts) -> list[Parts]:
        """Returns the alternatives of schemas that all apply; none where no value is right."""
        combined = _combined([self._split(part) for part in parts])
        return [tuple(map(_unsplit, parts))] if combined is None else combined

    def _split(self, node: Node) -> list[Parts]:
        if node.value is False:
            return []
        if not isinstance(node.value, dict):
            return [()]
        if node.pointer not in self._known:
            self._known[node.pointer] = [()]  # a schema that is composed of itself adds nothing
            self._known[node.pointer] = self._split_object(node)
        return self._known[node.pointer]

    def _split_object(self, node: Node) -> list[Parts]:
        factors: list[list[Parts]] = [[(node,)]]
        if isinstance(node.value.get("$ref"), str):
            followed = self._split(self._document.follow(node))
            # In OpenAPI 3.0, what stands beside a reference is ignored.
            is_alone = self._document.is_30 or len(node.value) == 1
            factors = [followed] if is_alone else [[(node,)], followed]
        for keyword in COMPOSING:
            listed = node.child(keyword)
            if listed is None or not isinstance(listed.value, list):
                continue
            groups = [self._split(part) for _, part in listed.children()]
            if keyword == "allOf":
                factors += groups
            else:
                factors.append(list(_by_pointer(groups).values()))
        combined = _combined(factors)
        return [(_unsplit(node),)] if combined is None else combined


def _by_pointer(groups: Iterable[Sequence[Parts]]) -> dict[tuple[str, ...], Parts]:
    return {tuple(it.pointer for it in parts): parts for group in groups for parts in group}


def _combined(factors: Sequence[Sequence[Parts]]) -> list[Parts] | None:
    """Returns every choice of one from each factor, with no schema twice; None if too many."""
    if prod(map(len, factors)) > MOST_ALTERNATIVES:
        return None
    return [
        tuple({part.pointer: part for parts in choice for part in parts}.values())
        for choice in product(*factors)
    ]


def _unsplit(node: Node) -> Node:
    value = {name: member for name, member in node.value.items() if name not in COMPOSING}
    composed = {name: node.value[name] for name in COMPOSING if name in node.value}
    return Node(node.pointer, {**value, UNSPLIT: composed})
