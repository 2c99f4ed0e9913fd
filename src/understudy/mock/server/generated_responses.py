"""Generates the responses of operations without a handler, and keeps them for the next request.

What is generated follows from the document, the seed of the world and the arguments alone. A response
that is kept is validated and encoded once, as the profile of a person is.
"""

from collections.abc import Sequence

from understudy.mock.server.call import HandlerResponse, SharedBody
from understudy.mock.server.document_responses import SampleBounds, sample_response
from understudy.mock.server.endpoint import Endpoint, GeneratedResponse
from understudy.mock.server.handlers import BODY
from understudy.mock.server.request_context import RequestContext
from understudy.openapi.sampler import AT_ONCE, Effort

GENERATED = ("x-mock-response", "generated")
"""Marks a response that no handler gave, but the document's examples and schemas."""

_LONGEST_KEPT = 16 * 1024
"""Bytes of a body that is kept."""


def generated_again(context: RequestContext, endpoint: Endpoint) -> HandlerResponse:
    """Returns the response to the same arguments as before, or generates it.

    Raises:
        LimitExceeded: It takes too long for the event loop.
    """
    if BODY in context.arguments:
        return generated(context, endpoint, (AT_ONCE,))
    accept = context.headers.get(b"accept", b"")
    key = (context.world.identifiers.seed, accept, repr(context.arguments))
    kept = endpoint.generated.get(key)
    if kept is not None:
        context.notes.extend(kept.notes)
        return kept.response
    before = len(context.notes)
    response = _shared(generated(context, endpoint, (AT_ONCE,)))
    if _is_small(response.body):
        notes = tuple(context.notes[before:])
        endpoint.generated.put(key, GeneratedResponse(response, notes))
    return response


def generated(
    context: RequestContext, endpoint: Endpoint, efforts: Sequence[Effort]
) -> HandlerResponse:
    """Generates a response with one of these efforts.

    Raises:
        LimitExceeded: None of them is enough.
    """
    notes: list[str] = []
    response = sample_response(
        endpoint.operation,
        endpoint.schemas,
        context.world.identifiers.seed,
        context.arguments,
        bounds=SampleBounds(context.headers.get(b"accept", b"").decode("latin-1"), efforts),
        notes=notes,
    )
    context.notes.extend(notes)
    return response._replace(headers=(*response.headers, GENERATED))


def _is_small(body: SharedBody | bytes | None) -> bool:
    content = body.encoded() if isinstance(body, SharedBody) else body
    return content is None or len(content) <= _LONGEST_KEPT


def _shared(response: HandlerResponse) -> HandlerResponse:
    is_json_value = response.body is not None and not isinstance(response.body, bytes)
    return response._replace(body=SharedBody(response.body)) if is_json_value else response
