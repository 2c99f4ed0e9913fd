"""Answers requests by stubs, and holds a stub to the document before it is taken.

A stub that says what the document does not allow keeps tests green while the contract is broken. So
each is judged once, when it is made, and answered without being judged again.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

import orjson
from msgspec import UNSET
from msgspec.structs import replace

from understudy.errors import BadRequest, Headers, MockRefusal, Problem, TooManyRequests
from understudy.mock.server.call import HandlerResponse, SharedBody
from understudy.mock.server.declared_headers import LOCATION
from understudy.mock.server.document_responses import declared_response
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import Fault, StubCondition, StubResponse, TextCondition
from understudy.mock.server.json_bodies import merged
from understudy.mock.server.parameters import ParameterReader
from understudy.mock.server.preferences import NO_PREFERENCES, RequestPreferences
from understudy.mock.server.rate_limit import sent_headers
from understudy.mock.server.recent import Recent
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.sample_bodies import written_body
from understudy.mock.server.text_comparisons import fits
from understudy.mock.server.validation_errors import describe, validation_errors
from understudy.mock.server.windows import WINDOW, QuotaDecision
from understudy.openapi.media_types import is_json
from understudy.openapi.operations import DeclaredResponse
from understudy.openapi.pointers import escape

FIRST_ERROR: Final = 400
"""The first status that is an error (RFC 9110, 15.5)."""

STUB: Final = "x-mock-stub"
"""The header that names the stub that answered."""

INVALID: Final = ("x-mock-violation", "stub")
"""Marks a response that breaks the document because its stub wanted for that."""

_Made = HandlerResponse | Coroutine[Any, Any, HandlerResponse] | None
_Own = Callable[[RequestContext, Endpoint], _Made]


class Misfit(NamedTuple):
    """One respect in which a request is not what a stub answers.

    Attributes:
        where: The place, such as ``path profileIdentifier``.
        expected: What the stub asks for.
        actual: What the request has there; None: nothing.
    """

    where: str
    expected: Any
    actual: Any


def needs_stack(faults: Mapping[str, Fault]) -> bool:
    """Tells whether one of these is more than a stub that answers after the validation, at once."""
    for fault in faults.values():
        stub = fault.stub
        if stub is None or stub.before_validation or fault.delay is not None:
            return True
    return False


def stub_for(context: RequestContext, *, is_early: bool = False) -> Fault | None:
    """Returns the latest stub that answers a request; None: none does.

    Args:
        context: The request, which was routed.
        is_early: Whether the request was not yet authenticated and validated.
    """
    endpoint = context.endpoint
    if endpoint is None or endpoint.api.is_steering:
        return None
    operation = endpoint.operation.operation_id
    for fault in reversed(context.world.faults.values()):
        stub = fault.stub
        if stub is None or fault.operation != operation or fault.times == 0:
            continue
        if stub.before_validation is is_early and next(misfits(stub.when, context), None) is None:
            return fault
    return None


def misfits(condition: StubCondition, context: RequestContext) -> Iterator[Misfit]:
    """Yields the respects in which a request is not what a condition asks for."""
    person = context.principal.person if context.principal else None
    if condition.person not in {None, person}:
        yield Misfit("person", condition.person, person)
    if condition.path:
        yield from _other_texts("path", condition.path, context.path_arguments)
    if condition.query:
        query = dict(parse_qsl(context.query.decode("latin-1"), keep_blank_values=True))
        yield from _other_texts("query", condition.query, query)
    if condition.header:
        names = {name.lower(): wanted for name, wanted in condition.header.items()}
        sent = {n.decode("latin-1"): t.decode("latin-1") for n, t in context.headers.items()}
        yield from _other_texts("header", names, sent)
    if condition.body is not UNSET:
        body = _body(context)
        if not _contains(body, condition.body):
            yield Misfit("body", condition.body, body)


def _other_texts(
    place: str, conditions: Mapping[str, TextCondition], texts: Mapping[str, str]
) -> Iterator[Misfit]:
    for name, wanted in conditions.items():
        text = texts.get(name)
        if not (text == wanted if isinstance(wanted, str) else fits(text, wanted)):
            yield Misfit(f"{place} {name}", wanted, text)


def _body(context: RequestContext) -> Any:
    """Returns the body as JSON, or a form as an object; None where it is neither."""
    try:
        return orjson.loads(context.body)
    except ValueError:
        return dict(parse_qsl(context.body.decode("latin-1"), keep_blank_values=True)) or None


def _contains(value: Any, part: Any) -> bool:
    """Tells whether a value of JSON contains another: of objects, its members among others."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            name in value and _contains(value[name], member) for name, member in part.items()
        )
    if isinstance(part, list):
        return (
            isinstance(value, list) and len(value) == len(part) and all(map(_contains, value, part))
        )
    return type(value) is type(part) and bool(value == part)


