"""Answers requests by stubs, and holds a stub to the document before it is taken.

A request is compared with the condition of a stub, of a fault and of a search of the journal in one way,
in WireMock's words.
A stub that says what the document does not allow keeps tests green while the contract is broken. So
each is judged once, when it is made, and answered without being judged again.
"""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

import orjson
import re2
from msgspec import UNSET
from msgspec.structs import replace

from understudy.errors import BadRequest, Headers, MockRefusal, Problem, TooManyRequests
from understudy.limits import PATTERN_BYTES, PATTERN_CHARACTERS
from understudy.mock.server.call import HandlerResponse, SharedBody
from understudy.mock.server.declared_responses import LOCATION
from understudy.mock.server.document_responses import declared_response, written_body
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import Fault, RequestCondition, StubResponse, TextCondition
from understudy.mock.server.json_bodies import merged
from understudy.mock.server.parameters import ParameterReader, describe, validation_errors
from understudy.mock.server.preferences import NO_PREFERENCES, RequestPreferences
from understudy.mock.server.recent import Recent
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.security import sent_headers
from understudy.mock.server.windows import WINDOW, QuotaDecision
from understudy.mock.server.worlds import World
from understudy.openapi.media_types import declared_for, is_json, without_options
from understudy.openapi.operations import DeclaredResponse
from understudy.openapi.pointers import escape

_OPTIONS: Final = re2.Options()
"""RE2 takes time in proportion to the text, whatever the expression is."""
_OPTIONS.dot_nl = True
_OPTIONS.log_errors = False
_OPTIONS.max_mem = PATTERN_BYTES.most
"""A repetition of repetitions is small as a text, and takes seconds to compile."""


def fits(text: str | None, pattern: Mapping[str, Any]) -> bool:
    """Tells whether a text, or None for the lack of one, fits comparisons by name, as WireMock has them.

    Raises:
        BadRequest: A regular expression is invalid.
    """
    if pattern.get("absent"):
        return text is None
    if text is None:
        return False
    options = {**pattern}
    is_folded = options.pop("caseInsensitive", False)
    return all(_COMPARISONS[name](text, wanted, is_folded) for name, wanted in options.items())


def _equal(text: str, wanted: str, is_folded: bool) -> bool:  # noqa: FBT001 - of one shape in the table
    return text.lower() == wanted.lower() if is_folded else text == wanted


def _equal_json(text: str, wanted: Any, _is_folded: bool) -> bool:  # noqa: FBT001 - as above
    try:
        expected = orjson.loads(wanted) if isinstance(wanted, str) else wanted
        return bool(orjson.loads(text) == expected)
    except ValueError:
        return False


_COMPARISONS: Mapping[str, Callable[[str, Any, bool], bool]] = {
    "equalTo": _equal,
    "contains": lambda text, wanted, _: wanted in text,
    "doesNotContain": lambda text, wanted, _: wanted not in text,
    "matches": lambda text, wanted, _: is_like(wanted, text),
    "doesNotMatch": lambda text, wanted, _: not is_like(wanted, text),
    "equalToJson": _equal_json,
    "absent": lambda _text, _wanted, _: True,
}


_FLAGS: Final = frozenset({"absent", "caseInsensitive"})


def is_comparison(value: Mapping[str, Any]) -> bool:
    """Tells whether an object holds comparisons of a text, and not members of JSON."""
    return bool(value) and all(
        name in _FLAGS or (name in _COMPARISONS and isinstance(text, str))
        for name, text in value.items()
    )


def is_like(expression: str, text: str) -> bool:
    """Tells whether a regular expression matches a whole text.

    Raises:
        BadRequest: The expression is invalid.
        LimitExceeded: It is too long.
    """
    PATTERN_CHARACTERS.check(len(expression))
    try:
        return re2.fullmatch(expression, text, options=_OPTIONS) is not None
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        msg = f"{expression[:100]!r} is not a regular expression in RE2's syntax: {reason}."
        raise BadRequest(msg) from error


class Misfit(NamedTuple):
    """One respect in which a request is not what a condition asks for.

    Attributes:
        where: The place, such as ``path profileIdentifier``.
        expected: What the condition asks for.
        actual: What the request has there; None: nothing.
    """

    where: str
    expected: Any
    actual: Any


def misfits(condition: RequestCondition, context: RequestContext) -> Iterator[Misfit]:
    """Yields the respects in which a request is not what a condition asks for.

    Raises:
        BadRequest: A regular expression is invalid.
    """
    person = context.principal.person if context.principal else None
    if condition.person not in {None, person}:
        yield Misfit("person", condition.person, person)
    if condition.path:
        yield from _other_texts("path", condition.path, context.path_arguments.items())
    if condition.query:
        query = parse_qsl(context.query.decode("latin-1"), keep_blank_values=True)
        yield from _other_texts("query", condition.query, query)
    if condition.header:
        sent = context.headers.items()
        fields = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in sent]
        names = {name.lower(): wanted for name, wanted in condition.header.items()}
        yield from _other_texts("header", names, fields)
    if condition.body is not UNSET:
        body = _body(context)
        if not _contains(body, condition.body):
            yield Misfit("body", condition.body, body)


