"""Serves the state of a document: creates, replaces, changes and deletes items.

Unique values and references are enforced only if the document declares a status for the refusal.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from understudy.collections import calls, reading
from understudy.collections.bodies import JSON_PATCH, sent_members, types_of
from understudy.collections.inference import infer_resources
from understudy.collections.items import text_of
from understudy.collections.model import (
    RENEWED,
    Resource,
    ResourceOperation,
    ResourceSingleton,
    Role,
)
from understudy.collections.names import canonical
from understudy.collections.seeding import load_seed_data, seeded
from understudy.errors import BadRequest, Conflict, NotFound, Problem, StartupError
from understudy.limits import JSON_INTEGER, JSON_VALUES
from understudy.mock.server.call import DocumentCall, HandlerResponse, InferredState
from understudy.mock.server.json_bodies import merged
from understudy.mock.server.parameters import convert, first_error
from understudy.mock.server.worlds import Baseline
from understudy.mock.settings import Settings
from understudy.mock.store.items import LAST_NUMBERS, Item, items_of
from understudy.openapi.loader import Document

MERGE_PATCH: Final = "application/merge-patch+json"
_PATCH_OPERATIONS: Final = ("add", "remove", "replace", "move", "copy", "test")
"""The operations of RFC 6902, 4; the library accepts two more, which are refused here."""


def patched(target: Any, patch: Sequence[Any]) -> Any:
    """Returns a patched copy of a value.

    Raises:
        BadRequest: An operation is malformed, or its pointer leads nowhere.
        Conflict: A test fails (RFC 5789, 2.2).
        LimitExceeded: The patch copies more than a JSON body may hold.
    """
    import jsonpath  # noqa: PLC0415 - takes 40 ms, and few clients send such a patch

    result, copied = deepcopy(target), 0
    for number, operation in enumerate(patch):
        if not isinstance(operation, Mapping) or operation.get("op") not in _PATCH_OPERATIONS:
            msg = f"Operation {number} of the patch is not one of {', '.join(_PATCH_OPERATIONS)}."
            raise BadRequest(msg, code="invalid_patch")
        try:
            if operation["op"] == "copy":
                # otherwise a few copies could double a value until the memory is full
                source = jsonpath.JSONPointer(operation["from"], unicode_escape=False)
                copied += _count(source.resolve(result))
                JSON_VALUES.check(copied)
            result = jsonpath.JSONPatch([operation], unicode_escape=False).apply(result)
        except jsonpath.JSONPatchTestFailure as error:
            msg = f"The test of {operation['path']!r:.80} fails: it has another value."
            raise Conflict(msg, code="patch_test_failed") from error
        except (jsonpath.JSONPatchError, jsonpath.JSONPointerError, *_UNEXPECTED) as error:
            msg = f"Operation {number} of the patch cannot be applied: {error!s:.160}."
            raise BadRequest(msg, code="invalid_patch") from error
    return result


_UNEXPECTED: Final = (KeyError, IndexError, TypeError, ValueError)
"""Errors that the library raises at its extensions of JSON pointers, such as ``/#name``."""


