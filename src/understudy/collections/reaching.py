"""Reaches items with credentials that must not open them: of another account, or without the scopes."""

from collections.abc import Callable, Sequence
from typing import Final

from understudy.collections.client import CollectionClient
from understudy.collections.known_items import KnownItem, differing
from understudy.collections.model import ResourceOperation, Role, item_at
from understudy.collections.requests import PreparedRequest
from understudy.collections.rules import OWNER_ONLY, SCOPE_NEEDED
from understudy.exchange.messages import Exchange
from understudy.openapi.operations import Operation
from understudy.verify.checks import expect
from understudy.verify.permits import NotPermitted

READER: Final = "reader"
"""The credential whose scopes the target file names."""

_LONG: Final = 50
_REFUSED: Final = frozenset({401, 403})
_ROLES: Final[tuple[Role, ...]] = ("list", "read", "create", "update", "replace", "delete")
"""The roles in the order in which they are tried: what deletes comes last."""


def reach_as_other(client: CollectionClient, who: str, item: KnownItem) -> None:
    """Reads, changes and deletes an item as another account, if it can only be the caller's own.

    Raises:
        Refusal: The budget or the time is used up, or the deployment does not respond.
    """
    own = _why_own(client, who, item)
    if own is None:
        return
    for name in _ROLES[1:]:
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
        client.judge(exchange, [(OWNER_ONLY, result)])


def reach_without_scopes(client: CollectionClient, scopes: Sequence[str], item: KnownItem) -> None:
    """Sends each operation that needs other scopes with a token that has these alone.

    Raises:
        Refusal: The budget or the time is used up, or the deployment does not respond.
    """
    for name in _ROLES:
        role = client.requests.collection.operation(name)
        missing = "" if role is None else missing_scopes(role.operation, scopes)
        exchange = _reached(client, name, READER, item) if missing else None
        if exchange is not None and (exchange.response.is_success or exchange.status in _REFUSED):
            expected = f"status 401 or 403, as the operation needs {missing}"
            actual = f"status {exchange.status} to a token with {' '.join(scopes)} alone"
            result = expect(exchange.status in _REFUSED, expected, actual, *item.writes[:1])
            client.judge(exchange, [(SCOPE_NEEDED, result)])


def missing_scopes(operation: Operation, scopes: Sequence[str]) -> str:
    """Returns the scopes that a token lacks for an operation; empty if one alternative asks for none."""
    lacking = [
        [it for needed in each.values() for it in needed if it not in scopes]
        for each in operation.security
    ]
    return " ".join(lacking[0]) if lacking and all(lacking) else ""


def _reached(client: CollectionClient, name: Role, who: str, item: KnownItem) -> Exchange | None:
    """Returns what one operation responds to a credential; None where none can be sent."""
    role, requests = client.requests.collection.operation(name), client.requests
    if role is None:
        return None
    changes: dict[Role, Callable[[ResourceOperation, KnownItem], PreparedRequest]] = {
        "update": requests.change,
        "replace": requests.replacement,
    }
    try:
        if name == "create":
            return client.created_by(who)
        if name == "list":
            return client.send(requests.plain(role), who)
        request = changes.get(name, requests.plain)(role, item)
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
    """Returns why an item can only be the caller's own, with what shows it; None if it need not be.

    That is certain of a path below ``me``, and where the list of the other account leaves out what the
    caller's has.
    """
    path = client.requests.collection.path
    if "me" in path.split("/"):
        return f"{path} is the caller's own", []
    if client.requests.collection.operation("list") is None:
        return None
    own, others = client.pages(_LONG, None), client.pages(_LONG, who)
    is_own = item.identifier in own.identifiers and item.identifier not in others.identifiers
    is_certain = is_own and own.is_whole and others.is_whole
    return ("the other account's list leaves the item out", others.pages) if is_certain else None