def stubbed(context: RequestContext, endpoint: Endpoint, own: _Own) -> _Made:
    """Returns the answer of a stub; where none answers, the mock's own.

    Args:
        context: The request.
        endpoint: The operation it calls.
        own: Returns what the mock would say.

    Raises:
        Problem: The mock's own answer, which a stub only changes, is a refusal.
    """
    fault = stub_for(context)
    return own(context, endpoint) if fault is None else answer(context, endpoint, fault, own)


def answer(context: RequestContext, endpoint: Endpoint, fault: Fault, own: _Own) -> _Made:
    """Returns what a stub answers, and counts it.

    Raises:
        Problem: The mock's own answer, which a stub only changes, is a refusal.
    """
    wanted = _next_response(context, fault)
    is_fixed = wanted.body is not UNSET or wanted.status is not None
    fixed = _fixed(context, endpoint, fault, wanted) if is_fixed else None
    if fixed is not None:
        if INVALID in fixed.headers:
            _note_invalid(context, fault)
        return fixed
    made = own(context, endpoint)
    if made is None or isinstance(made, HandlerResponse):
        made = made or HandlerResponse(status=204)
        return _changed(context, endpoint, fault, wanted, made)
    return _changed_later(context, endpoint, fault, wanted, made)


def _next_response(context: RequestContext, fault: Fault) -> StubResponse:
    """Returns the response whose turn it is.

    What is counted is written to the store by each request, so only what decides something is.
    """
    assert fault.stub is not None
    responses = fault.stub.responses
    if fault.times is None and fault.struck >= len(responses):
        return responses[-1]
    left = None if fault.times is None else fault.times - 1
    context.world.faults[fault.id] = replace(fault, times=left, struck=fault.struck + 1)
    context.world.note_fault_use()
    return responses[min(fault.struck, len(responses) - 1)]


_FIXED: Final[Recent[tuple[int, int], tuple[StubResponse, HandlerResponse]]] = Recent(500)
"""Answers that follow from the stub alone, by the identities of its response and of the operation."""


def _fixed(
    context: RequestContext, endpoint: Endpoint, fault: Fault, wanted: StubResponse
) -> HandlerResponse | None:
    """Returns an answer that the mock has no part in; None where it has."""
    if wanted.body is UNSET:
        is_success = wanted.status is None or wanted.status < FIRST_ERROR
        return (
            None if is_success else _marked(_wanted_error(context, endpoint, fault, wanted), fault)
        )
    key = (id(wanted), id(endpoint))
    kept = _FIXED.get(key)
    if kept is not None and kept[0] is wanted:
        return kept[1]
    response = _marked(whole_response(context, endpoint, wanted), fault)
    if any(violations(endpoint, wanted)):
        response = response._replace(headers=(*response.headers, INVALID))
    _FIXED.put(key, (wanted, response))
    return response


def _wanted_error(
    context: RequestContext, endpoint: Endpoint, fault: Fault, wanted: StubResponse
) -> HandlerResponse:
    """Returns an error whose body is the mock's own."""
    assert fault.stub is not None
    assert wanted.status is not None
    response = demanded_response(context, endpoint, wanted.status)
    response = response._replace(headers=_overlaid(response.headers, wanted.headers))
    if fault.stub.allow_invalid and any(violations(endpoint, wanted)):
        response = response._replace(headers=(*response.headers, INVALID))
    return response


def whole_response(
    context: RequestContext, endpoint: Endpoint, wanted: StubResponse
) -> HandlerResponse:
    """Returns a response whose body a stub gives, with the headers that the document requires."""
    status = endpoint.validator.status(200) if wanted.status is None else wanted.status
    declared = endpoint.operation.response(status)
    media_type = _media_type(wanted, declared)
    seed = context.world.identifiers.seed
    sample = declared_response(endpoint.operation, endpoint.schemas, seed, status=status)
    required = {it.name.lower() for it in declared.headers if it.required} if declared else set()
    required = {*required, LOCATION} - dict(context.extra_headers).keys()
    kept = [it for it in sample.headers if it[0] in required] if sample else []
    content = _content(endpoint, wanted, declared, media_type)
    return HandlerResponse(content, status, media_type, _overlaid(tuple(kept), wanted.headers))


