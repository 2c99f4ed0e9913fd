"""Compares the servers of two documents and of their operations."""

from collections.abc import Iterator
from typing import Any

from understudy.drift.documents.changes import NO_CLIENT, SENDERS, DocumentChange
from understudy.drift.documents.operation_changes import operation_name
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation, operations
from understudy.openapi.pointers import steps_of, value_at
from understudy.openapi.servers import server_urls


def server_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    """Yields the addresses that are new or gone: of a document, and of operations with their own."""
    yield from _changes("", "#/servers", _urls(old.raw), _urls(new.raw))
    after = {operation_name(each): each for each in operations(new)}
    for operation in operations(old):
        other = after.get(operation_name(operation))
        if other is None:
            continue
        own, others = _own_urls(old, operation), _own_urls(new, other)
        if own or others:
            before, now = own or _urls(old.raw), others or _urls(new.raw)
            yield from _changes(operation_name(operation), other.pointer, before, now)


def _changes(
    operation: str, pointer: str, old: tuple[str, ...], new: tuple[str, ...]
) -> Iterator[DocumentChange]:
    for url in old:
        if url not in new:
            yield DocumentChange(
                "server-removed", operation, "servers", "", url, "", SENDERS, pointer
            )
    for url in new:
        if url not in old:
            yield DocumentChange(
                "server-added", operation, "servers", "", "", url, NO_CLIENT, pointer
            )


def _urls(owner: Any) -> tuple[str, ...]:
    """Returns the addresses of a document, a path item or an operation, without a slash at the end."""
    servers = owner.get("servers") if isinstance(owner, dict) else None
    return tuple(dict.fromkeys(url.rstrip("/") for url in server_urls(servers)))


def _own_urls(document: Document, operation: Operation) -> tuple[str, ...]:
    """Returns the addresses of an operation, or of its path item; none for those of the document."""
    steps = steps_of(operation.pointer)
    owner = value_at(document.raw, operation.pointer)
    path_item = document.raw
    for step in steps[:-1]:
        path_item = path_item[step]
    return _urls(owner) or _urls(path_item)
