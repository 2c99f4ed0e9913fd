"""Reads the operations of a document: parameters, bodies, responses, security, and their names."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from understudy.errors import nearest
from understudy.openapi.grammar import METHODS, PATH_PARAMETER
from understudy.openapi.loader import Document, Node, base_paths, once_per_document
from understudy.openapi.media_types import is_json, without_options
from understudy.openapi.operation_mends import LOCATIONS, path_of
from understudy.openapi.path_matching import PathMatcher
from understudy.openapi.pointers import steps_of

# OpenAPI 3.0.3, Parameter Object: header parameters of these names "shall be ignored".
IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})
WITHOUT_CONTENT = frozenset({204, 205, 304})
"""Statuses whose responses never have content (RFC 9110, 15.3.5, 15.3.6 and 15.4.5)."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation.

    Attributes:
        name: Name in the spelling of the document.
        location: ``path``, ``query``, ``header`` or ``cookie``.
        required: Whether a request without it is refused.
        style: How an array or object is written (``form``, ``deepObject`` …).
        explode: Whether each item is sent as a separate parameter.
        schema: The node of its schema; None if the document declares none.
        is_json: Whether its value is JSON, as declared by ``content``.
        takes_empty: Whether it may be sent without a value (``allowEmptyValue``).
        keeps_reserved: Whether reserved characters are sent unencoded (``allowReserved``).
        examples: The document's example values, in its order.
    """

    name: str
    location: str
    required: bool
    style: str
    explode: bool
    schema: Node | None
    is_json: bool = False
    takes_empty: bool = False
    keeps_reserved: bool = False
    examples: tuple[Any, ...] = field(default=(), compare=False)  # may be unhashable

    @property
    def is_spread(self) -> bool:
        """True if each member of an object is a separate parameter, so that ``{}`` sends nothing."""
        return self.style == "form" and self.explode and not self.is_json


def _all_parameters(
    document: Document, path: str, path_item: Node, operation: Node
) -> tuple[Parameter, ...]:
    """Returns the parameters of an operation, including undeclared ones of the path template.

    The operation's parameters override those of its path item. Invalid ones are left out, and so are
    API keys that every request needs, since the security scheme describes those.
    """
    named = PATH_PARAMETER.findall(path)
    credentials = _keys_of_all(document, operation)
    parameters = {
        ("path", name): Parameter(
            name, "path", required=True, style="simple", explode=False, schema=None
        )
        for name in named
    }
    for owner in (path_item, operation):
        for _, node in document.members(owner, "parameters"):
            name, location = node.value.get("name"), node.value.get("in")
            is_ignored = location == "header" and str(name).lower() in IGNORED_HEADERS
            is_placed = location in LOCATIONS and (location != "path" or name in named)
            is_ignored = is_ignored or (location, str(name).lower()) in credentials
            if isinstance(name, str) and is_placed and not is_ignored:
                parameters[location, name] = described_parameter(document, node, name, location)
    return tuple(parameters.values())


def described_parameter(document: Document, node: Node, name: str, location: str) -> Parameter:
    """Returns the parameter, or response header, that a Parameter or Header Object describes."""
    value = node.value
    style = value.get("style", "form" if location in {"query", "cookie"} else "simple")
    schema, media_type = node.child("schema"), ""
    if schema is None:
        media_type, media = next(document.members(node, "content"), ("", node))
        schema = media.child("schema")
    return Parameter(
        name=name,
        location=location,
        required=value.get("required", False),
        style=style,
        explode=value.get("explode", style == "form"),
        schema=schema,
        is_json=is_json(without_options(media_type)),
        takes_empty=value.get("allowEmptyValue", False),
        keeps_reserved=value.get("allowReserved", False),
        examples=tuple(example.value for _, example in examples_of(document, node)),
    )


def examples_of(document: Document, owner: Node) -> Iterator[tuple[str, Node]]:
    """Yields name and node of the examples of a parameter, header or media type.

    The value of the keyword ``example`` has the name ``example``.
    """
    example = owner.child("example")
    if example is not None:
        yield "example", example
    for name, named in document.members(owner, "examples"):
        value = named.child("value")
        if value is not None:
            yield name, value


def security_requirements(
    document: Document, operation: Node
) -> tuple[dict[str, tuple[str, ...]], ...]:
    """Returns the security requirements of an operation, or else those of the document.

    Returns:
        Alternatives, each scheme name to required scopes; a request must meet all schemes of one.
        Empty if no credential is required.
    """
    listed = operation.child("security") or document.root.child("security")
    if listed is None:
        return ()
    return tuple(
        {str(name): tuple(scopes) for name, scopes in alternative.items()}
        for alternative in listed.value
    )


def _keys_of_all(document: Document, operation: Node) -> frozenset[tuple[Any, str]]:
    """Returns location and lower-case name of the API keys that all security alternatives need."""
    alternatives = security_requirements(document, operation)
    schemes = security_schemes(document) if alternatives else {}
    keys = [
        frozenset(
            (it.get("in"), str(it.get("name")).lower())
            for it in (schemes.get(name, {}) for name in alternative)
            if it.get("type") == "apiKey"
        )
        for alternative in alternatives
    ]
    return frozenset.intersection(*keys) if keys else frozenset()


def path_shape(template: str) -> str:
    """Returns a path template with ``{}`` for each parameter, to compare templates without names."""
    return PATH_PARAMETER.sub("{}", template)


def security_schemes(document: Document) -> dict[str, dict[str, Any]]:
    """Returns the security schemes of a document by name."""
    listed = document.members(document.root, "components", "securitySchemes")
    return {name: node.value for name, node in listed}


@dataclass(frozen=True, slots=True)
class FieldEncoding:
    """The serialisation of one field of a form (OpenAPI 3.0.3, Encoding Object).

    Attributes:
        content_type: The media types of the field's value, as the document lists them; or empty.
        style: How an array or object is written; empty if the document does not say.
        explode: Whether each item is sent as a separate field.
    """

    content_type: str = ""
    style: str = ""
    explode: bool = True


@dataclass(frozen=True, slots=True)
class MediaType:
    """A body in one media type: its schema and its examples, in the document's order.

    The ``content`` that holds it has the media type as key, in lower case and without options.

    Attributes:
        schema: Schema of the whole body; None if the document declares none.
        examples: Name to value; the name of a single example is ``example``.
        declared_as: The media type as the document writes it, with its options.
        item_schema: Schema of each item of a stream, such as an event or line (OpenAPI 3.2.0, 4.14.3).
        encoding: Field name to encoding, for forms.
    """

    schema: Node | None
    examples: Mapping[str, Any]
    declared_as: str = ""
    item_schema: Node | None = None
    encoding: Mapping[str, FieldEncoding] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RequestBody:
    """The body an operation accepts."""

    required: bool
    content: Mapping[str, MediaType]


@dataclass(frozen=True, slots=True)
class DeclaredResponse:
    """One response of an operation; its headers are described like parameters."""

    pointer: str
    content: Mapping[str, MediaType]
    headers: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a document.

    Attributes:
        method: HTTP method in upper case.
        path: Path template without a query, with the document's parameter names.
        operation_id: The document's operationId, or method and path without one.
        parameters: Parameters of the operation and of its path item, which the former override.
        request_body: The request body; None if it accepts none.
        responses: Status (``200``, ``2XX``, ``default``) to response.
        security: Alternative requirements, each scheme name to scopes; empty: no credential required.
        pointer: JSON pointer of the operation.
        base_paths: Paths of the servers declared for this operation; empty: those of the document.
    """

    method: str
    path: str
    operation_id: str
    parameters: tuple[Parameter, ...]
    request_body: RequestBody | None
    responses: Mapping[str, DeclaredResponse]
    security: tuple[Mapping[str, tuple[str, ...]], ...]
    pointer: str
    base_paths: tuple[str, ...] = ()

    def response(self, status: int) -> DeclaredResponse | None:
        """Returns the response declared for a status, for its class, or as default; None without."""
        declared = (
            self.responses.get(str(status))
            or self.responses.get(f"{status // 100}XX")
            or self.responses.get("default")
        )
        if declared is not None and status in WITHOUT_CONTENT:
            return replace(declared, content={})
        return declared


