"""Builds what one address serves: the ASGI middleware stack, and the entrance beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.mock.server.api import Api
from understudy.mock.server.direct import Continuation, Direct
from understudy.mock.server.dispatcher import Dispatcher, ResponseValidation, Route
from understudy.mock.server.endpoint import Endpoint, endpoints
from understudy.mock.server.errors import ErrorResponses, Errors
from understudy.mock.server.fault_injection import EarlyStubs, FaultInjection
from understudy.mock.server.guards import (
    BodyGuard,
    Cors,
    ReservedPaths,
    Steps,
    expect_bounded_fields,
    guarding,
    guarding_paths,
    page_test,
)
from understudy.mock.server.journaling import (
    Journaling,
    JournalMiddleware,
    RequestListener,
    expect_bounded_head,
    expect_world,
)
from understudy.mock.server.preferences import Choose, choosing
from understudy.mock.server.rate_limit import enforce_quota
from understudy.mock.server.request_context import HERE, Addresses, Peer, RequestHead, Targets
from understudy.mock.server.request_validation import validate
from understudy.mock.server.response_sending import WireResponse
from understudy.mock.server.route_table import RouteTable, by_route
from understudy.mock.server.security import authorize
from understudy.mock.server.transactions import (
    GroupedRequest,
    Groups,
    SharedStore,
    TransactionMiddleware,
)
from understudy.mock.server.world_selection import Worlds
from understudy.openapi.paths import Paths, aliases

Middleware = Callable[[ASGIApp], ASGIApp]

Respond = Callable[[RequestHead, Peer, bytes], WireResponse | Continuation | GroupedRequest | None]


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """The configuration of one address: the documents that it serves, and how.

    Attributes:
        apis: The documents in force; unknown paths get the first one's error shape.
        worlds: The worlds that requests may select.
        elsewhere: The application behind the paths that no document has.
        choose: Reads the options that a single request chooses.
        response_validation: What happens to a response of the mock that breaks the document.
        records: Called with every finished request, before it gets its number in the journal.
        log: Called with every finished request, once it is in the journal; None for no log.
        closed: Paths that get no cross-origin headers, and all below them.
        addresses: The addresses of the two servers; empty for the one that is served.
        admin_hosts: Host names that callers of the admin API may use, beside loopback ones.
        admin_token: Lets callers from other machines use the admin API.
        guarded: Prefixes of paths that are guarded like pages against foreign host names.
        page_hosts: Host names that pages may be reached under, beside loopback ones.
        shared: The store that the worlds are shared through; None: they are this process's alone.
    """

    apis: Sequence[Api]
    worlds: Worlds
    elsewhere: ASGIApp
    choose: Choose
    response_validation: ResponseValidation = "refuse"
    records: Sequence[RequestListener] = ()
    log: RequestListener | None = None
    closed: Sequence[str] = ()
    addresses: Addresses = HERE
    admin_hosts: frozenset[str] = frozenset()
    admin_token: str | None = None
    guarded: Sequence[str] = ()
    page_hosts: frozenset[str] = frozenset()
    shared: SharedStore | None = None


class Site:
    """One address: an ASGI application, and a shorter way for ordinary requests.

    Args:
        config: What it serves, and how.

    Attributes:
        respond: Responds to an ordinary request in one call, as ``Direct.respond`` does; where worlds
            are shared, the response is sent once the store has agreed.

    Raises:
        StartupError: A document or its handlers are not as they must be.
    """

    def __init__(self, config: SiteConfig) -> None:
        served: dict[str, list[Endpoint]] = {}
        for api in config.apis:
            served.setdefault(api.base_path, []).extend(endpoints(api))
        operations = {base: [e.operation for e in group] for base, group in served.items()}
        first = config.apis[0]
        others = aliases(first.document, [it.operation for it in endpoints(first)])
        paths = Paths(operations, first.base_path, others)
        self._endpoints = by_route(served)
        self._journaling = Journaling(
            config.worlds, paths, (config.records, config.log), config.addresses
        )
        self._errors = ErrorResponses(paths, config.apis)
        self._dispatcher = Dispatcher(config.elsewhere, config.response_validation)
        guard_admin = guarding(config.admin_token, config.admin_hosts)
        guard_paths = guarding_paths(config.guarded, config.page_hosts)
        path_guards = () if guard_paths is None else (guard_paths,)
        choose = choosing(config.choose)
        is_page = page_test(paths, config.apis)
        self._before_routing: list[Middleware] = [
            lambda app: _outermost(app, self._journaling, config.shared),
            lambda app: Cors(app, config.closed, is_page),
            lambda app: Errors(app, self._errors),
            lambda app: Steps(
                app, expect_bounded_head, guard_admin, *path_guards, expect_world, choose
            ),
            lambda app: ReservedPaths(app, config.elsewhere),
            BodyGuard,
            lambda app: Steps(app, expect_bounded_fields),
        ]
        self._after_routing: list[Middleware] = [
            lambda app: Route(app, self._endpoints),
            EarlyStubs,
            lambda app: Steps(app, authorize),
            FaultInjection,
            lambda app: Steps(app, enforce_quota, validate),
        ]
        self._operations = operations
        self._stack: ASGIApp | None = None
        self._is_building = Lock()
        direct = Direct(
            self._journaling,
            RouteTable(self._endpoints),
            (expect_bounded_head, *path_guards),  # it leaves to the stack what the others refuse
            (authorize, enforce_quota, validate),
            self._dispatcher,
            self._errors,
        )
        self.respond: Respond = direct.respond
        if config.shared is not None:
            self.respond = Groups(direct, config.shared, self).add

    def stack(self) -> ASGIApp:
        """Returns the middleware stack, outermost layer first; it is built once, in any thread."""
        with self._is_building:
            if self._stack is None:
                from understudy.mock.server._connexion import routed  # noqa: PLC0415 - importing Connexion takes too long at start

                before, after = self._before_routing, self._after_routing
                self._stack = routed(self._operations, before, after, self._dispatcher)
            return self._stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request, whatever it asks for. What is not HTTP gets no response."""
        if scope["type"] == "http":
            stack = self._stack or self.stack()
            await stack(scope, receive, send)


def _outermost(app: ASGIApp, journaling: Journaling, shared: SharedStore | None) -> ASGIApp:
    if shared is None:
        return JournalMiddleware(app, journaling)
    return TransactionMiddleware(app, journaling, shared)


class Served:
    """Serves one address; its site may be replaced meanwhile.

    Attributes:
        site: What is served now.
        targets: The targets of the latest requests.
    """

    site: Site

    def __init__(self) -> None:
        self.targets = Targets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request, as ``Site`` does."""
        await self.site(scope, receive, send)
