"""Compares operations: parameters, bodies, responses and credentials."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from understudy.drift.documents.changes import (
    NO_CLIENT,
    READERS,
    SENDERS,
    Audience,
    DocumentChange,
)
from understudy.drift.documents.keyword_changes import SchemaChange
from understudy.drift.documents.parameter_places import by_place, label_of, moved, written
from understudy.drift.documents.schema_changes import SchemaComparison
from understudy.drift.documents.security_changes import Schemes, security_changes
from understudy.openapi.declared_parameters import Parameter
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import declared_for
from understudy.openapi.operations import DeclaredResponse, MediaType, Operation, path_shape
from understudy.openapi.pointers import steps_of

Content = Mapping[str, MediaType]
CompareSchemas = Callable[[str, Node | None, Node | None], Iterator[DocumentChange]]
"""Yields what differs between the schemas of a place."""

REQUEST_BODY = "request body"
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
        requests: What clients do with requests: ``SENDERS``, or ``READERS`` of those that the
            service sends.
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
        """Yields what differs between two operations of one name."""
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
            yield _change("operation-deprecated", "")

    def _security(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        before = self._old_schemes.credentials(old.security)
        after = self._new_schemes.credentials(new.security)
        for change in security_changes(before, after):
            is_narrower = change.kind == "security-narrowed"
            breaks = _by(self._asking, narrows=is_narrower, widens=not is_narrower)
            yield _change(change.kind, "security", breaks, change.before, change.after)

    def _parameters(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        before, after = by_place(old), by_place(new)
        for place, parameter in before.items():
            other = after.get(place)
            label = label_of(parameter)
            if other is not None:
                yield from self._parameter(label, parameter, other)
            elif (elsewhere := moved(parameter, after, before)) is not None:
                yield _change("parameter-moved", label, self._asking, place[0], elsewhere.location)
            else:
                yield _change("parameter-removed", label, self._asking)
        for place, parameter in after.items():
            if place not in before and moved(parameter, before, after) is None:
                text = "required" if parameter.required else "optional"
                breaks = _by(self._asking, narrows=parameter.required)
                yield _change("parameter-added", label_of(parameter), breaks, after=text)

    def _parameter(self, place: str, old: Parameter, new: Parameter) -> Iterator[DocumentChange]:
        if old.location != "path" and old.required != new.required:
            kind = "parameter-required" if new.required else "parameter-optional"
            yield _change(kind, place, self._by_presence(is_required=new.required))
        before, after = written(old), written(new)
        if before != after:
            yield _change("parameter-style", place, self._asking, before, after)
        for name, was, now in (
            ("allowEmptyValue", old.takes_empty, new.takes_empty),
            ("allowReserved", old.keeps_reserved, new.keeps_reserved),
        ):
            if was != now:
                yield _change(
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
                yield _change("request-body-added", place, breaks, after=text)
            if before is not None:
                yield _change("request-body-removed", place, self._asking)
            return
        if before.required != after.required:
            kind = "request-body-required" if after.required else "request-body-optional"
            yield _change(kind, place, self._by_presence(is_required=after.required))
        yield from self._content(place, before.content, after.content, self._of_request)

    def _statuses(self, old: Operation, new: Operation) -> Iterator[DocumentChange]:
        for status, response in old.responses.items():
            other = _response(new, status)
            if other is None:
                yield _change("response-removed", f"response {status}", self._responding)
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
                yield _change(
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
                yield _change("header-removed", where, self._responding)
                continue
            if header.required != other.required:
                kind = "header-required" if other.required else "header-optional"
                breaks = _by(self._responding, narrows=other.required, widens=not other.required)
                yield _change(kind, where, breaks)
            yield from self._of_response(where, header.schema, other.schema)
        for name, header in after.items():
            if name not in before:
                breaks = _by(self._responding, narrows=header.required)
                yield _change("header-added", f"{place} header {header.name}", breaks)

    def _content(
        self, place: str, old: Content, new: Content, compare: CompareSchemas
    ) -> Iterator[DocumentChange]:
        audience = self._asking if place == REQUEST_BODY else self._responding
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
            breaks = _by(self._asking, narrows=change.narrows, widens=change.widens)
            yield _of_schema(change, place, breaks)

    def _of_response(
        self, place: str, old: Node | None, new: Node | None
    ) -> Iterator[DocumentChange]:
        for change in self._responses.changes(old, new):
            breaks = _by(self._responding, narrows=change.narrows, widens=change.widens)
            yield _of_schema(change, place, breaks)

    def _by_presence(self, *, is_required: bool) -> frozenset[Audience]:
        """Returns the clients that break as a part of a request must be there, or may be left out."""
        return _by(self._asking, narrows=is_required, widens=not is_required)


def _by(
    audience: frozenset[Audience], *, narrows: bool = False, widens: bool = False
) -> frozenset[Audience]:
    """Returns the clients of a message that a change of its values breaks.

    Senders break where fewer messages are taken, and readers where more can come.
    """
    is_breaking = narrows if audience == SENDERS else widens
    return audience if is_breaking else NO_CLIENT


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


def _response(operation: Operation, status: str) -> DeclaredResponse | None:
    """Returns what a document says of a status, by its class or its default if need be."""
    if status in operation.responses or not status.isdecimal():
        return operation.responses.get(status)
    return operation.response(int(status))


def _is_expected(status: str, operation: Operation) -> bool:
    """Tells whether clients are prepared for a status: by its class (RFC 9110, 15)."""
    known = {declared[:1] for declared in operation.responses}
    return status == _ANY_STATUS or status[:1] in {*known, *_ANSWERS_OF_CLASS}
