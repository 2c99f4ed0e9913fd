"""Responds to requests by stubs, and validates stubs by the document.

A stub that breaks the document keeps tests green while the contract is broken. So each stub is validated
once, when it is made, and its responses are sent without further validation.
"""

import json
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import UNSET
from msgspec.structs import replace

from understudy.errors import BadRequest, Headers, MockRefusal, Problem, TooManyRequests
from understudy.mock.server.call import HandlerResponse, SharedBody
from understudy.mock.server.declared_responses import LOCATION
from understudy.mock.server.document_responses import Sampling, written_body
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import Fault, StubResponse
from understudy.mock.server.json_bodies import merged
from understudy.mock.server.parameters import ParameterReader, describe, validation_errors
from understudy.mock.server.preferences import NO_PREFERENCES, RequestPreferences
from understudy.mock.server.recent import Recent
from understudy.mock.server.request_conditions import misfits
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.security import sent_headers
from understudy.mock.server.windows import WINDOW, QuotaDecision
from understudy.mock.server.worlds import World
from understudy.openapi.loader import Document, server_urls
from understudy.openapi.media_types import (
    EVENTS,
    declared_for,
    is_json,
    is_stream,
    negotiated,
    without_options,
)
from understudy.openapi.operations import DeclaredResponse
from understudy.openapi.pointers import escape

STUB: Final = "x-mock-stub"
"""Header with the name of the stub that responded."""

INVALID: Final = ("x-mock-violation", "stub")
"""Header of a response that breaks the document, since its stub has ``allow_invalid``."""

_Made = HandlerResponse | Coroutine[Any, Any, HandlerResponse] | None
_Own = Callable[[RequestContext, Endpoint], _Made]


def needs_stack(faults: Mapping[str, Fault]) -> bool:
    """Tells whether any fault needs more than the fast path, which knows only plain, late stubs."""
    for fault in faults.values():
        stub = fault.stub
        if stub is None or stub.before_validation or stub.is_planned or fault.delay is not None:
            return True
    return False


def stub_for(context: RequestContext, *, is_early: bool = False) -> Fault | None:
    """Returns the newest stub that matches a request; None: no stub does.

    Args:
        context: Request, which is routed already.
        is_early: Whether to look for stubs that respond before authentication and validation.
    """
    endpoint = context.endpoint
    if endpoint is None or endpoint.api.is_steering:
        return None
    operation = endpoint.operation.operation_id
    for fault in reversed(context.world.faults.values()):
        stub = fault.stub
        if stub is None or fault.operation != operation or fault.times == 0:
            continue
        if stub.before_validation is is_early:
            for _ in misfits(stub.when, context):
                break
            else:
                return fault
    return None


def stubbed(context: RequestContext, endpoint: Endpoint, own: _Own) -> _Made:
    """Returns the response of a matching stub, or else the mock's own.

    Raises:
        Problem: The mock refuses the request, and the stub only changes the mock's response.
    """
    fault = stub_for(context)
    if fault is not None:
        return answer(context, endpoint, fault, own)
    if endpoint.operation.method not in _SAFE and context.principal is not None:
        _end_outdated(context.world)
    return own(context, endpoint)


