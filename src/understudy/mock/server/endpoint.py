"""Compiles at start everything that serving an operation needs: access, parameters, responses."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

from understudy.mock.server.api import Api, Complete
from understudy.mock.server.bodies import BodyReader
from understudy.mock.server.call import (
    NO_ARGUMENTS,
    Binding,
    DocumentHandler,
    HandlerResponse,
    OperationSummary,
    PageHandler,
    SharedBody,
    bind,
    shape,
)
from understudy.mock.server.completion import Completion, name_around
from understudy.mock.server.declared_responses import DeclaredErrors, DeclaredHeaders, usual_errors
from understudy.mock.server.parameters import ParameterReader, first_error
from understudy.mock.server.recent import Recent
from understudy.openapi.loader import Node
from understudy.openapi.media_types import without_options
from understudy.openapi.operations import (
    BEARER,
    BEARER_TYPES,
    Credential,
    DeclaredResponse,
    Operation,
    credentials_of,
    operations,
    security_schemes,
)
from understudy.openapi.schemas import ALL, Schemas, schemas_of
from understudy.openapi.validators import SchemaValidator

NO_COMPLETIONS: Final[Mapping[str, Complete]] = MappingProxyType({})


_NO_BODY: Final = "the document declares a body"


class ResponseValidator:
    """Validates the responses of one operation, and completes invalid ones.

    Args:
        operation: Operation, as the document declares it.
        schemas: The document's validators.
        completions: Member name to the function that computes the member.

    Attributes:
        media_types: Media types of all declared responses.
        has_choice: Whether the responses have several media types.
    """

    def __init__(
        self,
        operation: Operation,
        schemas: Schemas,
        completions: Mapping[str, Complete] = NO_COMPLETIONS,
    ) -> None:
        self._completions = completions
        self._operation = operation
        self._schemas = schemas
        self._validators: dict[tuple[int, str], SchemaValidator] = {}
        """Cache: status and media type to the validator of the declared schema."""
        declared = [int(status) for status in operation.responses if status.isdecimal()]
        self._successes = [status for status in declared if _is_success(status)]
        for response in operation.responses.values():
            for media in response.content.values():
                if media.schema is not None:
                    schemas.compiler.expect_bounded(media.schema)
        self._takes_any_success = "2XX" in operation.responses or not self._successes
        self.media_types = frozenset(
            media_type
            for response in operation.responses.values()
            for media_type in response.content
        )
        self.has_choice = len(self.media_types) > 1

    def status(self, chosen: int) -> int:
        """Returns the status to send: the chosen one, unless the document declares other successes.

        Published documents differ in their success statuses, so the document in force overrides the
        handler.
        """
        if chosen in self._successes or self._takes_any_success or not _is_success(chosen):
            return chosen
        return self._successes[0]

    def fault(self, response: HandlerResponse) -> str | None:
        """Returns how a response breaks the document; None if it is valid."""
        validator = self._validators.get((response.status, response.media_type))
        if validator is None:
            return self._fault_of_first(response)
        if response.body is None:
            return _NO_BODY
        return None if isinstance(response.body, bytes) else _fault(response.body, validator)

    def _fault_of_first(self, response: HandlerResponse) -> str | None:
        """Validates the first response with a status and media type, and caches the validator."""
        declared = self._operation.response(response.status)
        if all(status.startswith("5") for status in self._operation.responses):
            return None  # without declared successes, any response is valid
        if declared is None:
            return f"status {response.status} is not in the document"
        media = declared.content.get(without_options(response.media_type))
        if response.body is None:
            return _NO_BODY if media and media.schema else None
        if media is None:
            return self._undeclared_type(declared, response.media_type)
        if isinstance(response.body, bytes) or media.schema is None:
            return None
        return self._fault_by(media.schema, response)

    def _fault_by(self, schema: Node, response: HandlerResponse) -> str | None:
        body = response.body.value if isinstance(response.body, SharedBody) else response.body
        around = isinstance(body, dict) and name_around(self._schemas, body, schema)
        if around:  # not cached, since every such body must be moved into the member
            return f"the document has such a body as the member {around!r}"
        validator = self._schemas.validator(schema)
        self._validators[response.status, response.media_type] = validator
        return _fault(response.body, validator)

    def completed(
        self, response: HandlerResponse, seed: int, arguments: Mapping[str, Any] = NO_ARGUMENTS
    ) -> HandlerResponse:
        """Returns a response to these arguments, completed to fit the document as far as possible."""
        declared = self._operation.response(response.status)
        media = declared and declared.content.get(without_options(response.media_type))
        if not media or media.schema is None:
            return response
        completion = Completion(self._schemas, seed, self._completions, arguments)
        body = response.body
        if isinstance(body, SharedBody):  # the result serves the next requests, too
            way = self, response.status, response.media_type, seed, arguments
            known, made = body.completed
            if made is None or known != way:
                made = SharedBody(completion.completed(body.value, media.schema), body.record)
                body.completed = way, made
            return response._replace(body=made)
        if body is None:
            return response._replace(body=completion.made("", media.schema, {}))
        return response._replace(body=completion.completed(body, media.schema))

    @staticmethod
    def _undeclared_type(response: DeclaredResponse, media_type: str) -> str | None:
        ranges = {f"{media_type.partition('/')[0]}/*", "*/*"}
        if not response.content or ranges & set(response.content):
            return None
        return f"{media_type} is not among {', '.join(response.content)} at {response.pointer}"


def _fault(body: Any, validator: SchemaValidator) -> str | None:
    """Returns how a body breaks its schema; None if it is valid. A shared body is validated once."""
    if not isinstance(body, SharedBody):
        return None if validator.is_valid(body) else first_error(validator, body)
    judge, fault = body.judged
    if judge is not validator:
        fault = None if validator.is_valid(body.value) else first_error(validator, body.value)
        body.judged = validator, fault
    return fault


def _is_success(status: int) -> bool:
    return status // 100 == 2  # noqa: PLR2004 - RFC 9110, 15.3: the class 2xx


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Access:
    """The credentials that an operation requires.

    Attributes:
        token: Whether a bearer token is ``required``, ``optional``, or ``unread``.
        scopes: Scopes that an OAuth token must have been granted; None where API keys are valid, too.
        alternatives: Groups of credentials, of which one must be sent in full, where a bearer token
            is not the only kind.
        is_optional: Whether a request without any of the alternatives is allowed.
        declared_scopes: Scopes that the document names for each alternative with a token; where scopes
            are checked, a token needs one of these sets. Empty: no scopes are named.
    """

    token: Literal["required", "optional", "unread"]
    scopes: frozenset[str] | None = None
    alternatives: tuple[tuple[Credential, ...], ...] = ()
    is_optional: bool = False
    declared_scopes: tuple[frozenset[str], ...] = ()


def access(
    operation: Operation,
    schemes: Mapping[str, Any],
    scopes: frozenset[str] | None,
    *,
    is_implemented: bool,
) -> Access:
    """Returns the credentials that an operation requires.

    Args:
        operation: Operation, as the document declares it.
        schemes: Security schemes of the document.
        scopes: Scopes that the handler requires of an OAuth token; None: no OAuth token is required.
        is_implemented: Whether the operation has a handler. A published document requires a token that
            the interface makes optional, without declaring a 401; so for handlers, a token is required
            only if the document declares 401, too.
    """
    if scopes is not None:
        return Access("required", scopes)
    if not operation.security:
        return Access("unread")
    requirements = tuple(
        sendable
        for alternative in operation.security
        for sendable in _sendable(
            credentials_of(schemes[name] for name in alternative if name in schemes)
        )
    )
    alternatives = tuple(dict.fromkeys(filter(None, requirements)))
    if not alternatives:
        return Access("unread")
    is_optional = {} in operation.security
    if is_implemented:
        is_optional = is_optional or not {"401", "4XX"} & operation.responses.keys()
    declared = () if is_implemented else _declared_scopes(operation, schemes)
    if set(alternatives) == {(BEARER,)}:
        return Access("optional" if is_optional else "required", declared_scopes=declared)
    return Access(
        "unread", alternatives=alternatives, is_optional=is_optional, declared_scopes=declared
    )


def _sendable(credentials: Iterable[Credential]) -> Iterator[tuple[Credential, ...]]:
    """Yields the groups of credentials that can be sent together.

    A request has only one Authorization header, so several schemes in it become alternatives.
    """
    distinct = tuple(dict.fromkeys(credentials))
    in_one_header = [it for it in distinct if it.scheme]
    if len(in_one_header) <= 1:
        yield distinct
        return
    for sent in in_one_header:
        yield tuple(it for it in distinct if it is sent or not it.scheme)


def _declared_scopes(
    operation: Operation, schemes: Mapping[str, Any]
) -> tuple[frozenset[str], ...]:
    """Returns the scopes of each alternative with a token; empty if a token without scopes suffices.

    The lists of other schemes are ignored: they name roles (OpenAPI 3.1.0, 4.8.30).
    """
    tokens = {name for name, scheme in schemes.items() if scheme.get("type") in BEARER_TYPES}
    listed = tuple(
        frozenset(chain.from_iterable(alternative[name] for name in tokens & alternative.keys()))
        for alternative in operation.security
        if tokens & alternative.keys()
    )
    return listed if all(listed) else ()


_MOST_GENERATED = 200
"""Generated responses that are cached per document."""


GeneratedResponses = Recent[tuple[int, int, bytes, str], tuple[HandlerResponse, tuple[str, ...]]]
"""Cache of generated responses, each with remarks for the journal, which each use repeats. The key is
the endpoint's identity, the seed, the Accept header and the arguments."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation of one API, compiled.

    Attributes:
        api: API that the operation belongs to.
        operation: Operation, as the document declares it.
        schemas: The document's validators.
        binding: Handler, and the names of its arguments.
        document_handler: Handler that responds from the inferred state; None without state.
        access: Required credentials.
        is_limited: Whether requests count towards the hourly quota.
        page: Handler that may respond instead of a page; None: the operation shows no page.
        parameters: Readers of the parameters.
        reads_query: Whether a parameter is in the query.
        reads_headers: Whether a parameter is in a header or a cookie.
        body: Reader of the body; None where the operation has no body.
        validator: Validates responses by the document.
        errors: Makes error responses in the shape that the document declares.
        headers: Renames and completes headers as the document declares them.
        declared: Summary of the operation for handlers.
        generated: Cache of generated responses; shared by all operations of the document.
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
    reads_headers: bool
    body: BodyReader | None
    validator: ResponseValidator
    errors: DeclaredErrors
    headers: DeclaredHeaders
    declared: OperationSummary
    generated: GeneratedResponses

    def listed_values(self, name: str) -> set[str]:
        """Returns the values in a parameter's ``enum``; empty without one."""
        schemas = (it.schema for it in self.operation.parameters if it.name == name)
        values = (self.schemas.follow(it).value for it in schemas if it is not None)
        return {str(it) for value in values for it in value.get("enum", ())}


