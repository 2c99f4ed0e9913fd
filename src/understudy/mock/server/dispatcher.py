"""Calls the handler of an operation and sends its response."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Literal

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.errors import BadRequest, LimitExceeded
from understudy.mock.server.call import Call, DocumentCall, HandlerResponse
from understudy.mock.server.document_responses import generated, generated_again
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import WireResponse
from understudy.mock.server.request_context import RequestContext, context_of
from understudy.mock.server.response_sending import (
    encode,
    problem_response,
    send_wire,
    stream_response,
)
from understudy.mock.server.route_table import EndpointsByRoute, chosen
from understudy.mock.server.security import sent_headers
from understudy.mock.server.stubbing import INVALID, stubbed
from understudy.openapi.paths import routed_texts
from understudy.openapi.sampler import EFFORTS

ResponseValidation = Literal["refuse", "warn", "off"]
"""Treatment of a response of the mock that breaks the document."""

GENERATED_NOTE = "generated from the document: no handler was written for this operation"

STATEFUL_NOTE = (
    "responded by the state that was inferred from the document; `understudy infer` explains it, and "
    "`serve --state-model` corrects it"
)

STANDING_NOTES = frozenset({GENERATED_NOTE, STATEFUL_NOTE})
"""Notes that hold for every request of an operation, so that a log prints them once per operation."""


def route_of(scope: Scope) -> tuple[str | None, str | None]:
    """Returns the base path and the skeleton's operationId that Connexion routed the request to."""
    routing = scope["extensions"]["connexion_routing"]
    return routing.get("api_base_path"), routing.get("operation_id")


def route(context: RequestContext, scope: Scope, endpoints: EndpointsByRoute) -> None:
    """Puts the operation that Connexion routed to into the request context."""
    routed = endpoints.get(route_of(scope))  # type: ignore[arg-type]  # (None, None) finds none
    if routed is not None:
        endpoint = context.endpoint = chosen(routed, context.query, context.headers)
        context.path_arguments = routed_texts(endpoint.operation.path, scope["path_params"])


class Dispatcher:
    """ASGI application that runs the handlers of routed operations; other requests go to the pages.

    Args:
        elsewhere: Application for the paths that no document has.
        response_validation: What happens to a response of the mock that breaks the document.
    """

    def __init__(self, elsewhere: ASGIApp, response_validation: ResponseValidation) -> None:
        self._elsewhere = elsewhere
        self._response_validation = response_validation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Responds to a request.

        Raises:
            Problem: The handler raised it, or the request lacks an argument that the handler requires.
        """
        context = context_of(scope)
        endpoint = context.endpoint
        called = None if endpoint is None else stubbed(context, endpoint, call_handler)
        if endpoint is None or called is None:
            await self._elsewhere(scope, receive, send)
            return
        response = called if isinstance(called, HandlerResponse) else await called
        if isinstance(response.body, AsyncIterator):
            status = endpoint.validator.status(response.status)
            await stream_response(receive, send, response._replace(status=status))
            return
        await send_wire(send, self.encode(context, endpoint, response))

    def encode(
        self, context: RequestContext, endpoint: Endpoint, response: HandlerResponse
    ) -> WireResponse:
        """Returns the response of a handler in its bytes: validated, and with all its headers.

        Raises:
            Problem: The request has a problem that was deferred until the handler had responded.
        """
        if context.deferred is not None:
            raise context.deferred
        is_judged = INVALID not in response.headers
        status = endpoint.validator.status(response.status) if is_judged else response.status
        if status != response.status:
            response = response._replace(status=status)
        if is_judged and self._response_validation != "off":
            fault = endpoint.validator.fault(response)
            if fault is not None:
                response = self._without_fault(context, endpoint, response, fault)
        headers = sent_headers(context, status, response.headers + context.extra_headers)
        return encode(response, headers, is_own_page=endpoint.page is not None)

    def _without_fault(
        self, context: RequestContext, endpoint: Endpoint, response: HandlerResponse, fault: str
    ) -> HandlerResponse:
        """Returns a response that breaks the document completed, else marked (``warn``) or as a 500."""
        operation = endpoint.operation
        seed = context.world.identifiers.seed
        completed = endpoint.validator.completed(response, seed, context.arguments)
        rest = endpoint.validator.fault(completed)
        if rest is None:
            context.notes.append(f"completed from the document, which requires more: {fault}")
            return completed
        note = f"the response to {operation.method} {operation.path} breaks the document: {rest}"
        context.notes.append(note)
        if self._response_validation == "warn":
            marked = (*completed.headers, ("x-mock-violation", "response"))
            return completed._replace(headers=marked)
        return problem_response(500, "The mock's own response breaks the document", note)


def call_handler(
    context: RequestContext, endpoint: Endpoint
) -> HandlerResponse | Coroutine[Any, Any, HandlerResponse] | None:
    """Calls the handler of an operation, or generates a response where it has none.

    Returns:
        The response or its coroutine; None where a page responds instead, without any effect so far.

    Raises:
        Problem: The handler raised it, or the request lacks an argument that the handler requires.
    """
    if endpoint.page is not None:
        return endpoint.page(_call(context, endpoint), context.query)
    binding = endpoint.binding
    if binding.handler is None:
        stateful = _stateful_response(context, endpoint)
        if stateful is not None:
            return stateful
        context.notes.append(GENERATED_NOTE)
        try:
            return generated_again(context, endpoint)
        except LimitExceeded:  # too long for the event loop: a thread does not delay other requests
            return asyncio.to_thread(generated, context, endpoint, EFFORTS)
    call = _call(context, endpoint)
    arguments = context.arguments
    keywords: dict[str, Any] = {}
    for name, keyword in binding.keywords:
        if name in arguments:
            keywords[keyword] = arguments[name]
    missing = binding.needs and binding.needs - keywords.keys()
    if missing:
        msg = f"{', '.join(sorted(missing))}: missing; the mock cannot respond without it."
        raise BadRequest(msg, code="missing_parameter")
    response: HandlerResponse | Coroutine[Any, Any, HandlerResponse] = binding.handler(
        call, *map(arguments.__getitem__, binding.path_arguments), **keywords
    )
    return response


def _stateful_response(context: RequestContext, endpoint: Endpoint) -> HandlerResponse | None:
    """Returns the response from the inferred state; None where the operation has no part in it.

    Raises:
        Problem: The state does not allow the request, such as for an unknown item.
    """
    if endpoint.document_handler is None:
        return None
    context.notes.append(STATEFUL_NOTE)
    base_path = endpoint.api.base_path
    call = DocumentCall(
        context.world,
        endpoint.operation,
        endpoint.schemas,
        context.arguments,
        context.headers,
        context.site_url + base_path,
        context.path.removeprefix(base_path),
        context.query,
        context.notes,
        context.body,
    )
    return endpoint.document_handler(call)


def _call(context: RequestContext, endpoint: Endpoint) -> Call:
    authorization = context.headers.get(b"authorization")
    return Call(
        context.world,
        context.resource_url,
        context.choices,
        context.principal,
        context.notes,
        None if authorization is None else authorization.decode("latin-1"),
        context.undeclared_query,
        context.authorization_url,
        context.client,
        endpoint.declared,
        context.started,
    )
