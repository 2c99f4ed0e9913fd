"""Lets browsers of any origin read API responses, and nothing else."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import NotFound
from understudy.mock.server.page_guard import IsPage
from understudy.mock.server.request_context import context_of

_CLOSED = (
    "a browser sent this for a page, which cannot read the answer: no cross-origin header here, "
    "as in production. Send it from a server."
)

_PREFLIGHT = b"access-control-request-method"
_OPEN = ((b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"*"))


class Cors:
    """Lets pages of any origin read responses, except at closed paths.

    Where a page could be and nothing is, the 404 is open: it says which address was probably meant.

    Args:
        app: The next layer.
        closed: Paths without any cross-origin header, and all below them.
        is_page: Tells which paths are pages; no other origin may read those.
    """

    def __init__(self, app: ASGIApp, closed: Sequence[str], is_page: IsPage) -> None:
        self._app = app
        self._closed = closed
        self._is_page = is_page
        self._open = CORSMiddleware(
            app,
            allow_origins=["*"],
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["*"],
            allow_private_network=True,  # a preview at an https address calls a local mock
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Calls the next layer, with or without cross-origin headers."""
        context = context_of(scope)
        app: ASGIApp = self._open
        if b"origin" not in context.headers:
            app = self._app
        elif self.is_closed(context.path):
            context.notes.append(_CLOSED)
            app = self._app
        elif self._is_page(context.path):
            app = self._respond_at_page
        await app(scope, receive, send)

    def is_closed(self, path: str) -> bool:
        """Tells whether no page of another origin may read what is at a path."""
        return any(path == here or path.startswith(f"{here}/") for here in self._closed)

    async def _respond_at_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Responds where pages are: without cross-origin headers, unless there is nothing."""
        context = context_of(scope)
        is_preflight = context.method == "OPTIONS" and _PREFLIGHT in context.headers
        is_missing = False

        async def sending(message: Message) -> None:
            nonlocal is_missing
            if message["type"] == "http.response.start":
                is_missing = message["status"] == NotFound.status
                if is_missing:
                    message = {**message, "headers": [*message["headers"], *_OPEN]}
                else:
                    context.notes.append(_CLOSED)
            if not (is_missing and is_preflight):
                await send(message)

        await self._app(scope, receive, sending)
        if is_missing and is_preflight:
            context.refusal = None
            await self._open(scope, receive, send)