@once_per_document
def operations(document: Document) -> tuple[Operation, ...]:
    """Returns the operations of a document, in its order."""
    declared: list[Operation] = []
    for path, item in Node("#/paths", document.raw.get("paths", {})).children():
        if str(path).startswith("x-"):  # an extension
            continue
        declared += operations_of(document, document.follow(item), str(path))
    return tuple(declared)


def operations_of(document: Document, path_item: Node, path: str) -> Iterator[Operation]:
    """Yields the operations of a path item.

    Args:
        document: The document.
        path_item: The path item, with its reference followed.
        path: The path template; empty for callbacks and webhooks, whose addresses the client gives.
    """
    for method, operation in (
        *((name, node) for name, node in path_item.children() if name in METHODS),
        # OpenAPI 3.2, Path Item Object: methods that have no fixed member
        *(path_item.child("additionalOperations") or Node("", {})).children(),
    ):
        yield _operation(document, path, path_item, str(method), operation)


def _operation(
    document: Document, path: str, path_item: Node, method: str, node: Node
) -> Operation:
    node = document.follow(node)
    template = path_of(path)
    return Operation(
        method=method.upper(),
        path=template,
        operation_id=node.value.get("operationId", f"{method.upper()} {path}"),
        parameters=_all_parameters(document, template, path_item, node),
        request_body=_request_body(document, node),
        responses=_responses(document, node),
        security=security_requirements(document, node),
        pointer=node.pointer,
        base_paths=base_paths(node.value.get("servers") or path_item.value.get("servers")),
    )


