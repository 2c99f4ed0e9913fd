"""Defines one request: its head, and what is known of it so far; made once, read by all."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from understudy.errors import Headers, Problem
from understudy.exchange.masking import SECRET_NAMES, SECRET_NAMES_OF_RESOURCES
from understudy.interface.rules import upheld
from understudy.mock.server.call import NO_ARGUMENTS, Principal
from understudy.mock.server.endpoint import Endpoint
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
"""An ASGI scope; ``Any`` because ASGI types it as a mapping that everybody may write to."""

HeaderFields = Sequence[tuple[bytes, bytes]]


class Peer(NamedTuple):
    """The two ends of a connection.

    Attributes:
        client: The client's address.
        server: Host and port that the connection came in at; the port is None if absent.
        scheme: ``http`` or ``https``.
    """

    client: str
    server: tuple[str, int | None]
    scheme: str

    @classmethod
    def of(cls, scope: Scope) -> "Peer":
        """Returns the ends of the connection that an ASGI scope names."""
        client = scope.get("client")
        host, port = scope.get("server") or ("127.0.0.1", None)
        return cls(client[0] if client else "unknown", (host, port), scope["scheme"])


TargetArguments = tuple[object, dict[str, Any], tuple[str, ...]]
"""The operation that read arguments from a target; the arguments, as its document types them; and the
names of query parameters that the document does not know."""

Matching = tuple[object, Any, Mapping[str, str]]
"""The routes of a site, the operation that they found for a target, and the texts of its path parameters;
None: only the site's router knows the operation."""

PREFER_HEADER = b"prefer"
CHOOSE_HEADER = b"x-mock-choose"
LAST_EVENT_ID = b"last-event-id"
"""The header by which a client that reconnects says what it has got (HTML, 9.2.4)."""
OWN_PREFIX = "__"
"""Begins what is asked of the mock itself: parameters of a query, and below ``/`` the admin API's paths."""

_UNUSUAL = frozenset(
    {
        *(b"origin", b"transfer-encoding", b"expect", b"upgrade"),
        *(PREFER_HEADER, CHOOSE_HEADER, LAST_EVENT_ID),
    }
)
"""Headers that a layer of the stack responds to: CORS, chunks, what is not plain HTTP, choices."""

_OWN_PATHS = f"/{OWN_PREFIX}"
_OWN_PARAMETERS = OWN_PREFIX.encode()

_NONE_REPEATED: frozenset[bytes] = frozenset()


