"""Arguments and results of handlers, and the binding of handlers to operations by method and path.

Both are plain values, independent of the web framework. Handlers are not bound by operationId, since
published documents of one service differ in the ids. They differ in the names of path parameters, too:
so these names are not compared, and the arguments are passed by position.
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
    """The account and the credential that authenticate a request.

    Attributes:
        person: Slug of the account.
        kind: Kind of the credential: API key or OAuth access token.
        scopes: Granted scopes of an OAuth token.
        token: Token itself, which is the key of its record.
    """

    person: str
    kind: Literal["oauth", "api_key"]
    scopes: frozenset[str]
    token: str


class OperationSummary(NamedTuple):
    """A summary of an operation in the document in force, for handlers that adapt to the document.

    Attributes:
        sent: Names of the members of the request body.
        returned: Names of the members of the first success response's body.
        statuses: Declared statuses.
    """

    sent: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()


NOT_DECLARED: Final = OperationSummary()


class Call(Struct):  # a Struct is made in C, which counts once per request
    """One call of an operation, after the request was validated against the document.

    Attributes:
        world: World that the request selected.
        site_url: Base of the URLs in responses, without a path: ``http://127.0.0.1:8080``, or with the
            world's prefix. Taken from the request, so that the client can reach it.
        choices: Switch name to the option in force (``rules.yaml``).
        principal: Authenticated account and credential; None: an anonymous client.
        notes: Remarks for the journal, such as a parameter that was ignored.
        authorization: Authorization header, unchanged. The token endpoint reads it too, to find
            credentials in the wrong place.
        undeclared_query: Names of query parameters that the document does not declare.
        authorization_url: Base URL of the authorization server, in the form of ``site_url``.
        client: IP address of the client.
        declared: Summary of the operation in the document in force.
        started: Time of the request's arrival, by the world's clock.
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
        """Returns the request's arrival: one time for all of a response, so that replays are equal."""
        return self.world.clock.now() if self.started is None else self.started


class Upload(NamedTuple):
    """A file part of a multipart body.

    Attributes:
        filename: File name that the client sent.
        content: Bytes of the file.
        field: Name of the form field.
    """

    filename: str
    content: bytes
    field: str


class SharedBody(Struct, eq=False):
    """A JSON body that many responses share, since it was built from a frozen record.

    It is encoded only once, and validated or completed again only by another document.

    Attributes:
        value: JSON value of the body; must not be changed.
        record: Record that the body was built from.
        content: Encoded body; None until it is first needed.
        fields: Media type and header fields that it was last sent with; None until it is first sent.
        judged: Validator that last judged the body, with its fault (None: valid).
        completed: How the body was last completed to fit a document, with the result.
    """

    value: Any
    record: object = None
    content: bytes | None = None
    fields: tuple[str, Sequence[tuple[bytes, bytes]]] | None = None
    judged: tuple[object, str | None] = (None, None)
    completed: tuple[object, "SharedBody | None"] = (None, None)

    def encoded(self) -> bytes:
        """Returns the encoded body."""
        if self.content is None:
            self.content = json_bytes(self.value)
        return self.content


class HandlerResponse(NamedTuple):
    """The response of a handler.

    Attributes:
        body: JSON value, a SharedBody, bytes of ``media_type``, an asynchronous iterator of such bytes
            (streamed until the client disconnects), or None for no content.
        status: Status; replaced by the first success that the document in force declares, if it
            declares successes and not this one.
        media_type: Media type of ``body``.
        headers: Further headers, with names in lower case.
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
"""Takes a Call and the raw query string; returns a response, or None to show the page."""

PageHandlers = Mapping[tuple[str, str], PageHandler]
"""Method and path template to the handler that may respond instead of a page."""

BODY = "body"
"""Name of the handlers' keyword parameter for the parsed body."""

NO_ARGUMENTS: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Binding:
    """The handler of one operation, and the names of its arguments.

    Attributes:
        handler: Handler; None if the operation has none.
        path_arguments: Names of the path parameters, in the order of the template.
        keywords: Pairs of the document's parameter name and the handler's.
        needs: Names of the handler's required arguments; the document in force may make optional a
            parameter that the bundled one requires.
    """

    handler: Handler | None
    path_arguments: tuple[str, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()
    needs: frozenset[str] = frozenset()


def shape(method: str, path: str) -> tuple[str, str]:
    """Returns method and path without the names of path parameters."""
    return method, path_shape(path)


def keyword_name(name: str) -> str:
    """Returns a parameter's name as a Python identifier: ``utmMedium`` becomes ``utm_medium``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    python = re.sub(r"\W+", "_", words).strip("_").lower()
    return f"{python}_" if keyword.iskeyword(python) or hasattr(builtins, python) else python


def bind(operations: Sequence[Operation], handlers: Handlers) -> tuple[Binding, ...]:
    """Returns the binding of every operation, in the order of the operations.

    Args:
        operations: Operations of the document in force.
        handlers: All handlers; those of operations that the document lacks are ignored.

    Raises:
        StartupError: Two handlers claim one operation, or a handler and its operation differ in
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
    """Returns the document's parameter names to the handler's keywords.

    A document may rename a parameter: if exactly one required parameter and one required keyword are
    left over, they belong together.
    """
    declared = [parameter for parameter in operation.parameters if parameter.location != "path"]
    keywords = {parameter.name: keyword_name(parameter.name) for parameter in declared}
    keywords = {name: keyword for name, keyword in keywords.items() if keyword in accepted}
    unmet = needs - {BODY} - set(keywords.values())
    required = [p.name for p in declared if p.required and p.name not in keywords]
    if len(unmet) == 1 and len(required) == 1:
        keywords[required[0]] = next(iter(unmet))
    return keywords


# Operations without a handler respond by the document: some share a state that was inferred from it, the
# responses of all others are generated.


@dataclass(frozen=True, slots=True)
class DocumentCall:
    """One call of an operation without a handler, after the request was validated.

    Attributes:
        world: World that the request selected.
        operation: Operation, as the document declares it.
        schemas: The document's validators.
        arguments: Parameters in their declared types, and the parsed body under ``body``.
        headers: Headers of the request, with names in lower case.
        base_url: Base URL of the API as the client reached it, without a trailing slash.
        path: Path of the request below the base URL.
        query: Raw query string.
        notes: Remarks for the journal.
        content: Bytes of the body.
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
        """The media type of the request's body, in lower case and without parameters."""
        return without_options(self.headers.get(b"content-type", b"").decode("latin-1"))

    @property
    def accept(self) -> str:
        """The Accept header; empty if absent."""
        return self.headers.get(b"accept", b"").decode("latin-1")


class DocumentHandler(Protocol):
    """Responds to one operation from the state that the operations of a document share."""

    @property
    def inference(self) -> Mapping[str, Any]:
        """Explains, as JSON, how the state was inferred."""

    def path_values(self) -> Mapping[str, str]:
        """Returns path parameters of an item that exists in every new world."""

    def __call__(self, call: DocumentCall) -> HandlerResponse | None:
        """Returns the response; None to generate it from the document."""


class InferredState(NamedTuple):
    """The state that is inferred from a document.

    Attributes:
        handlers: Method and path to the handler, of every operation with state.
        with_items: Returns the fixtures with the items that worlds begin with, unless the fixtures have
            items already; raises StartupError for invalid seed data.
    """

    handlers: Mapping[tuple[str, str], DocumentHandler]
    with_items: Callable[[Baseline], Baseline]