def _request_body(document: Document, operation: Node) -> RequestBody | None:
    node = operation.child("requestBody")
    if node is None:
        return None
    node = document.follow(node)
    content = _content(document, node)
    return RequestBody(node.value.get("required", False), content) if content else None


def _responses(document: Document, operation: Node) -> dict[str, DeclaredResponse]:
    responses = {}
    for name, response in document.members(operation, "responses"):
        if name.startswith("x-"):  # an extension
            continue
        key = name.upper() if name[1:].upper() == "XX" else name
        is_empty = key.isdecimal() and int(key) in WITHOUT_CONTENT
        content = {} if is_empty else _content(document, response)
        responses[key] = DeclaredResponse(response.pointer, content, _headers(document, response))
    return responses


def _headers(document: Document, response: Node) -> tuple[Parameter, ...]:
    return tuple(
        described_parameter(document, node, name, "header")
        for name, node in document.members(response, "headers")
        # OpenAPI 3.0.3, Response Object: a header of this name "shall be ignored"
        if name.lower() != "content-type"
    )


def _content(document: Document, owner: Node) -> dict[str, MediaType]:
    media_types = {}
    for name, media in document.members(owner, "content"):
        media_types[without_options(name)] = MediaType(
            media.child("schema"),
            _examples(document, media),
            name.strip(),
            media.child("itemSchema"),
            _encoding(media),
        )
    return media_types


def _encoding(media: Node) -> dict[str, FieldEncoding]:
    listed = media.child("encoding")
    if listed is None or not isinstance(listed.value, dict):
        return {}
    encodings = {}
    for name, entry in listed.value.items():
        if isinstance(entry, dict):
            style = str(entry.get("style", ""))
            explode = bool(entry.get("explode", style in {"", "form"}))
            encodings[str(name)] = FieldEncoding(str(entry.get("contentType", "")), style, explode)
    return encodings


