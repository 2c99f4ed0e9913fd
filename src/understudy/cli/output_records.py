"""Records that commands print with ``--json``; the published schemas are generated from them."""

from typing import Any

import msgspec


class PrintedRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule: of the interface, of inferred state, or of another package.

    Attributes:
        id: Name of the rule.
        status: The interface states it, a standard implies it, understudy assumes it, or it is inferred
            from the document of another service.
        section: The section of the interface that contains it.
        statement: The rule in one sentence.
        outcome: With --coverage: passed, failed or not_checked; absent where the report has no such rule.
        learnt: With --facts: the reading of the deployment, by the last file that settles it; absent
            without one.
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
    """The result of undoing the changes of a killed run of verify.

    Attributes:
        is_undone: True if every change of the run was undone.
        not_undone: The changes that could not be undone.
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
    """A path parameter that identifies the parent item of a collection.

    Attributes:
        parameter: Name of the parameter.
        collection: Path of the collection that has the item; null if absent.
    """

    parameter: str
    collection: str | None


class PrintedOperation(msgspec.Struct, frozen=True, omit_defaults=True):
    """An operation, and its role in the inferred state.

    Attributes:
        role: The role of the operation, such as list, create or read.
        method: The request method.
        path: The path template.
        request: Path of the item in the body of a request, by members.
        response: Path of the item or the list in the body of a response; null without either.
        changes: Members that an action sets, with their values.
        named_by: The member whose value is in the path; left out where it is the identifier.
    """

    role: str
    method: str
    path: str
    request: list[str]
    response: list[str] | None
    changes: dict[str, Any] = {}
    named_by: str = ""


class PrintedResource(msgspec.Struct, frozen=True):
    """A collection or a single resource that operations share.

    Attributes:
        path: Path template of the collection.
        item: Path template of an item; null if absent.
        identifier: The member that identifies an item; null if absent.
        confidence: The confidence in the inference, from 0 to 1.
        reasons: The evidence for the inference.
        operations: The operations.
        parents: The path parameters that identify parent items.
        references: Path of the collection that a member refers to, by member.
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
    """A plugin of another package.

    Attributes:
        kind: The kind of plugin, such as ``formats``.
        name: Name of the plugin on the command line.
        package: The package that contains the plugin.
        version: The version of the package.
        place: Module and attribute of the plugin.
    """

    kind: str
    name: str
    package: str
    version: str
    place: str


class PrintedWorld(msgspec.Struct, frozen=True):
    """A world of a store that several mocks share.

    Attributes:
        name: Name of the world.
        bytes: Memory that the world takes in the store.
        records: Number of records that differ from the fixtures.
        requests: Number of requests to the world so far.
        idle_seconds: Seconds since the last request.
        ends_in_seconds: Seconds until the store deletes an idle world; null for never.
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
