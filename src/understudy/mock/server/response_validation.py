"""Validates the mock's own responses by the document: status, media type and schema.

A response that lacks members which a newer document requires is completed with generated ones.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from understudy.mock.server.call import HandlerResponse, SharedBody
from understudy.mock.server.validation_errors import first_error
from understudy.openapi.loader import Node
from understudy.openapi.operations import DeclaredResponse, Operation
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas
from understudy.openapi.validators import SchemaValidator

SLUG: Final = "slug"
_NOT_IN_SLUGS: Final = re.compile("[^a-z0-9]+")


def complete(body: Any, schema: Node, schemas: Schemas, seed: int) -> Any:
    """Returns a body with the required members that it lacks, generated at every level.

    Args:
        body: The body that a handler returned; not changed.
        schema: The schema that the document in force declares.
        schemas: The document's validators.
        seed: Same seed, same members.
    """
    return _Completion(schemas, seed).completed(body, schema)


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


class ResponseValidator:
    """Validates the responses of one operation.

    Args:
        operation: What the document says of it.
        schemas: The document's validators.
    """

    def __init__(self, operation: Operation, schemas: Schemas) -> None:
        self._operation = operation
        self._schemas = schemas
        self._validators: dict[tuple[int, str], SchemaValidator] = {}
        """Status and media type to what validates JSON of them, where a schema is declared."""
        declared = [int(status) for status in operation.responses if status.isdecimal()]
        self._successes = [status for status in declared if _is_success(status)]
        for response in operation.responses.values():
            for media in response.content.values():
                if media.schema is not None:
                    schemas.expect_bounded(media.schema)
        self._takes_any_success = "2XX" in operation.responses or not self._successes
        self.media_types = frozenset(
            media_type
            for response in operation.responses.values()
            for media_type in response.content
        )

    def status(self, chosen: int) -> int:
        """Returns the status to send: the chosen one, unless the document names others.

        Published documents differ in their success codes; a handler's choice yields to the one
        in force.
        """
        if chosen in self._successes or self._takes_any_success or not _is_success(chosen):
            return chosen
        return self._successes[0]

    def fault(self, response: HandlerResponse) -> str | None:
        """Returns how a response breaks the document, or None."""
        validator = self._validators.get((response.status, response.media_type))
        if validator is None:
            return self._fault_of_first(response)
        body = response.body
        return None if body is None or isinstance(body, bytes) else _fault(body, validator)

    def _fault_of_first(self, response: HandlerResponse) -> str | None:
        """Returns the same for the first response of its status and media type."""
        declared = self._operation.response(response.status)
        if not self._operation.responses:
            return None  # it declares none, and so excludes none
        if declared is None:
            return f"status {response.status} is not in the document"
        if response.body is None or not declared.content:
            return None
        media = declared.content.get(_without_options(response.media_type))
        if media is None:
            return self._undeclared_type(declared, response.media_type)
        if isinstance(response.body, bytes) or media.schema is None:
            return None
        validator = self._schemas.validator(media.schema)
        self._validators[response.status, response.media_type] = validator
        return _fault(response.body, validator)

    def completed(self, response: HandlerResponse, seed: int) -> HandlerResponse:
        """Returns a response with the required members that it lacks, generated."""
        declared = self._operation.response(response.status)
        media = declared and declared.content.get(_without_options(response.media_type))
        if not media or media.schema is None:
            return response
        body = response.body.value if isinstance(response.body, SharedBody) else response.body
        body = complete(body, media.schema, self._schemas, seed)
        return response._replace(body=body)

    @staticmethod
    def _undeclared_type(response: DeclaredResponse, media_type: str) -> str | None:
        ranges = {f"{media_type.partition('/')[0]}/*", "*/*"}
        if ranges & set(response.content):
            return None
        return f"{media_type} is not among {', '.join(response.content)} at {response.pointer}"


def _fault(body: Any, validator: SchemaValidator) -> str | None:
    """Returns how a body breaks its schema, or None; a shared body is validated once."""
    if not isinstance(body, SharedBody):
        return None if validator.is_valid(body) else first_error(validator, body)
    if body.valid_by is validator:
        return None
    if not validator.is_valid(body.value):
        return first_error(validator, body.value)
    body.valid_by = validator
    return None


def _without_options(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower() if ";" in media_type else media_type


def _is_success(status: int) -> bool:
    return status // 100 == 2  # noqa: PLR2004 - RFC 9110, 15.3: the class 2xx
