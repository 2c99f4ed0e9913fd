"""Generates responses of operations without a handler, from the document's examples or schemas.

Also adds the members that a newer document requires to the response of a handler. Generated values
are seeded by their place in the document, so the same document gives the same response every time.
"""

import re
from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

import orjson

from understudy.mock.engine.call import HandlerResponse
from understudy.mock.engine.handlers import BODY
from understudy.openapi.loader import Node
from understudy.openapi.operations import (
    PATH_PARAMETER,
    DeclaredResponse,
    MediaType,
    Operation,
)
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas

JSON = "application/json"
SLUG = "slug"
_NOT_IN_SLUGS = re.compile("[^a-z0-9]+")

NO_ARGUMENTS: Final[Mapping[str, Any]] = {}

_IDENTIFIER = re.compile("(?i:_id|-id)$|Id$|ID$")
"""The end of the name of a path parameter that gives the ``id`` of what it leads to."""


def sample_response(
    operation: Operation,
    schemas: Schemas,
    seed: int,
    arguments: Mapping[str, Any] = NO_ARGUMENTS,
) -> HandlerResponse:
    """Returns the first success that the document declares, by example or by schema.

    Args:
        operation: The operation that was called.
        schemas: The document's validators.
        seed: Seed of generated values.
        arguments: What was sent: parameters by name, and the body. Members of the same names in a
            generated object have these values, as a client reads back what it wrote.
    """
    response = declared_response(operation, schemas, seed)
    if response is None:
        return HandlerResponse(None, 200)
    _, declared = _declared(operation, None)
    media = declared.content.get(response.media_type) if declared else None
    if media is None or media.schema is None or _is_example(response.body, media):
        return response
    body = _echoed(response.body, media.schema, schemas, operation, arguments)
    return response._replace(body=body)


def declared_response(
    operation: Operation,
    schemas: Schemas,
    seed: int,
    *,
    status: int | None = None,
    example: str | None = None,
    is_made_up: bool = False,
) -> HandlerResponse | None:
    """Returns a response of an operation as its document declares it.

    Args:
        operation: The operation that was called.
        schemas: The document's validators.
        seed: Seed of generated values.
        status: The status to respond with; None: the first success.
        example: Name of the example to respond with.
        is_made_up: Whether to generate the body from the schema even where there are examples.

    Returns:
        None where the document declares no such status or example.
    """
    number, response = _declared(operation, status)
    if response is None:
        return None
    if not response.content:
        return HandlerResponse(None, number) if example is None else None
    media_type = JSON if JSON in response.content else next(iter(response.content))
    media = response.content[media_type]
    if example is not None:
        value = media.examples.get(example)
        return (
            None
            if value is None
            else HandlerResponse(_encoded(value, media_type), number, media_type)
        )
    body = _body(media, schemas, seed, is_made_up=is_made_up)
    return HandlerResponse(_encoded(body, media_type), number, media_type)


def _declared(operation: Operation, status: int | None) -> tuple[int, DeclaredResponse | None]:
    if status is not None:
        return status, operation.response(status)
    success, response = next(
        ((s, r) for s, r in operation.responses.items() if s.startswith("2")),
        ("default", operation.responses.get("default")),
    )
    return int(success) if success.isdecimal() else 200, response


def complete(body: Any, schema: Node, schemas: Schemas, seed: int) -> Any:
    """Returns a body with the required members that it lacks, generated at every level.

    Args:
        body: The body that a handler returned; not changed.
        schema: The schema that the document in force declares.
        schemas: The document's validators.
        seed: Same seed, same members.
    """
    return _Completion(schemas, seed).completed(body, schema)


def _body(media: MediaType, schemas: Schemas, seed: int, *, is_made_up: bool) -> Any:
    examples = () if is_made_up and media.schema is not None else media.examples.values()
    if media.schema is None:
        return next(iter(examples), {})
    takes = schemas.validator(media.schema).is_valid
    fitting = (example for example in examples if takes(example))
    made = (Sampler(schemas, seed).value(schema) for schema in (media.schema,))
    return next(chain(fitting, made))


def _is_example(body: Any, media: MediaType) -> bool:
    return any(body is example for example in media.examples.values())


def _echoed(
    body: Any, schema: Node, schemas: Schemas, operation: Operation, arguments: Mapping[str, Any]
) -> Any:
    """Returns a generated object in which members named by the request have its values."""
    if not isinstance(body, dict) or not arguments:
        return body
    names = PATH_PARAMETER.findall(operation.path)
    sent = {name: arguments[name] for name in names if name in arguments}
    if names and _IDENTIFIER.search(names[-1]) and names[-1] in sent:
        sent.setdefault("id", sent[names[-1]])  # /pets/{petId} responds with the pet's id
    content = arguments.get(BODY)
    sent = {**(content if isinstance(content, dict) else {}), **sent}
    accepts = schemas.validator(schema).is_valid
    for name in body.keys() & sent.keys():
        changed = {**body, name: sent[name]}
        body = changed if accepts(changed) else body
    return body


def _encoded(body: Any, media_type: str) -> Any:
    """Returns bytes for a type that is not JSON, where only JSON's dicts and lists stay values."""
    if media_type == JSON or media_type.endswith("+json"):
        return body
    return body.encode() if isinstance(body, str) else orjson.dumps(body)


class _Completion:
    """Adds what is missing, level by level."""

    def __init__(self, schemas: Schemas, seed: int) -> None:
        self._schemas = schemas
        self._sampler = Sampler(schemas, seed)

    def completed(self, body: Any, schema: Node) -> Any:
        if isinstance(body, list | tuple):  # records give tuples
            items = self._schemas.items_schema(schema)
            return body if items is None else [self.completed(item, items) for item in body]
        if not isinstance(body, dict):
            return body
        members = {
            name: self.completed(value, member)
            if (member := self._schemas.property_schema(schema, name)) is not None
            else value
            for name, value in body.items()
        }
        for name in self._schemas.required_names(schema):
            member = self._schemas.property_schema(schema, name)
            if name not in members and member is not None:
                members[name] = self._made_up(name, member, members)
        return members

    def _made_up(self, name: str, schema: Node, beside: Mapping[str, Any]) -> Any:
        """Returns a value for a required member; a slug is made of the name that stands beside it."""
        if name == SLUG:
            slug = _NOT_IN_SLUGS.sub("-", str(beside.get("name", "")).lower()).strip("-")
            if slug and self._schemas.validator(schema).is_valid(slug):
                return slug
        return self._sampler.value(schema, name)