def _other_texts(
    place: str, conditions: Mapping[str, TextCondition], texts: Iterable[tuple[str, str]]
) -> Iterator[Misfit]:
    """Yields the conditions that no text of their name fits; a parameter may be sent twice."""
    by_name: dict[str, list[str]] = {}
    for name, text in texts:
        by_name.setdefault(name, []).append(text)
    for name, wanted in conditions.items():
        sent: Sequence[str | None] = by_name.get(name, (None,))
        if isinstance(wanted, str):
            is_fit = wanted in sent
        else:
            is_fit = any(fits(text, wanted) for text in sent)
        if not is_fit:
            yield Misfit(f"{place} {name}", wanted, sent[-1])


def _body(context: RequestContext) -> Any:
    """Returns the body as JSON, or a form as an object; None where it is neither."""
    try:
        return orjson.loads(context.body)
    except ValueError:
        return dict(parse_qsl(context.body.decode("latin-1"), keep_blank_values=True)) or None


def _contains(value: Any, part: Any) -> bool:
    """Tells whether a value of JSON contains another: of objects, its members among others.

    A text may be compared as texts elsewhere in the request are.
    """
    if isinstance(part, dict):
        if isinstance(value, str):
            return is_comparison(part) and fits(value, part)
        return isinstance(value, dict) and all(
            name in value and _contains(value[name], member) for name, member in part.items()
        )
    if isinstance(part, list):
        return (
            isinstance(value, list) and len(value) == len(part) and all(map(_contains, value, part))
        )
    return type(value) is type(part) and bool(value == part)


def expect_comparisons(value: Any) -> None:
    """Reads every regular expression of a condition, at whatever depth it stands.

    Raises:
        BadRequest: One is invalid.
    """
    if isinstance(value, dict) and is_comparison(value):
        fits("", value)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            expect_comparisons(part)


FIRST_ERROR: Final = 400
"""The first status that is an error (RFC 9110, 15.5)."""

STUB: Final = "x-mock-stub"
"""The header that names the stub that answered."""

INVALID: Final = ("x-mock-violation", "stub")
"""Marks a response that breaks the document because its stub wanted for that."""

_Made = HandlerResponse | Coroutine[Any, Any, HandlerResponse] | None
_Own = Callable[[RequestContext, Endpoint], _Made]


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
        if stub.before_validation is is_early:
            for _ in misfits(stub.when, context):
                break
            else:
                return fault
    return None


def stubbed(context: RequestContext, endpoint: Endpoint, own: _Own) -> _Made:
    """Returns the answer of a stub; where none answers, the mock's own.

    Args:
        context: The request.
        endpoint: The operation it calls.
        own: Returns what the mock would say.

    Raises:
        Problem: The mock refuses what a stub only changes.
    """
    fault = stub_for(context)
    if fault is not None:
        return answer(context, endpoint, fault, own)
    if endpoint.operation.method not in _SAFE and context.principal is not None:
        _end_outdated(context.world)
    return own(context, endpoint)


