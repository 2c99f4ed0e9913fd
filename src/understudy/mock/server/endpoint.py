"""Compiles at start everything that serving an operation needs."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from understudy.mock.server.access import Access, access, declared_schemes
from understudy.mock.server.api import Api
from understudy.mock.server.bodies import BodyReader
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.declared_errors import DeclaredErrors, usual_errors
from understudy.mock.server.document_handlers import DocumentHandler
from understudy.mock.server.handlers import Binding, PageHandler, bind, shape
from understudy.mock.server.parameters import ParameterReader
from understudy.mock.server.recent import Recent
from understudy.mock.server.response_validation import ResponseValidator
from understudy.openapi.operations import Operation, operations
from understudy.openapi.schemas import Schemas

_MOST_GENERATED = 20
"""Generated responses of an operation that are kept: the few that clients request over and over."""


class GeneratedResponse(NamedTuple):
    """A response that was generated from a document.

    Attributes:
        response: The response.
        notes: Remarks on it for the journal.
    """

    response: HandlerResponse
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation of one API.

    Attributes:
        api: The API it belongs to.
        operation: What the document says of it.
        schemas: The document's validators.
        binding: The handler, and how it wants its arguments.
        document_handler: What responds by the state of the document, where no handler does.
        access: Who may call it.
        is_limited: Whether it counts towards the hourly quota.
        page: Responds where no page has to be shown; None: no page responds to this operation.
        parameters: The reader of each parameter.
        reads_query: Whether one of them is in the query.
        body: The reader of the body; None where the operation takes none.
        judge: Validates responses by the document.
        errors: Puts error responses into the shape that the document declares.
        generated: The newest responses that were generated from the document, by the seed, the Accept
            header and the arguments.
    """

    api: Api
    operation: Operation
    schemas: Schemas
    binding: Binding
    document_handler: DocumentHandler | None
    access: Access
    is_limited: bool
    page: PageHandler | None
    parameters: tuple[ParameterReader, ...]
    reads_query: bool
    body: BodyReader | None
    validator: ResponseValidator
    errors: DeclaredErrors
    generated: Recent[tuple[int, bytes, str], GeneratedResponse] = field(
        default_factory=lambda: Recent(_MOST_GENERATED)
    )


@lru_cache(maxsize=16)
def endpoints(api: Api) -> tuple[Endpoint, ...]:
    """Compiles every operation of an API, once for both servers.

    Raises:
        StartupError: The document or the handlers are not as they must be.
    """
    schemas = Schemas(api.document)
    declared = operations(api.document)
    bindings = bind(declared, api.handlers)
    pages = {shape(*key): page for key, page in api.pages.items()}
    json_as_form = {shape(*key) for key in api.json_as_form}
    numeric_booleans = {shape(*key) for key in api.numeric_booleans}
    limited = {shape(*key) for key in api.limited}
    scopes = {shape(*key): granted for key, granted in api.scopes.items()}
    aliases = {shape(*key): names for key, names in api.aliases.items()}
    schemes = declared_schemes(api.document)
    usual = usual_errors(declared)
    return tuple(
        Endpoint(
            api=api,
            operation=operation,
            schemas=schemas,
            binding=binding,
            document_handler=api.document_handlers.get((operation.method, operation.path))
            if binding.handler is None
            else None,
            # who may call the admin API is decided before routing, by admin_guard
            access=Access("unread")
            if api.is_steering
            else access(
                operation,
                schemes,
                scopes.get(shape(operation.method, operation.path)),
                is_implemented=binding.handler is not None,
            ),
            is_limited=shape(operation.method, operation.path) in limited,
            page=pages.get(shape(operation.method, operation.path)),
            parameters=tuple(
                ParameterReader(
                    p,
                    schemas.for_requests,
                    reads_numbers=shape(operation.method, operation.path) in numeric_booleans,
                )
                for p in operation.parameters
            ),
            reads_query=any(p.location == "query" for p in operation.parameters),
            body=None
            if operation.request_body is None
            else BodyReader(
                operation.request_body,
                schemas.for_requests,
                aliases.get(shape(operation.method, operation.path), ()),
                reads_json_as_form=shape(operation.method, operation.path) in json_as_form,
            ),
            validator=ResponseValidator(operation, schemas.for_responses),
            errors=DeclaredErrors(operation, schemas.for_responses, api.header_names, usual),
        )
        for operation, binding in zip(declared, bindings, strict=True)
    )