def _content(
    endpoint: Endpoint, wanted: StubResponse, declared: DeclaredResponse | None, media_type: str
) -> Any:
    if is_json(media_type):
        return SharedBody(wanted.body)
    if isinstance(wanted.body, str):
        return wanted.body.encode()
    media = declared.content.get(media_type) if declared else None
    schema = media.schema if media else None
    written = written_body(wanted.body, media_type, schema, endpoint.schemas.for_responses)
    return written if isinstance(written, bytes) else SharedBody(written)


def _media_type(wanted: StubResponse, declared: DeclaredResponse | None) -> str:
    """Returns the media type of a body: the one it is given, or the document's, JSON first."""
    given = next((t for n, t in wanted.headers.items() if n.lower() == "content-type"), None)
    if given is not None:
        return given
    types = [it for it in declared.content if "*" not in it] if declared else []
    return next(filter(is_json, types), types[0] if types else "application/json")


def _overlaid(headers: Headers, wanted: Mapping[str, str]) -> Headers:
    """Returns headers with those of a stub in place of others of their names."""
    own = {name.lower(): text for name, text in wanted.items() if name.lower() != "content-type"}
    return (*(it for it in headers if it[0] not in own), *own.items())


def _marked(response: HandlerResponse, fault: Fault) -> HandlerResponse:
    return response._replace(headers=(*response.headers, (STUB, fault.id)))


def _note_invalid(context: RequestContext, fault: Fault) -> None:
    context.notes.append(f"the stub {fault.id} answers what the document does not allow")


def _changed(
    context: RequestContext,
    endpoint: Endpoint,
    fault: Fault,
    wanted: StubResponse,
    response: HandlerResponse,
) -> HandlerResponse:
    """Returns the mock's own answer as a stub changes it."""
    assert fault.stub is not None
    if wanted.status is not None and wanted.status != response.status:
        response = demanded_response(context, endpoint, wanted.status)
    body, headers = response.body, response.headers
    if wanted.merge is not UNSET:
        body = _merged(context, body, wanted)
    if wanted.headers:
        headers = _overlaid(headers, wanted.headers)
    changed = HandlerResponse(
        body, response.status, response.media_type, (*headers, (STUB, fault.id))
    )
    if fault.stub.allow_invalid and endpoint.validator.fault(changed) is not None:
        _note_invalid(context, fault)
        return changed._replace(headers=(*changed.headers, INVALID))
    return changed


_MERGED: Final[Recent[tuple[int, int], tuple[StubResponse, SharedBody, SharedBody]]] = Recent(500)
"""Changed bodies of records that are read over and over, by the identities of change and body."""


def _merged(context: RequestContext, body: Any, wanted: StubResponse) -> Any:
    """Returns the mock's own body as a stub changes it; of a shared one once."""
    if not isinstance(body, SharedBody):
        if isinstance(body, bytes):
            context.notes.append("the stub merged nothing, as the body is not JSON")
            return body
        return merged(body, wanted.merge)
    key = (id(wanted), id(body))
    kept = _MERGED.get(key)
    if kept is None or kept[0] is not wanted or kept[1] is not body:
        kept = (wanted, body, SharedBody(merged(body.value, wanted.merge)))
        _MERGED.put(key, kept)
    return kept[2]


async def _changed_later(
    context: RequestContext,
    endpoint: Endpoint,
    fault: Fault,
    wanted: StubResponse,
    made: Coroutine[Any, Any, HandlerResponse],
) -> HandlerResponse:
    return _changed(context, endpoint, fault, wanted, await made)


