"""The outermost layer: makes an exchange of every request, and hands it on once it is answered."""

from collections.abc import Callable, Sequence
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.engine.exchange import Exchange
from understudy.engine.worlds import World

Record = Callable[[Exchange, float], None]
"""Takes a finished exchange and the seconds it took."""


class Journal:
    """Records every exchange, whatever becomes of it.

    Args:
        app: The next layer.
        world: The universe that requests happen in.
        records: Where finished exchanges go.
        resource_url: Where people's pages lie, if it is not this site.
    """

    def __init__(
        self, app: ASGIApp, world: World, records: Sequence[Record], resource_url: str = ""
    ) -> None:
        self._app = app
        self._world = world
        self._records = records
        self._resource_url = resource_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Goes on, and records what came of it. What is not HTTP is not answered."""
        if scope["type"] != "http":
            return
        exchange = Exchange(scope, self._world, self._world.choices, self._resource_url)
        started = perf_counter()

        async def noticing(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noticing)
        finally:
            for record in self._records:
                record(exchange, perf_counter() - started)
