"""Compares operations: parameters, bodies, responses and credentials."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from understudy.drift.documents.changes import (
    EVERYBODY,
    NO_CLIENT,
    READERS,
    SENDERS,
    Audience,
    DocumentChange,
)
from understudy.drift.documents.keyword_changes import SchemaChange
from understudy.drift.documents.schema_changes import SchemaComparison
from understudy.drift.documents.security_changes import Schemes, security_changes
from understudy.openapi.declared_parameters import Parameter
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import declared_for
from understudy.openapi.operations import DeclaredResponse, MediaType, Operation, path_shape

Content = Mapping[str, MediaType]
_Place = tuple[str, str]
"""The location of a parameter, and its name or its number in the path."""

_ANY_STATUS = "default"
_ANSWERS_OF_CLASS = ("4", "5")
"""Classes of statuses that any request may get (RFC 9110, 15.5 and 15.6)."""


def operation_name(operation: Operation) -> str:
    """Returns method and path, with ``{}`` for each parameter."""
    return f"{operation.method} {path_shape(operation.path)}"


class OperationComparison:
    """Compares the operations of two documents.

    Args:
        old: The older document, in one dialect.
        new: The newer document, in one dialect.
    """

    def __init__(self, old: Document, new: Document) -> None:
        self._requests = SchemaComparison(old, new, "request")
        self._responses = SchemaComparison(old, new, "response")
        self._old_schemes, self._new_schemes = Schemes(old), Schemes(new)
        self._documents = old, new

    def changes(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        """Yields what differs between two operations of the same method and path."""
        for change in (
            *self._deprecation(old, new),
            *self._security(old, new),
            *self._parameters(old, new),
            *self._body(old, new),
            *self._statuses(old, new),
        ):
            yield replace(
                change, operation=operation_name(new), pointer=change.pointer or new.pointer
            )

    def _deprecation(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        flags = [
            (document.root.child(*_steps(operation)) or Node("", {})).value.get("deprecated")
            for document, operation in zip(self._documents, (old, new), strict=True)
        ]
        if flags[1] is True and flags[0] is not True:
            yield _change("operation-deprecated", "")

    def _security(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        before = self._old_schemes.credentials(old.security)
        after = self._new_schemes.credentials(new.security)
        for change in security_changes(before, after):
            breaks = SENDERS if change.kind == "security-narrowed" else NO_CLIENT
            yield _change(change.kind, "security", breaks, change.before, change.after)

    def _parameters(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        before, after = _by_place(old), _by_place(new)
        for place, parameter in before.items():
            other = after.get(place)
            label = _label(parameter)
            if other is not None:
                yield from self._parameter(label, parameter, other)
            elif (moved := _moved(parameter, after, before)) is not None:
                yield _change("parameter-moved", label, SENDERS, place[0], moved.location)
            else:
                yield _change("parameter-removed", label, SENDERS)
        for place, parameter in after.items():
            if place not in before and _moved(parameter, before, after) is None:
                text = "required" if parameter.required else "optional"
                breaks = SENDERS if parameter.required else NO_CLIENT
                yield _change("parameter-added", _label(parameter), breaks, after=text)

    def _parameter(self, place: str, old: Parameter, new: Parameter) -> Iterator[DocumentChange]:
        if old.location != "path" and old.required != new.required:
            kind = "parameter-required" if new.required else "parameter-optional"
            yield _change(kind, place, SENDERS if new.required else NO_CLIENT)
        before, after = _written(old), _written(new)
        if before != after:
            yield _change("parameter-style", place, SENDERS, before, after)
        for name, was, now in (
            ("allowEmptyValue", old.takes_empty, new.takes_empty),
            ("allowReserved", old.keeps_reserved, new.keeps_reserved),
        ):
            if was != now:
                yield _change(
                    "parameter-style",
                    place,
                    SENDERS if was else NO_CLIENT,
                    f"{name} {str(was).lower()}",
                    f"{name} {str(now).lower()}",
                )
        yield from self._of_request(place, old.schema, new.schema)

    def _body(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        before, after = old.request_body, new.request_body
        place = "request body"
        if before is None or after is None:
            if after is not None:
                breaks = SENDERS if after.required else NO_CLIENT
                text = "required" if after.required else "optional"
                yield _change("request-body-added", place, breaks, after=text)
            if before is not None:
                yield _change("request-body-removed", place, SENDERS)
            return
        if before.required != after.required:
            kind = "request-body-required" if after.required else "request-body-optional"
            yield _change(kind, place, SENDERS if after.required else NO_CLIENT)
        yield from self._content(place, before.content, after.content, SENDERS)

    def _statuses(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        for status, response in old.responses.items():
            other = _response(new, status)
            if other is None:
                yield _change("response-removed", f"response {status}", READERS)
            else:
                yield from self._response(f"response {status}", response, other)
        for status, response in new.responses.items():
            if status in old.responses:
                continue
            other = _response(old, status)
            if other is not None:
                yield from self._response(f"response {status}", other, response)
            else:
                breaks = NO_CLIENT if _is_expected(status, old) else READERS
                yield _change(
                    "response-added", f"response {status}", breaks, pointer=response.pointer
                )

    def _response(
        self, place: str, old: DeclaredResponse, new: DeclaredResponse
    ) -> Iterator[DocumentChange]:
        yield from self._content(place, old.content, new.content, READERS)
        before = {header.name.lower(): header for header in old.headers}
        after = {header.name.lower(): header for header in new.headers}
        for name, header in before.items():
            where = f"{place} header {header.name}"
            other = after.get(name)
            if other is None:
                yield _change("header-removed", where, READERS)
                continue
            if header.required != other.required:
                kind = "header-required" if other.required else "header-optional"
                yield _change(kind, where, NO_CLIENT if other.required else READERS)
            yield from self._of_response(where, header.schema, other.schema)
        for name, header in after.items():
            if name not in before:
                yield _change("header-added", f"{place} header {header.name}")

    def _content(
        self, place: str, old: Content, new: Content, audience: frozenset[Audience]
    ) -> Iterator[DocumentChange]:
        compare = self._of_request if audience == SENDERS else self._of_response
        for name, media in old.items():
            declared = declared_for(name, new)
            if declared is None:
                yield _change("media-type-removed", place, audience, before=name)
            else:
                other = new[declared]
                yield from compare(f"{place} {name}", media.schema, other.schema)
                yield from compare(f"{place} {name} items", media.item_schema, other.item_schema)
        for name in new:
            if declared_for(name, old) is None and not any(declared_for(it, [name]) for it in old):
                yield _change("media-type-added", place, after=name)

    def _of_request(
        self, place: str, old: Node | None, new: Node | None
    ) -> Iterator[DocumentChange]:
        for change in self._requests.changes(old, new):
            yield _of_schema(change, place, SENDERS if change.narrows else NO_CLIENT)

    def _of_response(
        self, place: str, old: Node | None, new: Node | None
    ) -> Iterator[DocumentChange]:
        for change in self._responses.changes(old, new):
            yield _of_schema(change, place, READERS if change.widens else NO_CLIENT)


def presence_changes(
    old: Mapping[str, Operation], new: Mapping[str, Operation]
) -> Iterator[DocumentChange]:
    """Yields the operations that are new or gone, by their names."""
    for name, operation in old.items():
        if name not in new:
            yield replace(
                _change("operation-removed", "", EVERYBODY),
                operation=name,
                pointer=operation.pointer,
            )
    for name, operation in new.items():
        if name not in old:
            yield replace(_change("operation-added", ""), operation=name, pointer=operation.pointer)


def _change(
    kind: str,
    place: str,
    breaks: frozenset[Audience] = NO_CLIENT,
    before: str = "",
    after: str = "",
    pointer: str = "",
) -> DocumentChange:
    return DocumentChange(kind, "", place, "", before, after, breaks, pointer)


def _of_schema(change: SchemaChange, place: str, breaks: frozenset[Audience]) -> DocumentChange:
    return DocumentChange(
        kind=change.kind,
        operation="",
        place=place,
        member=change.member,
        before=change.before,
        after=change.after,
        breaks=breaks,
        pointer=change.pointer,
    )


def _steps(operation: Operation) -> list[str]:
    return [s.replace("~1", "/").replace("~0", "~") for s in operation.pointer.split("/")[1:]]


def _by_place(operation: Operation) -> dict[_Place, Parameter]:
    """Returns parameters by place and name; those of the path by their order."""
    order = PATH_PARAMETER.findall(operation.path)
    return {
        (it.location, str(order.index(it.name)) if it.location == "path" else _name(it)): it
        for it in operation.parameters
    }


def _label(parameter: Parameter) -> str:
    return f"{parameter.location} parameter {parameter.name}"


def _name(parameter: Parameter) -> str:
    """Returns a parameter's name; those of headers are the same in any case (RFC 9110, 5.1)."""
    return parameter.name.lower() if parameter.location == "header" else parameter.name


def _moved(
    parameter: Parameter, others: Mapping[_Place, Parameter], own: Mapping[_Place, Parameter]
) -> Parameter | None:
    """Returns the parameter of the same name that stands in another place there, and not here."""
    return next(
        (
            it
            for place, it in others.items()
            if it.name.lower() == parameter.name.lower() and place not in own
        ),
        None,
    )


def _written(parameter: Parameter) -> str:
    """Returns how the value of a parameter is written."""
    if parameter.is_json:
        return "JSON"
    return f"{parameter.style}, {'exploded' if parameter.explode else 'not exploded'}"


def _response(operation: Operation, status: str) -> DeclaredResponse | None:
    """Returns what a document says of a status, by its class or its default if need be."""
    if status in operation.responses or not status.isdecimal():
        return operation.responses.get(status)
    return operation.response(int(status))


def _is_expected(status: str, operation: Operation) -> bool:
    """Tells whether clients are prepared for a status: by its class (RFC 9110, 15)."""
    known = {declared[:1] for declared in operation.responses}
    return status == _ANY_STATUS or status[:1] in {*known, *_ANSWERS_OF_CLASS}