class RequestTarget:
    """The target of a request with one method: what requests that differ in headers have in common.

    Args:
        path: The requested path as ``decoded_path`` returns it, with the prefix of a world.
        query: The raw query string.

    Attributes:
        selection: The world that the path names, if it names one, and the path there.
        is_usual: Whether nothing in it is asked of the mock itself.
        shown_path: That path with ``%2F`` where a parameter has a slash.
        matching: The operation that it leads to, whatever the headers are; None: not yet known.
        reading: The arguments that were read from it; nobody changes them.
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
"""Targets that are kept: those that clients ask for over and over."""

_LONGEST_TARGET = 512
"""Bytes of a target that is kept."""


class Targets:
    """The targets of the latest requests, so that what follows from one is worked out once."""

    def __init__(self) -> None:
        self._targets: Recent[tuple[str, bytes], RequestTarget] = Recurring(_MOST_TARGETS)

    def get(self, method: str, target: bytes) -> RequestTarget:
        """Returns a target in origin form, of ASCII characters."""
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
        method: In upper case.
        target: What is requested.
        fields: All header fields, names in lower case, in the order they were sent.
        http_version: Such as ``1.1``.

    Attributes:
        headers: The fields by name; a name sent twice keeps the last value.
        repeated_headers: The names that were sent twice.
        selection: The world that is selected, and the path there.
        byte_count: The number of bytes of the header fields.
        is_bounded: Whether it was found to be within all limits.
        is_usual: Whether no layer of the stack but those of every request responds to it.
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
        """Returns the head of the request that an ASGI scope describes."""
        path: str = scope["path"]
        if b"%2" in (scope.get("raw_path") or b""):  # the server has decoded slashes, too
            path = decoded_path(scope["raw_path"].decode("latin-1"))
        target = RequestTarget(path, scope["query_string"])
        return cls(scope["method"], target, scope["headers"], scope.get("http_version", "1.1"))


def _repeated(fields: HeaderFields) -> frozenset[bytes]:
    counts = Counter(name for name, _ in fields)
    return frozenset(name for name, count in counts.items() if count > 1)


_OVERHEAD = 1000
"""The approximate memory of a journal entry in bytes, beside its texts."""

_KEY = "understudy.exchange"


class Addresses(NamedTuple):
    """The addresses of the two servers as clients reach them, without a trailing slash.

    Attributes:
        resource: Address of the resource API; empty for the server that received the request.
            ``:PORT`` stands for this port at the host name that the client used.
        authorization: Address of the authorization server, likewise.
        own: Public address of the server that received the request; empty to follow its Host.
    """

    resource: str = ""
    authorization: str = ""
    own: str = ""


HERE = Addresses()
"""The addresses of a single server."""


class RefusalReason(NamedTuple):
    """Why a request was refused.

    Attributes:
        problem: The problem that became the response.
        rules: Ids of the rules that the refusing code holds, the closest first.
    """

    problem: Problem
    rules: tuple[str, ...]


_AUTHORIZATION = "/oauth2/"


class StreamPlan(NamedTuple):
    """Plans how a stream is sent.

    Attributes:
        events: How many items it has; None: as many as the generated body.
        interval: Seconds between two of them.
        stays: Whether it stays open after the last one, until the client leaves.
        last_event_id: The last event that the client has got; those after it are sent.
    """

    events: int | None = None
    interval: float = 0.0
    stays: bool = False
    last_event_id: bytes = b""


class RequestContext:
    """A request and its response.

    Args:
        head: What the request says before its body.
        peer: The two ends of its connection.
        world: The world that it selected.
        addresses: The addresses of the two servers.

    Attributes:
        head: What the request says before its body.
        world: The world that the request selected.
        choices: Switch name to the option in force for this request.
        started: The world's time when the request arrived.
        method: In upper case.
        path: The requested path, without the prefix of the world.
        query: The raw query string.
        headers: The request's, names in lower case; a name sent twice keeps the last value.
        sent_headers: All header fields, in the order they were sent.
        site_url: Base of URLs that lead back here: scheme and host as the client named them, and the
            world's prefix.
        resource_url: Base of the URLs of people's pages and pictures.
        authorization_url: Base URL of the authorization server.
        client: The client's address, by which anonymous requests are counted.
        endpoint: The operation it calls; None until routed, and where nothing matched.
        path_arguments: The texts of the path parameters, by the document's names.
        body: The bytes of the request.
        principal: Whom the request speaks for, once it is authenticated.
        arguments: Parameters as the document types them, and the parsed body under ``body``.
        extra_headers: Headers of any response to it, such as those of the rate limit.
        deferred: The refusal of the request if nothing else is wrong with it.
        undeclared_query: Names of query parameters that the document does not know.
        notes: Remarks for the journal.
        fault: Id of the fault that was injected.
        stream: How the response is streamed, if its media type is one of streams; None: at once.
        refusal: Why it was refused; None: it was not.
        status: The status of the response, once sent.
        response_headers: The headers of the response, once sent.
        response_body: The beginning of the body of the response.
        seconds: How long it took.
        number: Its place in the world's journal, from 1.
    """

    __slots__ = (  # the journal keeps a thousand, so each costs as little memory as it can
        "arguments",
        "authorization_url",
        "body",
        "choices",
        "client",
        "deferred",
        "endpoint",
        "extra_headers",
        "fault",
        "head",
        "headers",
        "method",
        "notes",
        "number",
        "path",
        "path_arguments",
        "principal",
        "query",
        "refusal",
        "resource_url",
        "response_body",
        "response_headers",
        "seconds",
        "sent_headers",
        "site_url",
        "started",
        "status",
        "stream",
        "undeclared_query",
        "world",
    )

    def __init__(
        self, head: RequestHead, peer: Peer, world: World, addresses: Addresses = HERE
    ) -> None:
        self.head = head
        self.world = world
        self.choices: Mapping[str, str] = world.choices
        self.started: datetime = world.clock.now()
        self.method = head.method
        self.path = head.target.shown_path
        self.query = head.target.query
        self.headers = head.headers
        self.sent_headers: HeaderFields = head.fields
        self.client = peer.client
        self.resource_url, self.authorization_url, self.site_url = _addressed(
            head, peer, world.prefix, addresses
        )
        self.endpoint: Endpoint | None = None
        self.deferred: Problem | None = None
        self.path_arguments: Mapping[str, str] = NO_ARGUMENTS
        self.body = b""
        self.principal: Principal | None = None
        self.arguments: Mapping[str, Any] = NO_ARGUMENTS
        self.extra_headers: Headers = ()
        self.undeclared_query: tuple[str, ...] = ()
        self.notes: list[str] = []
        self.fault: str | None = None
        self.stream: StreamPlan | None = None
        self.refusal: RefusalReason | None = None
        self.status = 0
        self.response_headers: HeaderFields = ()
        self.response_body = b""
        self.seconds = 0.0
        self.number = 0

    def refused(self, problem: Problem) -> None:
        """Notes why it is refused, and drops the exception's traceback."""
        problem.__traceback__ = problem.__context__ = problem.__cause__ = None
        self.refusal = RefusalReason(problem, upheld(problem.made_by))

    @property
    def secret_names(self) -> AbstractSet[str]:
        """The names whose values are secret in the exchange.

        Codes are issued and exchanged by the authorization server alone. What is not an operation may
        have been meant for it.
        """
        is_resource = self.endpoint is not None and not self.path.startswith(_AUTHORIZATION)
        return SECRET_NAMES_OF_RESOURCES if is_resource else SECRET_NAMES

    @property
    def identity(self) -> str:
        """The kind of client: ``anonymous``, ``api_key`` or ``oauth``."""
        return self.principal.kind if self.principal else "anonymous"

    @property
    def size(self) -> int:
        """The approximate memory in bytes, once the request is in the journal."""
        headers = sum(map(len, chain.from_iterable(self.response_headers)))
        headers += self.head.byte_count
        return headers + len(self.body) + len(self.response_body) + len(self.query) + _OVERHEAD

    @property
    def is_matched(self) -> bool:
        """True if an operation or a page responded to it."""
        return self.endpoint is not None or self.status not in {404, 405}

    @property
    def is_part_of_page(self) -> bool:
        """True if a style sheet or a script of a page of the mock was sent; no client asks for it."""
        return self.endpoint is None and self.path.startswith("/static/") and self.is_matched

    @property
    def exercised(self) -> Exercised | None:
        """The part of the contract that it used."""
        endpoint, principal = self.endpoint, self.principal
        if endpoint is None:
            return None
        identity = principal.kind if principal else "anonymous"
        return Exercised(endpoint.operation.operation_id, self.status, identity)