def _readers(
    operation: Operation, schemas: Schemas, *, reads_numbers: bool
) -> tuple[ParameterReader, ...]:
    others = [it.name for it in operation.parameters]
    return tuple(
        ParameterReader(it, schemas, reads_numbers=reads_numbers, others=others)
        for it in operation.parameters
    )


@lru_cache(maxsize=16)
def endpoints(api: Api) -> tuple[Endpoint, ...]:
    """Compiles every operation of an API, once for both servers.

    Raises:
        StartupError: The document is invalid, or the handlers do not fit it.
    """
    schemas, declared = schemas_of(api.document), operations(api.document)
    bindings = bind(declared, api.handlers)
    pages, scopes = _by_shape(api.pages), _by_shape(api.scopes)
    shapes = [shape(it.method, it.path) for it in declared]
    limited = {shape(*key) for key in api.limited}
    numeric_booleans = {shape(*key) for key in api.numeric_booleans}
    schemes = security_schemes(api.document)
    usual = usual_errors(declared)
    generated: GeneratedResponses = Recent(_MOST_GENERATED)
    bodies = _body_readers(api, declared, schemas)
    return tuple(
        Endpoint(
            api=api,
            operation=operation,
            schemas=schemas,
            binding=binding,
            document_handler=None
            if binding.handler
            else api.document_handlers.get((operation.method, operation.path)),
            # the guard of the admin API decides before routing
            access=Access("unread")
            if api.is_steering
            else access(
                operation,
                schemes,
                scopes.get(key),
                is_implemented=binding.handler is not None,
            ),
            is_limited=key in limited,
            page=pages.get(key),
            parameters=_readers(
                operation, schemas.for_requests, reads_numbers=key in numeric_booleans
            ),
            reads_query=any(p.location == "query" for p in operation.parameters),
            reads_headers=any(p.location in {"header", "cookie"} for p in operation.parameters),
            body=body,
            validator=ResponseValidator(operation, schemas.for_responses, api.completions),
            errors=DeclaredErrors(operation, schemas.for_responses, usual),
            headers=DeclaredHeaders(
                operation,
                schemas.for_responses,
                api.header_names,
                fills=api.fills_headers and binding.handler is not None,
            ),
            declared=_declared(operation, schemas.for_responses, body),
            generated=generated,
        )
        for operation, key, binding, body in zip(declared, shapes, bindings, bodies, strict=True)
    )


