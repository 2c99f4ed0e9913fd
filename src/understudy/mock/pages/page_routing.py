"""Where the pages stand among the other paths, decided before Flask is asked for anything.

An API client that mistypes a path gets the API's own error, and does not, the first time, pay the
tenth of a second that Flask takes to import.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.errors import MethodNotAllowed, NotFound
from understudy.mock.engine.request_context import RequestContext, context_of
from understudy.mock.pages.page_groups import Part
from understudy.mock.pages.public_profile import find

_METHODS = ("GET", "HEAD")
_FORMS = frozenset({"sign-in", "sign-out", "consent", "apps", "oauth2"})
"""First segments of the authorization server's pages, whose forms are posted."""


def pages(base_path: str, parts: Sequence[Part], auto_approve: str | None = None) -> ASGIApp:
    """Returns the pages of one address.

    Args:
        base_path: Where the resource API lies; nothing under it is a page.
        parts: What is shown here; the first one's front page is the address's.
        auto_approve: Slug of who approves every authorization at once.
    """

    async def site(scope: Scope, _receive: Receive, send: Send) -> None:
        exchange = context_of(scope)
        path: str = scope["path"]
        is_form = "authorization" in parts and path.partition("/")[2].partition("/")[0] in _FORMS
        if not is_form:
            _expect_page(exchange, path, base_path)
        from understudy.mock.pages.wsgi_bridge import respond  # noqa: PLC0415 - most runs show no page

        await respond(_application(base_path, tuple(parts), auto_approve), exchange, send)

    return site


def _expect_page(exchange: RequestContext, path: str, base_path: str) -> None:
    """Leaves to the engine what is no page, or is not asked for as one.

    Raises:
        NotFound: It is the API's to refuse.
        MethodNotAllowed: It is a page and asked to change.
    """
    is_page = _is_page(exchange, path)
    if f"{path}/".startswith(f"{base_path}/") or not (is_page or _is_browsing(exchange)):
        msg = ""  # the engine names the path and the nearest one it knows
        raise NotFound(msg)
    if exchange.method not in _METHODS:
        allowed = ", ".join(_METHODS)
        msg = f"{exchange.method} is not allowed at {path}, a page; it takes {allowed}."
        headers = (("allow", allowed),)
        raise MethodNotAllowed(msg, code="method_not_allowed", headers=headers)


@cache
def _application(base_path: str, parts: tuple[Part, ...], auto_approve: str | None) -> Any:
    from understudy.mock.pages import flask_app  # noqa: PLC0415 - most runs show no page

    return flask_app.create(parts, base_path, auto_approve)


def _is_page(exchange: RequestContext, path: str) -> bool:
    name = path.lstrip("/")  # as Flask does
    return not name or path.startswith("/static/") or find(exchange.world, name) is not None


def _is_browsing(exchange: RequestContext) -> bool:
    """Tells a browser, which names HTML, from a client that accepts whatever comes."""
    is_safe = exchange.method in _METHODS
    return is_safe and b"text/html" in exchange.headers.get(b"accept", b"")
