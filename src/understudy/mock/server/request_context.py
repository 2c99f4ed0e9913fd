"""One request: its head and target, and the context that every layer reads and adds to."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from msgspec import Struct

from understudy.errors import Headers, Problem
from understudy.exchange.masking import SECRET_NAMES, SECRET_NAMES_OF_RESOURCES
from understudy.interface.rules import upheld
from understudy.mock.server.call import NO_ARGUMENTS, Principal
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import NO_PLAN, StreamPlan
from understudy.mock.server.hosts import forwarded_site, host_name, is_host, is_local
from understudy.mock.server.journal import Exercised
from understudy.mock.server.recent import Recent, Recurring
from understudy.mock.server.worlds import (
    WORLD_HEADERS,
    World,
    selected_by_headers,
    selected_by_path,
)
from understudy.openapi.path_matching import ENCODED_SLASH, decoded_path

Scope = Any
"""An ASGI scope; ``Any``, since layers write keys of their own into it."""

HeaderFields = Sequence[tuple[bytes, bytes]]


class Peer(NamedTuple):
    """The two ends of a connection.

    Attributes:
        client: IP address of the client.
        server: Host and port that accepted the connection; the port is None if absent.
        scheme: ``http`` or ``https``.
    """

    client: str
    server: tuple[str, int | None]
    scheme: str

    @classmethod
    def of(cls, scope: Scope) -> "Peer":
        """Returns the ends of an ASGI scope's connection."""
        client = scope.get("client")
        host, port = scope.get("server") or ("127.0.0.1", None)
        return cls(client[0] if client else "unknown", (host, port), scope["scheme"])


TargetArguments = tuple[object, dict[str, Any], tuple[str, ...]]
"""An operation; the arguments that it read from a target, in their declared types; and the names of
undeclared query parameters."""

Matching = tuple[object, Any, Mapping[str, str]]
"""The route table of a site; the operation that it found for a target (None: ask the site's router);
and the texts of the path parameters."""

PREFER_HEADER = b"prefer"
CHOOSE_HEADER = b"x-mock-choose"
LAST_EVENT_ID = b"last-event-id"
"""Header in which a reconnecting client names the last event that it received (HTML, 9.2.4)."""
OWN_PREFIX = "__"
"""Prefix of the mock's own query parameters, and after ``/`` of its own paths."""

_UNUSUAL = frozenset(
    {
        *(b"origin", b"transfer-encoding", b"expect", b"upgrade"),
        *(PREFER_HEADER, CHOOSE_HEADER, LAST_EVENT_ID),
    }
)
"""Headers that need a layer of the stack: for CORS, chunks, upgrades, preferences and choices."""

_OWN_PATHS = f"/{OWN_PREFIX}"
_OWN_PARAMETERS = OWN_PREFIX.encode()

_NONE_REPEATED: frozenset[bytes] = frozenset()


class RequestTarget:
    """A method's request target, with results that do not depend on headers; cached between requests.

    Args:
        path: Requested path as ``decoded_path`` returns it, with the prefix of a world.
        query: Raw query string.

    Attributes:
        selection: World that the path names, if any, and the rest of the path.
        is_usual: Whether the target has no path or parameter of the mock itself.
        shown_path: Path without the world's prefix, with ``%2F`` for slashes in parameters.
        matching: Cached route; None: not yet known, or dependent on headers.
        reading: Cached arguments, which must not be changed; None: not cached.
    """

    __slots__ = (
        "is_usual",
        "matching",
        "query",
        "reading",
        "selection",
        "shown_path",
    )

    def __init__(self, path: str, query: bytes) -> None:
        self.query = query
        self.selection = selected_by_path(path)
        path = self.selection.path
        self.shown_path = path.replace(ENCODED_SLASH, "%2F")
        self.is_usual = not path.startswith(_OWN_PATHS) and _OWN_PARAMETERS not in query
        self.matching: Matching | None = None
        self.reading: TargetArguments | None = None


_MOST_TARGETS = 512
"""Number of cached targets."""

_LONGEST_TARGET = 512
"""Bytes of the longest target that is cached."""


class Targets:
    """A cache of request targets, with the routes and arguments that follow from each."""

    def __init__(self) -> None:
        self._targets: Recent[tuple[str, bytes], RequestTarget] = Recurring(_MOST_TARGETS)

    def get(self, method: str, target: bytes) -> RequestTarget:
        """Returns the target of a method and an ASCII text in origin form."""
        known = self._targets.get((method, target))
        if known is not None:
            return known
        path, _, query = target.partition(b"?")
        new = RequestTarget(decoded_path(path.decode("ascii")), query)
        if len(target) <= _LONGEST_TARGET:
            self._targets.put((method, target), new)
        return new


