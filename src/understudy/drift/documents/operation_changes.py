"""Compares operations: parameters, bodies with their schemas, responses and credentials."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from understudy.drift.documents.changes import NO_CLIENT, READERS, SENDERS, Audience, DocumentChange
from understudy.drift.documents.flat_schemas import (
    Direction,
    FlatSchema,
    FlatSchemas,
    Parts,
    types_text,
)
from understudy.drift.documents.keyword_changes import SchemaChange, keyword_changes, member_changes
from understudy.drift.documents.security_changes import Schemes, security_changes
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import declared_for
from understudy.openapi.operations import (
    DeclaredResponse,
    MediaType,
    Operation,
    Parameter,
    RequestBody,
    path_shape,
)
from understudy.openapi.pointers import steps_of

ParameterPlace = tuple[str, str]
"""The location of a parameter, and its name, or for path parameters its index in the path."""


def by_place(operation: Operation) -> dict[ParameterPlace, Parameter]:
    """Returns parameters by place; path parameters by index, as renaming them breaks no client."""
    order = PATH_PARAMETER.findall(operation.path)
    return {
        (it.location, str(order.index(it.name)) if it.location == "path" else _name(it)): it
        for it in operation.parameters
    }


def label_of(parameter: Parameter) -> str:
    """Returns the name of a parameter in reports."""
    return f"{parameter.location} parameter {parameter.name}"


def _name(parameter: Parameter) -> str:
    """Returns a parameter's name; names of headers are case-insensitive (RFC 9110, 5.1)."""
    return parameter.name.lower() if parameter.location == "header" else parameter.name


def moved(
    parameter: Parameter,
    others: Mapping[ParameterPlace, Parameter],
    own: Mapping[ParameterPlace, Parameter],
) -> Parameter | None:
    """Returns the parameter of the same name in the other document, if it is in a new place."""
    return next(
        (
            it
            for place, it in others.items()
            if it.name.lower() == parameter.name.lower() and place not in own
        ),
        None,
    )


def written(parameter: Parameter) -> str:
    """Returns the serialization of a parameter, such as ``form, exploded``."""
    if parameter.is_json:
        return "JSON"
    return f"{parameter.style}, {'exploded' if parameter.explode else 'not exploded'}"


# Finds the differences between two schemas, and whether the newer one accepts fewer or more values.
# Each pair of schemas is compared once for a body, at its shortest path: schemas may contain
# themselves, and a shared schema would be reported for each member that uses it.


