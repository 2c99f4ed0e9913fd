"""Spreads a reference that stands where OpenAPI has none, as in ``paths: {$ref: paths.yaml}``.

OpenAPI has references in place of single objects, such as schemas and responses; bundlers follow them
in place of maps and lists, too. The members that such a reference leads to become references.
"""

from copy import deepcopy
from typing import Any

from understudy.openapi.grammar import MAPS, MEMBERS, REFERENCED
from understudy.openapi.mends import SCALARS, Position
from understudy.openapi.pointers import as_reference, escape


def is_reference(value: Any) -> bool:
    """Tells whether a value is an object with a ``$ref``."""
    return isinstance(value, dict) and isinstance(value.get("$ref"), str)


def is_misplaced(place: Position) -> bool:
    """Tells whether a position holds a reference where OpenAPI requires the object or list itself."""
    kind = place.kind
    is_compound = kind[0] in "[{" or kind in MAPS or kind in MEMBERS
    is_recursive = "encoding" in kind  # spreading could go on for ever
    return is_compound and not is_recursive and kind not in REFERENCED and is_reference(place.value)


def spread(value: Any, pointer: str, kind: str) -> Any:
    """Returns a copy whose members are references to those of a value; None if it is not of the kind.

    Args:
        value: The value that the reference leads to.
        pointer: Pointer of the value.
        kind: The kind that OpenAPI expects in place of the reference.
    """
    if not isinstance(value, list if kind[0] == "[" else dict):
        return None
    kinds = MEMBERS.get(kind) or {}
    inner = MAPS.get(kind) or kind[1:-1]
    members = enumerate(value) if isinstance(value, list) else value.items()
    made: dict[Any, Any] = {}
    for name, member in members:
        its = kinds.get(str(name), "any") if kinds else inner
        if its in SCALARS or its in {"any", "security"}:
            made[name] = deepcopy(member)
        elif isinstance(member, dict | list) or (its == "schema" and isinstance(member, bool)):
            made[name] = {"$ref": as_reference(f"{pointer}/{escape(str(name))}")}
        else:
            return None
    return list(made.values()) if isinstance(value, list) else made
