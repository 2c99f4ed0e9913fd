"""Mends sample objects that break a rule about several members at once.

Such rules are ``not``, ``oneOf`` with branches that are valid at once, and members that exclude one
another. What the schema does not require can be left out, and what it leaves open can be added.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from understudy.openapi.loader import Node
from understudy.openapi.sample_places import SchemaPlace, readings
from understudy.openapi.schemas import Schemas

MAX_MEMBERS = 60
"""Members that are tried one by one."""

_ONE_OF_EACH: Final[tuple[Any, ...]] = ("other", 7, True, [], {}, None, 0.5)
"""A value of each JSON type."""


def accepted_objects(
    made: dict[str, Any],
    required: Sequence[str],
    place: SchemaPlace,
    accepts: Callable[[Any], bool],
    schemas: Schemas,
) -> Iterator[dict[str, Any]]:
    """Yields objects that may be accepted where the object that was made is not.

    Args:
        made: The object.
        required: Names that stay.
        place: Its place.
        accepts: Tells whether all schemas of the place accept an object.
        schemas: The document's validators.
    """
    fewest = {name: made[name] for name in made if name in set(required)}
    if accepts(fewest):
        yield _grown(fewest, made, accepts)
    optional = [name for name in made if name not in fewest][:MAX_MEMBERS]
    for dropped in optional:
        yield {name: value for name, value in made.items() if name != dropped}
    for base in (made, fewest):
        yield from _distinguished(base, place, schemas)


def _grown(
    fewest: dict[str, Any], made: dict[str, Any], accepts: Callable[[Any], bool]
) -> dict[str, Any]:
    """Returns as many of the members as are accepted together, in their order."""
    kept = dict(fewest)
    for name in [it for it in made if it not in fewest][:MAX_MEMBERS]:
        more = {**kept, name: made[name]}
        kept = more if accepts(more) else kept
    return {name: kept[name] for name in made if name in kept}


def _distinguished(
    made: dict[str, Any], place: SchemaPlace, schemas: Schemas
) -> Iterator[dict[str, Any]]:
    """Yields objects with a member that keeps other alternatives from being valid as well."""
    distinguished = made
    for alternatives in place.nodes("oneOf"):
        for _, alternative in alternatives.children():
            if any(part.pointer == alternative.pointer for part in place.parts):
                continue
            if isinstance(alternative.value, dict) and "$ref" in alternative.value:
                target = schemas.follow(alternative)
                if any(part.pointer == target.pointer for part in place.parts):
                    continue
            distinguished = _spoilt(distinguished, alternative, place, schemas)
            yield distinguished


def _spoilt(
    made: dict[str, Any], alternative: Node, place: SchemaPlace, schemas: Schemas
) -> dict[str, Any]:
    """Returns an object with a member by which it is not of an alternative, if one can be added."""
    takes = schemas.validator(alternative).is_valid
    if not takes(made):
        return made
    own = place.declared()
    for parts in readings(schemas, (alternative,)):
        for name in SchemaPlace((), parts, "", (), is_deep=False).declared():
            if name in own or not place.allows(name):
                continue
            for value in _ONE_OF_EACH:
                changed = {**made, name: value}
                if not takes(changed):
                    return changed
    return made
