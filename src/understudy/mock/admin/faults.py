"""Handlers of the admin API for faults and stubs; stubs are validated against the document.

A stub is kept among the faults, so the same handlers list, return and delete both.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from understudy.errors import (
    BadRequest,
    Conflict,
    FixtureError,
    NotFound,
    Problem,
    nearest,
    not_a_record,
)
from understudy.exchange.masking import masked_value
from understudy.limits import FAULTS
from understudy.mock.admin.context import AdminContext, AdminHandlers, expect_operation
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import EFFECTS, Fault, RequestCondition, StubResponse
from understudy.mock.server.request_conditions import Misfit, expect_comparisons, misfits
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.stubbing import STUB, expect_stream, violations
from understudy.mock.server.worlds import World
from understudy.mock.store.people import expect_person
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.yaml_files import read_yaml


class FaultHandlers:
    """Lists, returns and deletes either the faults of a world or its stubs.

    Args:
        word: ``fault`` or ``stub``.
        shown: Returns a fault or a stub as JSON.
    """

    def __init__(self, word: str, shown: Callable[[World, Fault], dict[str, Any]]) -> None:
        self._word = word
        self._shown = shown

    @property
    def handlers(self) -> Handlers:
        """The handlers by method and path."""
        place = f"/{self._word}s"
        return {
            ("GET", place): self.list_all,
            ("DELETE", place): self.delete_all,
            ("GET", f"{place}/{{id}}"): self.get,
            ("DELETE", f"{place}/{{id}}"): self.delete,
        }

    def list_all(self, call: Call) -> HandlerResponse:
        """Responds to ``GET /faults`` or ``GET /stubs``: stubs in the order of trial, latest first."""
        faults = list(self._faults(call.world).values())
        ordered = faults[::-1] if self._word == "stub" else faults
        return HandlerResponse([self._shown(call.world, it) for it in ordered])

    def get(self, call: Call, identifier: str) -> HandlerResponse:
        """Responds to ``GET /faults/{id}`` or ``GET /stubs/{id}``.

        Raises:
            NotFound: There is no fault or stub with this id.
        """
        return HandlerResponse(self._shown(call.world, self._find(call.world, identifier)))

    def delete(self, call: Call, identifier: str) -> HandlerResponse:
        """Responds to ``DELETE /faults/{id}`` or ``DELETE /stubs/{id}``.

        Raises:
            NotFound: There is no fault or stub with this id.
        """
        del call.world.faults[self._find(call.world, identifier).id]
        call.world.note_change()
        return HandlerResponse(status=204)

    def delete_all(self, call: Call) -> HandlerResponse:
        """Responds to ``DELETE /faults`` or ``DELETE /stubs``: the other kind is kept."""
        world = call.world
        deleted = self._faults(world)
        world.faults = {name: it for name, it in world.faults.items() if name not in deleted}
        world.note_change()
        return HandlerResponse(status=204)

    def _faults(self, world: World) -> dict[str, Fault]:
        are_stubs = self._word == "stub"
        faults = world.faults.items()
        return {name: it for name, it in faults if (it.stub is not None) is are_stubs}

    def _find(self, world: World, identifier: str) -> Fault:
        faults = self._faults(world)
        if identifier not in faults:
            hint = nearest(identifier, list(faults)) or "."
            msg = f"There is no {self._word} {identifier!r}{hint} GET /__admin/{self._word}s lists them."
            raise NotFound(msg)
        return faults[identifier]


def create_fault(admin: AdminContext, call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``POST /faults``.

    Raises:
        BadRequest: The fault names an unknown operation or person, or has no effect.
        Conflict: There is a fault or a stub with this id.
    """
    world = call.world
    fault = msgspec.convert({"id": next_id(world, "fault"), **body}, Fault)
    fault = check_fault(fault, admin.endpoints, world)
    put_in_force(world, fault)
    world.note_change()
    return HandlerResponse(_shown_fault(world, fault), 201)


def check_fault(fault: Fault, endpoints: Mapping[str, Endpoint], world: World) -> Fault:
    """Checks a fault beyond its types, and returns it with the operationId of its operation.

    Raises:
        BadRequest: The fault names an unknown operation, person or effect, or has no effect.
    """
    if fault.operation is not None:
        fault = replace(fault, operation=expect_operation(fault.operation, endpoints))
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
    return fault


def put_in_force(world: World, fault: Fault) -> None:
    """Adds a fault or a stub to a world.

    Raises:
        Conflict: There is a fault or a stub with this id.
        LimitExceeded: There are too many faults and stubs.
    """
    FAULTS.check(len(world.faults) + 1)
    if fault.id in world.faults:
        msg = f"id: there is a stub or a fault {fault.id!r} already; choose another, or delete it."
        raise Conflict(msg)
    world.faults[fault.id] = fault


