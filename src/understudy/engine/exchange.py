"""One request on its way through the stack, and what the layers have found out about it so far."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from understudy.engine.call import Principal
from understudy.engine.endpoint import Endpoint
from understudy.engine.worlds import World
from understudy.errors import Headers

Scope = Any
"""An ASGI scope; ``Any`` because ASGI types it as a mapping that everybody may write to."""

_KEY = "understudy.exchange"


class Exchange:
    """A request and its answer.

    Attributes:
        world: The universe it happens in.
        choices: Switch name to the option in force for this request.
        started: The world's time when it came in.
        method: In upper case.
        path: As it was asked for.
        query: The raw query string.
        headers: The request's, names in lower case; a name sent twice keeps the last value.
        repeated_headers: The names that were sent twice.
        site_url: Where answers point to: scheme and host as the client named them.
        resource_url: Where people's pages and pictures lie: here, unless this is another site.
        client: The client's address, to count what nobody in particular asks.
        endpoint: The operation it calls; None until routed, and where nothing matched.
        path_arguments: The texts of the path parameters, by the document's names.
        body: The bytes of the request.
        principal: Whom it speaks for, once security has looked.
        arguments: Parameters as the document types them, and the parsed body under ``body``.
        extra_headers: What the answer must carry whatever it says, such as the rate limit.
        undeclared_query: Names of query parameters that the document does not know.
        notes: Remarks for the journal.
        status: The answer's, once sent.
    """

    __slots__ = (
        "arguments",
        "body",
        "choices",
        "client",
        "endpoint",
        "extra_headers",
        "headers",
        "method",
        "notes",
        "path",
        "path_arguments",
        "principal",
        "query",
        "repeated_headers",
        "resource_url",
        "site_url",
        "started",
        "status",
        "undeclared_query",
        "world",
    )

    def __init__(
        self, scope: Scope, world: World, choices: Mapping[str, str], resource_url: str = ""
    ) -> None:
        self.world = world
        self.choices = choices
        self.started: datetime = world.clock.now()
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.repeated_headers = self._repeated(scope)
        self.site_url = f"{scope['scheme']}://{self._host(scope)}"
        self.resource_url = resource_url or self.site_url
        self.client: str = scope["client"][0] if scope.get("client") else "unknown"
        self.endpoint: Endpoint | None = None
        self.path_arguments: Mapping[str, str] = {}
        self.body = b""
        self.principal: Principal | None = None
        self.arguments: dict[str, Any] = {}
        self.extra_headers: Headers = ()
        self.undeclared_query: tuple[str, ...] = ()
        self.notes: list[str] = []
        self.status = 0
        scope[_KEY] = self

    def _repeated(self, scope: Scope) -> frozenset[bytes]:
        if len(self.headers) == len(scope["headers"]):
            return frozenset()
        names = [name for name, _ in scope["headers"]]
        return frozenset(name for name in names if names.count(name) > 1)

    def _host(self, scope: Scope) -> str:
        named = self.headers.get(b"host")
        if named:
            return named.decode("latin-1")
        server = scope.get("server") or ("127.0.0.1", None)
        return f"{server[0]}:{server[1]}" if server[1] else str(server[0])


def exchange_of(scope: Scope) -> Exchange:
    """Returns the exchange that a request's scope belongs to."""
    found: Exchange = scope[_KEY]
    return found