def _examples(document: Document, media: Node) -> dict[str, Any]:
    """Returns the examples of a media type by name; ``example`` excludes ``examples``."""
    most = 1 if "example" in media.value else None
    return {name: node.value for name, node in islice(examples_of(document, media), most)}


# Callbacks and webhooks are requests that the service sends and the client answers (OpenAPI 3.1.0,
# 4.8.18 and 4.8.1).

Sent = Literal["callback", "webhook"]
"""Kind of a request that a service sends."""


class SentOperation(NamedTuple):
    """A request that a service sends.

    Attributes:
        kind: ``callback`` or ``webhook``.
        key: The document's name for it.
        name: Description for messages: name and method, and for a callback the operation around it.
        address: The runtime expression of a callback's address; empty for a webhook.
        operation: The request as an operation with an empty path.
        owner: JSON pointer of the operation that a callback belongs to; empty for a webhook.
    """

    kind: Sent
    key: str
    name: str
    address: str
    operation: Operation
    owner: str = ""


def sent_operations(document: Document) -> Iterator[SentOperation]:
    """Yields the requests that a service sends, in the order of the document."""
    for operation in operations(document):
        yield from _callbacks(document, operation)
    for name, node in document.members(document.root, "webhooks"):
        for sent in operations_of(document, node, ""):
            title = f"webhook {name}: {sent.method}"
            yield SentOperation("webhook", name, title, "", sent)


def _callbacks(document: Document, operation: Operation) -> Iterator[SentOperation]:
    owner = document.root.child(*steps_of(operation.pointer)) or Node("", {})
    for name, callback in document.members(owner, "callbacks"):
        declared = [each for each in callback.children() if not str(each[0]).startswith("x-")]
        for number, (address, node) in enumerate(declared, 1):
            # a callback usually has one address; several get numbers
            which = f"{name} ({number})" if number > 1 else name
            place = f"{operation.method} {path_shape(operation.path)} callback {which}"
            for sent in operations_of(document, document.follow(node), ""):
                title = f"{place}: {sent.method}"
                yield SentOperation("callback", name, title, str(address), sent, operation.pointer)


# Some services choose among operations of the same method and path by a parameter:
# ``/#Target=Shop.Create``, ``/items?kind=new``.


def distinguishing(operation: Operation) -> list[Parameter]:
    """Returns the required query and header parameters, which may distinguish an operation."""
    return [it for it in operation.parameters if it.location in {"query", "header"} and it.required]


def addressed(operation: Operation) -> Hashable:
    """Returns a key that is equal for operations which no request can distinguish."""
    values = ((it.location, it.name, _only_value(it)) for it in distinguishing(operation))
    marks = frozenset(f"{mark}" for mark in values if mark[2] is not None)
    return operation.method, path_shape(operation.path), marks


def _only_value(parameter: Parameter) -> Any:
    """Returns the only value that a parameter's ``enum`` or ``const`` allows; None otherwise."""
    schema = {} if parameter.schema is None else parameter.schema.value
    listed = schema.get("enum", [schema.get("const")]) if isinstance(schema, dict) else []
    return listed[0] if len(listed) == 1 else None


def is_meant(
    operation: Operation,
    query: Mapping[str, Sequence[str]],
    header: Callable[[str], str | None],
) -> bool:
    """Tells whether a request has all parameters that distinguish an operation from others.

    Args:
        operation: One of several with the method and the path of the request.
        query: Query parameter name to values.
        header: Returns the value of a header field by its lower-case name; None if it is missing.
    """
    return all(_is_sent(it, query, header) for it in distinguishing(operation))


def _is_sent(
    parameter: Parameter,
    query: Mapping[str, Sequence[str]],
    header: Callable[[str], str | None],
) -> bool:
    if parameter.location == "query":
        texts: Sequence[str] = query.get(parameter.name, ())
    else:
        text = header(parameter.name.lower())
        texts = () if text is None else (text,)
    value = _only_value(parameter)
    return bool(texts) if value is None else value in texts