class RequestHead:
    """The head of a request.

    Args:
        method: Method in upper case.
        target: Request target.
        fields: All header fields, with names in lower case, in the order they were sent.
        http_version: HTTP version, such as ``1.1``.

    Attributes:
        headers: Header fields by name; a repeated name has its last value.
        repeated_headers: Names that were sent more than once.
        selection: Selected world, and the path without its prefix.
        byte_count: Number of bytes of the header fields.
        is_bounded: Whether the head was checked to be within all limits.
        is_usual: Whether the fast path may respond, as no special layer of the stack is needed.
    """

    __slots__ = (
        "byte_count",
        "fields",
        "headers",
        "http_version",
        "is_bounded",
        "is_usual",
        "method",
        "repeated_headers",
        "selection",
        "target",
    )

    def __init__(
        self, method: str, target: RequestTarget, fields: HeaderFields, http_version: str = "1.1"
    ) -> None:
        self.method = method
        self.target = target
        self.fields = fields
        self.http_version = http_version
        headers: Mapping[bytes, bytes] = dict(fields)
        self.headers = headers
        is_repeated = len(headers) != len(fields)
        self.repeated_headers = _repeated(fields) if is_repeated else _NONE_REPEATED
        self.byte_count = sum(map(len, chain.from_iterable(fields)))
        self.is_bounded = False
        self.is_usual = target.is_usual and _UNUSUAL.isdisjoint(headers)
        self.selection = target.selection
        if self.selection.name is None and not WORLD_HEADERS.isdisjoint(headers):
            self.selection = selected_by_headers(headers, self.selection.path)

    @classmethod
    def of(cls, scope: Scope) -> "RequestHead":
        """Returns the head of an ASGI scope's request."""
        path: str = scope["path"]
        if b"%2" in (scope.get("raw_path") or b""):  # ASGI's path has even %2F decoded
            path = decoded_path(scope["raw_path"].decode("latin-1"))
        target = RequestTarget(path, scope["query_string"])
        return cls(scope["method"], target, scope["headers"], scope.get("http_version", "1.1"))


def _repeated(fields: HeaderFields) -> frozenset[bytes]:
    counts = Counter(name for name, _ in fields)
    return frozenset(name for name, count in counts.items() if count > 1)


_OVERHEAD = 1000
"""Approximate memory of a journal entry in bytes, without its texts."""

_KEY = "understudy.exchange"


class Addresses(NamedTuple):
    """The addresses of the two servers as clients reach them, without a trailing slash.

    Attributes:
        resource: Address of the resource API; empty for the server that received the request.
            ``:PORT`` means this port at the host name that the client used.
        authorization: Address of the authorization server, in the same form.
        own: Public address of the server that received the request; empty to use its Host.
    """

    resource: str = ""
    authorization: str = ""
    own: str = ""


HERE = Addresses()
"""The addresses of a single server."""


class RefusalReason(NamedTuple):
    """Why a request was refused.

    Attributes:
        problem: Problem that became the response.
        rules: Ids of the rules that the refusing code implements, the most specific first.
    """

    problem: Problem
    rules: tuple[str, ...]