def _body_readers(
    api: Api, declared: Iterable[Operation], schemas: Schemas
) -> list[BodyReader | None]:
    """Returns the reader of each operation's body, in order; None for an operation without a body."""
    aliases, json_as_form = _by_shape(api.aliases), {shape(*key) for key in api.json_as_form}
    return [
        None
        if operation.request_body is None
        else BodyReader(
            operation.request_body,
            schemas.for_requests,
            aliases.get(key, ()),
            reads_json_as_form=key in json_as_form,
        )
        for operation, key in ((it, shape(it.method, it.path)) for it in declared)
    ]


def _by_shape(named: Mapping[tuple[str, str], Value]) -> dict[tuple[str, str], Value]:
    """Returns values by method and path without the names of path parameters, as ``bind`` compares."""
    return {shape(*key): value for key, value in named.items()}


def _declared(operation: Operation, schemas: Schemas, body: BodyReader | None) -> OperationSummary:
    """Returns the summary of an operation; if the body is an envelope, with the inner members, too."""
    successes = sorted(status for status in operation.responses if status.startswith("2"))
    contents = [operation.responses[status].content for status in successes]
    found = (media.schema for content in contents for media in content.values())
    schema = next((it for it in found if it is not None), None)
    members = schemas.members(schema, ALL)
    inner = max((schemas.members(it, ALL) for it in members.values()), key=len, default={})
    return OperationSummary(
        sent=body.members if body else frozenset(),
        returned=frozenset((*members, *(inner if len(inner) >= len(members) else ()))),
        statuses=frozenset(operation.responses),
    )