_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110, 9.2.1)."""


def _end_outdated(world: World) -> None:
    """Deletes the stubs that show what a world was like before a change."""
    outdated = [it.id for it in world.faults.values() if it.stub and it.stub.until_changed]
    for name in outdated:
        del world.faults[name]
    if outdated:
        world.note_change()


def answer(context: RequestContext, endpoint: Endpoint, fault: Fault, own: _Own) -> _Made:
    """Returns what a stub answers, and counts it.

    Raises:
        Problem: The mock refuses what the stub only changes; then the stub has not answered.
    """
    assert fault.stub is not None
    responses = fault.stub.responses
    is_last = fault.struck >= len(responses)
    wanted = responses[-1] if is_last else responses[fault.struck]
    if not is_last or fault.times is not None:  # what is counted is written to the store
        _count(context, fault, 1)
    if wanted.body is not UNSET:
        fixed = _fixed(endpoint, wanted)
        return _finished(context, endpoint, fault, wanted, fixed, fixed.body)
    made: _Made = None
    if wanted.status is None or wanted.status < FIRST_ERROR:
        try:
            made = own(context, endpoint)
        except Problem:
            if _leaves_refusals(context, fault, wanted):
                raise
        if made is not None and not isinstance(made, HandlerResponse):
            return _changed_later(context, endpoint, fault, wanted, made)
        if made is None and wanted.status is None:
            return None  # a page, which a stub that names no status leaves as it is
        return _changed(context, endpoint, fault, wanted, made)
    return _changed(context, endpoint, fault, wanted, None)


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
    except Problem:
        if _leaves_refusals(context, fault, wanted):
            raise
    return _changed(context, endpoint, fault, wanted, response)


def _leaves_refusals(context: RequestContext, fault: Fault, wanted: StubResponse) -> bool:
    """Tells whether a stub names no status to answer in place of a refusal, and notes so."""
    if wanted.status is not None:
        return False
    context.notes.append(
        f"the stub {fault.id} only changes what the mock answers, which refused; name a status to "
        "have another answer"
    )
    _count(context, fault, -1)
    return True


def _count(context: RequestContext, before: Fault, answers: int) -> None:
    """Counts answers of a stub, or takes one back; others may have been given in the meantime."""
    now = context.world.faults.get(before.id)
    if now is not None:
        left = None if now.times is None else now.times - answers
        struck = max(now.struck + answers, before.struck)
        context.world.faults[now.id] = replace(now, times=left, struck=struck)
        context.world.note_fault_use()


_FIXED: Final[Recent[tuple[int, int], tuple[StubResponse, HandlerResponse]]] = Recent(500)
"""Answers with the body of a stub, by the identities of its response and of the operation."""


def _fixed(endpoint: Endpoint, wanted: StubResponse) -> HandlerResponse:
    """Returns a response whose body a stub gives."""
    key = (id(wanted), id(endpoint))
    kept = _FIXED.get(key)
    if kept is not None and kept[0] is wanted:
        return kept[1]
    status = endpoint.validator.status(200) if wanted.status is None else wanted.status
    declared = endpoint.operation.response(status)
    media_type = _media_type(wanted, declared)
    sample = declared_response(endpoint.operation, endpoint.schemas, 0, status=status)
    place = tuple(it for it in sample.headers if it[0] == LOCATION) if sample else ()
    response = HandlerResponse(
        _content(endpoint, wanted, declared, media_type), status, media_type, place
    )
    _FIXED.put(key, (wanted, response))
    return response


def _content(
    endpoint: Endpoint, wanted: StubResponse, declared: DeclaredResponse | None, media_type: str
) -> Any:
    if isinstance(wanted.body, str) and not is_json(media_type):
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


def _changed(
    context: RequestContext,
    endpoint: Endpoint,
    fault: Fault,
    wanted: StubResponse,
    response: HandlerResponse | None,
) -> HandlerResponse:
    """Returns the mock's own answer, or the document's of another status, as a stub changes it."""
    if response is None or wanted.status not in {None, response.status}:
        response = demanded_response(context, endpoint, wanted.status)
    body = response.body
    if wanted.merge is not UNSET:
        body = _merged(context, body, wanted)
    return _finished(context, endpoint, fault, wanted, response, body)


def _finished(
    context: RequestContext,
    endpoint: Endpoint,
    fault: Fault,
    wanted: StubResponse,
    response: HandlerResponse,
    body: Any,
) -> HandlerResponse:
    """Returns a response with this body, with each header once, and marked."""
    assert fault.stub is not None
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
    """Returns the headers of a response and those that any response would get, the stub's before both."""
    quota = _quota_headers(context, endpoint, response.status)
    headers = _overlaid(_overlaid(response.headers, context.extra_headers), quota)
    context.extra_headers = ()
    if not wanted.headers:
        return headers
    given = ((name.lower(), text) for name, text in wanted.headers.items())
    other = tuple(it for it in given if it[0] != "content-type")
    return _overlaid(sent_headers(context, response.status, headers), other)


def _overlaid(headers: Headers, others: Headers) -> Headers:
    """Returns headers with others in place of those of their names."""
    names = dict(others)
    return (*(it for it in headers if it[0] not in names), *others)


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


def violations(endpoint: Endpoint, wanted: StubResponse) -> Iterator[tuple[str, str]]:
    """Yields what the document does not allow in a response: its place in the response, and why."""
    operation = endpoint.operation
    status = endpoint.validator.status(200) if wanted.status is None else wanted.status
    declared = operation.response(status)
    if declared is None:
        if operation.responses:
            listed = ", ".join(operation.responses)
            yield "/status", f"{status} is not among {listed} of {operation.operation_id}."
        return
    for header in declared.headers:
        given = next((n for n in wanted.headers if n.lower() == header.name.lower()), None)
        if given is not None:
            try:
                reader = ParameterReader(header, endpoint.schemas.for_responses)
                reader.read({header.name.lower(): [wanted.headers[given]]})
            except BadRequest as problem:
                yield f"/headers/{escape(given)}", problem.message
    if wanted.body is not UNSET:
        yield from _body_violations(endpoint, declared, _media_type(wanted, declared), wanted.body)
    elif wanted.merge is not UNSET:
        sample = declared_response(operation, endpoint.schemas, 0, status=status)
        body = sample.body if sample else None
        body = merged(body.value if isinstance(body, SharedBody) else body, wanted.merge)
        media_type = _media_type(wanted, declared)
        yield from _body_violations(endpoint, declared, media_type, body, "/merge")


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
    if schema is not None and (is_json(essence) or not isinstance(body, str)):
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
