"""Reads the requests that a service sends: callbacks and webhooks (OpenAPI 3.1.0, 4.8.18 and 4.8.1).

There the client receives requests, and sends responses.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, operations, operations_of, path_shape
from understudy.openapi.pointers import steps_of

Sent = Literal["callback", "webhook"]
"""The kind of a request that a service sends."""


class SentOperation(NamedTuple):
    """A request that a service sends.

    Attributes:
        kind: Its kind.
        name: Method and name, with the operation that a callback belongs to.
        address: The runtime expression of a callback's address; empty for a webhook.
        operation: The request as an operation whose path is empty.
    """

    kind: Sent
    name: str
    address: str
    operation: Operation


def sent_operations(document: Document) -> Iterator[SentOperation]:
    """Yields the requests that a service sends, in the order of the document.

    Raises:
        StartupError: A part of it is not as OpenAPI has it.
    """
    for operation in operations(document):
        yield from _callbacks(document, operation)
    webhooks = document.root.child("webhooks") or Node("", {})
    for name, node in document.expect(webhooks, dict).children():
        for sent in operations_of(document, document.expect(node, dict), ""):
            yield SentOperation("webhook", f"webhook {name}: {sent.method}", "", sent)


def _callbacks(document: Document, operation: Operation) -> Iterator[SentOperation]:
    owner = document.root.child(*steps_of(operation.pointer)) or Node("", {})
    listed = owner.child("callbacks") or Node("", {})
    for name, callback in document.expect(listed, dict).children():
        addresses = document.expect(callback, dict).children()
        declared = [each for each in addresses if not str(each[0]).startswith("x-")]
        for number, (address, node) in enumerate(declared, 1):
            # A name has one address as a rule; several are told apart by their order.
            which = f"{name} ({number})" if number > 1 else str(name)
            place = f"{operation.method} {path_shape(operation.path)} callback {which}"
            for sent in operations_of(document, document.expect(node, dict), ""):
                yield SentOperation("callback", f"{place}: {sent.method}", str(address), sent)
