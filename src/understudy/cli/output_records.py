"""Records that commands print with ``--json``; the published schemas are made from them."""

from typing import Any

import msgspec


class PrintedRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule of the interface, or of state that is inferred from any document.

    Attributes:
        id: Name of the rule.
        status: The interface states it, a standard implies it, understudy assumes it, or it is inferred
            from the document of another service.
        section: The section of the interface that contains it.
        statement: The rule in one sentence.
        outcome: With --coverage: passed, failed or not_checked; absent where the report has no such rule.
        learnt: With --facts: the reading of the deployment, of several the last one's; absent where it
            was not settled.
        sure: With --facts: whether that reading was seen once or twice.
    """

    id: str
    status: str
    section: str
    statement: str
    outcome: str | None = None
    learnt: str | None = None
    sure: str | None = None


class PrintedUndo(msgspec.Struct, frozen=True):
    """The result of undoing what a killed run of verify left changed.

    Attributes:
        is_undone: True if every change of the run was undone.
        not_undone: The changes that were not.
    """

    is_undone: bool
    not_undone: list[str]


class PrintedExport(msgspec.Struct, frozen=True):
    """A world that was written as fixtures.

    Attributes:
        directory: The directory, for `understudy serve --fixtures`.
        files: Number of files in it.
    """

    directory: str
    files: int


class PrintedParent(msgspec.Struct, frozen=True):
    """A path parameter that names the item which a collection belongs to.

    Attributes:
        parameter: Name of the parameter.
        collection: Path of the collection that has the item; null if absent.
    """

    parameter: str
    collection: str | None


class PrintedOperation(msgspec.Struct, frozen=True, omit_defaults=True):
    """An operation, and its part in the state.

    Attributes:
        role: The operation's part, such as list, create or read.
        method: The request method.
        path: The path template.
        request: The members that lead to the item in a request.
        response: The members that lead to the item or the list in a response; null for neither.
        changes: Members that an action sets, with their values.
    """

    role: str
    method: str
    path: str
    request: list[str]
    response: list[str] | None
    changes: dict[str, Any] = {}


class PrintedResource(msgspec.Struct, frozen=True):
    """A collection or a single resource that operations share.

    Attributes:
        path: Path template of the collection.
        item: Path template of an item; null if absent.
        identifier: The member that identifies an item; null if absent.
        confidence: The confidence in what was inferred, from 0 to 1.
        reasons: The evidence for it.
        operations: The operations.
        parents: The items that it belongs to.
        references: Member to the path of the collection that it refers to.
        unique: Members whose values are unique.
    """

    path: str
    item: str | None
    identifier: str | None
    confidence: float
    reasons: list[str]
    operations: list[PrintedOperation]
    parents: list[PrintedParent]
    references: dict[str, str]
    unique: list[str]


class PrintedModel(msgspec.Struct, frozen=True):
    """The state that the mock infers from a document.

    Attributes:
        collections: Collections with state.
        singletons: Single resources with state.
        stateless: Resources that are too uncertain to have state.
    """

    collections: list[PrintedResource]
    singletons: list[PrintedResource]
    stateless: list[PrintedResource]


class PrintedPlugin(msgspec.Struct, frozen=True):
    """A part that another package brings.

    Attributes:
        kind: What it adds to, such as ``formats``.
        name: What a user calls it.
        package: The package that brings it.
        version: The version of the package.
        place: Module and attribute.
    """

    kind: str
    name: str
    package: str
    version: str
    place: str


class PrintedWorld(msgspec.Struct, frozen=True):
    """A world of a store that several mocks share.

    Attributes:
        name: Its name.
        bytes: Memory of the store that it takes.
        records: Records that are not as in the fixtures.
        requests: Requests to it so far.
        idle_seconds: Seconds since its last request.
        ends_in_seconds: Seconds until the store deletes it, if it gets no request; null: never.
    """

    name: str
    bytes: int
    records: int
    requests: int
    idle_seconds: float
    ends_in_seconds: float | None


def print_record(record: Any) -> None:
    """Prints a record, or a list of records, as indented JSON to standard output."""
    from understudy.terminal import echo

    echo(msgspec.json.format(msgspec.json.encode(record), indent=2))
