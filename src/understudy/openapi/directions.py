"""Tells what a request and what a response have of a schema (OpenAPI 3.0.3, Schema Object).

A ``readOnly`` member is the server's: no request has to send it, even where it is required. A
``writeOnly`` member is the client's: no response has it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, Literal

from understudy.errors import StartupError
from understudy.openapi.loader import LITERALS, NAME_MAPS, Document, Node
from understudy.openapi.validators import COMPOSING

Flag = Literal["readOnly", "writeOnly"]
FLAGS: Final[tuple[Flag, ...]] = ("readOnly", "writeOnly")

_MAX_DEPTH = 8
"""Levels of composition that are looked through for a member."""

_COMPOSED = frozenset({*COMPOSING, "if", "then", "else"})

Follow = Callable[[Node], Node]


def is_flagged(member: Node, flag: Flag, follow: Follow, depth: int = 0) -> bool:
    """Tells whether a member's schema, what it refers to, or a part of it has a flag."""
    value = member.value
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return False
    if value.get(flag) is True:
        return True
    parts = [part for _, part in (member.child("allOf") or Node("", [])).children()]
    if isinstance(value.get("$ref"), str):
        parts.append(follow(member))
    return any(is_flagged(part, flag, follow, depth + 1) for part in parts)


def flags_of(document: Document) -> frozenset[Flag]:
    """Returns the flags that any schema of a document has."""
    known: set[Flag] = set()
    pending: list[Any] = [document.raw]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            known |= {flag for flag in FLAGS if current.get(flag) is True}
            pending += current.values()
        elif isinstance(current, list):
            pending += current
    return frozenset(known)


def without_required(document: Document, flag: Flag) -> Document:
    """Returns a document in which no schema requires a member with a flag.

    Every JSON pointer into the document still holds. It is the same document where nothing changes.
    """
    raw = _Relaxation(document, flag).relaxed(document.root)
    return document if raw is document.raw else replace(document, raw=raw)


class _Relaxation:
    """Copies what has to change in one document, and nothing else."""

    def __init__(self, document: Document, flag: Flag) -> None:
        self._flag: Flag = flag
        self._follow = _following(document)

    def relaxed(
        self, node: Node, enclosing: tuple[Node, ...] = (), *, has_names: bool = False
    ) -> Any:
        """Returns the value of a node; the same one where nothing changes in it.

        Args:
            node: Any place of the document.
            enclosing: The schemas that the node is composed into, which may declare its members.
            has_names: Whether the members of the node are names and no keywords.
        """
        if isinstance(node.value, list):
            items = [self.relaxed(item, enclosing) for _, item in node.children()]
            return node.value if _same(items, node.value) else items
        if not isinstance(node.value, dict):
            return node.value
        members = {
            key: child.value
            if key in LITERALS and not has_names
            else self.relaxed(
                child,
                (*enclosing, node) if key in _COMPOSED else (),
                has_names=not has_names and key in NAME_MAPS,
            )
            for key, child in node.children()
        }
        required = members.get("required")
        if isinstance(required, list) and not has_names:
            kept = [name for name in required if not self._is_flagged(name, node, enclosing)]
            members["required"] = required if len(kept) == len(required) else kept
        return node.value if _same(members.values(), node.value.values()) else members

    def _is_flagged(self, name: Any, schema: Node, enclosing: tuple[Node, ...]) -> bool:
        return any(
            is_flagged(member, self._flag, self._follow)
            for node in (schema, *enclosing)
            for member in self._members(node, name)
        )

    def _members(self, schema: Node, name: Any, depth: int = 0) -> Iterator[Node]:
        """Yields the schemas that declare a member, through references and what is composed."""
        node = self._follow(schema)
        member = node.child("properties", name)
        if member is not None:
            yield member
        for keyword in COMPOSING if depth < _MAX_DEPTH else ():
            for _, part in (node.child(keyword) or Node("", [])).children():
                yield from self._members(part, name, depth + 1)


def _same(values: Iterable[Any], others: Iterable[Any]) -> bool:
    return all(value is other for value, other in zip(values, others, strict=True))


def _following(document: Document) -> Follow:
    def follow(node: Node) -> Node:
        try:
            return document.follow(node)
        except StartupError:  # whoever compiles the schema says what its reference lacks
            return node

    return follow