BEARER_TYPES: Final = ("oauth2", "openIdConnect")
"""Types of security schemes whose credential is sent as a bearer token."""


class Credential(NamedTuple):
    """One credential of a request, as a security scheme of a document describes it.

    Attributes:
        location: ``header``, ``query`` or ``cookie``.
        name: Name of the header, parameter or cookie.
        scheme: The word before the credential in ``Authorization``, in lower case; empty for an API
            key.
    """

    location: str
    name: str
    scheme: str = ""

    @property
    def described(self) -> str:
        """The place of the credential in a request, in words for a message."""
        if self.scheme:
            return f"header Authorization with {self.scheme.capitalize()} credentials"
        return f"{self.location} {self.name}"


BEARER = Credential("header", "authorization", "bearer")


def credentials_of(schemes: Iterable[Mapping[str, Any]]) -> Iterator[Credential]:
    """Yields the credentials that requests send for Security Scheme Objects (OpenAPI 3.1.0).

    A mutual TLS scheme yields none, since the mock requests no client certificate; nor does a type
    that OpenAPI does not define.
    """
    for scheme in schemes:
        kind = scheme.get("type")
        if kind in BEARER_TYPES:
            yield BEARER
        elif kind in {"http", "basic"}:  # "basic" is a type of Swagger 2.0
            words = ["basic"] if kind == "basic" else str(scheme.get("scheme", "")).lower().split()
            yield Credential("header", "authorization", words[0] if words else "bearer")
        elif kind == "apiKey":
            place = scheme.get("in", "header"), scheme.get("name", "authorization")
            yield Credential(*map(str, place))


def first_of(operation: Operation, schemes: Mapping[str, Any]) -> tuple[Credential, ...]:
    """Returns the credentials of the first security requirement with a bearer token, or of the first.

    Returns:
        The credentials that must be sent together; empty if none is required.
    """
    alternatives = [
        tuple(credentials_of(schemes[name] for name in alternative if name in schemes))
        for alternative in operation.security
    ]
    with_token = (each for each in alternatives if BEARER in each)
    return next(with_token, next(filter(None, alternatives), ()))


_MOST_LISTED: Final = 20  # operations in a message


def operation_named(name: str, operations: Sequence[Operation]) -> Operation | None:
    """Returns the operation with an operationId, or with a method and path template; None without.

    The names of path parameters are ignored.
    """
    shape = path_shape(name)
    named = (it for it in operations if it.operation_id == name)
    placed = (it for it in operations if f"{it.method} {path_shape(it.path)}" == shape)
    return next(named, None) or next(placed, None)


def no_operation(name: str, operations: Sequence[Operation]) -> str:
    """Returns the end of a message "there is …" for a name without operation, with a suggestion."""
    ids = [operation.operation_id for operation in operations]
    found = _requested(name, operations)
    if found is not None:
        hint = f"; did you mean {found.operation_id!r}, which is {found.method} {found.path}?"
    elif name.upper() in {operation.method for operation in operations}:
        hint = f"; write method and path as one word, in quotes: '{name.upper()} /…'."
    else:
        more = f" and {len(ids) - _MOST_LISTED} more" if len(ids) > _MOST_LISTED else ""
        hint = nearest(name, ids) or f"; there are {', '.join(ids[:_MOST_LISTED])}{more}."
    return f"no operation {name[:200]!r}{hint}"


def _requested(name: str, operations: Iterable[Operation]) -> Operation | None:
    """Returns the operation that a request line such as ``get /v3/profiles/ada?a=b`` reaches."""
    method, _, path = name.rpartition(" ")
    steps = path.partition("?")[0].split("/")
    matcher = PathMatcher((operation.path, operation) for operation in operations)
    for start in range(1, len(steps)):  # skip any base path
        found = [operation for operation, _ in matcher.all("/" + "/".join(steps[start:]))]
        if found:
            return next((it for it in found if it.method == method.upper()), found[0])
    return None
