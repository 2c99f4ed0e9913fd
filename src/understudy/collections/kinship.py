"""Judges that an item is below its own parent alone and goes with it, and that a change obeys ``If-Match``.

The parents are new, so that what is below them is known. Only a response with the members of the item
counts, as a service may invent what it shows of an item that is not there.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from understudy.collections import rules
from understudy.collections.client import CollectionClient
from understudy.collections.known_items import KnownItem, differing, objects_in, shown
from understudy.collections.model import ResourceOperation, Role, item_at
from understudy.collections.rules import is_conditional
from understudy.exchange.messages import Exchange
from understudy.verify.checks import expect
from understudy.verify.item_undo import AFTER_DELETION, GONE
from understudy.verify.permits import NotPermitted

_CHANGING: Final[tuple[Role, ...]] = ("update", "replace", "delete")
_SHOWING: Final[tuple[Role, ...]] = ("read", "list")


def ask_parents(client: CollectionClient, item: KnownItem) -> None:
    """Reaches an item below another parent, and below its own when that is deleted.

    Raises:
        Refusal: The target does not permit a request, or the budget or the time is used up.
    """
    collection = client.requests.collection
    parameter = collection.parents[-1].parameter if collection.parents else ""
    if parameter not in client.owners or item not in client.model.present:
        return
    above, parent = client.owners[parameter]
    other = above.create()
    beside = _below(client, other)
    _expect_absent(client, beside, item, other)
    for name in _CHANGING:
        with suppress(NotPermitted):  # no valid change can be made
            _change_below(client, beside, item, name)
    create = collection.operation("create")
    if create is not None and _deletes(above, other):
        exchange, _ = beside.attempt()
        is_refused = not exchange.response.is_success
        expected = f"a refusal, as {other.identifier}, which it would be below, was deleted"
        result = expect(is_refused, expected, f"status {exchange.status}", *other.writes)
        result = result._replace(is_choice=not _can_refuse(create))
        client.judge(exchange, [(rules.PARENT_GONE, result)])
    if item in client.model.present and _deletes(above, parent):
        _expect_absent(client, _below(client, parent), item, parent)


def ask_owners(client: CollectionClient, item: KnownItem) -> None:
    """Lists what refers to one item at the paths below that, where another item refers to another.

    Raises:
        Refusal: The target does not permit a request, or the service refuses such an item.
    """
    collection = client.requests.collection
    sendable = client.state.maker.members(client.requests.needed("create"))
    for role in (it for it in collection.operations if it.role == "list"):
        for parameter, member in role.scope.items():
            if member not in client.owners or member not in sendable:
                continue
            above, owner = client.owners[member]
            other = client.attempt({member: above.create().value})[1]
            if other is None:
                return
            values = {parameter: owner.identifier}
            exchange = client.send(client.state.maker.plain(role.operation, values))
            expected = f"items whose {member} is {owner.identifier}"
            is_there, actual = _shows(client, exchange, other), f"{other.identifier} too"
            result = expect(not is_there, expected, actual, *item.writes, *other.writes)
            client.judge(exchange, [(rules.PARENT_OWN, result)])


def _below(client: CollectionClient, parent: KnownItem) -> CollectionClient:
    """Returns a client for what is below a parent that has no items; it may refuse with any 404."""
    parents = (*client.requests.parents[:-1], parent.identifier)
    requests = replace(client.requests, parents=parents)
    return replace(client, requests=requests, source=f"{client.source}, {AFTER_DELETION}")


def _deletes(above: CollectionClient, parent: KnownItem) -> bool:
    """Deletes a parent; tells whether it is certainly gone."""
    roles = above.requests.collection.roles
    if "delete" not in roles or not above.delete(parent):
        return False
    if "read" in roles:
        above.read(parent)
    return "read" not in roles or above.steps[-1].status in GONE


def _can_refuse(role: ResourceOperation) -> bool:
    """Tells whether a document says that an operation may find nothing."""
    return any(role.operation.response(it) is not None for it in GONE)


def _expect_absent(
    client: CollectionClient, beside: CollectionClient, item: KnownItem, parent: KnownItem
) -> None:
    """Reads and lists an item below a parent that it is not below, or that was deleted."""
    collection, rule = client.requests.collection, rules.PARENT_OWN
    where = f"below {parent.identifier}, where it was not created"
    if parent.is_gone:
        rule, where = rules.PARENT_GONE, f"as {parent.identifier}, which it was below, was deleted"
    is_distinct = any(client.state.maker.token in str(it) for it in item.expected.values())
    for role in filter(None, map(collection.operation, _SHOWING)):
        is_flat = collection.is_flat_at(role.operation.path)
        may_be_invented = role.role == "read" and not (is_distinct or _can_refuse(role))
        if collection.is_across(role) or may_be_invented or (is_flat and not parent.is_gone):
            continue
        exchange = beside.send(beside.requests.plain(role, item if role.role == "read" else None))
        is_there = _shows(client, exchange, item)
        result = expect(not is_there, f"no item {item.identifier} {where}", "the item")
        evidence = (*item.writes, *parent.writes)
        client.judge(exchange, [(rule, result._replace(evidence=evidence, is_choice=is_flat))])


def _shows(client: CollectionClient, exchange: Exchange, item: KnownItem) -> bool:
    """Tells whether a response shows an item, by its identifier and all members that it has of it."""
    name = client.model.identifier

    def is_item(members: Mapping[str, object]) -> bool:
        known = {it: value for it, value in item.expected.items() if it in members and it != name}
        is_named = name is None or str(members.get(name)) == item.identifier
        return is_named and bool(known) and not differing(known, members, client.model.volatile)

    return exchange.response.is_success and any(map(is_item, objects_in(exchange.body)))


def _change_below(
    client: CollectionClient, beside: CollectionClient, item: KnownItem, name: Role
) -> None:
    """Changes or deletes an item below another parent, and reads it where it is."""
    collection = client.requests.collection
    role, read = collection.operation(name), collection.operation("read")
    if role is None or read is None or item.is_lost or collection.is_flat_at(role.operation.path):
        return
    request = client.matching(role, beside.requests.at(role, item), item)
    exchange = beside.send(request)
    if exchange.response.is_success:
        _expect_unchanged(client, item, rules.PARENT_OWN, exchange, f"{request.path} is no item")


def _expect_unchanged(
    client: CollectionClient, item: KnownItem, rule: str, change: Exchange, why: str
) -> None:
    """Reads an item after a change that must have no effect."""
    role = client.requests.needed("read")
    exchange = client.send(client.requests.plain(role, item))
    body = item_at(exchange.body, role.response_path) or {}
    wrong = differing(item.expected, body, client.model.volatile)
    is_kept = exchange.response.is_success and not wrong
    expected = f"the item as before {change.request.method} with status {change.status}, as {why}"
    actual = f"status {exchange.status}, {shown(body, wrong)}"
    client.judge(exchange, [(rule, expect(is_kept, expected, actual, *item.writes, change))])
    item.is_lost = not is_kept


def send_outdated(client: CollectionClient, item: KnownItem) -> None:
    """Changes an item, and sends other changes with its ``ETag`` before that.

    Raises:
        Refusal: The target does not permit it, or no member can be changed.
    """
    collection = client.requests.collection
    roles = [it for it in map(collection.operation, _CHANGING) if it and is_conditional(it)]
    is_readable = collection.operation("read") is not None and item in client.model.present
    if not roles or not is_readable:
        return
    before = _tag(client, item)
    change = client.update if collection.operation("update") else client.replace
    if not before or not change(item) or before == _tag(client, item):
        return
    for role in roles:
        request = client.requests.at(role, item)
        headers = {**request.headers, "if-match": before}
        exchange = client.send(request._replace(headers=headers))
        is_refused = exchange.response.is_refusal
        expected = "status 412, as If-Match names the ETag before the last change"
        result = expect(
            exchange.status == HTTPStatus.PRECONDITION_FAILED, expected, f"status {exchange.status}"
        )
        result = result._replace(evidence=item.evidence, is_choice=is_refused)
        client.judge(exchange, [(rules.MATCH_OBEYED, result)])
        if is_refused and not item.is_lost:
            _expect_unchanged(client, item, rules.MATCH_OBEYED, exchange, "it was refused")
        item.is_lost |= exchange.response.is_success


def _tag(client: CollectionClient, item: KnownItem) -> str:
    """Reads an item, and returns its entity tag if that can be compared; or an empty text."""
    client.read(item)
    tag = client.steps[-1].response.header("etag") or ""
    return tag if tag.startswith('"') else ""
