"""Serves the files of the console.

The files contain no data: the page gets everything from the admin API, whose guards apply to it as
to any client. They are read at the first visit.
"""

from functools import lru_cache
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.errors import Headers, NotFound
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.hosts import CONSOLE_PATH, is_reserved
from understudy.mock.server.request_context import RequestContext, context_of
from understudy.mock.server.response_sending import encode, method_not_allowed, send_wire

_STATIC: Final = Path(__file__).parent / "static"

_OF_PAGES: Final = tuple(
    Path(__file__).parents[1] / "pages" / "static" / name
    for name in ("icon.svg", "palette.css", "controls.css")
)
"""Files that the console shares with the other pages. It has copies at its own path, as requests to
the other pages are journalled."""


_MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

_METHODS: Final = ("GET", "HEAD")

HEADERS: Final[Headers] = (
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("cache-control", "no-store"),  # another version may be served at this URL next
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
)
"""Headers of every file of the console, which neither loads from nor sends to other origins."""


def with_console(pages: ASGIApp) -> ASGIApp:
    """Returns an ASGI application that serves the console, and passes other requests to ``pages``."""

    async def site(scope: Scope, receive: Receive, send: Send) -> None:
        context = context_of(scope)
        if is_reserved(context.path):
            await send_wire(send, encode(_respond(context), is_own_page=True))
        else:
            await pages(scope, receive, send)

    return site


def _respond(context: RequestContext) -> HandlerResponse:
    """Returns a file of the console.

    Raises:
        NotFound: There is no such file.
        MethodNotAllowed: The method is neither GET nor HEAD.
    """
    if context.method not in _METHODS:
        raise method_not_allowed(context, _METHODS, ", a page")
    name = context.path.removeprefix(CONSOLE_PATH)
    if name == "/":  # the links of the page are relative to the path without the slash
        location = context.site_url + CONSOLE_PATH
        return HandlerResponse(status=308, headers=(("location", location), *HEADERS))
    file = _files().get(name.removeprefix("/") or "index.html")
    if file is None:
        msg = f"The console has no file {name!r}; it is at {CONSOLE_PATH}."
        raise NotFound(msg, code="not_found")
    return file


@lru_cache(maxsize=1)  # the files belong to the package, and do not change while it runs
def _files() -> dict[str, HandlerResponse]:
    """Returns the responses with the files, by their paths below that of the console."""
    own = [path for path in _STATIC.rglob("*.*") if path.suffix in _MEDIA_TYPES]
    names = {path.relative_to(_STATIC).as_posix(): path for path in own}
    names.update((path.name, path) for path in _OF_PAGES)
    return {
        name: HandlerResponse(
            path.read_bytes(), media_type=_MEDIA_TYPES[path.suffix], headers=HEADERS
        )
        for name, path in names.items()
    }
