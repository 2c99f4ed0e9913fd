"""The operations of a document, as values: what each accepts and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from understudy.document.loader import Document, Node
from understudy.errors import StartupError

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")

# OpenAPI 3.0.3, Parameter Object: header parameters of these names "shall be ignored".
IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation.

    Attributes:
        name: As the document writes it.
        location: ``path``, ``query``, ``header`` or ``cookie``.
        required: Whether a request without it is refused.
        style: How an array or object is written (``form``, ``deepObject`` …).
        explode: Whether each item is a parameter of its own.
        schema: Where its schema stands; None where the document gives none.
        is_json: Whether it is described by ``content`` and so carries JSON.
    """

    name: str
    location: str
    required: bool
    style: str
    explode: bool
    schema: Node | None
    is_json: bool = False


@dataclass(frozen=True, slots=True)
class MediaType:
    """A body in one media type: its schema and its examples, in the document's order."""

    schema: Node | None
    examples: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RequestBody:
    """The body an operation accepts."""

    required: bool
    content: Mapping[str, MediaType]


@dataclass(frozen=True, slots=True)
class Response:
    """One response of an operation."""

    pointer: str
    content: Mapping[str, MediaType]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a document.

    Attributes:
        method: In upper case.
        path: The template, with the document's parameter names.
        operation_id: The document's, or method and path where it gives none.
        parameters: The path item's and its own; its own win.
        request_body: None where it takes none.
        responses: Status (``200``, ``2XX``, ``default``) to response.
        security: The alternatives, each scheme name to scopes; empty where nothing is asked.
        pointer: Where it stands.
    """

    method: str
    path: str
    operation_id: str
    parameters: tuple[Parameter, ...]
    request_body: RequestBody | None
    responses: Mapping[str, Response]
    security: tuple[Mapping[str, tuple[str, ...]], ...]
    pointer: str

    def response(self, status: int) -> Response | None:
        """Returns what the document says of a status: itself, its class, or the default."""
        return (
            self.responses.get(str(status))
            or self.responses.get(f"{status // 100}XX")
            or self.responses.get("default")
        )


def operations(document: Document) -> tuple[Operation, ...]:
    """Returns the operations of a document, in its order.

    Raises:
        StartupError: A part of it is not as OpenAPI has it.
    """
    found = []
    for path, item in Node("#/paths", document.raw.get("paths", {})).children():
        path_item = document.follow(item)
        for method, operation in path_item.children():
            if method in METHODS:
                found.append(_operation(document, str(path), path_item, str(method), operation))
    return tuple(found)


def _operation(
    document: Document, path: str, path_item: Node, method: str, node: Node
) -> Operation:
    if not (path.startswith("/") and isinstance(node.value, dict)):
        msg = f"{document.path}: {node.pointer}: a path starts with '/' and holds operations."
        raise StartupError(msg)
    parameters = {
        (parameter.location, parameter.name): parameter
        for owner in (path_item, node)
        for parameter in _parameters(document, owner)
    }
    security = node.value.get("security", document.raw.get("security", []))
    return Operation(
        method=method.upper(),
        path=path,
        operation_id=node.value.get("operationId", f"{method.upper()} {path}"),
        parameters=tuple(parameters.values()),
        request_body=_request_body(document, node),
        responses=_responses(document, node),
        security=tuple(
            {name: tuple(scopes) for name, scopes in alternative.items()}
            for alternative in security
        ),
        pointer=node.pointer,
    )


def _parameters(document: Document, owner: Node) -> list[Parameter]:
    listed = owner.child("parameters")
    found = [] if listed is None else [_parameter(document, node) for _, node in listed.children()]
    return [
        parameter
        for parameter in found
        if not (parameter.location == "header" and parameter.name.lower() in IGNORED_HEADERS)
    ]


def _parameter(document: Document, node: Node) -> Parameter:
    node = document.follow(node)
    value = node.value
    if not (isinstance(value, dict) and "name" in value and "in" in value):
        msg = f"{document.path}: {node.pointer}: a parameter needs 'name' and 'in'."
        raise StartupError(msg)
    style = value.get("style", "form" if value["in"] in {"query", "cookie"} else "simple")
    schema = node.child("schema")
    content = node.child("content")
    if schema is None and content is not None:
        schema = next((media.child("schema") for _, media in content.children()), None)
    return Parameter(
        name=value["name"],
        location=value["in"],
        required=value.get("required", False),
        style=style,
        explode=value.get("explode", style == "form"),
        schema=schema,
        is_json=content is not None,
    )


def _request_body(document: Document, operation: Node) -> RequestBody | None:
    node = operation.child("requestBody")
    if node is None:
        return None
    node = document.follow(node)
    return RequestBody(node.value.get("required", False), _content(document, node))


def _responses(document: Document, operation: Node) -> dict[str, Response]:
    listed = operation.child("responses")
    if listed is None:
        return {}
    found = {}
    for status, node in listed.children():
        response = document.follow(node)
        name = str(status)
        key = name.upper() if name[1:].upper() == "XX" else name
        found[key] = Response(response.pointer, _content(document, response))
    return found


def _content(document: Document, owner: Node) -> dict[str, MediaType]:
    content = owner.child("content")
    if content is None:
        return {}
    return {
        str(name).lower(): MediaType(media.child("schema"), _examples(document, media))
        for name, media in content.children()
    }


def _examples(document: Document, media: Node) -> dict[str, Any]:
    if "example" in media.value:
        return {"example": media.value["example"]}
    listed = media.child("examples")
    if listed is None:
        return {}
    found = {str(name): document.follow(node).value for name, node in listed.children()}
    return {name: example["value"] for name, example in found.items() if "value" in example}
