"""Compares two OpenAPI documents: what is new, what is gone, and which clients it breaks."""

from understudy.drift.documents.changes import DocumentChange
from understudy.drift.documents.flat_schemas import in_one_dialect
from understudy.drift.documents.operation_changes import (
    OperationComparison,
    operation_name,
    presence_changes,
)
from understudy.drift.documents.security_changes import flow_changes
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation, operations


def document_changes(old: Document, new: Document) -> tuple[DocumentChange, ...]:
    """Returns what differs for clients, those changes first that break some.

    Texts, examples, servers, callbacks and the order of members are not compared.

    Args:
        old: The document that clients were written for.
        new: The document that they meet.

    Raises:
        StartupError: A part of a document is not as OpenAPI has it.
    """
    old, new = in_one_dialect(old), in_one_dialect(new)
    before, after = _by_name(old), _by_name(new)
    changes = [*presence_changes(before, after), *flow_changes(old, new)]
    comparison = OperationComparison(old, new)
    for name, operation in before.items():
        if name in after:
            changes += comparison.changes(operation, after[name])
    return tuple(sorted(dict.fromkeys(changes), key=lambda change: not change.is_breaking))


def _by_name(document: Document) -> dict[str, Operation]:
    """Returns operations by method and path; a number tells those apart that share both."""
    named: dict[str, Operation] = {}
    for operation in operations(document):
        name, number = operation_name(operation), 1
        while name in named:
            number += 1
            name = f"{operation_name(operation)} ({number})"
        named[name] = operation
    return named