_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Safe methods (RFC 9110, 9.2.1)."""


def _end_outdated(world: World) -> None:
    """Deletes the stubs with ``until_changed``, as a write request was made."""
    outdated = [it.id for it in world.faults.values() if it.stub and it.stub.until_changed]
    for name in outdated:
        del world.faults[name]
    if outdated:
        world.note_change()


def answer(context: RequestContext, endpoint: Endpoint, fault: Fault, own: _Own) -> _Made:
    """Returns the response of a stub, and counts it.

    Raises:
        Problem: The mock refuses the request, and the stub only changes the mock's response; the
            response is not counted then.
    """
    assert fault.stub is not None
    responses = fault.stub.responses
    is_last = fault.struck >= len(responses)
    wanted = responses[-1] if is_last else responses[fault.struck]
    if not is_last or fault.times is not None:  # else no count is needed
        _count(context, fault, 1)
    if wanted.body is not UNSET:
        fixed = _fixed(context, endpoint, wanted)
        return _finished(context, endpoint, fault, wanted, fixed, fixed.body)
    if endpoint.validator.has_choice or wanted.headers:
        _ask_for_json(context, wanted)
    made: _Made = None
    if wanted.status is None or wanted.status < HTTPStatus.BAD_REQUEST:
        try:
            made = own(context, endpoint)
        except Problem as problem:
            _replace_refusal(problem, context, fault, wanted)
        if made is not None and not isinstance(made, HandlerResponse):
            return _changed_later(context, endpoint, fault, wanted, made)
        if made is None and wanted.status is None:
            return None  # a page, which a stub that names no status leaves as it is
        return _changed(context, endpoint, fault, wanted, made)
    return _changed(context, endpoint, fault, wanted, None)


def _ask_for_json(context: RequestContext, wanted: StubResponse) -> None:
    """Makes the mock respond in JSON, where the stub changes the body or encodes it differently."""
    if wanted.merge is not UNSET or _given_type(wanted):
        context.headers = {**context.headers, b"accept": b"application/json"}


async def _changed_later(
    context: RequestContext,
    endpoint: Endpoint,
    fault: Fault,
    wanted: StubResponse,
    made: Coroutine[Any, Any, HandlerResponse],
) -> HandlerResponse:
    response = None
    try:
        response = await made
    except Problem as problem:
        _replace_refusal(problem, context, fault, wanted)
    return _changed(context, endpoint, fault, wanted, response)


def _replace_refusal(
    problem: Problem, context: RequestContext, fault: Fault, wanted: StubResponse
) -> None:
    """Drops a refusal of the mock if the stub names a status, which replaces it.

    Raises:
        Problem: The refusal, if the stub names no status; the stub's response is not counted then.
    """
    if wanted.status is None:
        context.notes.append(
            f"the stub {fault.id} only changes what the mock answers, which refused; name a status "
            "to have another answer"
        )
        _count(context, fault, -1)
        raise problem


def _count(context: RequestContext, before: Fault, answers: int) -> None:
    """Adds to the count of a stub's responses; other requests may have changed it meanwhile."""
    now = context.world.faults.get(before.id)
    if now is not None:
        left = None if now.times is None else now.times - answers
        struck = max(now.struck + answers, before.struck)
        context.world.faults[now.id] = replace(now, times=left, struck=struck)
        context.world.note_fault_use()


_FIXED: Final[Recent[tuple[int, int, bytes], tuple[StubResponse, HandlerResponse]]] = Recent(500)
"""Cache of encoded responses with a stub's body, by the identities of the stub's response and of the
operation, and by the Accept header."""


def _fixed(context: RequestContext, endpoint: Endpoint, wanted: StubResponse) -> HandlerResponse:
    """Returns a response with the body that the stub has."""
    accept = context.headers.get(b"accept", b"") if endpoint.validator.has_choice else b""
    key = (id(wanted), id(endpoint), accept)
    kept = _FIXED.get(key)
    if kept is not None and kept[0] is wanted:  # an id may be reused by a newer object
        return kept[1]
    status = endpoint.validator.status(200) if wanted.status is None else wanted.status
    declared = endpoint.operation.response(status)
    media_type = _media_type(wanted, declared, accept)
    sample = Sampling(endpoint.operation, endpoint.schemas, 0).declared(status)
    place = tuple(it for it in sample.headers if it[0] == LOCATION) if sample else ()
    written = _written(endpoint, wanted.body, declared, media_type)
    body = written if isinstance(written, bytes) else SharedBody(written)
    response = HandlerResponse(body, status, media_type, place)
    _FIXED.put(key, (wanted, response))
    return response


def _written(
    endpoint: Endpoint, value: Any, declared: DeclaredResponse | None, media_type: str
) -> Any:
    """Encodes a value as the body of a media type."""
    essence = without_options(media_type)
    if isinstance(value, str) and not is_json(essence):
        return value.encode()
    name = declared_for(essence, declared.content) if declared else None
    schema = declared.content[name].schema if declared and name else None
    return written_body(value, essence, schema, endpoint.schemas.for_responses)


def _given_type(wanted: StubResponse) -> str | None:
    return next((t for n, t in wanted.headers.items() if n.lower() == "content-type"), None)


def _media_type(
    wanted: StubResponse, declared: DeclaredResponse | None, accept: bytes = b""
) -> str:
    """Returns the media type of a body: that of the stub, or else the one that the client prefers."""
    given = _given_type(wanted)
    if given is not None:
        return given
    types = [it for it in declared.content if "*" not in it] if declared else []
    best = negotiated(types, accept.decode("latin-1")) or negotiated(types, "")
    return best or "application/json"


def _changed(
    context: RequestContext,
    endpoint: Endpoint,
    fault: Fault,
    wanted: StubResponse,
    response: HandlerResponse | None,
) -> HandlerResponse:
    """Returns the mock's own response, or the document's for another status, changed by a stub."""
    if response is None or wanted.status not in {None, response.status}:
        response = demanded_response(context, endpoint, wanted.status)
    body = response.body
    if wanted.merge is not UNSET:
        body = _merged(context, body, wanted)
    if endpoint.validator.has_choice or wanted.headers:
        response = _typed(context, endpoint, wanted, response._replace(body=body))
        body = response.body
    return _finished(context, endpoint, fault, wanted, response, body)


