"""Holds new and changed items to what relates them to others: identifiers, unique names, references."""

from collections.abc import Mapping
from typing import Any, Final

from understudy.errors import Conflict, NotFound
from understudy.mock.collections.bound import BoundCall
from understudy.mock.collections.records import text_of
from understudy.mock.store.items import Item
from understudy.openapi.resources.model import ResourceCollection

_NOT_FOUND: Final = 404
_CONFLICT: Final = 409


def chosen_identifier(bound: BoundCall, sent: Mapping[str, Any]) -> Any:
    """Returns the identifier that the client chose, or None where the server chooses.

    Of another item's identifier, without a declared conflict, a name replaces that item and a number
    gives way to the next.

    Raises:
        Conflict: It is another item's, and the document declares 409.
    """
    name = bound.identifier_member
    value = sent.get(name) if name else None
    if name is None or value is None:
        return None
    member = bound.shape.members.get(name)
    if (member is not None and member.is_read_only) or not isinstance(value, str | int | float):
        return None
    if bound.records.get(bound.resource.path, bound.address.parents, text_of(value)) is None:
        return value
    if bound.declares(_CONFLICT):
        msg = f"{bound.resource.path} has an item with {name} {value!r} already."
        raise Conflict(msg, code="conflict")
    if isinstance(value, str):
        bound.call.notes.append(f"{name} {value!r} was taken; the document declares no 409")
        return value  # names are the client's to choose
    bound.call.notes.append(f"{name} {value!r} is taken; the next number identifies the item")
    return None  # and numbers the server's to count


def expect_unique(bound: BoundCall, sent: Mapping[str, Any], item: Item | None) -> None:
    """Accepts members whose values no other item has, where the document declares a conflict.

    Raises:
        Conflict: Another item has the value of a unique member.
    """
    resource = bound.resource
    if not isinstance(resource, ResourceCollection) or str(_CONFLICT) not in _statuses(bound):
        return
    for name in resource.unique:
        if name not in sent:
            continue
        for other in bound.records.listed(resource.path, bound.address.parents):
            if other.body.get(name) == sent[name] and (
                item is None or other.identifier != item.identifier
            ):
                msg = f"{resource.path} has an item with {name} {sent[name]!r} already."
                raise Conflict(msg, code="conflict")


def expect_references(bound: BoundCall, sent: Mapping[str, Any]) -> None:
    """Accepts references to items that exist; others are noted where no status can refuse them.

    Raises:
        NotFound: An item does not exist, and the document declares 404 for what creates or changes.
        Conflict: Likewise, with 409.
    """
    resource = bound.resource
    if not isinstance(resource, ResourceCollection):
        return
    for name, path in resource.references.items():
        value = sent.get(name)
        if value is None or bound.records.has(path, text_of(value)):
            continue
        msg = f"{name} is {value!r}, and {path} has no such item."
        if str(_NOT_FOUND) in _statuses(bound) and bound.role.role == "create":
            raise NotFound(msg, code="not_found")
        if str(_CONFLICT) in _statuses(bound):
            raise Conflict(msg, code="conflict")
        bound.call.notes.append(f"{msg} The document declares no status that refuses it.")


def expect_unreferenced(bound: BoundCall, item: Item) -> str:
    """Accepts the deletion of an item that no other refers to, or where the document declares no 409.

    Returns:
        The numbers of items that refer to it, with their members and collections; empty for none.

    Raises:
        Conflict: Items refer to it, and the document declares 409 for its deletion.
    """
    value = item.body.get(bound.identifier_member or "")
    if value is None:
        return ""
    counts = {
        f"{member} of {other.path}": bound.records.referring(other.path, member, value)
        for other in bound.stateful.model.collections
        for member, target in other.references.items()
        if target == bound.resource.path
    }
    left = ", ".join(f"{count} by {name}" for name, count in counts.items() if count)
    if left and str(_CONFLICT) in _statuses(bound):
        msg = f"The item {item.identifier!r} of {bound.resource.path} is in use, as other items refer to it: {left}."
        raise Conflict(msg, code="conflict")
    return left


def _statuses(bound: BoundCall) -> Mapping[str, Any]:
    return bound.role.operation.responses