def next_id(world: World, word: str) -> str:
    """Returns a free id of a word and a number, also different from deleted ones in the journal."""
    journalled = {
        field
        for context in world.journal
        for field in (context.fault, context.response_header(STUB))
    }
    taken = journalled | world.faults.keys()
    numbers = itertools.count(len(world.faults) + 1)
    return next(name for number in numbers if (name := f"{word}-{number}") not in taken)


def _shown_fault(_world: World, fault: Fault) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(fault)
    return {**content, "met": fault.met, "struck": fault.struck}


_SPAN: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) *(ms|s)")

_MEMBERS: Final = frozenset({"id", "operation", "response", "times", "delay"})
_OF_STUB: Final = frozenset({"when", "allow_invalid", "before_validation", "until_changed"})


class InvalidStub(Exception):
    """A stub whose response the document does not allow.

    Attributes:
        violations: The validation errors, each with its place in the stub.
    """

    def __init__(self, violations: Sequence[Mapping[str, str]]) -> None:
        self.violations = violations
        places: dict[str, list[str]] = {}  # a body may lack a dozen members
        for it in violations:
            places.setdefault(it["where"], []).append(it["message"].removesuffix("."))
        listed = "; ".join(f"{where}: {', '.join(messages)}" for where, messages in places.items())
        super().__init__(
            f"The document does not allow this response: {listed}. Mend it, give a merge that "
            'changes members of the mock\'s own, or insist by "allow_invalid": true, which is '
            "--allow-invalid on the command line."
        )


