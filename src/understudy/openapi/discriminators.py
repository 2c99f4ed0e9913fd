"""Names the alternative that an object is of (OpenAPI 3.0.3, Discriminator Object)."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from understudy.openapi.loader import Node

_SCHEMAS = "#/components/schemas/"


def discriminating_members(parts: Sequence[Node]) -> dict[str, str]:
    """Returns each member that discriminates an object, with the name that says what it is.

    Args:
        parts: The parts of its schema: what refers to others, what it refers to, what is composed.
    """
    members: dict[str, str] = {}
    for part in parts:
        discriminator = part.value.get("discriminator")
        if isinstance(discriminator, dict) and isinstance(discriminator.get("propertyName"), str):
            others = [it.pointer for it in parts if it.pointer != part.pointer]
            name = next(_names(discriminator.get("mapping"), others, part.pointer), None)
            if name is not None:
                members.setdefault(discriminator["propertyName"], name)
    return members


def _names(mapping: Any, alternatives: Sequence[str], base: str) -> Iterator[str]:
    """Yields the names that may stand in the member, the best first.

    Args:
        mapping: Name to schema, as the document writes it.
        alternatives: Pointers of the schemas that the object is of.
        base: Pointer of the schema with the discriminator.
    """
    targets = mapping.items() if isinstance(mapping, dict) else ()
    named = {_pointer(str(target)): str(name) for name, target in targets}
    yield from (named[pointer] for pointer in (*alternatives, base) if pointer in named)
    yield from _own_names(alternatives)
    yield from named.values()
    yield from _own_names([base])


def _own_names(pointers: Sequence[str]) -> Iterator[str]:
    """Yields the names that schemas have where no mapping gives them another."""
    names = (pointer.removeprefix(_SCHEMAS) for pointer in pointers if pointer.startswith(_SCHEMAS))
    return (name for name in names if "/" not in name)


def _pointer(target: str) -> str:
    """Returns the pointer that a mapping means: it may give the name of a schema alone."""
    return unquote(target) if "#" in target else _SCHEMAS + target