def _typed(
    context: RequestContext, endpoint: Endpoint, wanted: StubResponse, response: HandlerResponse
) -> HandlerResponse:
    """Returns a JSON response, encoded in the media type that the stub or else the client wants."""
    declared = endpoint.operation.response(response.status)
    media_type = _media_type(wanted, declared, context.head.headers.get(b"accept", b""))
    body = response.body.value if isinstance(response.body, SharedBody) else response.body
    if body is None or isinstance(body, bytes) or media_type == response.media_type:
        return response
    body = _written(endpoint, body, declared, media_type)
    return response._replace(body=body, media_type=media_type)


def _finished(
    context: RequestContext,
    endpoint: Endpoint,
    fault: Fault,
    wanted: StubResponse,
    response: HandlerResponse,
    body: Any,
) -> HandlerResponse:
    """Returns a response with this body, without repeated headers, and with the stub's name."""
    assert fault.stub is not None
    if fault.stub.is_planned:
        context.stream = context.stream.over(wanted.stream)
    _, status, media_type, headers = response
    if headers or wanted.headers or status == TooManyRequests.status:
        headers = _each_once(context, endpoint, wanted, response)
    response = HandlerResponse(body, status, media_type, (*headers, (STUB, fault.id)))
    if not fault.stub.allow_invalid:
        return response
    if endpoint.validator.fault(response) is None and not any(violations(endpoint, wanted)):
        return response
    context.notes.append(f"the stub {fault.id} answers what the document does not allow")
    return response._replace(headers=(*response.headers, INVALID))


def _each_once(
    context: RequestContext, endpoint: Endpoint, wanted: StubResponse, response: HandlerResponse
) -> Headers:
    """Returns the headers of a response and of its request; a stub's header replaces one of its name."""
    quota = _quota_headers(context, endpoint, response.status)
    headers = _overlaid(_overlaid(response.headers, context.extra_headers), quota)
    context.extra_headers = ()
    if not wanted.headers:
        return headers
    given = ((name.lower(), text) for name, text in wanted.headers.items())
    other = tuple(it for it in given if it[0] != "content-type")
    return _overlaid(sent_headers(context, response.status, headers), other)


def _overlaid(headers: Headers, others: Headers) -> Headers:
    """Returns headers in which others replace those of the same names."""
    names = dict(others)
    return (*(it for it in headers if it[0] not in names), *others)


_MERGED: Final[Recent[tuple[int, int], tuple[StubResponse, SharedBody, SharedBody]]] = Recent(500)
"""Cache of patched shared bodies, by the identities of the stub's response and of the body."""


def _merged(context: RequestContext, body: Any, wanted: StubResponse) -> Any:
    """Returns the mock's own body after a stub's merge patch; a shared body is patched once."""
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


def expect_stream(endpoint: Endpoint, wanted: StubResponse) -> None:
    """Checks that a response is a stream if its stub plans how the items are sent.

    Raises:
        BadRequest: It is none.
    """
    planned = [name for name, value in wanted.stream._asdict().items() if value is not None]
    status = endpoint.validator.status(200) if wanted.status is None else wanted.status
    declared = endpoint.operation.response(status)
    given = _given_type(wanted)
    types = [given] if given else [*declared.content] if declared else []
    if planned and not any(map(is_stream, types)):
        content = ", ".join(types) or "no content"
        msg = (
            f"response.{planned[0]}: {endpoint.operation.operation_id} responds {status} with {content}, "
            f"which is no stream such as {EVENTS}; leave out {' and '.join(planned)}."
        )
        raise BadRequest(msg)


def violations(endpoint: Endpoint, wanted: StubResponse) -> Iterator[tuple[str, str]]:
    """Yields how a stub's response breaks the document: JSON Pointer in the response, and message."""
    operation = endpoint.operation
    status = endpoint.validator.status(200) if wanted.status is None else wanted.status
    declared = operation.response(status)
    if declared is None:
        if operation.responses:
            listed = ", ".join(operation.responses)
            yield "/status", f"{status} is not among {listed} of {operation.operation_id}."
        return
    yield from _header_violations(endpoint, declared, wanted)
    if wanted.body is not UNSET:
        yield from _body_violations(endpoint, declared, _media_type(wanted, declared), wanted.body)
    elif wanted.merge is not UNSET:
        sample = Sampling(operation, endpoint.schemas, 0).declared(status)
        body = sample.body if sample else None
        body = merged(body.value if isinstance(body, SharedBody) else body, wanted.merge)
        media_type = _media_type(wanted, declared)
        yield from _body_violations(endpoint, declared, media_type, body, "/merge")


