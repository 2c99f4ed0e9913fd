"""Defines one request: its head, and what is known of it so far; made once, read by all."""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from understudy.errors import Headers, Problem
from understudy.exchange.masking import SECRET_NAMES, SECRET_NAMES_OF_RESOURCES
from understudy.interface.rules import upheld
from understudy.limits import TARGET_BYTES
from understudy.mock.server.call import Principal
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.hosts import forwarded_site, host_name, is_forwarded, is_host, is_local
from understudy.mock.server.journal import Exercised
from understudy.mock.server.worlds import (
    PREFIX,
    World,
    WorldSelection,
    named_by_headers,
    named_by_path,
)
from understudy.openapi.paths import ENCODED_SLASH, decoded_path

Scope = Any
"""An ASGI scope; ``Any`` because ASGI types it as a mapping that everybody may write to."""

HeaderFields = Sequence[tuple[bytes, bytes]]


class Peer(NamedTuple):
    """The two ends of a connection.

    Attributes:
        client: The client's address.
        server: Host and port that the connection came in at; the port is None where there is none.
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


HeadArguments = tuple[object, dict[str, Any], tuple[str, ...]]
"""The operation that read arguments from a head; the arguments, as its document types them; and the
names of query parameters that the document does not know."""

Matching = tuple[object, Any, Mapping[str, str]]
"""The routes of a site, the operation that they found for a head, and the texts of its path parameters;
None: only the site's router knows the operation."""


class RequestHead:
    """The head of a request.

    Args:
        method: In upper case.
        path: The requested path as ``decoded_path`` returns it, with the prefix of a world.
        query: The raw query string.
        fields: All header fields, names in lower case, in the order they were sent.
        http_version: Such as ``1.1``.

    Attributes:
        headers: The fields by name; a name sent twice keeps the last value.
        repeated_headers: The names that were sent twice.
        named_world: The world that is selected.
        path_in_world: The path there, by which requests are routed.
        shown_path: That path with ``%2F`` where a parameter has a slash.
        byte_count: The number of bytes of the header fields.
        is_bounded: Whether it was found to be within all limits.
        reading: The arguments that were last read from it; nobody changes them.
        matching: The operation that it was last found to lead to.
    """

    __slots__ = (
        "_named_by_headers",
        "byte_count",
        "fields",
        "headers",
        "http_version",
        "is_bounded",
        "matching",
        "method",
        "named_world",
        "path",
        "path_in_world",
        "query",
        "reading",
        "repeated_headers",
        "shown_path",
    )

    def __init__(
        self, method: str, path: str, query: bytes, fields: HeaderFields, http_version: str = "1.1"
    ) -> None:
        self.method = method
        self.fields = fields
        self.http_version = http_version
        self.headers: Mapping[bytes, bytes] = dict(fields)
        self.repeated_headers = _repeated(self.headers, fields)
        self.byte_count = header_bytes(fields)
        self._named_by_headers = named_by_headers(self.headers)
        self._aim(path, query)

    def _aim(self, path: str, query: bytes) -> None:
        """Sets what the target decides."""
        self.path = path
        self.query = query
        self.named_world = self._named_by_headers
        if path.startswith(PREFIX):
            self.named_world, path = named_by_path(path)
        self.path_in_world = path
        self.shown_path = path.replace(ENCODED_SLASH, "%2F")
        self.is_bounded = False
        self.reading: HeadArguments | None = None
        self.matching: Matching | None = None

    @property
    def selection(self) -> WorldSelection:
        """The world that is selected, and the path there."""
        name, is_certain = self.named_world
        return WorldSelection(name, self.path_in_world, is_certain)

    def with_target(self, target: bytes) -> "RequestHead":
        """Returns the head of a request that differs from this one in its target alone."""
        head = object.__new__(RequestHead)
        head.method = self.method
        head.fields = self.fields
        head.http_version = self.http_version
        head.headers = self.headers
        head.repeated_headers = self.repeated_headers
        head.byte_count = self.byte_count
        head._named_by_headers = self._named_by_headers
        head._aim(*path_and_query(target))
        head.is_bounded = self.is_bounded and len(target) <= TARGET_BYTES.most
        return head

    @classmethod
    def of(cls, scope: Scope) -> "RequestHead":
        """Returns the head of the request that an ASGI scope describes."""
        path: str = scope["path"]
        if b"%2" in (scope.get("raw_path") or b""):  # the server has decoded slashes, too
            path = decoded_path(scope["raw_path"].decode("latin-1"))
        version = scope.get("http_version", "1.1")
        return cls(scope["method"], path, scope["query_string"], scope["headers"], version)


def path_and_query(target: bytes) -> tuple[str, bytes]:
    """Returns the decoded path, and the query string, of a target in origin form."""
    path, _, query = target.partition(b"?")
    return decoded_path(path.decode("ascii")), query


def header_bytes(fields: HeaderFields) -> int:
    """Returns how many bytes header fields take."""
    return sum(map(len, chain.from_iterable(fields)))


def _repeated(headers: Mapping[bytes, bytes], fields: HeaderFields) -> frozenset[bytes]:
    if len(headers) == len(fields):
        return frozenset()
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

NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})


class RefusalReason(NamedTuple):
    """Why a request was refused.

    Attributes:
        problem: The problem that became the response.
        rules: Ids of the rules that the refusing code holds, the closest first.
    """

    problem: Problem
    rules: tuple[str, ...]


_AUTHORIZATION = "/oauth2/"


class RequestContext:
    """A request and its response.

    Args:
        head: What the request says before its body.
        peer: The two ends of its connection.
        world: The world that it selected.
        addresses: The addresses of the two servers.

    Attributes:
        head: What the request says before its body; shared by identical requests.
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
        self.path = head.shown_path
        self.query = head.query
        self.headers = head.headers
        self.sent_headers: HeaderFields = head.fields
        self.client = peer.client
        self.site_url, self.resource_url, self.authorization_url = _addressed(
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
        headers = self.head.byte_count + header_bytes(self.response_headers)
        return headers + len(self.body) + len(self.response_body) + len(self.query) + _OVERHEAD

    @property
    def is_matched(self) -> bool:
        """True if an operation or a page responded to it."""
        return self.endpoint is not None or self.status not in {404, 405}

    @property
    def exercised(self) -> Exercised | None:
        """The part of the contract that it used."""
        if self.endpoint is None:
            return None
        return Exercised(self.endpoint.operation.operation_id, self.status, self.identity)


def _addressed(head: RequestHead, peer: Peer, prefix: str, addresses: Addresses) -> "_Urls":
    headers = head.headers
    if not addresses.own and is_forwarded(headers) and is_local(peer.client):
        addresses = addresses._replace(own=forwarded_site(headers, head.fields))
    return _urls(addresses, peer.scheme, headers.get(b"host", b""), peer.server, prefix)


class _Urls(NamedTuple):
    """The base URLs of one request."""

    site: str
    resource: str
    authorization: str


@lru_cache(maxsize=256)  # clients name a few hosts, over and over
def _urls(
    addresses: Addresses, scheme: str, host: bytes, server: tuple[str, int | None], prefix: str
) -> _Urls:
    name = host.decode("latin-1")
    if not is_host(name):  # refused further in
        name = f"{server[0]}:{server[1]}" if server[1] else server[0]
    site = addresses.own or f"{scheme}://{name}"
    resource, authorization = (
        _server(address, scheme, name) or site
        for address in (addresses.resource, addresses.authorization)
    )
    return _Urls(site + prefix, resource + prefix, authorization + prefix)


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
