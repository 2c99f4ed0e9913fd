"""Where the pages stand among the other paths, decided before Flask is asked for anything.

An API client that mistypes a path gets the API's own error, and costs neither a thread nor, the
first time, the tenth of a second that Flask takes to import.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.engine.exchange import Exchange, exchange_of
from understudy.errors import MethodNotAllowed, NotFound
from understudy.pages.profile import find

_STATIC_PATH = "/static"
_METHODS = ("GET", "HEAD")


def pages(base_path: str) -> ASGIApp:
    """Returns the pages of the resource API's address.

    Args:
        base_path: Where the API lies; nothing under it is a page.
    """
    application: ASGIApp | None = None

    async def site(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal application
        exchange = exchange_of(scope)
        path: str = scope["path"]
        is_page = _is_page(exchange, path)
        if f"{path}/".startswith(f"{base_path}/") or not (is_page or _is_browsing(exchange)):
            msg = ""  # the engine names the path and the nearest one it knows
            raise NotFound(msg)
        if exchange.method not in _METHODS:
            allowed = ", ".join(_METHODS)
            msg = f"{exchange.method} is not allowed at {path}, a page; it takes {allowed}."
            headers = (("allow", allowed),)
            raise MethodNotAllowed(msg, code="method_not_allowed", headers=headers)
        if application is None:
            from understudy.pages.application import create  # noqa: PLC0415 - most runs show no page

            application = create(base_path, _STATIC_PATH)
        await application(scope, receive, send)

    return site


def _is_page(exchange: Exchange, path: str) -> bool:
    name = path.lstrip("/")  # as Flask does
    return not name or path.startswith(f"{_STATIC_PATH}/") or find(exchange.world, name) is not None


def _is_browsing(exchange: Exchange) -> bool:
    """Tells a browser, which names HTML, from a client that accepts whatever comes."""
    is_safe = exchange.method in _METHODS
    return is_safe and b"text/html" in exchange.headers.get(b"accept", b"")
