"""Defines what a handler gets and returns, and binds handlers to operations, by method and path.

Both are plain values, independent of the web framework. Handlers are not bound by operationId:
published documents of one service differ in those, and in the names of their path parameters, so
these are left out of the comparison and passed by position.
"""

import builtins
import inspect
import keyword
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol

from msgspec import Struct

from understudy.errors import Headers, StartupError
from understudy.mock.server.json_bodies import json_bytes
from understudy.mock.server.worlds import Baseline, World
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.media_types import without_options
from understudy.openapi.operations import Operation, path_shape
from understudy.openapi.schemas import Schemas


class Principal(NamedTuple):  # made for each request with a token, at a third of a dataclass's cost
    """The account and the credential that a request is authenticated by.

    Attributes:
        person: Slug of the account.
        kind: An API key or an OAuth access token.
        scopes: What an OAuth token was granted.
        token: The token itself, as the key of its record.
    """

    person: str
    kind: Literal["oauth", "api_key"]
    scopes: frozenset[str]
    token: str


class OperationSummary(NamedTuple):
    """A summary of what the document in force declares for an operation, for handlers that follow it.

    Attributes:
        sent: Names of the members of the request's body.
        returned: Names of the members of the first success.
        statuses: The statuses that it names.
    """

    sent: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()


NOT_DECLARED: Final = OperationSummary()


class Call(Struct):  # made for each request, at no call of Python
    """One call of an operation, after everything that the document can check.

    Attributes:
        world: The world that the request selected.
        site_url: Base of the URLs in responses, without a path: ``http://127.0.0.1:8080``, or with the
            world's prefix. Taken from the request, so that it resolves for the client.
        choices: Switch name to the option in force (``rules.yaml``).
        principal: Whom the request speaks for; None: an anonymous client.
        notes: Remarks for the journal, such as a parameter that was ignored.
        authorization: The Authorization header, unchanged; security has read it as a bearer, the
            token endpoint also looks for what does not belong there.
        undeclared_query: Names of query parameters that the document does not know.
        authorization_url: Base URL of the authorization server, as ``site_url``.
        client: The client's address.
        declared: What the document in force says of the operation.
        started: When the request arrived, by the world's clock.
    """

    world: World
    site_url: str
    choices: Mapping[str, str]
    principal: Principal | None = None
    notes: list[str] = []  # each call has its own
    authorization: str | None = None
    undeclared_query: tuple[str, ...] = ()
    authorization_url: str = ""
    client: str = "unknown"
    declared: OperationSummary = NOT_DECLARED
    started: datetime | None = None

    def now(self) -> datetime:
        """Returns the moment that the response speaks of: one for a request, so that replays are alike."""
        return self.world.clock.now() if self.started is None else self.started


class Upload(NamedTuple):
    """A file part of a multipart body.

    Attributes:
        filename: Its name, as the client gives it.
        content: Its bytes.
        field: Name of the field that it was sent as.
    """

    filename: str
    content: bytes
    field: str


class SharedBody:
    """A JSON body that many responses share, since it was built from a frozen record.

    It is encoded once, and validated once by each validator.

    Args:
        value: What it says; nobody changes it.
        record: The record that it was built from.

    Attributes:
        content: The body as JSON, once it was encoded.
        valid_by: The validator that found it valid last.
    """

    __slots__ = ("content", "record", "valid_by", "value")

    def __init__(self, value: Any, record: object = None) -> None:
        self.value = value
        self.record = record
        self.valid_by: object = None
        self.content: bytes | None = None

    def encoded(self) -> bytes:
        """Returns the body as JSON."""
        if self.content is None:
            self.content = json_bytes(self.value)
        return self.content


class HandlerResponse(NamedTuple):
    """The response of a handler.

    Attributes:
        status: The mock's choice; where the document in force declares explicit success codes and
            this is not among them, the first declared one is sent instead.
        body: A value that JSON can express, such a value as a SharedBody, bytes of ``media_type``, an asynchronous iterator of such bytes
            that goes on until the client leaves, or None for no content.
        media_type: The media type of ``body``.
        headers: Further headers, names in lower case.
    """

    body: Any = None
    status: int = 200
    media_type: str = "application/json"
    headers: Headers = ()


def attachment(content: bytes, name: str, media_type: str) -> HandlerResponse:
    """Returns a response that a browser saves as a file of this name."""
    disposition = f'attachment; filename="{name}"'
    return HandlerResponse(content, 200, media_type, (("content-disposition", disposition),))


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

NO_ARGUMENTS: Final[Mapping[str, Any]] = MappingProxyType({})


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
    needs = frozenset(
        parameter.name
        for parameter in accepted.values()
        if parameter not in positional and parameter.default is inspect.Parameter.empty
    )
    keywords = _keywords(operation, accepted, needs)
    if needs - {BODY} - set(keywords.values()):
        return Binding(None)
    if BODY in accepted:
        keywords[BODY] = BODY
    return Binding(handler, path_arguments, tuple(keywords.items()), needs)


def _keywords(
    operation: Operation, accepted: Container[str], needs: frozenset[str]
) -> dict[str, str]:
    """Returns the name of each parameter to the handler's keyword.

    The one required parameter of another name is the one that the handler needs and has no other for.
    """
    declared = [it for it in operation.parameters if it.location != "path"]
    keywords = {it.name: keyword_name(it.name) for it in declared}
    keywords = {name: keyword for name, keyword in keywords.items() if keyword in accepted}
    unmet = needs - {BODY} - set(keywords.values())
    required = [it.name for it in declared if it.required and it.name not in keywords]
    if len(unmet) == 1 and len(required) == 1:
        keywords[required[0]] = next(iter(unmet))
    return keywords


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
        content: The bytes of the body.
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
    content: bytes = b""

    @property
    def media_type(self) -> str:
        """The media type of the request's body, in lower case and without options."""
        return without_options(self.headers.get(b"content-type", b"").decode("latin-1"))

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