def violations(endpoint: Endpoint, wanted: StubResponse) -> Iterator[dict[str, str]]:
    """Yields what the document does not allow in a response, each with its place in the response."""
    operation = endpoint.operation
    status = endpoint.validator.status(200) if wanted.status is None else wanted.status
    declared = operation.response(status)
    if declared is None:
        if operation.responses:
            listed = ", ".join(operation.responses)
            yield _violation(
                "/status", f"{status} is not among {listed} of {operation.operation_id}."
            )
        return
    for header in declared.headers:
        given = next((n for n in wanted.headers if n.lower() == header.name.lower()), None)
        if given is not None:
            try:
                reader = ParameterReader(header, endpoint.schemas.for_responses)
                reader.read({header.name.lower(): [wanted.headers[given]]})
            except BadRequest as problem:
                yield _violation(f"/headers/{escape(given)}", problem.message)
    if wanted.body is not UNSET:
        yield from _body_violations(endpoint, wanted, declared)
    elif wanted.merge is not UNSET:
        sample = declared_response(operation, endpoint.schemas, 0, status=status)
        body = (
            sample.body.value
            if sample and isinstance(sample.body, SharedBody)
            else sample and sample.body
        )
        whole = StubResponse(status, wanted.headers, merged(body, wanted.merge))
        yield from _body_violations(endpoint, whole, declared, "/merge")


def _body_violations(
    endpoint: Endpoint, wanted: StubResponse, declared: DeclaredResponse, place: str = "/body"
) -> Iterator[dict[str, str]]:
    media_type = _media_type(wanted, declared)
    essence = media_type.partition(";")[0].strip().lower()
    if not declared.content:
        yield _violation(place, f"the document declares no content at {declared.pointer}.")
        return
    ranges = (essence, f"{essence.partition('/')[0]}/*", "*/*")
    media = next((declared.content[it] for it in ranges if it in declared.content), None)
    if media is None:
        listed = ", ".join(declared.content)
        yield _violation("/headers/content-type", f"{media_type} is not among {listed}.")
    elif media.schema is not None and (is_json(essence) or not isinstance(wanted.body, str)):
        validator = endpoint.schemas.for_responses.validator(media.schema)
        for error in validation_errors(validator, wanted.body):
            at = "".join(f"/{escape(str(step))}" for step in error.instance_path)
            yield _violation(place + at, describe(error))


def _violation(where: str, message: str) -> dict[str, str]:
    return {"where": where, "message": message}


def demanded_response(
    context: RequestContext,
    endpoint: Endpoint,
    status: int | None,
    wished: RequestPreferences = NO_PREFERENCES,
) -> HandlerResponse:
    """Returns what the document has for a status, or the error shape that is declared for it.

    Raises:
        MockRefusal: The document has no such example.
    """
    seed, identifiers = wished.seed, context.world.identifiers
    if seed is None:
        seed = identifiers.number() if wished.dynamic else identifiers.seed
    declared = declared_response(
        endpoint.operation,
        endpoint.schemas,
        seed,
        status=status,
        example=wished.example,
        is_made_up=wished.dynamic,
    )
    is_error = status is not None and status >= FIRST_ERROR
    has_example = wished.example is not None or _has_example(endpoint, status)
    if declared is None or (is_error and not has_example):
        if status is None:
            msg = f"The document has no example {wished.example!r} for this operation."
            raise MockRefusal(400, "No such example", msg)
        return demanded_error(context, endpoint, status)
    headers = _quota_headers(context, endpoint, declared.status)
    sampled = (it for it in declared.headers if it[0] not in dict(headers))
    return declared._replace(headers=(*sampled, *headers))


def _has_example(endpoint: Endpoint, status: int | None) -> bool:
    response = None if status is None else endpoint.operation.response(status)
    return response is not None and any(m.examples for m in response.content.values())


def demanded_error(context: RequestContext, endpoint: Endpoint, status: int) -> HandlerResponse:
    """Returns a status in the error shape that is declared for it, with the headers that go with it."""
    if status < FIRST_ERROR:
        return HandlerResponse(None, status)
    problem = Problem(f"Answered {status} on demand.", code="on_demand")
    headers = _quota_headers(context, endpoint, status)
    response = endpoint.api.error_response(problem)._replace(status=status, headers=headers)
    seed = context.world.identifiers.seed
    return endpoint.errors.response(response, problem, seed)._replace(status=status)


def _quota_headers(context: RequestContext, endpoint: Endpoint, status: int) -> Headers:
    """Returns the headers of a used-up quota for a 429, and none for another status."""
    if status != TooManyRequests.status:
        return ()
    quota = endpoint.api.quota(context.principal)
    headers = QuotaDecision(
        allowed=False, limit=quota, remaining=0, reset=context.started + WINDOW
    ).headers
    return sent_headers(context, status, headers)
