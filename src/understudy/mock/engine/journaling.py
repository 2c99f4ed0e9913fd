"""The outermost layer: finds a request's world, makes an exchange of it, and keeps what came of it."""

from collections.abc import Callable, Sequence
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import MockRefusal
from understudy.mock.engine.admin_guard import BASE_PATH
from understudy.mock.engine.request_context import Addresses, RequestContext
from understudy.mock.engine.world_selection import Worlds
from understudy.mock.engine.worlds import World
from understudy.openapi.paths import Paths

RequestListener = Callable[[RequestContext], None]
"""Takes a finished exchange."""

KEPT = 64 * 1024
"""Bytes of a body that the journal keeps."""


class JournalMiddleware:
    """Records every exchange, whatever becomes of it.

    Args:
        app: The next layer.
        worlds: Where requests happen.
        paths: Knows which paths were asked without their base path, and serves them all the same.
        records: Where finished exchanges go.
        addresses: Where the two sites lie.
    """

    def __init__(
        self,
        app: ASGIApp,
        worlds: Worlds,
        paths: Paths,
        records: Sequence[RequestListener],
        addresses: Addresses,
    ) -> None:
        self._app = app
        self._worlds = worlds
        self._paths = paths
        self._records = records
        self._addresses = addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Goes on, and records what came of it. What is not HTTP is not answered."""
        if scope["type"] != "http":
            return
        context = self._context(scope)
        scope["path"] = self._paths.based(context.path)
        started = perf_counter()

        async def noticing(message: Message) -> None:
            _notice(context, message)
            await send(message)

        try:
            await self._app(scope, receive, noticing)
        finally:
            context.seconds = perf_counter() - started
            for record in self._records:
                record(context)
            if not context.path.startswith(BASE_PATH):
                _remember(context)
            _keep(context.world)  # what was noticed once the answer was on its way

    def _context(self, scope: Scope) -> RequestContext:
        headers = dict(scope["headers"])
        try:
            world, scope["path"] = self._worlds.of(scope["path"], headers)
        except MockRefusal as refusal:  # told within, where refusals get their shape
            context = RequestContext(scope, headers, self._worlds.default, self._addresses)
            context.refused(refusal)
            return context
        return RequestContext(scope, headers, world, self._addresses)


def expect_world(context: RequestContext) -> None:
    """Refuses a request whose world is not there, or that should have named one.

    Raises:
        MockRefusal: It is one.
    """
    if context.refusal is not None:
        raise context.refusal.problem


def _notice(context: RequestContext, message: Message) -> None:
    """Takes what is about to be sent; before an answer begins, what it tells of is made to last."""
    if message["type"] == "http.response.start":
        _keep(context.world)
        context.status = message["status"]
        context.response_headers = message["headers"]
    elif len(context.response_body) < KEPT:
        context.response_body += message.get("body", b"")


def _keep(world: World) -> None:
    if world.store is not None:
        world.store.commit(world)


def _remember(context: RequestContext) -> None:
    """Puts what is worth keeping of an exchange into its world's journal."""
    context.body = context.body[:KEPT]
    context.response_body = context.response_body[:KEPT]
    context.arguments = {}  # uploads are large, and the body says it all
    context.world.journal.add(context)
