"""Lets browsers of any origin read API responses, and nothing else."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.mock.engine.page_guard import IsPage
from understudy.mock.engine.request_context import context_of

_CLOSED = (
    "a browser sent this for a page, which cannot read the answer: no cross-origin header here, "
    "as in production. Send it from a server."
)


class Cors:
    """Lets pages of any origin read responses, except at closed paths.

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
        app = self._app
        if b"origin" in context.headers:
            if self.is_closed(context.path):
                context.notes.append(_CLOSED)
            else:
                app = self._open
        await app(scope, receive, send)

    def is_closed(self, path: str) -> bool:
        """Tells whether no page of another origin may read what is at a path."""
        is_below = any(path == here or path.startswith(f"{here}/") for here in self._closed)
        return is_below or self._is_page(path)
