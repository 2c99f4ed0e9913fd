"""One server address: the middleware stack for any request, and the fast path for ordinary ones."""

import asyncio
from asyncio import CancelledError
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.mock.server.api import Api
from understudy.mock.server.dispatcher import Dispatcher, ResponseValidation, route
from understudy.mock.server.endpoint import Endpoint, endpoints
from understudy.mock.server.fast_path import Continuation, FastPath
from understudy.mock.server.fault_injection import answer_early, inject_faults
from understudy.mock.server.faults import WireResponse
from understudy.mock.server.guards import (
    Cors,
    expect_bounded_fields,
    guarding,
    guarding_paths,
    page_test,
    read_body,
)
from understudy.mock.server.hosts import is_reserved
from understudy.mock.server.journaling import (
    Journaling,
    RequestListener,
    expect_bounded_head,
    expect_world,
)
from understudy.mock.server.preferences import Choose, choosing
from understudy.mock.server.request_context import (
    HERE,
    Addresses,
    Peer,
    RequestContext,
    RequestHead,
    Targets,
    context_of,
)
from understudy.mock.server.request_validation import validate
from understudy.mock.server.response_sending import ErrorResponses, send_wire
from understudy.mock.server.route_table import RouteTable, by_route
from understudy.mock.server.security import authorize, enforce_quota
from understudy.mock.server.transactions import (
    GroupedRequest,
    Groups,
    SharedStore,
    TransactionMiddleware,
)
from understudy.mock.server.world_selection import Worlds
from understudy.openapi.paths import Paths, aliases

Respond = Callable[[RequestHead, Peer, bytes], WireResponse | Continuation | GroupedRequest | None]


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """The configuration of one server address.

    Attributes:
        apis: Served documents; unknown paths get the first one's error shape.
        worlds: Worlds that requests may select.
        elsewhere: Application for the paths that no document has.
        choose: Parses the switch options that a single request chooses.
        response_validation: What happens to a response of the mock that breaks the document.
        records: Called with every finished request, before it gets its number in the journal.
        log: Called with every finished request, once it is in the journal; None for no log.
        closed: Paths that get no cross-origin headers, with all paths below them.
        addresses: Addresses of the two servers; empty for this one.
        admin_hosts: Host names that callers of the admin API may use, besides loopback ones.
        admin_token: Token that lets callers from other machines use the admin API.
        guarded: Prefixes of paths that are guarded like pages against foreign host names.
        page_hosts: Host names under which pages may be opened, besides loopback ones.
        shared: Store that processes share; None: this process alone has the worlds.
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
    """One server address: an ASGI application, and a fast path for ordinary requests.

    The methods are in the order in which a request passes them.

    Attributes:
        respond: Responds to an ordinary request in one call, as ``FastPath.respond`` does; with a shared
            store, the response is sent after the commit.

    Raises:
        StartupError: A document is invalid, or its handlers do not fit it.
    """

    def __init__(self, config: SiteConfig) -> None:
        served: dict[str, list[Endpoint]] = {}
        for api in config.apis:
            served.setdefault(api.base_path, []).extend(endpoints(api))
        self._operations = {base: [e.operation for e in group] for base, group in served.items()}
        first = config.apis[0]
        others = aliases(first.document, [it.operation for it in endpoints(first)])
        paths = Paths(self._operations, first.base_path, others)
        self._endpoints = by_route(served)
        self._journaling = Journaling(
            config.worlds, paths, config.records, config.log, config.addresses
        )
        self._cors = Cors(self._respond, config.closed, page_test(paths, config.apis))
        self._errors = ErrorResponses(paths, config.apis)
        guard_paths = guarding_paths(config.guarded, config.page_hosts)
        path_guards = () if guard_paths is None else (guard_paths,)
        self._before_body = (
            expect_bounded_head,
            guarding(config.admin_token, config.admin_hosts),
            *path_guards,
            expect_world,
            choosing(config.choose),
        )
        self._elsewhere = config.elsewhere
        self._dispatcher = Dispatcher(config.elsewhere, config.response_validation)
        self._router: ASGIApp | None = None
        self._is_building = Lock()
        self._fast_path = fast_path = FastPath(
            self._journaling,
            RouteTable(self._endpoints),
            # the other steps concern only unusual requests, which take the stack
            (expect_bounded_head, *path_guards),
            (authorize, enforce_quota, validate),
            self._dispatcher,
            self._errors,
        )
        self.respond: Respond = fast_path.respond
        self._enter: ASGIApp = partial(self._journaling.serve, self._cors)
        if config.shared is not None:
            self.respond = Groups(fast_path, config.shared, self).add
            self._enter = TransactionMiddleware(self._cors, self._journaling, config.shared)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves any HTTP request; ignores other ASGI scopes."""
        if scope["type"] == "http":
            await self._enter(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Responds to a request, with an error response if an inner layer raises."""
        context = context_of(scope)
        try:
            await self._read(context, scope, receive, send)
        except (Exception, CancelledError) as error:
            if context.status:  # a response has begun: the server closes the connection
                self._errors.encode(context, error)
            else:
                await send_wire(send, self._fast_path.refuse(context, error))

    async def _read(
        self, context: RequestContext, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Checks the head, reads the body, and calls the router."""
        for step in self._before_body:
            step(context)
        if is_reserved(context.path):
            await self._elsewhere(scope, receive, send)
            return
        await read_body(context, receive)
        expect_bounded_fields(context)
        router = self._router
        if router is None:  # in a thread, since building it would block the event loop
            router = await asyncio.to_thread(self.router)
        await router(scope, receive, send)

    def router(self) -> ASGIApp:
        """Returns Connexion's routing, which is built once, in any thread."""
        with self._is_building:
            if self._router is None:
                from understudy.mock.server._connexion import routed  # noqa: PLC0415 - importing Connexion takes too long at start

                self._router = routed(self._operations, self._work)
            return self._router

    async def _work(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a routed request, unless an early stub or a fault responds instead."""
        context = context_of(scope)
        route(context, scope, self._endpoints)
        if not await answer_early(context, scope, receive, send):
            authorize(context)
            await inject_faults(self._call, scope, receive, send)

    async def _call(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Counts and validates a request, and calls its handler."""
        context = context_of(scope)
        enforce_quota(context)
        validate(context)
        await self._dispatcher(scope, receive, send)


class ReloadableSite:
    """The ASGI application of one address, whose site is replaced when the documents change.

    Attributes:
        site: Current site.
        targets: Cache of request targets.
        entrance: Wraps the site in another application, if any.
    """

    site: Site

    def __init__(self) -> None:
        self.targets = Targets()
        self.entrance: Callable[[ASGIApp], ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request, as ``Site`` does."""
        app = self.site if self.entrance is None else self.entrance(self.site)
        await app(scope, receive, send)