def _addressed(head: RequestHead, peer: Peer, prefix: str, addresses: Addresses) -> Addresses:
    """Returns the base URLs of one request, within its world."""
    headers = head.headers
    is_forwarded = b"forwarded" in headers or b"x-forwarded-host" in headers
    if is_forwarded and not addresses.own and is_local(peer.client):
        addresses = addresses._replace(own=forwarded_site(headers, head.fields))
    return _urls(addresses, peer.scheme, headers.get(b"host", b""), peer.server, prefix)


@lru_cache(maxsize=256)  # clients name a few hosts, over and over
def _urls(
    addresses: Addresses, scheme: str, host: bytes, server: tuple[str, int | None], prefix: str
) -> Addresses:
    name = host.decode("latin-1")
    if not is_host(name):  # refused further in
        name = f"{server[0]}:{server[1]}" if server[1] else server[0]
    site = addresses.own or f"{scheme}://{name}"
    resource, authorization = (
        _server(address, scheme, name) or site
        for address in (addresses.resource, addresses.authorization)
    )
    return Addresses(resource + prefix, authorization + prefix, site + prefix)


def _server(address: str, scheme: str, host: str) -> str:
    """Returns the address of a server, which may be ``:PORT`` at the host that the client named."""
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
"""Adds what it learns to the request context; raises a Problem to refuse the request."""