def _count(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value
    return 1 + sum(map(_count, children)) if isinstance(value, dict | list) else 1


_NOT_FOUND: Final = 404
_CONFLICT: Final = 409


def chosen_identifier(bound: calls.BoundCall, sent: Mapping[str, Any]) -> Any:
    """Returns the identifier that the client chose, or None if the server chooses.

    If another item has it and the document declares no 409, a text replaces that item, and for a
    number the server chooses the next one.

    Raises:
        Conflict: Another item has the identifier, and the document declares 409.
    """
    name = bound.shape.identifier
    value = sent.get(name) if name else None
    if name is None or value is None or value == "":  # no path can have an empty identifier
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
        return value  # clients choose names
    bound.call.notes.append(f"{name} {value!r} is taken; the next number identifies the item")
    return None  # servers choose numbers


def expect_unique(bound: calls.BoundCall, sent: Mapping[str, Any], item: Item | None) -> None:
    """Expects that no other item has the values of unique members, if the document declares 409.

    Raises:
        Conflict: Another item has the value of a unique member.
    """
    resource = bound.resource
    for name in resource.unique if str(_CONFLICT) in _statuses(bound) else ():
        if name not in sent:
            continue
        for other in bound.records.listed(resource.path, bound.address.parents):
            if other.body.get(name) == sent[name] and (
                item is None or other.identifier != item.identifier
            ):
                msg = f"{resource.path} has an item with {name} {sent[name]!r} already."
                raise Conflict(msg, code="conflict")


def expect_references(bound: calls.BoundCall, sent: Mapping[str, Any]) -> None:
    """Expects references to existing items; only notes others if no suitable status is declared.

    Raises:
        NotFound: A referenced item does not exist, and the document declares 404 for the creation.
        Conflict: A referenced item does not exist, and the document declares 409.
    """
    for name, path in bound.resource.references.items():
        value = sent.get(name)
        if value is None or bound.records.has(path, text_of(value)):
            continue
        msg = f"{name} is {value!r}, and {path} has no such item."
        if str(_NOT_FOUND) in _statuses(bound) and bound.role.role == "create":
            raise NotFound(msg, code="not_found")
        if str(_CONFLICT) in _statuses(bound):
            raise Conflict(msg, code="conflict")
        bound.call.notes.append(f"{msg} The document declares no status that refuses it.")


def expect_unreferenced(bound: calls.BoundCall, item: Item) -> str:
    """Expects that no item refers to an item to be deleted, if the document declares 409.

    Returns:
        A text with the numbers of items that refer to it, by member and collection; empty without.

    Raises:
        Conflict: Items refer to it, and the document declares 409 for its deletion.
    """
    value = item.body.get(bound.shape.identifier or "")
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


def _statuses(bound: calls.BoundCall) -> Mapping[str, Any]:
    return bound.role.operation.responses


def create(bound: calls.BoundCall) -> HandlerResponse | None:
    """Creates an item, or one for each of a list, from the sent members and generated ones.

    Raises:
        Conflict: Another item has the identifier, or the value of a unique member.
        NotFound: A parent or a referenced item does not exist.
        LimitExceeded: The world has too many items, or too large ones.
    """
    bound.expect_parents()
    items = bound.sent_items
    for sent in items:
        expect_references(bound, sent)
        expect_unique(bound, sent, None)
        if bound.role.takes_list:
            chosen_identifier(bound, sent)  # raises before any item of the list is created
    created = [_created(bound, sent) for sent in items]
    if not bound.role.takes_list:
        return _with_item(bound, created[0], is_created=True)
    status = calls.status_for(bound, is_created=True)
    return calls.response(bound, status, [item.body for item in created])


def _created(bound: calls.BoundCall, sent: Mapping[str, Any]) -> Item:
    """Creates one item, with the identifier that the client chose or the next one."""
    number = bound.records.next_number(bound.resource.path)
    identifier = chosen_identifier(bound, sent)
    sent = {**sent, **bound.scope}
    if identifier is None:
        identifier = bound.maker.identifier(
            number,
            lambda value: bound.records.has(bound.resource.path, text_of(value)),
            sent,
        )
    return _kept(bound, number, identifier, sent)


def replace(bound: calls.BoundCall) -> HandlerResponse | None:
    """Replaces an item; creates it if PUT creates items in this collection.

    Raises:
        NotFound: The item or its parent does not exist.
        PreconditionFailed: The item is not in the state that the client expects.
        Conflict: Another item has the value of a unique member.
    """
    bound.expect_parents()
    item = _known(bound) if _creates_by_put(bound) else bound.item()
    calls.expect_match(bound, item)
    sent = bound.sent
    if item is None:
        return _put(bound, sent) if _creates_by_put(bound) else None
    expect_references(bound, sent)
    expect_unique(bound, sent, item)
    declared = {*map(canonical, sent_members(bound.shape.schemas, bound.role))}
    kept = {
        name: value
        for name, value in item.body.items()
        if (it := bound.shape.members.get(name)) is None
        or it.is_read_only
        or not it.is_sent
        or (declared and canonical(name) not in declared)  # cannot be sent by this request
        or name == bound.shape.identifier
    }
    defaults = {
        name: it.default[0]
        for name, it in bound.shape.members.items()
        if it.default and it.is_sent and name not in kept
    }
    known = {*bound.shape.members, bound.shape.identifier}
    kept = {name: value for name, value in kept.items() if name in known}
    changed = {**kept, **defaults, **_writable(bound, sent)}
    return _changed(bound, item, changed)


def update(bound: calls.BoundCall) -> HandlerResponse | None:
    """Changes members of an item: by a merge patch (RFC 7396), or by a JSON patch (RFC 6902).

    Raises:
        NotFound: There is no such item.
        PreconditionFailed: The item is not in the state that the client expects.
        BadRequest: The patch cannot be applied, or its result breaks the schema.
        Conflict: A test of the patch fails, or another item has the value of a unique member.
    """
    item = bound.item()
    if item is None:
        return None
    calls.expect_match(bound, item)
    if isinstance(bound.body, list):
        changed = _patched(bound, item)
        sent = {name: changed[name] for name in changed if changed[name] != item.body.get(name)}
    else:
        sent = _writable(bound, bound.sent)
        nulls = {name: None for name, value in sent.items() if _keeps_null(bound, name, value)}
        changed = {**merged(item.body, sent), **nulls}
        if bound.call.media_type == MERGE_PATCH:  # its schema hardly constrains the result
            _expect_valid(bound, item, changed)
    expect_references(bound, sent)
    expect_unique(bound, sent, item)
    return _changed(bound, item, changed)


def _patched(bound: calls.BoundCall, item: Item) -> Mapping[str, Any]:
    """Returns the members of an item after a JSON patch, which documents often declare as plain JSON.

    A list in plain JSON that cannot be applied as a patch changes nothing.

    Raises:
        BadRequest: The patch cannot be applied, or its result breaks the schema.
        Conflict: A test of the patch fails.
    """
    fixed = {name: value for name, value in item.body.items() if not _is_writable(bound, name)}
    try:
        result = patched(item.body, bound.body)
        changed = {**result, **fixed} if isinstance(result, dict) else None
        _expect_valid(bound, item, changed)
    except (BadRequest, Conflict) as problem:
        if bound.call.media_type == JSON_PATCH:
            raise
        bound.call.notes.append(f"nothing is changed: {problem}")
        return item.body
    return changed or fixed


def act(bound: calls.BoundCall) -> HandlerResponse | None:
    """Sets the members that an action changes.

    Raises:
        NotFound: There is no such item.
        PreconditionFailed: The item is not in the state that the client expects.
    """
    item = bound.item()
    if item is None:
        return None
    calls.expect_match(bound, item)
    number, now = bound.records.next_number(bound.resource.path), bound.world.clock.now()
    changes = {
        name: bound.maker.renewed(name, item.body.get(name), number, now)
        if value == RENEWED
        else value
        for name, value in bound.role.changes.items()
    }
    text = ", ".join(f"{name} to {value!r}" for name, value in changes.items()) or "nothing"
    bound.call.notes.append(f"set {text} of {item.identifier!r} in {bound.resource.path}")
    return _changed(bound, item, {**item.body, **changes})


def delete(bound: calls.BoundCall) -> HandlerResponse | None:
    """Deletes an item, or those of a list that exist, and everything below.

    Raises:
        NotFound: There is no such item.
        PreconditionFailed: The item is not in the state that the client expects.
        Conflict: Items of other collections refer to it, and the document declares 409.
    """
    if bound.role.takes_list:
        for each in bound.named_items:
            _delete(bound, each)
        return calls.response(bound, calls.status_for(bound), None)
    item = bound.item()
    if item is None:
        return None
    calls.expect_match(bound, item)
    _delete(bound, item)
    return calls.response(bound, calls.status_for(bound), item.body)


def _delete(bound: calls.BoundCall, item: Item) -> None:
    left = expect_unreferenced(bound, item)
    deleted = bound.records.delete(bound.resource, item)
    path, notes = bound.resource.path, bound.call.notes
    notes.append(f"deleted {item.identifier!r} of {path}")
    notes += [f"deleted {count} below it, of {below}" for below, count in deleted.items()]
    if left:
        notes.append(f"other items still refer to it: {left}")


def _with_item(bound: calls.BoundCall, item: Item, *, is_created: bool = False) -> HandlerResponse:
    status = calls.status_for(bound, is_created=is_created)
    return calls.response(bound, status, item.body, calls.item_headers(bound, item))


def _changed(bound: calls.BoundCall, item: Item, body: Mapping[str, Any]) -> HandlerResponse:
    """Stores an item with another body, and returns the response."""
    fitting = _fitting(bound, item, body)
    stamped = bound.maker.stamped(fitting, bound.world.clock.now())
    order = [name for name in bound.shape.members if name in stamped]
    body = {name: stamped[name] for name in dict.fromkeys([*order, *stamped])}
    changed = Item.of(item.identifier, item.parents, item.number, body)
    bound.records.put(bound.resource.path, changed)
    return _with_item(bound, changed)


def _fitting(bound: calls.BoundCall, item: Item, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a body in which values that the item's schema refuses are dropped, and noted."""
    shape = bound.shape.of(body)
    fitting = {
        n: it for n, it in body.items() if n in shape.members or n not in bound.shape.members
    }
    for name, value in list(fitting.items()):
        is_new = name in shape.members and value != item.body.get(name)
        if is_new and not shape.accepts(name, value):
            bound.call.notes.append(f"{name} is kept: no item can have what the request has there")
            del fitting[name]
            if name in item.body:
                fitting[name] = item.body[name]
    return fitting


def _expect_valid(bound: calls.BoundCall, item: Item, body: Mapping[str, Any] | None) -> None:
    if body is None:
        msg = "The patch replaces the item by a value that is not an object."
        raise BadRequest(msg, code="invalid_patch")
    schema = bound.shape.schema
    if schema is None:
        return
    validator = bound.call.schemas.validator(schema)
    if validator.is_valid(dict(body)) or not validator.is_valid(item.body):
        return
    reason = first_error(validator, dict(body))
    msg = f"The item would break its schema: {reason}"
    raise BadRequest(msg, code="invalid_body")


def _kept(bound: calls.BoundCall, number: int, identifier: Any, sent: Mapping[str, Any]) -> Item:
    """Makes an item, and stores it in its collection."""
    address = bound.address
    now = bound.world.clock.now()
    body = bound.maker.body(number, identifier, address.values, sent, now)
    item = Item.of(text_of(identifier), address.parents, number, body)
    if bound.resource.stages:  # a job
        item = msgspec.structs.replace(item, begun=now.timestamp())
    bound.records.put(bound.resource.path, item)
    bound.call.notes.append(f"created {item.identifier!r} in {bound.resource.path}")
    return item


def _put(bound: calls.BoundCall, sent: Mapping[str, Any]) -> HandlerResponse:
    """Creates an item with the identifier in the path."""
    expect_references(bound, sent)
    expect_unique(bound, sent, None)
    identifier = _identifier_in_path(bound)
    number = bound.records.next_number(bound.resource.path)
    return _with_item(bound, _kept(bound, number, identifier, sent), is_created=True)


def _identifier_in_path(bound: calls.BoundCall) -> Any:
    """Returns the identifier in the path, converted to the type of the item's member.

    Raises:
        NotFound: No item can have this identifier.
    """
    value = typed = bound.address.value
    member = bound.shape.members.get(bound.shape.identifier or "")
    if member is not None:
        typed = convert(text_of(value), frozenset(types_of(bound.shape.schemas, member.schema)))
    is_fitting = member is None or bound.shape.schemas.validator(member.schema).is_valid(typed)
    if is_fitting and not (isinstance(typed, int) and abs(typed) > JSON_INTEGER.most):
        return typed
    msg = f"No item of {bound.resource.path} can be identified by {value!r:.80}."
    raise NotFound(msg, code="not_found")


def _creates_by_put(bound: calls.BoundCall) -> bool:
    """Tells whether PUT creates items: if no POST does, or if 201 is declared for PUT."""
    if bound.resource.is_flat:
        return False
    has_create = bound.resource.operation("create") is not None
    is_declared = str(calls.CREATED) in bound.role.operation.responses
    return bound.address.identifier is not None and (is_declared or not has_create)


def _known(bound: calls.BoundCall) -> Item | None:
    address = bound.address
    if isinstance(bound.resource, ResourceSingleton):
        return bound.single()
    if address.identifier is None:
        return None
    return bound.records.get(bound.resource.path, address.parents, address.identifier)


def _writable(bound: calls.BoundCall, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the sent members without read-only ones and the identifier."""
    return {name: value for name, value in sent.items() if _is_writable(bound, name)}


def _is_writable(bound: calls.BoundCall, name: str) -> bool:
    member = bound.shape.members.get(name)
    return name != bound.shape.identifier and not (member is not None and member.is_read_only)


def _keeps_null(bound: calls.BoundCall, name: str, value: Any) -> bool:
    """Tells whether null is stored as the value of a member, instead of removing it.

    In a merge patch, null removes an optional member; in plain JSON it is a value if the schema
    allows it.
    """
    member = bound.shape.members.get(name)
    if value is not None or member is None or not bound.shape.accepts(name, None):
        return False
    return member.is_required or bound.call.media_type != MERGE_PATCH


_FUNCTIONS: Final[Mapping[Role, Callable[[calls.BoundCall], HandlerResponse | None]]] = {
    "list": reading.list_items,
    "create": create,
    "read": reading.read,
    "replace": replace,
    "update": update,
    "delete": delete,
    "action": act,
}


@dataclass(frozen=True, slots=True)
class StatefulOperation:
    """Handles one operation by the state of the document."""

    stateful: calls.StatefulDocument
    resource: Resource
    role: ResourceOperation

    def __call__(self, call: DocumentCall) -> HandlerResponse | None:
        """Responds to a call; None if the response is to be generated from the document.

        Raises:
            Problem: The state does not allow the request.
        """
        self.stateful.adopt(call.schemas)
        bound = calls.BoundCall(call, self.stateful, self.resource, self.role)
        try:
            return _FUNCTIONS[self.role.role](bound)
        except Problem as problem:
            # says how to correct the inference
            problem.headers = (*problem.headers, calls.OVERRIDE)
            raise

    def path_values(self) -> Mapping[str, str]:
        """Returns path parameter to text for an item that exists in a new world; empty without."""
        names = self.role.path_names
        parents = [it.collection for it in self.resource.parents if it.collection is not None]
        for path in (self.resource.path, *reversed(parents)):
            items = self.stateful.beginning.get(items_of(path).name, {})
            for item in items.values():
                is_flat = self.resource.is_flat_at(self.role.operation.path)
                above = () if is_flat else item.parents
                named = item.body.get(self.role.named_by)
                last = item.identifier if named is None else text_of(named)
                return dict(zip(names, (*above, last), strict=False))
        return {}

    @property
    def inference(self) -> Mapping[str, Any]:
        """The resource and role of the operation, with confidence, reasons and the way to correct it."""
        return {
            "resource": self.resource.path,
            "role": self.role.role,
            "confidence": self.resource.confidence,
            "reasons": list(self.resource.reasons),
            "override": calls.OVERRIDE[1],
        }


def served(document: Document, settings: Settings) -> InferredState | None:
    """Returns the handlers for the state that is inferred from a document, or None without any.

    Args:
        document: The served document, as it was read.
        settings: The settings of the mock, with state-model and seed-data files.

    Raises:
        StartupError: The state-model or seed-data file is invalid, or has no effect.
    """
    model = infer_resources(document, settings.state_model)
    if settings.seed_data is not None and not model.collections:
        msg = f"--seed-data {settings.seed_data}: the document has no collection; `understudy infer` says why."
        raise StartupError(msg)
    if not model.resources:
        return None
    stateful = calls.StatefulDocument(document, model)

    def with_items(fixtures: Baseline) -> Baseline:
        if LAST_NUMBERS.name in fixtures:
            return fixtures
        path = settings.seed_data
        supplied = None if path is None else load_seed_data(path, stateful)
        stateful.beginning = seeded(stateful, settings.seed, supplied)
        return {**stateful.beginning, **fixtures}

    operations = {
        role.key: StatefulOperation(stateful, resource, role) for resource, role in model.roles()
    }
    return InferredState(operations, with_items)
