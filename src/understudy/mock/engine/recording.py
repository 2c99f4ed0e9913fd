"""The outermost layer: finds a request's world, makes an exchange of it, and keeps what came of it."""

from collections.abc import Callable, Sequence
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import MockRefusal
from understudy.mock.engine.admin import BASE_PATH
from understudy.mock.engine.exchange import Addresses, RequestContext
from understudy.mock.engine.registry import Worlds
from understudy.mock.engine.worlds import World
from understudy.openapi.paths import Paths

Record = Callable[[RequestContext], None]
"""Takes a finished exchange."""

KEPT = 64 * 1024
"""Bytes of a body that the journal keeps."""


class Recording:
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
        records: Sequence[Record],
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
        exchange = self._exchange(scope)
        scope["path"] = self._paths.based(exchange.path)
        started = perf_counter()

        async def noticing(message: Message) -> None:
            _notice(exchange, message)
            await send(message)

        try:
            await self._app(scope, receive, noticing)
        finally:
            exchange.seconds = perf_counter() - started
            for record in self._records:
                record(exchange)
            if not exchange.path.startswith(BASE_PATH):
                _remember(exchange)
            _keep(exchange.world)  # what was noticed once the answer was on its way

    def _exchange(self, scope: Scope) -> RequestContext:
        headers = dict(scope["headers"])
        try:
            world, scope["path"] = self._worlds.of(scope["path"], headers)
        except MockRefusal as refusal:  # told within, where refusals get their shape
            exchange = RequestContext(scope, headers, self._worlds.default, self._addresses)
            exchange.refused(refusal)
            return exchange
        return RequestContext(scope, headers, world, self._addresses)


def expect_world(exchange: RequestContext) -> None:
    """Refuses a request whose world is not there, or that should have named one.

    Raises:
        MockRefusal: It is one.
    """
    if exchange.refusal is not None:
        raise exchange.refusal.problem


def _notice(exchange: RequestContext, message: Message) -> None:
    """Takes what is about to be sent; before an answer begins, what it tells of is made to last."""
    if message["type"] == "http.response.start":
        _keep(exchange.world)
        exchange.status = message["status"]
        exchange.answer_headers = message["headers"]
    elif len(exchange.answer) < KEPT:
        exchange.answer += message.get("body", b"")


def _keep(world: World) -> None:
    if world.keeper is not None:
        world.keeper.keep(world)


def _remember(exchange: RequestContext) -> None:
    """Puts what is worth keeping of an exchange into its world's journal."""
    exchange.body = exchange.body[:KEPT]
    exchange.answer = exchange.answer[:KEPT]
    exchange.arguments = {}  # uploads are large, and the body says it all
    exchange.world.journal.add(exchange)
