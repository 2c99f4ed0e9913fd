"""Reads the parameters of an operation: where each stands and how it is written."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from understudy.errors import StartupError
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import is_json

LOCATIONS = ("path", "query", "header", "cookie")

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
        schema: The node of its schema; None if the document declares none.
        is_json: Whether it is described by ``content`` and so carries JSON.
        takes_empty: Whether it may be sent without a value (``allowEmptyValue``).
        keeps_reserved: Whether reserved characters are sent as they are (``allowReserved``).
        examples: Values that the document gives for examples, in its order.
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
    examples: tuple[Any, ...] = field(default=(), compare=False)  # of any type: no part of a key


def all_parameters(
    document: Document, path: str, path_item: Node, operation: Node
) -> tuple[Parameter, ...]:
    """Returns the parameters of an operation, with those that only the path's template names.

    Args:
        document: The document.
        path: The path template.
        path_item: Whose parameters all operations of the path have.
        operation: Whose own parameters win.

    Raises:
        StartupError: A parameter is not as OpenAPI has it.
    """
    named = PATH_PARAMETER.findall(path)
    parameters = {
        ("path", name): Parameter(
            name, "path", required=True, style="simple", explode=False, schema=None
        )
        for name in named
    }
    for owner in (path_item, operation):
        for parameter in _parameters(document, owner):
            if parameter.location == "path" and parameter.name not in named:
                msg = (
                    f"{document.path}: {operation.pointer}: the path parameter "
                    f"{parameter.name!r} is not in the path {path!r}; put it in braces there."
                )
                raise StartupError(msg)
            parameters[parameter.location, parameter.name] = parameter
    return tuple(parameters.values())


def _parameters(document: Document, owner: Node) -> list[Parameter]:
    listed = owner.child("parameters")
    if listed is None:
        return []
    parameters = [
        _parameter(document, node) for _, node in document.expect(listed, list).children()
    ]
    return [
        parameter
        for parameter in parameters
        if not (parameter.location == "header" and parameter.name.lower() in IGNORED_HEADERS)
    ]


def _parameter(document: Document, node: Node) -> Parameter:
    node = document.expect(node, dict)
    value = node.value
    if not (isinstance(value.get("name"), str) and value.get("in") in LOCATIONS):
        msg = (
            f"{document.path}: {node.pointer}: a parameter needs a 'name', and 'in' "
            f"as one of {', '.join(LOCATIONS)}."
        )
        raise StartupError(msg)
    return described_parameter(document, node, value["name"], value["in"])


def described_parameter(document: Document, node: Node, name: str, location: str) -> Parameter:
    """Returns a parameter, or a header of a response, as its object describes it.

    Raises:
        StartupError: Its ``content`` is not an object.
    """
    value = node.value
    style = value.get("style", "form" if location in {"query", "cookie"} else "simple")
    schema = node.child("schema")
    content = node.child("content")
    media_type = ""
    if schema is None and content is not None:
        media_types = document.expect(content, dict).children()
        media_type, media = next(((str(name), it) for name, it in media_types), ("", content))
        schema = media.child("schema")
    return Parameter(
        name=name,
        location=location,
        required=value.get("required", False),
        style=style,
        explode=value.get("explode", style == "form"),
        schema=schema,
        is_json=is_json(media_type.partition(";")[0].strip().lower()),
        takes_empty=value.get("allowEmptyValue", False),
        keeps_reserved=value.get("allowReserved", False),
        examples=tuple(_examples(document, node)),
    )


def _examples(document: Document, node: Node) -> Iterator[Any]:
    if "example" in node.value:
        yield node.value["example"]
    listed = node.child("examples")
    for _, example in () if listed is None else document.expect(listed, dict).children():
        value = document.expect(example, dict).value
        if "value" in value:
            yield value["value"]
