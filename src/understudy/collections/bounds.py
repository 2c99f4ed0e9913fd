"""Checks whether values at the bounds of a document are accepted and stored completely.

First a request with all members or parameters at their bounds is sent. If it is refused, each bound
is tried alone, together with the next value inside, as the service may refuse both for other reasons.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from understudy.cases.edges import SchemaValues, edges
from understudy.collections.client import CollectionClient, InferredRun
from understudy.collections.model import ResourceModel, ResourceOperation
from understudy.collections.requests import ItemMembers, RequestMaker
from understudy.collections.rules import BOUND_ACCEPTED
from understudy.exchange.messages import Exchange
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, operations
from understudy.openapi.schemas import Schemas
from understudy.verify.checks import CheckResult, expect
from understudy.verify.permits import NotPermitted
from understudy.verify.value_texts import as_json

_INVALID: Final = frozenset({400, 413, 414, 422})
_MOST_BOUNDS: Final = 8
"""Most bounds that are tried one by one, after a request with all of them was refused."""
_LONG_TEXT: Final = "A text longer than a column of a database often is. " * 6
_SOURCE: Final = "values at the bounds of the document"
_CHANGING: Final = frozenset({"POST", "PUT", "PATCH"})

MOST_BOUNDED: Final = 12
"""Most operations outside of collections that are tried, mostly with two requests each."""


class ValueBound(NamedTuple):
    """A value at a bound, and its neighbour inside.

    Attributes:
        name: The member or parameter.
        keyword: The keyword that sets the bound; empty for a long text without one.
        at: The value at the bound.
        inside: The next value inside the bound; None for a long text.
    """

    name: str
    keyword: str
    at: Any
    inside: Any

    @property
    def is_lower(self) -> bool:
        """True for a lower bound."""
        return self.keyword.startswith("min")


Send = Callable[[Mapping[str, Any]], Exchange]
"""A function that sends a request with given values of members or parameters."""

Judge = Callable[[Exchange, CheckResult], None]


def bounds_of(schemas: Schemas, members: Mapping[str, Node]) -> Iterator[ValueBound]:
    """Yields the bounds of members or parameters."""
    values = SchemaValues(schemas)
    for name, schema in members.items():
        found: dict[str, list[Any]] = {}
        for edge in edges(values, schema):
            if edge.is_valid and edge.category == "boundary":
                found.setdefault(edge.keyword, []).append(edge.value)
        for keyword in ("minimum", "minLength", "minItems", "maximum", "maxLength", "maxItems"):
            near = sorted(found.get(keyword, ()), key=_size)
            if len(near) > 1:
                at, inside = near[:2] if keyword.startswith("min") else near[:-3:-1]
                yield ValueBound(name, keyword, at, inside)
        if _is_free(schemas, schema):
            yield ValueBound(name, "", _LONG_TEXT, None)


def _size(value: Any) -> float:
    return value if isinstance(value, int | float) else len(value)


def _is_free(schemas: Schemas, schema: Node) -> bool:
    """Tells whether a schema allows any text."""
    others = ("maxLength", "pattern", "format", "enum", "const")
    is_text = schemas.types(schema) == {"string"}
    return is_text and all(schemas.keyword(schema, it) is None for it in others)


def ask_bounds(bounds: Iterable[ValueBound], send: Send, judge: Judge) -> None:
    """Sends the largest and then the smallest values, and judges refusals.

    Raises:
        Refusal: The target does not permit a request.
    """
    every = list(bounds)
    for is_lower in (False, True):
        chosen = [it for it in every if it.is_lower == is_lower]
        if not chosen:
            continue
        exchange = send({it.name: it.at for it in chosen})
        if exchange.response.is_success:
            judge(exchange, CheckResult(holds=True, expected=""))
            continue
        for bound in chosen[:_MOST_BOUNDS]:
            _ask_bound(bound, send, judge)


def _ask_bound(bound: ValueBound, send: Send, judge: Judge) -> None:
    """Sends the value at a bound, its neighbour inside, and the first again, and judges a refusal."""
    name, keyword, at, inside = bound
    if send({name: at}).status not in _INVALID or not keyword:
        return
    accepted, again = send({name: inside}), send({name: at})
    if accepted.response.is_success:
        is_refused = again.status in _INVALID
        expected = f"{name} {as_json(at)[:40]} accepted, as {keyword} allows it"
        actual = f"status {again.status}: it is refused, and the next value inside is not"
        judge(again, expect(not is_refused, expected, actual, accepted))


def create_at_bounds(client: CollectionClient) -> None:
    """Creates an item with the largest values that the document allows, and one with the smallest.

    Both are read back, as the service may truncate a text, or treat zero as missing.

    Raises:
        Refusal: The target does not permit a request.
    """
    maker, collection = client.state.maker, client.requests.collection
    ignored = {collection.identifier, *collection.references, *collection.unique}
    members = maker.members(client.requests.needed("create"))
    members = {name: it for name, it in members.items() if name not in ignored}

    def send(known: Mapping[str, Any]) -> Exchange:
        exchange, item = client.attempt(known)
        if item is not None and collection.operation("read") is not None:
            client.read(item)
        return exchange

    ask_bounds(bounds_of(maker.schemas, members), send, partial(_judge_by, client))


def list_at_bounds(client: CollectionClient) -> None:
    """Lists a collection with the largest and the smallest values of its parameters.

    Raises:
        Refusal: The budget or the time is used up.
    """

    def send(known: Mapping[str, Any]) -> Exchange:
        client.list_by(known)
        return client.steps[-1]

    schemas, role = client.state.maker.schemas, client.requests.needed("list")
    ask_bounds(_of_query(schemas, role.operation), send, partial(_judge_by, client))


def _judge_by(client: CollectionClient, exchange: Exchange, result: CheckResult) -> None:
    client.judge(exchange, [(BOUND_ACCEPTED, result)])


def _of_query(schemas: Schemas, operation: Operation) -> Iterator[ValueBound]:
    """Yields the bounds of the integer query parameters of an operation."""
    declared = (it for it in operation.parameters if it.location == "query" and not it.is_json)
    members = {it.name: it.schema for it in declared if it.schema is not None}
    numbers = {n: it for n, it in members.items() if schemas.types(it) == {"integer"}}
    yield from bounds_of(schemas, numbers)


def bounded_operations(document: Document, model: ResourceModel) -> Iterator[Operation]:
    """Yields the operations outside of collections that have values with bounds."""
    maker = RequestMaker(document, 0, "")
    modelled = {role.key for _, role in model.roles()}
    for operation in operations(document):
        is_tried = operation.method == "GET" or operation.method in _CHANGING
        if is_tried and (operation.method, operation.path) not in modelled:
            found = (it for it in _bounds_of_operation(maker, operation) if it.keyword)
            if next(found, None) is not None:
                yield operation


def _bounds_of_operation(maker: RequestMaker, operation: Operation) -> Iterator[ValueBound]:
    if operation.method == "GET":
        yield from _of_query(maker.schemas, operation)
    else:
        yield from bounds_of(maker.schemas, maker.members(ResourceOperation("action", operation)))


def send_at_bounds(state: InferredRun, operation: Operation) -> None:
    """Sends requests with the largest and the smallest values of an operation's parameters or members.

    Raises:
        Refusal: The target does not permit a request, or no valid request can be made.
    """
    maker = state.maker

    def send(known: Mapping[str, Any]) -> Exchange:
        request = maker.plain(operation, {})
        if operation.method == "GET":
            request = request.asking(known)
        else:
            made = maker.item(ResourceOperation("action", operation), {}, ItemMembers(known))
            if made is None:
                msg = f"no valid request of {operation.operation_id} was found"
                raise NotPermitted(msg)
            request = made
        return state.send(request, _SOURCE)

    def judge(exchange: Exchange, result: CheckResult) -> None:
        state.note(BOUND_ACCEPTED, result, exchange)

    ask_bounds(_bounds_of_operation(maker, operation), send, judge)
