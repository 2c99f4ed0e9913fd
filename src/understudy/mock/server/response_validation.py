"""Validates the mock's own responses by the document: status, media type and schema.

A response that lacks members which a newer document requires is completed with generated ones.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from understudy.mock.server.api import Complete
from understudy.mock.server.call import HandlerResponse, SharedBody
from understudy.mock.server.validation_errors import first_error
from understudy.openapi.loader import Node
from understudy.openapi.operations import DeclaredResponse, Operation
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import ALL, Schemas
from understudy.openapi.validators import SchemaValidator

NO_COMPLETIONS: Final[Mapping[str, Complete]] = MappingProxyType({})


_NO_BODY: Final = "the document declares a body"


class Completion:
    """Makes a body fit its schema, member by member, as far as it can.

    A required member that is missing, or empty where its schema takes no empty text, is made of those
    beside it, or sampled. Any other member that its schema refuses is left as it is.

    Args:
        schemas: The document's validators.
        seed: Same seed, same members.
        completions: Makes members of these names.
    """

    def __init__(self, schemas: Schemas, seed: int, completions: Mapping[str, Complete]) -> None:
        self._schemas = schemas
        self._sampler = Sampler(schemas, seed)
        self._completions = completions

    def completed(self, body: Any, schema: Node) -> Any:
        """Returns a body with what it lacks; the one given is not changed."""
        if isinstance(body, list | tuple):  # records give tuples
            items = self._schemas.items(schema)
            return body if items is None else [self.completed(item, items) for item in body]
        if not isinstance(body, dict):
            return body
        required = self._schemas.required_names(schema)
        declared = self._schemas.members(schema, ALL)
        members = dict(body)
        for name in dict.fromkeys((*body, *required)):
            member = declared.get(name)
            if member is None:  # required and not declared: any value is right
                members.setdefault(name, self._sampler.value(Node("", {}), name))
                continue
            if body.get(name, "") != "":
                members[name] = self.completed(body[name], member)
            elif name in required and not (name in body and self._is_valid("", member)):
                members[name] = self._made(name, member, members)
        return members

    def _made(self, name: str, schema: Node, beside: Mapping[str, Any]) -> Any:
        make = self._completions.get(name)
        made = None if make is None else make(beside)
        fitting = (
            it for it in (made, str(made)) if made is not None and self._is_valid(it, schema)
        )
        return next(fitting, None) or self._sampler.value(schema, name)

    def _is_valid(self, value: Any, schema: Node) -> bool:
        return self._schemas.validator(schema).is_valid(value)


class ResponseValidator:
    """Validates the responses of one operation.

    Args:
        operation: What the document says of it.
        schemas: The document's validators.
        completions: Makes members of these names of those beside them.
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
        if response.body is None:
            return _NO_BODY
        return None if isinstance(response.body, bytes) else _fault(response.body, validator)

    def _fault_of_first(self, response: HandlerResponse) -> str | None:
        """Returns the same for the first response of its status and media type."""
        declared = self._operation.response(response.status)
        if not self._operation.responses:
            return None  # it declares none, and so excludes none
        if declared is None:
            return f"status {response.status} is not in the document"
        media = declared.content.get(_without_options(response.media_type))
        if response.body is None:
            return _NO_BODY if media and media.schema else None
        if media is None:
            return self._undeclared_type(declared, response.media_type)
        if isinstance(response.body, bytes) or media.schema is None:
            return None
        validator = self._schemas.validator(media.schema)
        self._validators[response.status, response.media_type] = validator
        return _fault(response.body, validator)

    def completed(self, response: HandlerResponse, seed: int) -> HandlerResponse:
        """Returns a response that fits the document as far as it can be made to."""
        declared = self._operation.response(response.status)
        media = declared and declared.content.get(_without_options(response.media_type))
        if not media or media.schema is None:
            return response
        body = response.body.value if isinstance(response.body, SharedBody) else response.body
        if body is None:
            return response._replace(body=Sampler(self._schemas, seed).value(media.schema))
        completion = Completion(self._schemas, seed, self._completions)
        return response._replace(body=completion.completed(body, media.schema))

    @staticmethod
    def _undeclared_type(response: DeclaredResponse, media_type: str) -> str | None:
        ranges = {f"{media_type.partition('/')[0]}/*", "*/*"}
        if not response.content or ranges & set(response.content):
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
