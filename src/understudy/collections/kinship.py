"""Judges who reaches an item: below which parent, by which account and scopes, and by which ``If-Match``.

The parents are new, so that what is below them is known. Only a response with the members of the item
counts, as a service may invent what it shows of an item that is not there.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final

from understudy.collections import rules
from understudy.collections.asking import deleting, options_of
from understudy.collections.client import WHOLE, CollectionClient
from understudy.collections.constraints import described_at
from understudy.collections.known_items import (
    KnownItem,
    differing,
    last_shown,
    objects_in,
    shown,
)
from understudy.collections.model import ResourceOperation, Role, item_at
from understudy.collections.names import canonical
from understudy.collections.rules import is_conditional
from understudy.exchange.messages import Exchange
from understudy.openapi.operations import Operation
from understudy.verify.checks import expect
from understudy.verify.item_undo import AFTER_DELETION, AT_ONCE, GONE
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


READER: Final = "reader"
"""The credential whose scopes the target file names."""

_OWNERS: Final = re.compile(
    r"\b(my|your|own|mine|(caller|account|user|customer)['\u2019]s|signed.in|authenticated (user|account))\b",
    re.I,
)
"""Words by which a document says that a list has the caller's own items."""

_REFUSED: Final = frozenset({401, 403})
_REACHED: Final[tuple[Role, ...]] = ("list", "read", "create", "update", "replace", "delete")
"""The roles in the order in which they are tried; deletion comes last."""


def reach_otherwise(client: CollectionClient, first: KnownItem, second: KnownItem) -> None:
    """Sends requests with the read-only token and as the other account, if the target has them.

    Raises:
        Refusal: The budget or the time is used up, or the deployment does not respond.
    """
    state, target = client.state, client.state.run.deployment.target
    if target.read_only_scopes and READER in target.identities():
        _reach_without_scopes(client, target.read_only_scopes, first)
    if state.other is not None and client.requests.collection.operation("read") is not None:
        _reach_as_other(client, state.other, second)


def _reach_as_other(client: CollectionClient, who: str, item: KnownItem) -> None:
    """Reads, changes and deletes an item as another account, if the item must be the caller's own."""
    own = _why_own(client, who, item)
    if own is None:
        return
    if client.requests.collection.operation("list") is not None:
        _filter_as_other(client, who, item, own)
    _delete_as_other(client, who, item, own)
    for name in _REACHED[1:]:
        exchange = None if name == "create" else _reached(client, name, who, item)
        if exchange is None:
            continue
        role = client.requests.needed(name)
        if name == "read" and exchange.response.is_success:
            body = item_at(exchange.body, role.response_path) or {}
            if differing(item.expected, body, client.model.volatile):
                return  # an item of the other's own, at the same address
        is_refused = not exchange.response.is_success
        expected = f"status 403 or 404, as {own[0]}"
        actual = f"status {exchange.status} to {exchange.request.method} by another account"
        result = expect(is_refused, expected, actual, *item.writes, *own[1])
        client.judge(exchange, [(rules.OWNER_ONLY, result)])


def _delete_as_other(
    client: CollectionClient, who: str, item: KnownItem, own: tuple[str, list[Exchange]]
) -> None:
    """Names an item in a list of those to delete, as another account; the refusal may be silent."""
    request = deleting(client, [item])
    with suppress(NotPermitted):
        source = f"{client.source}, {AT_ONCE}"
        exchange = None if request is None else client.send(request, who, source)
        if exchange is not None and exchange.response.is_success:
            _expect_unchanged(client, item, rules.OWNER_ONLY, exchange, own[0])


def _reach_without_scopes(client: CollectionClient, scopes: Sequence[str], item: KnownItem) -> None:
    """Sends each operation that needs other scopes with a token that has only these."""
    for name in _REACHED:
        role = client.requests.collection.operation(name)
        missing = "" if role is None else missing_scopes(role.operation, scopes)
        exchange = _reached(client, name, READER, item) if missing else None
        if exchange is not None and (exchange.response.is_success or exchange.status in _REFUSED):
            expected = f"status 401 or 403, as the operation needs {missing}"
            actual = f"status {exchange.status} to a token with {' '.join(scopes)} alone"
            result = expect(exchange.status in _REFUSED, expected, actual, *item.writes[:1])
            client.judge(exchange, [(rules.SCOPE_NEEDED, result)])


