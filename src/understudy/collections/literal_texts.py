"""Asks what searches for a text whether it takes the text for a part of its query.

Two texts that nothing contains differ in whether they would be true as a condition: who searches for them as
they stand gives the same response to both. The texts are of one length and nearly one spelling, so that
what a response repeats of them is easily taken out.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from understudy.collections.client import InferredRun
from understudy.collections.rules import TEXT_LITERAL
from understudy.exchange.messages import Exchange
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation, operations
from understudy.openapi.schemas import Schemas
from understudy.verify.checks import expect

_TRUE: Final = "qjx' OR 'qjx' LIKE 'qjx"
_FALSE: Final = "qjx' OR 'qjx' LIKE 'qjz"
_SOURCE: Final = "texts that could be a part of a query"

MOST_TEXTS: Final = 12
"""Parameters that are tried, at two requests each."""


class TextParameter(NamedTuple):
    """A parameter that takes any text.

    Attributes:
        operation: An operation that reads.
        name: The name of the parameter.
        location: ``path`` or ``query``.
    """

    operation: Operation
    name: str
    location: str


def text_parameters(document: Document) -> Iterator[TextParameter]:
    """Yields the parameters of reading operations that take any text."""
    schemas = Schemas(document)
    for operation in operations(document):
        for it in operation.parameters if operation.method == "GET" else ():
            if it.schema is None or it.is_json or it.location not in {"path", "query"}:
                continue
            is_text = schemas.types(it.schema) == {"string"}
            is_free = schemas.keyword(it.schema, "format") is None
            if is_text and is_free and schemas.for_requests.validator(it.schema).is_valid(_TRUE):
                yield TextParameter(operation, it.name, it.location)


def ask_literally(state: InferredRun, parameter: TextParameter) -> None:
    """Asks twice, and twice more where the responses differ, as a response may differ by itself.

    Raises:
        Refusal: The budget or the time is used up, or the deployment does not respond.
    """
    one, other = _ask(state, parameter, _TRUE), _ask(state, parameter, _FALSE)
    differs = _shown(one) != _shown(other)
    if differs:
        again = _ask(state, parameter, _FALSE), _ask(state, parameter, _TRUE)
        differs = tuple(map(_shown, again)) == (_shown(other), _shown(one))
    expected = f"the same response to {parameter.name} {_FALSE} and {_TRUE}, which nothing contains"
    actual = f"status {other.status} and {one.status}, with other bodies"
    state.note(TEXT_LITERAL, expect(not differs, expected, actual, other), one)


def _ask(state: InferredRun, parameter: TextParameter, text: str) -> Exchange:
    is_path = parameter.location == "path"
    request = state.maker.plain(parameter.operation, {parameter.name: text} if is_path else {})
    kept = (it for it in request.query if it[0] != parameter.name)
    query = request.query if is_path else (*kept, (parameter.name, text))
    return state.client(_SOURCE).send(
        request.method, request.path, state.who, query=query, headers=request.headers
    )


def _shown(exchange: Exchange) -> tuple[int, bytes]:
    """Returns what a response shows, whichever of the two texts it repeats."""
    return exchange.status, exchange.response.body.replace(b"qjz", b"qjx")