class RequestContext(Struct, eq=False):  # a Struct is made in C, which counts once per request
    """A request and its response.

    Attributes:
        head: Head of the request.
        world: World that the request selected.
        choices: Switch name to the option in force for this request.
        started: Time of the request's arrival, by the world's clock.
        method: Method in upper case.
        path: Requested path, without the prefix of the world.
        query: Raw query string, without preferences once they are read.
        headers: Headers of the request, with names in lower case; a repeated name has its last value.
        sent_headers: All header fields, in the order they were sent.
        site_url: Base URL of this server for the client: scheme and host that the client used, and the
            world's prefix.
        resource_url: Base of the URLs of people's pages and pictures.
        authorization_url: Base URL of the authorization server.
        client: IP address of the client, by which anonymous requests are counted.
        endpoint: Operation of the request; None until routed, and where no operation matches.
        path_arguments: Texts of the path parameters, by the document's names.
        body: Bytes of the request's body.
        principal: Authenticated account and credential; None: anonymous, or not yet authenticated.
        arguments: Parameters in their declared types, and the parsed body under ``body``.
        extra_headers: Headers to add to any response, such as those of the rate limit.
        deferred: Refusal to raise if the request is otherwise valid.
        undeclared_query: Names of query parameters that the document does not declare.
        notes: Remarks for the journal.
        fault: Id of the injected fault; None: no fault.
        stream: How an event stream or JSON sequence is sent.
        refusal: Why the request was refused; None: it was not refused.
        status: Status of the response; 0 until it is sent.
        response_headers: Headers of the response, once sent.
        response_body: Beginning of the response's body, as far as the journal keeps it.
        seconds: Seconds from the request's arrival to the end of the response.
        number: Number in the world's journal, from 1.
    """

    head: RequestHead
    world: World
    choices: Mapping[str, str]
    started: datetime
    method: str
    path: str
    query: bytes
    headers: Mapping[bytes, bytes]
    sent_headers: HeaderFields
    client: str
    resource_url: str
    authorization_url: str
    site_url: str
    endpoint: Endpoint | None = None
    path_arguments: Mapping[str, str] = NO_ARGUMENTS
    body: bytes = b""
    principal: Principal | None = None
    arguments: Mapping[str, Any] = NO_ARGUMENTS
    extra_headers: Headers = ()
    deferred: Problem | None = None
    undeclared_query: tuple[str, ...] = ()
    notes: list[str] = []  # each request has its own
    fault: str | None = None
    stream: StreamPlan = NO_PLAN
    refusal: RefusalReason | None = None
    status: int = 0
    response_headers: HeaderFields = ()
    response_body: bytes = b""
    seconds: float = 0.0
    number: int = 0

    @classmethod
    def of(
        cls, head: RequestHead, peer: Peer, world: World, addresses: Addresses = HERE
    ) -> "RequestContext":
        """Returns the context of a request that has arrived."""
        target = head.target
        return cls(
            head,
            world,
            world.choices,
            world.clock.now(),
            head.method,
            target.shown_path,
            target.query,
            head.headers,
            head.fields,
            peer.client,
            *_addressed(head, peer, world.prefix, addresses),
        )

    def refused(self, problem: Problem) -> None:
        """Notes why the request is refused; drops the traceback, which would keep frames in memory."""
        problem.__traceback__ = problem.__context__ = problem.__cause__ = None
        self.refusal = RefusalReason(problem, upheld(problem.made_by))

    def response_header(self, name: str) -> str | None:
        """Returns a header of the response, by its name in lower case; None if it is absent."""
        field = name.encode()
        texts = (text for given, text in self.response_headers if given == field)
        return next((text.decode("latin-1") for text in texts), None)

    @property
    def secret_names(self) -> AbstractSet[str]:
        """The names whose values are secret in the exchange.

        At the resource API ``code`` is no secret, as only the authorization server has authorization
        codes. A request without an operation may have been meant for the authorization server.
        """
        is_resource = self.endpoint is not None and not self.path.startswith("/oauth2/")
        return SECRET_NAMES_OF_RESOURCES if is_resource else SECRET_NAMES

    @property
    def key_names(self) -> frozenset[str]:
        """Lower-case names of the headers and query parameters in which the operation takes API keys."""
        alternatives = self.endpoint.access.alternatives if self.endpoint else ()
        return frozenset(it.name.lower() for each in alternatives for it in each if not it.scheme)

    @property
    def identity(self) -> str:
        """The kind of client: ``anonymous``, ``api_key`` or ``oauth``."""
        return self.principal.kind if self.principal else "anonymous"

    @property
    def size(self) -> int:
        """The approximate memory of the request in the journal, in bytes."""
        headers = sum(map(len, chain.from_iterable(self.response_headers)))
        headers += self.head.byte_count
        return headers + len(self.body) + len(self.response_body) + len(self.query) + _OVERHEAD

    @property
    def is_matched(self) -> bool:
        """True if an operation or a page responded to the request."""
        return self.endpoint is not None or self.status not in {404, 405}

    @property
    def is_part_of_page(self) -> bool:
        """True if the response is a style sheet or a script of the mock's pages, which is not journalled."""
        return self.endpoint is None and self.path.startswith("/static/") and self.is_matched

    @property
    def exercised(self) -> Exercised | None:
        """The operation, status and kind of client; None without an operation."""
        if self.endpoint is None:
            return None
        return Exercised(self.endpoint.operation.operation_id, self.status, self.identity)


def _addressed(head: RequestHead, peer: Peer, prefix: str, addresses: Addresses) -> Addresses:
    """Returns the base URLs of one request, within its world."""
    headers = head.headers
    is_forwarded = b"forwarded" in headers or b"x-forwarded-host" in headers
    if is_forwarded and not addresses.own and is_local(peer.client):
        addresses = addresses._replace(own=forwarded_site(headers, head.fields))
    return _urls(addresses, peer.scheme, headers.get(b"host", b""), peer.server, prefix)


@lru_cache(maxsize=256)  # runs for every request, with the same few hosts
def _urls(
    addresses: Addresses, scheme: str, host: bytes, server: tuple[str, int | None], prefix: str
) -> Addresses:
    name = host.decode("latin-1")
    if not is_host(name):  # expect_host refuses the request later
        name = f"{server[0]}:{server[1]}" if server[1] else server[0]
    site = addresses.own or f"{scheme}://{name}"
    resource, authorization = (
        _server(address, scheme, name) or site
        for address in (addresses.resource, addresses.authorization)
    )
    return Addresses(resource + prefix, authorization + prefix, site + prefix)


def _server(address: str, scheme: str, host: str) -> str:
    """Returns the address of a server, with ``:PORT`` completed by the host that the client used."""
    if not address.startswith(":"):
        return address
    name = host_name(host) or "127.0.0.1"
    return f"{scheme}://{f'[{name}]' if ':' in name else name}{address}"


def context_of(scope: Scope) -> RequestContext:
    """Returns the context of the request that a scope belongs to."""
    context: RequestContext = scope[_KEY]
    return context


def put_context(scope: Scope, context: RequestContext) -> None:
    """Puts the context of a request into its scope, for the layers of the stack."""
    scope[_KEY] = context


Step = Callable[[RequestContext], None]
"""A check of the stack: reads and fills the request context, or raises a Problem to refuse."""