def create_stub(admin: AdminContext, call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``POST /stubs``.

    Raises:
        BadRequest: The stub names an unknown operation, path parameter or person.
        Conflict: There is a fault or a stub with this id.
    """
    try:
        stub = add_stub(call.world, body, admin.endpoints)
    except InvalidStub as invalid:
        detail = {
            "title": "The stub breaks the document",
            "status": 422,
            "detail": str(invalid),
            "violations": invalid.violations,
        }
        return HandlerResponse(detail, 422, "application/problem+json")
    call.world.note_change()
    return HandlerResponse(_shown_stub(call.world, stub), 201)


def add_stub(world: World, body: Mapping[str, Any], endpoints: Mapping[str, Endpoint]) -> Fault:
    """Adds a stub to a world; it is tried before the earlier ones.

    Args:
        world: The world.
        body: The stub, as in the body of ``POST /stubs``.
        endpoints: The operations by operationId.

    Returns:
        The stub, in the form in which it is kept among the faults.

    Raises:
        InvalidStub: The document does not allow a response of the stub.
        BadRequest: The stub names an unknown operation, path parameter or person.
        Conflict: There is a fault or a stub with this id.
    """
    stub = check_stub(_read(body, next_id(world, "stub")), endpoints, world)
    put_in_force(world, stub)
    return stub


def load_stubs(directory: Path, world: World, served: Iterable[Endpoint]) -> None:
    """Adds the stubs in ``stubs/*.yaml``, one stub or a list in each file, to a new world.

    Raises:
        FixtureError: A stub is invalid, or the document does not allow it.
    """
    endpoints = {endpoint.operation.operation_id: endpoint for endpoint in served}
    for path in sorted(directory.glob("*.yaml")):
        content = read_yaml(path)
        for number, body in enumerate(content if isinstance(content, list) else [content], start=1):
            try:
                if not isinstance(body, dict):
                    msg = "a stub is an object, with operation and response."
                    raise BadRequest(msg)
                add_stub(world, body, endpoints)
            except (InvalidStub, Problem) as error:
                msg = f"{path}: stub {number}: {error}"
                raise FixtureError(msg) from error


def _read(body: Mapping[str, Any], free_id: str) -> Fault:
    """Parses the body of ``POST /stubs``.

    Raises:
        BadRequest: A member is unknown or invalid.
    """
    unknown = body.keys() - _MEMBERS - _OF_STUB
    if unknown:
        word = min(unknown)
        hint = nearest(word, sorted(_MEMBERS | _OF_STUB)) or "."
        msg = f"{word!r}: a stub has no such member{hint}"
        raise BadRequest(msg)
    given = body.get("response", {})
    stub = {name: body[name] for name in _OF_STUB & body.keys()}
    stub["responses"] = given if isinstance(given, list) else [given]
    members = {name: body[name] for name in ("operation", "times") if name in body}
    if "delay" in body:
        members["delay"] = _delay(body["delay"])
    try:
        return msgspec.convert({"id": body.get("id") or free_id, **members, "stub": stub}, Fault)
    except msgspec.ValidationError as error:
        place = "responses" if isinstance(given, list) else "responses[0]"
        text = not_a_record(error, Fault).replace(f"stub.{place}", "response", 1)
        msg = f"The stub cannot be read: {text.removeprefix('stub.')}"
        raise BadRequest(msg) from error


def _delay(value: Any) -> Any:
    """Converts a time such as ``200ms`` into the delay of a fault."""
    if not isinstance(value, str):
        return value
    span = _SPAN.fullmatch(value)
    milliseconds = float(span[1]) * (1000 if span[2] == "s" else 1) if span else -1
    if not 0 <= milliseconds <= 60_000:  # noqa: PLR2004 - a minute, the limit of a fault's delay
        msg = f"delay: {value!r} is not a time of at most a minute, such as 200ms or 1.5s."
        raise BadRequest(msg)
    return {"milliseconds": milliseconds}


def check_stub(stub: Fault, endpoints: Mapping[str, Endpoint], world: World) -> Fault:
    """Checks a stub beyond its types, and returns it with the operationId of its operation.

    Raises:
        InvalidStub: The document does not allow a response of the stub.
        BadRequest: The stub names an unknown operation, parameter or person, or has no effect.
    """
    stub = replace(stub, operation=expect_operation(stub.operation or "", endpoints))
    endpoint = endpoints[stub.operation or ""]
    assert stub.stub is not None
    _check_condition(stub.stub.when, endpoint, world)
    if any(it.body is not UNSET and it.merge is not UNSET for it in stub.stub.responses):
        msg = "response: give body or merge; merge changes the body that the mock would send."
        raise BadRequest(msg)
    is_changing = stub.delay is not None or stub.stub.before_validation
    if not is_changing and stub.stub.responses == (StubResponse(),):
        msg = "response: it is what the mock answers; give a status, headers, a body, a merge or a delay."
        raise BadRequest(msg)
    responses = stub.stub.responses
    for response in responses:
        expect_stream(endpoint, response)
    found = [
        {"where": f"/response{f'/{number}' * (len(responses) > 1)}{where}", "message": message}
        for number, response in enumerate(responses)
        for where, message in violations(endpoint, response)
    ]
    if found and not stub.stub.allow_invalid:
        raise InvalidStub(found)
    return stub


def _check_condition(when: RequestCondition, endpoint: Endpoint, world: World) -> None:
    if when.person is not None:
        expect_person(world, when.person)
    operation = endpoint.operation
    declared = PATH_PARAMETER.findall(operation.path)
    unknown = next((name for name in when.path if name not in declared), None)
    if unknown is not None:
        hint = nearest(unknown, declared) or f"; it has {', '.join(declared) or 'none'}."
        msg = f"when.path: {operation.operation_id} has no path parameter {unknown!r}{hint}"
        raise BadRequest(msg)
    expect_comparisons(msgspec.to_builtins(when))


def _shown_stub(world: World, kept: Fault) -> dict[str, Any]:
    """Returns a stub as JSON, with its number of uses, or the nearest request if it was never used."""
    assert kept.stub is not None
    content: dict[str, Any] = msgspec.to_builtins(kept.stub)
    responses = content.pop("responses")
    shown = {
        "id": kept.id,
        "operation": kept.operation,
        **content,
        "response": responses[0] if len(responses) == 1 else responses,
        **({} if kept.times is None else {"times": kept.times}),
        **({} if kept.delay is None else {"delay": msgspec.to_builtins(kept.delay)}),
        "used": kept.struck > 0,
        "answered": sum(context.response_header(STUB) == kept.id for context in world.journal),
    }
    return shown if kept.struck else {**shown, **_why_unused(world, kept)}


def _why_unused(world: World, kept: Fault) -> dict[str, Any]:
    """Returns a sentence on why a stub was never used, and the nearest request."""
    line = f"The stub {kept.id} answered no request of {kept.operation}"
    near = _nearest(world, kept)
    if near is None:
        return {"why_unused": f"{line}; there was none."}
    parts = (
        f"{it['where']} is {'missing' if it['actual'] is None else repr(it['actual'])}, not "
        + ("this one" if it["actual"] == it["expected"] else repr(it["expected"]))  # both masked
        for it in near["misfits"]
    )
    return {
        "why_unused": f"{line}; in the nearest, request {near['request']}, {', '.join(parts)}.",
        "nearest": near,
    }


def _nearest(world: World, kept: Fault) -> dict[str, Any] | None:
    """Returns the request that failed the fewest conditions of a stub, with those conditions."""
    assert kept.stub is not None
    found: tuple[RequestContext, list[Misfit]] | None = None
    for context in reversed(tuple(world.journal)):
        endpoint = context.endpoint
        if endpoint is not None and endpoint.operation.operation_id == kept.operation:
            others = list(misfits(kept.stub.when, context))
            if others and (found is None or len(others) < len(found[1])):
                found = context, others
    if found is None:
        return None
    context, others = found
    names = context.secret_names
    hidden = (
        it._replace(
            expected=masked_value(it.where, it.expected, names),
            actual=masked_value(it.where, it.actual, names),
        )
        for it in others
    )
    return {"request": context.number, "misfits": [it._asdict() for it in hidden]}


ADMIN_HANDLERS: AdminHandlers = {
    ("POST", "/faults"): create_fault,
    ("POST", "/stubs"): create_stub,
}

HANDLERS: Handlers = {
    **FaultHandlers("fault", _shown_fault).handlers,
    **FaultHandlers("stub", _shown_stub).handlers,
}
