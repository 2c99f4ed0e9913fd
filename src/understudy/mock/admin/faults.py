"""Adds, lists and deletes faults (``openapi/admin.yaml``)."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from understudy.errors import BadRequest, Conflict, NotFound, nearest
from understudy.limits import FAULTS
from understudy.mock.admin.context import AdminContext, AdminHandlers
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.server.faults import EFFECTS, Fault
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.stubbing import STUB
from understudy.mock.server.worlds import World
from understudy.mock.store.people import expect_person


class Kept:
    """Lists, returns and deletes the faults of a world, or its stubs, which are kept among them.

    Args:
        word: ``fault`` or ``stub``.
        shown: Returns one as JSON.
    """

    def __init__(self, word: str, shown: Callable[[World, Fault], dict[str, Any]]) -> None:
        self._word = word
        self._shown = shown

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        place = f"/{self._word}s"
        return {
            ("GET", place): self.list_all,
            ("DELETE", place): self.delete_all,
            ("GET", f"{place}/{{id}}"): self.get,
            ("DELETE", f"{place}/{{id}}"): self.delete,
        }

    def list_all(self, call: Call) -> HandlerResponse:
        """Responds to ``GET /faults`` or ``GET /stubs``; stubs as they are considered, the latest first."""
        kept = list(self._of(call.world).values())
        ordered = kept[::-1] if self._word == "stub" else kept
        return HandlerResponse([self._shown(call.world, it) for it in ordered])

    def get(self, call: Call, identifier: str) -> HandlerResponse:
        """Responds to ``GET /faults/{id}`` or ``GET /stubs/{id}``.

        Raises:
            NotFound: There is none of this id.
        """
        return HandlerResponse(self._shown(call.world, self._one(call.world, identifier)))

    def delete(self, call: Call, identifier: str) -> HandlerResponse:
        """Responds to ``DELETE /faults/{id}`` or ``DELETE /stubs/{id}``.

        Raises:
            NotFound: There is none of this id.
        """
        del call.world.faults[self._one(call.world, identifier).id]
        call.world.note_change()
        return HandlerResponse(status=204)

    def delete_all(self, call: Call) -> HandlerResponse:
        """Responds to ``DELETE /faults`` or ``DELETE /stubs``: those of the other kind stay."""
        world = call.world
        deleted = self._of(world)
        world.faults = {name: it for name, it in world.faults.items() if name not in deleted}
        world.note_change()
        return HandlerResponse(status=204)

    def _of(self, world: World) -> dict[str, Fault]:
        are_stubs = self._word == "stub"
        faults = world.faults.items()
        return {name: it for name, it in faults if (it.stub is not None) is are_stubs}

    def _one(self, world: World, identifier: str) -> Fault:
        kept = self._of(world)
        if identifier not in kept:
            hint = nearest(identifier, list(kept)) or "."
            msg = f"There is no {self._word} {identifier!r}{hint} GET /__admin/{self._word}s lists them."
            raise NotFound(msg)
        return kept[identifier]


def create_fault(admin: AdminContext, call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``POST /faults``.

    Raises:
        BadRequest: It names an operation or a person that is not there, or does nothing.
        Conflict: There is a fault of that id.
    """
    world = call.world
    fault = msgspec.convert({"id": next_id(world, "fault"), **body}, Fault)
    check_fault(fault, list(admin.endpoints), world)
    keep(world, fault)
    world.note_change()
    return HandlerResponse(_as_json(world, fault), 201)


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
        expect_person(world, fault.person)
    if fault.effect is not None and fault.effect not in EFFECTS:
        msg = f"effect: there is no {fault.effect!r}; there are {', '.join(EFFECTS)}."
        raise BadRequest(msg)
    if fault.effect is not None and EFFECTS[fault.effect].needs_field and not fault.field:
        msg = f"field: {fault.effect} changes a field; name it, such as display_name."
        raise BadRequest(msg)
    if fault.delay is None and fault.status is None and fault.effect is None:
        msg = "This fault does nothing; give it a delay, a status or an effect."
        raise BadRequest(msg)


def keep(world: World, fault: Fault) -> None:
    """Puts a fault or a stub in force.

    Raises:
        Conflict: There is one of this id.
        LimitExceeded: There are too many.
    """
    FAULTS.check(len(world.faults) + 1)
    if fault.id in world.faults:
        msg = f"id: there is a stub or a fault {fault.id!r} already; choose another, or delete it."
        raise Conflict(msg)
    world.faults[fault.id] = fault


def next_id(world: World, word: str) -> str:
    """Returns an id of a word and a number that is free, and that the journal does not know either."""
    met = {
        field
        for context in world.journal
        for field in (context.fault, response_header(context, STUB))
    }
    taken = met | world.faults.keys()
    numbers = itertools.count(len(world.faults) + 1)
    return next(name for number in numbers if (name := f"{word}-{number}") not in taken)


def response_header(context: RequestContext, name: str) -> str | None:
    """Returns a header of the response to a request; None where it has none."""
    field = name.encode()
    texts = (text for given, text in context.response_headers if given == field)
    return next((text.decode("latin-1") for text in texts), None)


def _as_json(_world: World, fault: Fault) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(fault)
    return {**content, "met": fault.met, "struck": fault.struck}


ADMIN_HANDLERS: AdminHandlers = {
    ("POST", "/faults"): create_fault,
}

HANDLERS: Handlers = {
    **Kept("fault", _as_json).handlers,
}
