"""Keeps the console's paths out of the routing, as a document may declare a path that fits every other."""

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.mock.server.admin_guard import CONSOLE_PATH
from understudy.mock.server.request_context import context_of


def is_reserved(path: str) -> bool:
    """Tells whether a path is the console's or below it, whatever the document says."""
    return path.startswith(CONSOLE_PATH) and path[len(CONSOLE_PATH) :][:1] in {"", "/"}


class ReservedPaths:
    """Passes requests for reserved paths to the pages, and all others to the next layer.

    Args:
        app: The next layer.
        pages: The application of the pages.
    """

    def __init__(self, app: ASGIApp, pages: ASGIApp) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Calls the pages or the next layer."""
        app = self._pages if is_reserved(context_of(scope).path) else self._app
        await app(scope, receive, send)
