"""Puts an error response into the shape that the document in force declares for it.

An API has one error shape of its own; a document that declares another status or another schema for
an operation's errors is followed, so that a generated client can read them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from understudy.errors import Headers, Problem
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.error_bodies import ErrorBodies, has_message
from understudy.openapi.loader import Node
from understudy.openapi.operations import DeclaredResponse, Operation
from understudy.openapi.schemas import Schemas

_BAD_REQUEST = 400
_UNSUPPORTED_MEDIA_TYPE = 415
_UNPROCESSABLE = 422
_NOT_LETTERS = re.compile("[^a-z]")


NONE_USUAL: Final[Mapping[str, DeclaredResponse]] = MappingProxyType({})

_ANY_STATUS = "default"


def usual_errors(operations: Iterable[Operation]) -> Mapping[str, DeclaredResponse]:
    """Returns the errors that most operations of a document share, by their status.

    An operation often declares only some of the errors that it has; the others look like those of its
    neighbours. ``default`` is the error that is declared most often, whatever its status.
    """
    errors = [
        (status, response)
        for operation in operations
        for status, response in operation.responses.items()
        if not status.startswith(("1", "2", "3")) and _json_schema(response)[1] is not None
    ]
    counts = Counter(response.pointer for _, response in errors)
    # the most frequent one last, as the last one of a status counts
    errors.sort(key=lambda it: counts[it[1].pointer])
    usual = dict(errors)
    return {**usual, _ANY_STATUS: errors[-1][1]} if errors else NONE_USUAL


class DeclaredErrors:
    """The errors and the headers that the document declares for one operation.

    Args:
        operation: What the document says of it.
        schemas: The document's validators.
        header_names: Names for headers that the document does not declare.
        usual: What ``usual_errors`` returns for the document, for errors that are not declared here.
    """

    def __init__(
        self,
        operation: Operation,
        schemas: Schemas,
        header_names: Mapping[str, str],
        usual: Mapping[str, DeclaredResponse] = NONE_USUAL,
    ) -> None:
        self._other_names = header_names
        self._usual = usual
        self._operation = operation
        self._schemas = schemas
        self._header_names = {
            status: {_letters(header.name): header.name.lower() for header in response.headers}
            for status, response in operation.responses.items()
            if response.headers
        }

    def response(self, response: HandlerResponse, problem: Problem, seed: int) -> HandlerResponse:
        """Returns an error response as the document declares it.

        Args:
            response: In the API's own shape; kept where the document has nothing against it.
            problem: What was wrong.
            seed: Of what is generated to fill the document's shape.
        """
        response = response._replace(status=self._status(response.status))
        return self._shaped(response, self._operation.response(response.status), problem, seed)

    def usual_response(
        self, response: HandlerResponse, problem: Problem, seed: int
    ) -> HandlerResponse:
        """Returns an error response as the operations of the document usually declare it.

        For requests that lead to none of them; the arguments are those of ``response``.
        """
        return self._shaped(response, None, problem, seed)

    def _shaped(
        self,
        response: HandlerResponse,
        declared: DeclaredResponse | None,
        problem: Problem,
        seed: int,
    ) -> HandlerResponse:
        status = response.status
        usual = self._usual.get(str(status)) or self._usual.get(_ANY_STATUS)
        is_borrowed = declared is None or not declared.content
        media_type, schema = _json_schema(usual if is_borrowed else declared)
        if schema is None or self._is_own_shape(schema, response.body):
            return response
        body = ErrorBodies(self._schemas, schema, seed).body(problem, status)
        if not self._schemas.validator(schema).is_valid(body):
            return response
        if is_borrowed and not has_message(body, problem.message):
            return response  # a shape that was meant for something else
        return response._replace(body=body, media_type=media_type)

    def headers(self, status: int, headers: Headers) -> Headers:
        """Returns headers by the names that the document declares for them.

        Documents differ in dashes and in ``X-``: ``RateLimit-Limit`` is ``X-Rate-Limit-Limit``.
        """
        if not headers or not (self._header_names or self._other_names):
            return headers
        texts = (str(status), f"{status // 100}XX", "default")
        names = next((self._header_names[t] for t in texts if t in self._header_names), {})
        others = self._other_names
        return tuple(
            (names.get(_letters(name)) or others.get(name, name), value) for name, value in headers
        )

    def _status(self, status: int) -> int:
        """Returns the status by which the document declares that a request is invalid.

        That is 422 for a 400 that is not declared, and 400 or 422 for a 415 that is not.
        """
        declared = self._operation.responses
        if status == _BAD_REQUEST and "400" not in declared and str(_UNPROCESSABLE) in declared:
            return _UNPROCESSABLE
        if status == _UNSUPPORTED_MEDIA_TYPE and self._operation.response(status) is None:
            others = (_BAD_REQUEST, _UNPROCESSABLE)
            return next((other for other in others if str(other) in declared), status)
        return status

    def _is_own_shape(self, schema: Node, body: Any) -> bool:
        """Tells whether a schema describes the API's own error shape, member by member."""
        if not self._schemas.validator(schema).is_valid(body):
            return False
        names = self._schemas.property_names(schema)
        return not names or not isinstance(body, dict) or body.keys() <= set(names)


def _json_schema(declared: DeclaredResponse | None) -> tuple[str, Node | None]:
    """Returns the JSON media type of a declared response, and its schema."""
    for media_type, media in declared.content.items() if declared else ():
        if media_type.endswith(("/json", "+json")):
            return media_type, media.schema
    return "", None


def _letters(name: str) -> str:
    return _NOT_LETTERS.sub("", name.lower()).removeprefix("x")
