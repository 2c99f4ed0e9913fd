"""Compares two OpenAPI documents: what is new, what is gone, and which clients it breaks."""

from collections.abc import Iterator, Mapping

from understudy.drift.documents.changes import (
    EVERYBODY,
    NO_CLIENT,
    READERS,
    SENDERS,
    Audience,
    DocumentChange,
)
from understudy.drift.documents.flat_schemas import in_one_dialect
from understudy.drift.documents.operation_changes import OperationComparison, operation_name
from understudy.drift.documents.security_changes import scheme_address_changes, scheme_changes
from understudy.drift.documents.server_changes import server_changes
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation, operations
from understudy.openapi.sent_operations import SentOperation, sent_operations


def document_changes(
    old: Document, new: Document, *, have_same_addresses: bool = True
) -> tuple[DocumentChange, ...]:
    """Returns what differs for clients, those changes first that break some.

    Texts, examples and the order of members are not compared.

    Args:
        old: The document that clients were written for.
        new: The document that they meet.
        have_same_addresses: False if the documents are of two deployments, whose servers and
            addresses of authorization differ and mean nothing.

    Raises:
        StartupError: A part of a document is not as OpenAPI has it.
    """
    old, new = in_one_dialect(old), in_one_dialect(new)
    changes = [*scheme_changes(old, new), *_operation_changes(old, new), *_sent_changes(old, new)]
    if have_same_addresses:
        changes += [*server_changes(old, new), *scheme_address_changes(old, new)]
    return tuple(sorted(dict.fromkeys(changes), key=lambda change: not change.is_breaking))


def _operation_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    before, after = _by_name(old), _by_name(new)
    yield from _presence_changes("operation", before, after, EVERYBODY)
    comparison = OperationComparison(old, new)
    for name, operation in before.items():
        if name in after:
            yield from comparison.changes(name, operation, after[name])


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


def _sent_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    """Yields what differs between the requests that the service sends, which clients read."""
    before = {sent.name: sent for sent in sent_operations(old)}
    after = {sent.name: sent for sent in sent_operations(new)}
    for kind in ("callback", "webhook"):
        own, others = _operations_of(kind, before), _operations_of(kind, after)
        yield from _presence_changes(kind, own, others, READERS)
    comparison = OperationComparison(old, new, READERS)
    for name in (name for name in before if name in after):
        sent, other = before[name], after[name]
        yield from comparison.changes(name, sent.operation, other.operation)
        if sent.address != other.address:
            yield _change(
                "callback-address",
                name,
                other.operation.pointer,
                SENDERS,
                values=(sent.address, other.address),
            )


def _operations_of(kind: str, sent: Mapping[str, SentOperation]) -> dict[str, Operation]:
    return {name: each.operation for name, each in sent.items() if each.kind == kind}


def _presence_changes(
    kind: str,
    old: Mapping[str, Operation],
    new: Mapping[str, Operation],
    audience: frozenset[Audience],
) -> Iterator[DocumentChange]:
    """Yields the operations of a kind that are new or gone, by their names."""
    for name, operation in old.items():
        if name not in new:
            yield _change(f"{kind}-removed", name, operation.pointer, audience)
    for name, operation in new.items():
        if name not in old:
            yield _change(f"{kind}-added", name, operation.pointer)


def _change(
    kind: str,
    operation: str,
    pointer: str,
    breaks: frozenset[Audience] = NO_CLIENT,
    values: tuple[str, str] = ("", ""),
) -> DocumentChange:
    return DocumentChange(kind, operation, "", "", *values, breaks, pointer)