def _header_violations(
    endpoint: Endpoint, declared: DeclaredResponse, wanted: StubResponse
) -> Iterator[tuple[str, str]]:
    for header in declared.headers:
        given = next((n for n in wanted.headers if n.lower() == header.name.lower()), None)
        if given is not None:
            try:
                reader = ParameterReader(header, endpoint.schemas.for_responses)
                reader.read({header.name.lower(): [wanted.headers[given]]})
            except BadRequest as problem:
                yield f"/headers/{escape(given)}", problem.message
    media_type = _given_type(wanted)
    if media_type is not None and wanted.body is UNSET and wanted.merge is UNSET:
        yield from _body_violations(endpoint, declared, media_type, UNSET, "/headers/content-type")


def _body_violations(
    endpoint: Endpoint,
    declared: DeclaredResponse,
    media_type: str,
    body: Any,
    place: str = "/body",
) -> Iterator[tuple[str, str]]:
    if not declared.content:
        yield place, f"the document declares no content at {declared.pointer}."
        return
    essence = without_options(media_type)
    name = declared_for(essence, declared.content)
    if name is None:
        listed = ", ".join(declared.content)
        yield "/headers/content-type", f"{media_type} is not among {listed}."
        return
    schema = declared.content[name].schema
    is_text = isinstance(body, str) and not is_json(essence)
    if is_text and schema and essence == "text/plain":
        is_text = bool(endpoint.schemas.types(schema) - {"string"})
    if schema is not None and body is not UNSET and not is_text:
        validator = endpoint.schemas.for_responses.validator(schema)
        for error in validation_errors(validator, body):
            steps = list(map(str, error.instance_path))
            message = describe(error).removeprefix(f"{'.'.join(steps)}: ")
            yield "/".join((place, *map(escape, steps))), message


def demanded_response(
    context: RequestContext,
    endpoint: Endpoint,
    status: int | None,
    wished: RequestPreferences = NO_PREFERENCES,
) -> HandlerResponse:
    """Returns the response that the document declares for a status, or an error in the declared shape.

    Raises:
        MockRefusal: The document has no such example.
    """
    seed, identifiers = wished.seed, context.world.identifiers
    if seed is None:
        seed = identifiers.number() if wished.dynamic else identifiers.seed
    sampling = Sampling(endpoint.operation, endpoint.schemas, seed)
    declared = sampling.declared(status, wished.example, is_made_up=wished.dynamic)
    is_error = status is not None and status >= HTTPStatus.BAD_REQUEST
    has_example = wished.example is not None or _has_example(endpoint, status)
    has_example = has_example or not (declared and is_json(declared.media_type))
    if declared is None or (is_error and not has_example):
        if status is None:
            msg = f"The document has no example {wished.example!r} for this operation."
            raise MockRefusal(400, "No such example", msg)
        return demanded_error(context, endpoint, status)
    headers = _quota_headers(context, endpoint, declared.status)
    sampled = (it for it in declared.headers if it[0] not in dict(headers))
    body = _led_here(declared.body, endpoint.api.document, context.site_url)
    return declared._replace(body=body, headers=(*sampled, *headers))


def _led_here(body: Any, document: Document, site_url: str) -> Any:
    """Returns a JSON value in which the addresses of a document's own server lead to this mock."""
    address = urlsplit(next(iter(server_urls(document.raw.get("servers"))), ""))
    if not address.netloc or isinstance(body, bytes):
        return body
    origin = re.escape(f"{address.scheme}://{address.netloc}") + r"(?![\w.:-])"
    written = re.sub(origin, lambda _: site_url, json.dumps(body, ensure_ascii=False))
    return json.loads(written)


def _has_example(endpoint: Endpoint, status: int | None) -> bool:
    response = None if status is None else endpoint.operation.response(status)
    return response is not None and any(m.examples for m in response.content.values())


def demanded_error(context: RequestContext, endpoint: Endpoint, status: int) -> HandlerResponse:
    """Returns an error with a status in its declared shape, with quota headers for 429."""
    if status < HTTPStatus.BAD_REQUEST:
        return HandlerResponse(None, status)
    problem = Problem(f"Answered {status} on demand.", code="on_demand")
    headers = _quota_headers(context, endpoint, status)
    response = endpoint.api.error_response(problem)._replace(status=status, headers=headers)
    seed = context.world.identifiers.seed
    return endpoint.errors.response(response, problem, seed)._replace(status=status)


def _quota_headers(context: RequestContext, endpoint: Endpoint, status: int) -> Headers:
    """Returns the headers of an exhausted quota for a 429; empty for another status."""
    if status != TooManyRequests.status:
        return ()
    quota = endpoint.api.quota(context.principal)
    headers = QuotaDecision(
        allowed=False, limit=quota, remaining=0, reset=context.started + WINDOW
    ).headers
    return sent_headers(context, status, headers)
