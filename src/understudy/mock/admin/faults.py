"""Adds, lists and deletes faults (``openapi/admin.yaml``)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from understudy.errors import BadRequest, Conflict, NotFound, nearest
from understudy.limits import FAULTS
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.faults import EFFECTS, Fault
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.worlds import World
from understudy.mock.store.people import PEOPLE


class FaultsAdmin:
    """The handlers of faults.

    Args:
        operations: The operationIds that a fault may strike.
    """

    def __init__(self, operations: Sequence[str]) -> None:
        self._operations = operations

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {
            ("GET", "/faults"): list_faults,
            ("POST", "/faults"): self.create_fault,
            ("DELETE", "/faults"): delete_faults,
            ("GET", "/faults/{id}"): get_fault,
            ("DELETE", "/faults/{id}"): delete_fault,
        }

    def create_fault(self, call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
        """Responds to ``POST /faults``.

        Raises:
            BadRequest: It names an operation or a person that is not there, or does nothing.
            Conflict: There is a fault of that id.
        """
        faults = call.world.faults
        fault = msgspec.convert({"id": body.get("id") or next_id(faults, "fault"), **body}, Fault)
        FAULTS.check(len(faults) + 1)
        if fault.id in faults:
            msg = f"id: there is a fault {fault.id!r} already; choose another, or delete it."
            raise Conflict(msg)
        check_fault(fault, self._operations, call.world)
        faults[fault.id] = fault
        call.world.note_change()
        return HandlerResponse(_as_json(fault), 201)


def check_fault(fault: Fault, operations: Sequence[str], world: World) -> None:
    """Checks what the types of a fault cannot express.

    Raises:
        BadRequest: It names an operation, a person or an effect that is not there, or does nothing.
    """
    if fault.operation is not None and fault.operation not in operations:
        hint = nearest(fault.operation, operations)
        msg = f"operation: there is no {fault.operation!r}{hint or '.'} There are {', '.join(operations)}."
        raise BadRequest(msg)
    if fault.person is not None:
        expect_person(fault.person, world)
    if fault.effect is not None and fault.effect not in EFFECTS:
        msg = f"effect: there is no {fault.effect!r}; there are {', '.join(EFFECTS)}."
        raise BadRequest(msg)
    if fault.effect is not None and EFFECTS[fault.effect].needs_field and not fault.field:
        msg = f"field: {fault.effect} changes a field; name it, such as display_name."
        raise BadRequest(msg)
    if fault.delay is None and fault.status is None and fault.effect is None:
        msg = "This fault does nothing; give it a delay, a status or an effect."
        raise BadRequest(msg)


def expect_person(slug: str, world: World) -> None:
    """Accepts a person of the world.

    Raises:
        BadRequest: There is none of this slug.
    """
    if world.get(PEOPLE, slug) is None:
        hint = nearest(slug, list(world.keys(PEOPLE)))
        msg = f"person: there is no {slug!r} in this world{hint or '.'}"
        raise BadRequest(msg)


def list_faults(call: Call) -> HandlerResponse:
    """Responds to ``GET /faults``."""
    faults = [fault for fault in call.world.faults.values() if fault.stub is None]
    return HandlerResponse([_as_json(fault) for fault in faults])


def get_fault(call: Call, identifier: str) -> HandlerResponse:
    """Responds to ``GET /faults/{id}``.

    Raises:
        NotFound: There is no such fault.
    """
    return HandlerResponse(_as_json(_fault(call.world, identifier)))


def delete_fault(call: Call, identifier: str) -> HandlerResponse:
    """Responds to ``DELETE /faults/{id}``.

    Raises:
        NotFound: There is no such fault.
    """
    del call.world.faults[_fault(call.world, identifier).id]
    call.world.note_change()
    return HandlerResponse(status=204)


def delete_faults(call: Call) -> HandlerResponse:
    """Responds to ``DELETE /faults``: nothing goes wrong any more."""
    world = call.world
    world.faults = {name: it for name, it in world.faults.items() if it.stub is not None}
    call.world.note_change()
    return HandlerResponse(status=204)


def _fault(world: World, identifier: str) -> Fault:
    fault = world.faults.get(identifier)
    if fault is None or fault.stub is not None:
        hint = nearest(identifier, list(world.faults)) or "."
        msg = f"There is no fault {identifier!r}{hint} GET /__admin/faults lists them."
        raise NotFound(msg)
    return fault


def next_id(taken: Mapping[str, Fault], word: str) -> str:
    """Returns an id of a word and a number that is free."""
    number = len(taken) + 1
    while f"{word}-{number}" in taken:
        number += 1
    return f"{word}-{number}"


def _as_json(fault: Fault) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(fault)
    return {**content, "met": fault.met, "struck": fault.struck}
