"""Reads the arguments of a request, and validates them by the document."""

from typing import Any

from understudy.errors import BadRequest, NotAcceptable, Problem, UnsupportedMediaType, Violation
from understudy.mock.server.api import STRICT_QUERY, QueryReading
from understudy.mock.server.bodies import BodyReader
from understudy.mock.server.call import BODY
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.parameters import (
    ABSENT,
    Texts,
    location_texts,
    parse_query,
    readable_query,
)
from understudy.mock.server.request_context import PREFER_HEADER, RequestContext
from understudy.openapi.media_types import negotiated


def validate(context: RequestContext) -> None:
    """Reads every argument of a request into ``context.arguments``.

    Raises:
        Problem: A parameter or the body is missing, malformed, or breaks its schema; or the client
            accepts no media type of the operation; or the refusal of a missing scope was deferred
            until after validation.
    """
    endpoint = context.endpoint
    if endpoint is None or endpoint.page is not None:
        return
    accept = context.headers.get(b"accept")
    if accept and b"*/*" not in accept and not endpoint.api.is_lenient:
        prefer = context.headers.get(PREFER_HEADER, b"").lower()
        is_strict = endpoint.api.needs_acceptable or b"handling=strict" in prefer  # RFC 7240, 4.4
        _negotiate(accept, endpoint, is_strict=is_strict)
    reading = _query_reading(context, endpoint) if context.choices else STRICT_QUERY
    try:
        known = context.head.target.reading
        if known is not None and known[0] is endpoint and reading is STRICT_QUERY:
            _, context.arguments, context.undeclared_query = known
            if context.undeclared_query:
                _note_undeclared(context, context.undeclared_query)
        else:
            _read(context, endpoint, reading)
    except BadRequest as problem:
        # a problem of the body, which is read last and may be large, has all violations already
        problem.violations = problem.violations or _violations(context, endpoint)
        _expect_what_precedes(context, endpoint)
        raise
    if context.deferred is not None and endpoint.access.token == "required":
        raise context.deferred


def _read(context: RequestContext, endpoint: Endpoint, reading: QueryReading) -> None:
    texts: dict[str, Texts] = {}
    arguments: dict[str, Any] = {}
    for parameter in endpoint.parameters:
        location = parameter.location
        if location not in texts:
            texts[location] = _texts(context, endpoint, location, reading)
        value = parameter.read(texts[location])
        if value is not ABSENT:
            arguments[parameter.name] = value
    if context.query:
        query = texts.get("query") or _texts(context, endpoint, "query", reading)
        note_unknown_query(context, endpoint, query)
    if endpoint.body is not None:
        value = _body(context, endpoint, endpoint.body)
        if value is not ABSENT:
            arguments[BODY] = value
    elif (
        reading is STRICT_QUERY
        and not endpoint.reads_headers
        # a query with preferences removed differs from the target's; otherwise all requests with
        # this target have the same arguments, so they are cached in it
        and context.query is context.head.target.query
    ):
        context.head.target.reading = endpoint, arguments, context.undeclared_query
    context.arguments = arguments


def _expect_what_precedes(context: RequestContext, endpoint: Endpoint) -> None:
    """Runs the precondition of an invalid request, which the options may report before 400.

    Raises:
        Problem: The precondition fails.
    """
    precondition = endpoint.api.preconditions.get(endpoint.binding.handler)
    if precondition is not None and context.choices and context.principal is not None:
        precondition(context.world, context.principal, context.choices, context.path_arguments)


def _violations(context: RequestContext, endpoint: Endpoint) -> tuple[Violation, ...]:
    """Returns all violations of a refused request, by reading it again past the first problem."""
    violations: list[Violation] = []
    reading = _query_reading(context, endpoint)
    for parameter in endpoint.parameters:
        try:
            parameter.read(_texts(context, endpoint, parameter.location, reading))
        except BadRequest as problem:
            violations.append(Violation(parameter.location, (parameter.name,), problem.message))
    if endpoint.body is not None:
        try:
            _body(context, endpoint, endpoint.body)
        except BadRequest as problem:
            violations += problem.violations
        except Problem:
            pass  # such as 415: the response reports the first problem, not this one
    return tuple(violations)


def _texts(
    context: RequestContext, endpoint: Endpoint, location: str, reading: QueryReading
) -> Texts:
    if location == "query":
        parse = readable_query if endpoint.api.is_lenient else parse_query
        texts = parse(context.query) if context.query else {}
        return _chosen_texts(texts, endpoint, reading)
    return location_texts(location, path=context.path_arguments, headers=context.headers)


def _query_reading(context: RequestContext, endpoint: Endpoint) -> QueryReading:
    if not endpoint.reads_query:
        return STRICT_QUERY
    return endpoint.api.policies.query_reading(context.choices)


def _chosen_texts(
    texts: dict[str, list[str]], endpoint: Endpoint, reading: QueryReading
) -> dict[str, list[str]]:
    """Returns the texts of a query without those that the reading in force drops."""
    if reading is STRICT_QUERY:
        return texts
    for parameter in endpoint.parameters:
        values = texts.get(parameter.name, [])
        if parameter.location != "query" or parameter.is_composed:
            continue
        if len(values) > 1 and reading.repeated != "none":
            values = texts[parameter.name] = [values[0 if reading.repeated == "first" else -1]]
        if reading.drops_empty and values == [""] and parameter.refuses_empty:
            del texts[parameter.name]
    return texts


def note_unknown_query(context: RequestContext, endpoint: Endpoint, texts: Texts) -> None:
    """Notes undeclared query parameters; real clients send them, so they are not refused."""
    known = {p.name for p in endpoint.parameters if p.location == "query"}
    _note_undeclared(context, tuple(name for name in texts if name.partition("[")[0] not in known))


def _note_undeclared(context: RequestContext, unknown: tuple[str, ...]) -> None:
    if unknown:
        context.undeclared_query = unknown
        context.notes.append(f"query parameters not in the document: {', '.join(unknown)}")


def _body(context: RequestContext, endpoint: Endpoint, reader: BodyReader) -> Any:
    if context.headers.get(b"content-encoding", b"identity") != b"identity":
        msg = "A compressed body is not taken here; send it without Content-Encoding."
        raise UnsupportedMediaType(msg, code="unsupported_encoding")
    drops = endpoint.api.policies.drops_unknown_members
    content_type = context.headers.get(b"content-type", b"")
    is_dropping = drops(context.choices, endpoint.binding.handler)
    try:
        return reader.read(context.body, content_type, drop_unknown=is_dropping)
    except BadRequest as problem:
        problem.violations = problem.violations or (Violation("body", (), problem.message),)
        raise


def _negotiate(accept: bytes, endpoint: Endpoint, *, is_strict: bool) -> None:
    offered, declared = endpoint.validator.media_types, endpoint.operation.responses
    is_silent = endpoint.binding.handler is None and not declared.keys() & {"406", "4XX"}
    if not offered or (is_silent and not is_strict):
        return  # another service may ignore Accept, unless its document declares 406
    if negotiated(offered, accept.decode("latin-1")) is not None:
        return
    msg = f"This answers {', '.join(sorted(offered))}; none of it is in Accept."
    raise NotAcceptable(msg, code="not_acceptable")