class _Pair(NamedTuple):
    """The schemas of one place in both documents."""

    old: Parts
    new: Parts

    @property
    def key(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(it.pointer for it in self.old), tuple(it.pointer for it in self.new)


_Key = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Compared:
    """The changes between two schemas, and the pairs of their members and items, by path."""

    changes: tuple[SchemaChange, ...]
    below: tuple[tuple[str, _Pair], ...]


class SchemaComparison:
    """Compares schemas of two documents in messages of one direction.

    Args:
        old: The older document, from ``in_one_dialect``.
        new: The newer document, from ``in_one_dialect``.
        direction: The direction of the messages.
    """

    def __init__(self, old: Document, new: Document, direction: Direction) -> None:
        self._direction = direction
        self._old = FlatSchemas(old, direction)
        self._new = FlatSchemas(new, direction)
        self._compared: dict[_Key, _Compared] = {}
        self._equal: set[_Key] = set()
        self._different: set[_Key] = set()

    def changes(self, old: Node | None, new: Node | None) -> Iterator[SchemaChange]:
        """Yields the changes between two schemas, the outermost first; None accepts any value."""
        pending = deque([("", _Pair(_parts(old), _parts(new)))])
        visited: set[_Key] = set()
        while pending:
            path, pair = pending.popleft()
            if pair.key in visited or self._is_equal(pair):
                continue
            visited.add(pair.key)
            compared = self._compare(pair)
            yield from (change.below(path) for change in compared.changes)
            pending += ((_joined(path, step), below) for step, below in compared.below)

    def _is_equal(self, pair: _Pair) -> bool:
        """Tells whether two schemas, with all schemas below them, have no change."""
        if pair.key not in self._equal and pair.key not in self._different:
            self._settle(pair)
        return pair.key in self._equal

    def _settle(self, pair: _Pair) -> None:
        """Decides for a pair and all pairs below: a pair is different if it leads to a change.

        Works on a graph, and not by recursion, as schemas may contain themselves.
        """
        above: dict[_Key, list[_Key]] = {pair.key: []}
        changed: list[_Key] = []
        pending = [pair]
        while pending:
            current = pending.pop()
            compared = self._compare(current)
            if compared.changes or current.key in self._different:
                changed.append(current.key)
            for _, below in compared.below:
                if below.key not in above:
                    above[below.key] = []
                    pending.append(below)
                above[below.key].append(current.key)
        different: set[_Key] = set()
        while changed:
            key = changed.pop()
            if key not in different:
                different.add(key)
                changed += above[key]
        self._different |= different
        self._equal |= above.keys() - different

    def _compare(self, pair: _Pair) -> _Compared:
        known = self._compared.get(pair.key)
        if known is None:
            known = self._compared[pair.key] = self._compare_alternatives(pair)
        return known

    def _compare_alternatives(self, pair: _Pair) -> _Compared:
        old, new = list(self._old.alternatives(pair.old)), list(self._new.alternatives(pair.new))
        changes: dict[SchemaChange, None] = {}
        below: list[tuple[str, _Pair]] = []
        for before, after in _paired(old, new):
            for change in (
                *keyword_changes(before, after, self._direction),
                *member_changes(before, after),
            ):
                changes[replace(change, pointer=change.pointer or after.pointer)] = None
            below += _below(before, after)
        for flat in old:  # those that _paired left over
            changes[_alternative("removed", flat)] = None
        for flat in new:
            changes[_alternative("added", flat)] = None
        return _Compared(tuple(changes), tuple(below))


def _parts(schema: Node | None) -> Parts:
    return (Node("", {}) if schema is None else schema,)


def _joined(path: str, step: str) -> str:
    return f"{path}{step}" if not path or step.startswith("[") else f"{path}.{step}"


def _below(old: FlatSchema, new: FlatSchema) -> Iterator[tuple[str, _Pair]]:
    """Yields the pairs of schemas of the members and items that both schemas have."""
    for name, schemas in old.properties.items():
        if name in new.properties:
            yield name, _Pair(schemas, new.properties[name])
    if "array" in old.types & new.types:
        yield "[]", _Pair(_any_value(old.items), _any_value(new.items))
    if "object" in old.types & new.types and old.others is not None and new.others is not None:
        yield "*", _Pair(_any_value(old.others), _any_value(new.others))


def _any_value(parts: Parts) -> Parts:
    return parts or _parts(None)


def _alternative(what: str, flat: FlatSchema) -> SchemaChange:
    is_added = what == "added"
    text = flat.name if "/schemas/" in flat.pointer else types_text(flat.types)
    values = ("", text) if is_added else (text, "")
    return SchemaChange(
        f"alternative-{what}",
        *values,
        narrows=not is_added,
        widens=is_added,
        pointer=flat.pointer,
    )


def _paired(
    old: list[FlatSchema], new: list[FlatSchema]
) -> Iterable[tuple[FlatSchema, FlatSchema]]:
    """Removes the alternatives that belong together from both lists, and returns them in pairs."""
    pairs = []
    for is_alike in (_is_same_in_name, _is_same_in_shape, _is_same_in_type):
        for before in list(old):
            after = next((it for it in new if is_alike(before, it)), None)
            if after is not None:
                pairs.append((before, after))
                old.remove(before)
                new.remove(after)
    if len(old) == len(new) == 1:
        pairs.append((old.pop(), new.pop()))
    return pairs


def _is_same_in_name(one: FlatSchema, other: FlatSchema) -> bool:
    return one.name == other.name and not one.name.isdecimal()


def _is_same_in_shape(one: FlatSchema, other: FlatSchema) -> bool:
    return _shape(one) == _shape(other)


def _is_same_in_type(one: FlatSchema, other: FlatSchema) -> bool:
    is_alike = bool(one.properties.keys() & other.properties.keys())
    return one.types == other.types and (is_alike or "object" not in one.types)


def _shape(flat: FlatSchema) -> tuple[object, ...]:
    return flat.types, flat.values, flat.patterns, flat.formats, frozenset(flat.properties)


Content = Mapping[str, MediaType]
CompareSchemas = Callable[[str, Node | None, Node | None], Iterator[DocumentChange]]
"""Yields the changes between two schemas of a named place."""

REQUEST_BODY = "request body"
_ANY_STATUS = "default"
_ANSWERS_OF_CLASS = ("4", "5")
"""Classes of statuses that every client expects (RFC 9110, 15.5 and 15.6)."""


def operation_name(operation: Operation) -> str:
    """Returns the method and the path of an operation, with ``{}`` for each parameter."""
    return f"{operation.method} {path_shape(operation.path)}"


class OperationComparison:
    """Compares the operations of two documents.

    Args:
        old: The older document, from ``in_one_dialect``.
        new: The newer document, from ``in_one_dialect``.
        requests: The part of clients in requests: ``SENDERS``, or for callbacks and webhooks, which
            the service sends, ``READERS``.
    """

    def __init__(
        self, old: Document, new: Document, requests: frozenset[Audience] = SENDERS
    ) -> None:
        self._asking = requests
        self._responding = READERS if requests == SENDERS else SENDERS
        self._requests = SchemaComparison(old, new, "request")
        self._responses = SchemaComparison(old, new, "response")
        self._old_schemes, self._new_schemes = Schemes(old), Schemes(new)
        self._documents = old, new

    def changes(self, name: str, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        """Yields the changes between two operations with one name."""
        for change in (
            *self._deprecation(old, new),
            *self._security(old, new),
            *self._parameters(old, new),
            *self._body(old, new),
            *self._statuses(old, new),
        ):
            yield replace(change, operation=name, pointer=change.pointer or new.pointer)

    def _deprecation(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        flags = [
            (document.root.child(*steps_of(operation.pointer)) or Node("", {})).value.get(
                "deprecated"
            )
            for document, operation in zip(self._documents, (old, new), strict=True)
        ]
        if flags[1] is True and flags[0] is not True:
            yield DocumentChange("operation-deprecated", "")

    def _security(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        before = self._old_schemes.credentials(old.security)
        after = self._new_schemes.credentials(new.security)
        for kind, *credentials in security_changes(before, after):
            is_narrower = kind == "security-narrowed"
            breaks = _by(self._asking, narrows=is_narrower, widens=not is_narrower)
            yield DocumentChange(kind, "security", breaks, *credentials)

    def _parameters(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        before, after = by_place(old), by_place(new)
        for place, parameter in before.items():
            other = after.get(place)
            label = label_of(parameter)
            if other is not None:
                yield from self._parameter(label, parameter, other)
            elif (elsewhere := moved(parameter, after, before)) is not None:
                yield DocumentChange(
                    "parameter-moved", label, self._asking, place[0], elsewhere.location
                )
            else:
                yield DocumentChange("parameter-removed", label, self._asking)
        for place, parameter in after.items():
            if place not in before and moved(parameter, before, after) is None:
                text = "required" if parameter.required else "optional"
                breaks = _by(self._asking, narrows=parameter.required)
                yield DocumentChange("parameter-added", label_of(parameter), breaks, after=text)

    def _parameter(self, place: str, old: Parameter, new: Parameter) -> Iterator[DocumentChange]:
        if old.location != "path":
            yield from _requirement("parameter", place, old, new, self._asking)
        before, after = written(old), written(new)
        if before != after:
            yield DocumentChange("parameter-style", place, self._asking, before, after)
        for name, was, now in (
            ("allowEmptyValue", old.takes_empty, new.takes_empty),
            ("allowReserved", old.keeps_reserved, new.keeps_reserved),
        ):
            if was != now:
                yield DocumentChange(
                    "parameter-style",
                    place,
                    _by(self._asking, narrows=was, widens=now),
                    f"{name} {str(was).lower()}",
                    f"{name} {str(now).lower()}",
                )
        yield from self._of_request(place, old.schema, new.schema)

    def _body(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        before, after = old.request_body, new.request_body
        place = REQUEST_BODY
        if before is None or after is None:
            if after is not None:
                breaks = _by(self._asking, narrows=after.required)
                text = "required" if after.required else "optional"
                yield DocumentChange("request-body-added", place, breaks, after=text)
            if before is not None:
                yield DocumentChange("request-body-removed", place, self._asking)
            return
        yield from _requirement("request-body", place, before, after, self._asking)
        yield from self._content(place, before.content, after.content, self._of_request)

    def _statuses(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        for status, response in old.responses.items():
            other = _response(new, status)
            if other is None:
                yield DocumentChange("response-removed", f"response {status}", self._responding)
            else:
                yield from self._response(f"response {status}", response, other)
        for status, response in new.responses.items():
            if status in old.responses:
                continue
            other = _response(old, status)
            if other is not None:
                yield from self._response(f"response {status}", other, response)
            else:
                breaks = _by(self._responding, widens=not _is_expected(status, old))
                yield DocumentChange(
                    "response-added", f"response {status}", breaks, pointer=response.pointer
                )

    def _response(
        self, place: str, old: DeclaredResponse, new: DeclaredResponse
    ) -> Iterator[DocumentChange]:
        yield from self._content(place, old.content, new.content, self._of_response)
        before = {header.name.lower(): header for header in old.headers}
        after = {header.name.lower(): header for header in new.headers}
        for name, header in before.items():
            where = f"{place} header {header.name}"
            other = after.get(name)
            if other is None:
                yield DocumentChange("header-removed", where, self._responding)
                continue
            yield from _requirement("header", where, header, other, self._responding)
            yield from self._of_response(where, header.schema, other.schema)
        for name, header in after.items():
            if name not in before:
                breaks = _by(self._responding, narrows=header.required)
                yield DocumentChange("header-added", f"{place} header {header.name}", breaks)

    def _content(
        self, place: str, old: Content, new: Content, compare: CompareSchemas
    ) -> Iterator[DocumentChange]:
        audience = self._asking if place == REQUEST_BODY else self._responding
        for name, media in old.items():
            declared = declared_for(name, new)
            if declared is None:
                yield DocumentChange("media-type-removed", place, audience, before=name)
            else:
                other = new[declared]
                yield from compare(f"{place} {name}", media.schema, other.schema)
                yield from compare(f"{place} {name} items", media.item_schema, other.item_schema)
        for name in new:
            if declared_for(name, old) is None and not any(declared_for(it, [name]) for it in old):
                yield DocumentChange("media-type-added", place, after=name)

    def _of_request(
        self, place: str, old: Node | None, new: Node | None
    ) -> Iterator[DocumentChange]:
        return _of_schema(self._requests.changes(old, new), place, self._asking)

    def _of_response(
        self, place: str, old: Node | None, new: Node | None
    ) -> Iterator[DocumentChange]:
        return _of_schema(self._responses.changes(old, new), place, self._responding)


def _requirement(
    kind: str,
    place: str,
    old: Parameter | RequestBody,
    new: Parameter | RequestBody,
    audience: frozenset[Audience],
) -> Iterator[DocumentChange]:
    """Yields a change if a part of a message is newly required or no longer required."""
    if old.required != new.required:
        breaks = _by(audience, narrows=new.required, widens=not new.required)
        presence = "required" if new.required else "optional"
        yield DocumentChange(f"{kind}-{presence}", place, breaks)


def _by(
    audience: frozenset[Audience], *, narrows: bool = False, widens: bool = False
) -> frozenset[Audience]:
    """Returns the clients of a message that a change of its values breaks.

    Senders break if fewer messages are accepted, readers if more messages are possible.
    """
    is_breaking = narrows if audience == SENDERS else widens
    return audience if is_breaking else NO_CLIENT


def _of_schema(
    changes: Iterable[SchemaChange], place: str, audience: frozenset[Audience]
) -> Iterator[DocumentChange]:
    """Yields changes of a schema as changes of the place that uses the schema."""
    for it in changes:
        breaks = _by(audience, narrows=it.narrows, widens=it.widens)
        yield DocumentChange(
            it.kind, place, breaks, it.before, it.after, member=it.member, pointer=it.pointer
        )


def _response(operation: Operation, status: str) -> DeclaredResponse | None:
    """Returns the declared response for a status, else for its class, else the default one."""
    if status in operation.responses or not status.isdecimal():
        return operation.responses.get(status)
    return operation.response(int(status))


def _is_expected(status: str, operation: Operation) -> bool:
    """Tells whether clients expect a status because they know its class (RFC 9110, 15)."""
    known = {declared[:1] for declared in operation.responses}
    return status == _ANY_STATUS or status[:1] in {*known, *_ANSWERS_OF_CLASS}
