"""Finds what an action on an item changes, such as the status after ``POST /orders/{id}/cancel``."""

from collections.abc import Mapping
from typing import Any, Final

from understudy.openapi.loader import Node
from understudy.openapi.resources.bodies import BodySchemas
from understudy.openapi.resources.names import canonical, outcomes

_STATUSES: Final = ("status", "state", "phase", "stage", "lifecycle")


def action_changes(verb: str, members: Mapping[str, Node], schemas: BodySchemas) -> dict[str, Any]:
    """Returns the members that an action changes and their new values; empty where none is known.

    A member is claimed only if its enumeration has a value that the verb leads to, or if it is a
    boolean of that name.

    Args:
        verb: The last segment of the action's path.
        members: The members of an item.
        schemas: Reads their enumerations.
    """
    states = outcomes(verb)
    for name in sorted(members, key=_is_other):
        values = schemas.keyword(members[name], "enum")
        for state in states if isinstance(values, list) else ():
            for value in values:
                if isinstance(value, str) and canonical(value) == state:
                    return {name: value}
    for name, member in members.items():
        is_flag = schemas.types(member) == {"boolean"}
        if is_flag and canonical(name).removeprefix("is") in states[:3]:
            return {name: True}
    return {}


def _is_other(name: str) -> bool:
    return not canonical(name).endswith(_STATUSES)
