"""Binds handlers to the operations of the document in force, by method and path.

Not by operationId: published documents of one service differ in those, and in the names of their
path parameters, so these are left out of the comparison and passed by position.
"""

import builtins
import inspect
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from understudy.errors import StartupError
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.worlds import Baseline, World
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.operations import Operation, path_shape
from understudy.openapi.schemas import Schemas

Handler = Callable[..., Any]
"""Takes a Call, path arguments by position, query arguments and the body by keyword; returns a
HandlerResponse, or a coroutine of one."""

Handlers = Mapping[tuple[str, str], Handler]
"""Method and path template to handler."""

PageHandler = Callable[[Call, bytes], HandlerResponse | None]
"""Takes a Call and the raw query string; returns a response, or None where a page has to be shown."""

PageHandlers = Mapping[tuple[str, str], PageHandler]
"""Method and path template to what responds in place of a page, where it can."""

BODY = "body"
"""The parameter by which a handler gets the parsed body."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A handler as one operation calls it.

    Attributes:
        handler: None if the operation has no handler.
        path_arguments: Names of the path parameters, in the order of the template.
        keywords: The document's parameter name and the handler's.
        needs: The arguments that the handler requires, by its own names; a document in force may leave
            optional what the bundled one requires.
    """

    handler: Handler | None
    path_arguments: tuple[str, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()
    needs: frozenset[str] = frozenset()


def shape(method: str, path: str) -> tuple[str, str]:
    """Returns method and path with the names of path parameters left out."""
    return method, path_shape(path)


def keyword_name(name: str) -> str:
    """Returns a parameter's name as Python writes it: ``utmMedium`` is ``utm_medium``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    python = re.sub(r"\W+", "_", words).strip("_").lower()
    return f"{python}_" if keyword.iskeyword(python) or hasattr(builtins, python) else python


def bind(operations: Sequence[Operation], handlers: Handlers) -> tuple[Binding, ...]:
    """Binds every operation, in their order.

    Args:
        operations: Those of the document in force.
        handlers: All that were written; those the document does not know stay unused.

    Raises:
        StartupError: Two handlers claim one operation, or a handler and an operation disagree on
            the number of path parameters.
    """
    by_shape: dict[tuple[str, str], Handler] = {}
    for (method, path), handler in handlers.items():
        key = shape(method, path)
        if key in by_shape:
            msg = f"Two handlers claim {method} {path}; keep one."
            raise StartupError(msg)
        by_shape[key] = handler
    return tuple(
        _binding(operation, by_shape.get(shape(operation.method, operation.path)))
        for operation in operations
    )


def _binding(operation: Operation, handler: Handler | None) -> Binding:
    if handler is None:
        return Binding(None)
    accepted = inspect.signature(handler).parameters
    positional = [p for p in accepted.values() if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    path_arguments = tuple(PATH_PARAMETER.findall(operation.path))
    if len(positional) != 1 + len(path_arguments):
        msg = (
            f"{operation.method} {operation.path} has {len(path_arguments)} path parameters, and "
            f"its handler {getattr(handler, '__name__', handler)} takes {len(positional) - 1}."
        )
        raise StartupError(msg)
    keywords = tuple(
        (parameter.name, keyword_name(parameter.name))
        for parameter in operation.parameters
        if parameter.location != "path" and keyword_name(parameter.name) in accepted
    )
    if BODY in accepted:
        keywords = (*keywords, (BODY, BODY))
    needs = frozenset(
        parameter.name
        for parameter in accepted.values()
        if parameter not in positional and parameter.default is inspect.Parameter.empty
    )
    return Binding(handler, path_arguments, keywords, needs)


# What no handler was written for is responded to with what the document says: some operations share a
# state that was inferred from it, the responses of all others are generated.


@dataclass(frozen=True, slots=True)
class DocumentCall:
    """One call of an operation of any document, after everything that the document can check.

    Attributes:
        world: The world that the request selected.
        operation: What the document says of the operation.
        schemas: The document's validators.
        arguments: Parameters as the document types them, and the parsed body under ``body``.
        headers: The request's, names in lower case.
        base_url: Base URL of the API as the client reached it, without a trailing slash.
        path: The path of the request below the base URL.
        query: The raw query string.
        notes: Remarks for the journal.
    """

    world: World
    operation: Operation
    schemas: Schemas
    arguments: Mapping[str, Any]
    headers: Mapping[bytes, bytes]
    base_url: str
    path: str
    query: bytes
    notes: list[str]

    @property
    def media_type(self) -> str:
        """The media type of the request's body, in lower case and without options."""
        content_type = self.headers.get(b"content-type", b"").decode("latin-1")
        return content_type.partition(";")[0].strip().lower()

    @property
    def accept(self) -> str:
        """The Accept header; empty for none."""
        return self.headers.get(b"accept", b"").decode("latin-1")


class DocumentHandler(Protocol):
    """Responds to one operation of a document by a state that its operations share."""

    @property
    def inference(self) -> Mapping[str, Any]:
        """Explains what the state was inferred from, as JSON."""

    def path_values(self) -> Mapping[str, str]:
        """Returns the path parameters of a request that a new world has an item for."""

    def __call__(self, call: DocumentCall) -> HandlerResponse | None:
        """Returns the response; None where it is to be generated from the document."""


class InferredState(NamedTuple):
    """The state that is inferred from a document.

    Attributes:
        handlers: Method and path of every operation with state, to what responds to it.
        with_items: Returns fixtures with the items that worlds begin with, unless they have items of
            their own; raises StartupError where the seed data is not as it must be.
    """

    handlers: Mapping[tuple[str, str], DocumentHandler]
    with_items: Callable[[Baseline], Baseline]
