"""Defines the context of one request: what the middleware stack knows of it so far."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from understudy.errors import Headers, Problem
from understudy.interface.rules import upheld
from understudy.mock.engine.call import Principal
from understudy.mock.engine.endpoint import Endpoint
from understudy.mock.engine.hosts import host_name, is_host, is_local
from understudy.mock.engine.journal import Exercised
from understudy.mock.engine.worlds import World

Scope = Any
"""An ASGI scope; ``Any`` because ASGI types it as a mapping that everybody may write to."""

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


class RequestContext:
    """A request and its response.

    Attributes:
        world: The world that the request selected.
        choices: Switch name to the option in force for this request.
        started: The world's time when the request arrived.
        http_version: Such as ``1.1``.
        method: In upper case.
        path: The requested path, without the prefix of the world.
        query: The raw query string.
        headers: The request's, names in lower case; a name sent twice keeps the last value.
        sent_headers: All header fields, in the order they were sent.
        repeated_headers: The names that were sent twice.
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

    __slots__ = (
        "arguments",
        "authorization_url",
        "body",
        "choices",
        "client",
        "endpoint",
        "extra_headers",
        "fault",
        "headers",
        "http_version",
        "method",
        "notes",
        "number",
        "path",
        "path_arguments",
        "principal",
        "query",
        "refusal",
        "repeated_headers",
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
        self,
        scope: Scope,
        headers: dict[bytes, bytes],
        world: World,
        addresses: Addresses = HERE,
    ) -> None:
        self.world = world
        self.choices: Mapping[str, str] = world.choices
        self.started: datetime = world.clock.now()
        self.http_version: str = scope.get("http_version", "1.1")
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.headers = headers
        self.sent_headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        self.repeated_headers = self._repeated(scope)
        self.client: str = scope["client"][0] if scope.get("client") else "unknown"
        site = addresses.own or self._site(scope)
        self.site_url = site + world.prefix
        self.resource_url = self._server(addresses.resource, site, scope) + world.prefix
        self.authorization_url = self._server(addresses.authorization, site, scope) + world.prefix
        self.endpoint: Endpoint | None = None
        self.path_arguments: Mapping[str, str] = {}
        self.body = b""
        self.principal: Principal | None = None
        self.arguments: dict[str, Any] = {}
        self.extra_headers: Headers = ()
        self.undeclared_query: tuple[str, ...] = ()
        self.notes: list[str] = []
        self.fault: str | None = None
        self.refusal: RefusalReason | None = None
        self.status = self.number = 0
        self.response_headers: Sequence[tuple[bytes, bytes]] = ()
        self.response_body = b""
        self.seconds = 0.0
        scope[_KEY] = self

    def refused(self, problem: Problem) -> None:
        """Notes why it is refused, and drops the exception's traceback."""
        problem.__traceback__ = problem.__context__ = problem.__cause__ = None
        self.refusal = RefusalReason(problem, upheld(problem.made_by))

    @property
    def identity(self) -> str:
        """The kind of client: ``anonymous``, ``api_key`` or ``oauth``."""
        return self.principal.kind if self.principal else "anonymous"

    @property
    def size(self) -> int:
        """The approximate memory in bytes, once the request is in the journal."""
        headers = header_bytes(self.sent_headers) + header_bytes(self.response_headers)
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

    def _repeated(self, scope: Scope) -> frozenset[bytes]:
        if len(self.headers) == len(scope["headers"]):
            return frozenset()
        counts = Counter(name for name, _ in scope["headers"])
        return frozenset(name for name, count in counts.items() if count > 1)

    def _server(self, address: str, site: str, scope: Scope) -> str:
        """Returns the address of a server, given the one that received the request."""
        if not address.startswith(":"):
            return address or site
        name = host_name(self.headers.get(b"host", b"").decode("latin-1")) or "127.0.0.1"
        return f"{scope['scheme']}://{f'[{name}]' if ':' in name else name}{address}"

    def _site(self, scope: Scope) -> str:
        """Returns the address that the client used, or that a proxy on this machine forwards."""
        headers = self.headers
        forwarded = headers.get(b"x-forwarded-host", b"").decode("latin-1")
        if is_host(forwarded) and is_local(self.client):
            proto = headers.get(b"x-forwarded-proto", b"http").decode("latin-1")
            prefix = headers.get(b"x-forwarded-prefix", b"").decode("latin-1").rstrip("/")
            return f"{proto}://{forwarded}{prefix}"
        host = headers.get(b"host", b"").decode("latin-1")
        if not is_host(host):  # refused further in
            server = scope.get("server") or ("127.0.0.1", None)
            host = f"{server[0]}:{server[1]}" if server[1] else str(server[0])
        return f"{scope['scheme']}://{host}"


def header_bytes(headers: Sequence[tuple[bytes, bytes]]) -> int:
    """Returns how many bytes header fields take."""
    return sum(map(len, chain.from_iterable(headers)))


def context_of(scope: Scope) -> RequestContext:
    """Returns the context of the request that a scope belongs to."""
    context: RequestContext = scope[_KEY]
    return context