def missing_scopes(operation: Operation, scopes: Sequence[str]) -> str:
    """Returns the scopes that a token lacks for an operation; empty if one alternative is satisfied."""
    lacking = [
        [it for needed in each.values() for it in needed if it not in scopes]
        for each in operation.security
    ]
    return " ".join(lacking[0]) if lacking and all(lacking) else ""


def _reached(client: CollectionClient, name: Role, who: str, item: KnownItem) -> Exchange | None:
    """Sends one operation with a credential; returns the exchange, or None if it cannot be sent."""
    role, requests = client.requests.collection.operation(name), client.requests
    if role is None:
        return None
    try:
        if name == "create":
            return client.attempt(who=who)[0]
        if name == "list":
            return client.send(requests.plain(role), who)
        request = requests.at(role, item)
        exchange = client.send(client.matching(role, request, item), who)
    except NotPermitted:
        return None
    if name == "delete" and exchange.response.is_success:
        item.is_gone = True
        client.state.undo.deleted(request.url)
    return exchange


def _why_own(
    client: CollectionClient, who: str, item: KnownItem
) -> tuple[str, list[Exchange]] | None:
    """Returns the reason why an item must be the caller's own, with its evidence; None without one.

    The reasons are a path below ``me``, a list that the document calls the caller's, and a list of the
    other account without the item. If that list has the item, it is judged here: it must not have an
    item that is the caller's or that the other account may not read.
    """
    path, role = client.requests.collection.path, client.requests.collection.operation("list")
    prose = "" if role is None else described_at(role.operation.pointer, client.state.maker.schemas)
    is_own = "me" in path.split("/") or _OWNERS.search(prose) is not None
    if role is None:
        return (f"{path} is the caller's own", []) if is_own else None
    others = client.pages(WHOLE, who)
    page = next((it for it in others.pages if _has(it, item)), None)
    if page is not None:
        read = None if is_own else _reached(client, "read", who, item)
        if is_own or (read is not None and read.status in {403, 404}):
            reason = "are the caller's own" if read is None else f"get {read.status} when read"
            expected = f"only items of the account, as others {reason}"
            actual = f"the item {item.identifier} of another account"
            result = expect(page is None, expected, actual, *item.writes, read)
            client.judge(page, [(rules.OWNER_ONLY, result)])
    if is_own:
        return f"{path} is the caller's own", others.pages
    own = client.pages(WHOLE, None) if page is None else None
    is_listed = own is not None and own.is_whole and item.identifier in own.identifiers
    is_certain = is_listed and not any(_entries(it, item) for it in others.pages)
    is_certain &= others.is_whole
    return ("the other account's list leaves the item out", others.pages) if is_certain else None


def _filter_as_other(
    client: CollectionClient, who: str, item: KnownItem, own: tuple[str, list[Exchange]]
) -> None:
    """Lists as another account by each filter that an item of the caller's own fits."""
    role, schemas = client.requests.needed("list"), client.state.maker.schemas
    shown_members = last_shown(item, client.model.identifier)
    values = {canonical(name): value for name, value in shown_members.items()}
    for it in role.operation.parameters:
        if it.location != "query" or it.schema is None or it.is_json:
            continue
        value = next(
            (v for v in options_of(schemas, it.schema) if v == values.get(canonical(it.name))), None
        )
        if value is not None:
            page = client.send(client.requests.plain(role).asking({it.name: value}), who)
            expected = f"no item of another account, as {own[0]}"
            actual = f"the item {item.identifier} of another account"
            result = expect(not _has(page, item), expected, actual, *item.writes, *own[1])
            client.judge(page, [(rules.OWNER_ONLY, result)])


def _has(page: Exchange, item: KnownItem) -> bool:
    """Tells whether a page of a list has an item, by its identifier and the members that it shows."""
    return any(item.expected.keys() & it.keys() for it in _entries(page, item))


def _entries(page: Exchange, item: KnownItem) -> list[dict[str, Any]]:
    """Returns the entries of a list that may be an item: an identifier alone may recur in each account."""
    named = (it for it in objects_in(page.body) if item.identifier in map(str, it.values()))
    known = ((it, {n: v for n, v in item.expected.items() if n in it}) for it in named)
    return [it for it, members in known if not differing(members, it)]
