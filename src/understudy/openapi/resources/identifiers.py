"""Finds the member that identifies an item, by the path parameter and by its usual names."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from understudy.openapi.loader import Node
from understudy.openapi.operations import Operation
from understudy.openapi.resources.bodies import BodySchemas
from understudy.openapi.resources.names import canonical, singular, words

USUAL: Final = ("id", "uuid", "sid", "guid", "uid", "name", "slug", "key", "code", "username")
"""Members that identify an item by their name alone, the likeliest first."""

_ENDINGS: Final = ("id", "uuid", "sid", "guid")


class IdentifierMember(NamedTuple):
    """The member that identifies an item, and how sure that is.

    Attributes:
        name: As the document writes it.
        weight: For ``Evidence``.
        reason: Why it is this one.
    """

    name: str
    weight: float
    reason: str


def identifying_names(parameter: str, collection: str) -> tuple[str, ...]:
    """Returns canonical names of members that may identify an item, the likeliest first.

    Args:
        parameter: The path parameter.
        collection: The last segment of the collection's path.
    """
    return tuple(dict.fromkeys(name for name, _ in _candidates(parameter, collection)))


def _candidates(parameter: str, collection: str) -> Iterator[tuple[str, float]]:
    name, one = canonical(parameter), singular(collection)
    yield name, 0.3
    if name.startswith(one) and name != one:
        yield name.removeprefix(one), 0.3  # petId identifies by id, pet_name by name
    last = words(parameter)[-1:] or ("",)
    if last[0] in _ENDINGS:
        yield last[0], 0.3
    for ending in _ENDINGS:
        yield one + ending, 0.25
    for usual in USUAL:
        yield usual, 0.25 if usual in _ENDINGS else 0.15


def identifier_member(
    parameter: str,
    collection: str,
    members: Mapping[str, Node],
    schemas: BodySchemas,
    typed: Node | None,
) -> IdentifierMember | None:
    """Returns the member that identifies an item, or None.

    Args:
        parameter: The path parameter.
        collection: The last segment of the collection's path.
        members: The members of an item.
        schemas: Reads their types.
        typed: The schema of the path parameter.
    """
    by_name = {canonical(name): name for name in reversed(list(members))}
    for candidate, weight in _candidates(parameter, collection):
        name = by_name.get(candidate)
        if name is None or not _agree(schemas, typed, members[name]):
            continue
        like = f"named like the parameter {{{parameter}}}"
        reason = like if candidate == canonical(parameter) else f"for {{{parameter}}}"
        return IdentifierMember(name, weight, f"the member {name} identifies an item, {reason}")
    return None


def _agree(schemas: BodySchemas, parameter: Node | None, member: Node) -> bool:
    """Tells whether a path parameter can have the values of a member."""
    types = schemas.types(member)
    if types and not types & {"string", "integer", "number"}:
        return False
    expected = schemas.types(parameter)
    return not (types and expected == {"integer"} and types == {"string"})


def path_parameter_schema(operation: Operation, name: str) -> Node | None:
    """Returns the schema of a path parameter of an operation, or None."""
    for parameter in operation.parameters:
        if parameter.location == "path" and parameter.name == name:
            return parameter.schema
    return None
