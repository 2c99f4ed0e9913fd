"""Asks lists by the filters and orders that a document names, and judges what they list.

Only what leaves no doubt is asked: a filter by an enumeration or a truth value that items have under the
same name, and an order whose two directions the document names, ``title`` and ``-title``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from understudy.collections.client import CollectionClient
from understudy.collections.known_items import KnownItem, agrees, objects_in
from understudy.collections.model import Role
from understudy.collections.names import canonical
from understudy.collections.rules import (
    CREATE_DEFAULTED,
    CREATE_GUARDED,
    LIST_FILTERED,
    LIST_SORTED,
)
from understudy.openapi.loader import Node
from understudy.openapi.schemas import Schemas
from understudy.verify.checks import expect
from understudy.verify.value_texts import as_json

_ORDERS: Final = frozenset({"sort", "sortby", "order", "orderby", "ordering"})


def ask_lists(client: CollectionClient, items: Sequence[KnownItem]) -> None:
    """Lists a collection by each filter and order, and judges the items that are listed.

    Raises:
        Refusal: The budget or the time is used up.
    """
    schemas = client.state.maker.schemas
    members = schemas.members(client.requests.collection.schema)
    names = {canonical(name): name for name in members}
    for parameter in client.requests.needed("list").operation.parameters:
        if parameter.location != "query" or parameter.schema is None or parameter.is_json:
            continue
        name = names.get(canonical(parameter.name))
        options = _options(schemas, parameter.schema)
        if name is not None:
            known = [it.expected[name] for it in items if name in it.expected]
            shared = [it for it in options if it in _options(schemas, members[name])]
            other = next((it for it in shared if any(it != each for each in known)), None)
            if other is not None:
                _filter(client, parameter.name, name, other)
        elif canonical(parameter.name) in _ORDERS:
            _sort(client, parameter.name, names, options)


def _options(schemas: Schemas, schema: Node) -> Sequence[Any]:
    """Returns the values of an enumeration or of a truth value; none of any other schema."""
    if schemas.types(schema) == {"boolean"}:
        return (False, True)
    values = schemas.keyword(schema, "enum")
    return values if isinstance(values, list) else ()


def _filter(client: CollectionClient, parameter: str, name: str, value: Any) -> None:
    listed = client.list_by(parameter, value)
    if listed is None:
        return
    exchange, items = listed
    others = [it[name] for it in items if name in it and not agrees(value, it[name])]
    expected = f"items with {name} {as_json(value)}, as {parameter} asks"
    actual = f"one with {name} {as_json(others[0])}" if others else ""
    result = expect(not others, expected, actual, *client.model.creations)
    client.judge(exchange, [(LIST_FILTERED, result)])


def _sort(
    client: CollectionClient, parameter: str, names: Mapping[str, str], options: Sequence[Any]
) -> None:
    """Lists by the first member of which both directions are named."""
    texts = [it for it in options if isinstance(it, str) and f"-{it}" in options]
    order = next((it for it in texts if canonical(it) in names), None)
    for direction in () if order is None else (order, f"-{order}"):
        listed = client.list_by(parameter, direction)
        if listed is None:
            return
        exchange, items = listed
        name = names[canonical(direction)]
        values = [it[name] for it in items if it.get(name) is not None]
        if len(set(map(str, values))) > 1:
            is_sorted = _is_sorted(values[::-1] if direction.startswith("-") else values)
            expected = f"items by {name}, as {parameter}={direction} asks"
            actual = as_json(values[:5])
            result = expect(is_sorted, expected, actual, *client.model.creations)
            client.judge(exchange, [(LIST_SORTED, result)])


def _is_sorted(values: Sequence[Any]) -> bool:
    """Tells whether values ascend; services compare texts with and without case and punctuation."""
    if all(isinstance(it, int | float) for it in values):
        return list(values) == sorted(values)
    texts = list(map(str, values))
    folded = [it.casefold() for it in texts]
    letters = ["".join(filter(str.isalnum, it)) for it in folded]
    return any(keys == sorted(keys) for keys in (texts, folded, letters))


def create_by_default(client: CollectionClient) -> KnownItem:
    """Creates an item without the members that have a default, and judges those that it has.

    Raises:
        Refusal: The target does not permit it, or the service refused it.
    """
    maker, collection = client.state.maker, client.requests.collection
    role = collection.operation("create")
    if role is None:
        return client.create()
    named = maker.members(role)
    defaults = {name: maker.schemas.keyword(named[name], "default") for name in named}
    names = {
        sent: read
        for sent, read in maker.read_names(role, collection).items()
        if defaults.get(sent) is not None
    }
    item = client.create(frozenset(names))
    body = item.response or {}
    made = {
        read: defaults[sent]
        for sent, read in names.items()
        if read in body and read not in item.expected
    }
    wrong = [name for name, value in made.items() if not agrees(value, body[name])]
    expected = ", ".join(f"{name} {as_json(made[name])}" for name in wrong or made)
    actual = ", ".join(f"{name} {as_json(body[name])}" for name in wrong)
    if made:
        client.judge(item.writes[0], [(CREATE_DEFAULTED, expect(not wrong, expected, actual))])
    return item


def send_guarded(client: CollectionClient, item: KnownItem, role: Role) -> KnownItem | None:
    """Creates or changes an item with other values of the members that only the service sets.

    A creation is tried four times as long as they are taken, as a service may set the same by chance.

    Args:
        client: Sends the requests.
        item: An item that was created without them.
        role: The role of the operation that they are sent to.

    Returns:
        The item, if the service did not refuse it.

    Raises:
        Refusal: The target does not permit it, or the service refuses such an item.
    """
    maker, collection = client.state.maker, client.requests.collection
    operation = client.requests.needed(role)
    evidence, name = item.evidence, client.model.identifier or ""
    shown = objects_in(evidence[-1].body)
    before = next((it for it in shown if str(it.get(name)) == item.identifier), {})
    members = maker.guarded_members(operation, collection)
    one = {it: maker.other_value(members[it], it, before[it]) for it in members if it in before}
    one = {it: value for it, value in one.items() if value != before[it]}
    other = {it: maker.other_value(members[it], it, value) for it, value in one.items()}
    sent, taken = None, list(one)
    for values in (one, other, other, one) if role == "create" else (one,):
        known = {it: values[it] for it in taken}
        sent = _send(client, item, role, known) if known else sent
        taken = [] if sent is None else _as_sent(sent, known)
    if sent is None:
        return None
    body = sent.response or {}
    expected = f"{', '.join(taken or one)} as the service sets it"
    actual = ", ".join(f"{it} {as_json(body[it])}, as it was sent" for it in taken)
    result = expect(not taken, expected, actual, *evidence)
    client.judge(sent.writes[-1], [(CREATE_GUARDED, result)])
    return sent


def _send(
    client: CollectionClient, item: KnownItem, role: Role, known: Mapping[str, Any]
) -> KnownItem | None:
    """Sends values of members to an operation; returns the item, or None where it is refused."""
    if role == "create":
        return client.create_exactly(known)
    change = client.update if role == "update" else client.replace
    return item if change(item, known) else None


def _as_sent(item: KnownItem, known: Mapping[str, Any]) -> list[str]:
    """Returns the members that the response to the last write of an item has as they were sent."""
    body = item.response or {}
    return [it for it in known if agrees(known[it], body.get(it))]
