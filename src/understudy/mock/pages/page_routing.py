"""Decides which paths are pages, before Flask is imported.

A mistyped path of an API client so gets the API's error, without the 0.1 s of importing Flask.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache, partial

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.errors import NotFound
from understudy.mock.pages.page_groups import PageGroup
from understudy.mock.pages.public_profile import is_profile_address
from understudy.mock.server.guards import expect_own_host
from understudy.mock.server.listing import Listing
from understudy.mock.server.request_context import RequestContext, context_of
from understudy.mock.server.response_sending import method_not_allowed

Respond = Callable[[RequestContext, Send], Awaitable[None]]
"""Responds to a request with a page."""

_METHODS = ("GET", "HEAD")
_FORMS = frozenset({"sign-in", "sign-out", "consent", "apps", "oauth2"})
"""First path segments of the authorization server's pages, to which forms are posted."""


def pages(
    base_path: str,
    groups: Sequence[PageGroup],
    hosts: frozenset[str] = frozenset(),
    listing: Listing | None = None,
) -> ASGIApp:
    """Returns the pages of one site as an ASGI application.

    Args:
        base_path: Base path of the resource API; no path below it is a page.
        groups: The groups of pages of the site; the first one has the front page.
        hosts: Host names that browsers on this machine may use, beside loopback ones.
        listing: The operations of another service's document, for the page group ``operations``.
    """
    respond: Respond | None = None

    async def site(scope: Scope, _receive: Receive, send: Send) -> None:
        nonlocal respond
        exchange = context_of(scope)
        path: str = scope["path"]
        is_form = "authorization" in groups and path.partition("/")[2].partition("/")[0] in _FORMS
        if not is_form:
            _expect_page(exchange, path, base_path, groups)
        expect_own_host(exchange, hosts)
        if respond is None:  # in a thread, so that other requests are not blocked
            respond = await asyncio.to_thread(_responding, base_path, tuple(groups), listing)
        await respond(exchange, send)

    return site


def _expect_page(
    exchange: RequestContext, path: str, base_path: str, groups: Sequence[PageGroup]
) -> None:
    """Checks that a path is a page, or that a browser requests it and should see an error page.

    Raises:
        NotFound: The path belongs to the API, or an API client requests an unknown path.
        MethodNotAllowed: The path is a page, and the method is not GET or HEAD.
    """
    is_page = _is_page(exchange, path, groups)
    is_of_api = bool(base_path) and f"{path}/".startswith(f"{base_path}/")
    if is_of_api or not (is_page or _is_browsing(exchange)):
        msg = ""  # the engine's message names the path and the nearest known one
        raise NotFound(msg)
    if exchange.method not in _METHODS:
        raise method_not_allowed(exchange, _METHODS, ", a page")


@lru_cache(maxsize=16)  # importing Flask and compiling takes a tenth of a second
def _responding(
    base_path: str,
    groups: tuple[PageGroup, ...],
    listing: Listing | None,
) -> Respond:
    """Imports Flask, creates its application, and compiles the templates."""
    from understudy.mock.pages import flask_app, wsgi_bridge  # noqa: PLC0415 - only pages need Flask

    flask = flask_app.create(groups, base_path, listing)
    for name in flask.jinja_env.list_templates():
        flask.jinja_env.get_template(name)
    return partial(wsgi_bridge.respond, flask)


def _is_page(exchange: RequestContext, path: str, groups: Sequence[PageGroup]) -> bool:
    name = path.lstrip("/")  # as Flask's routing does
    if not name or path.startswith("/static/"):
        return True
    return "operations" not in groups and is_profile_address(exchange.world, name)


def _is_browsing(exchange: RequestContext) -> bool:
    """Tells whether a browser sent the request: only browsers name HTML in ``Accept``."""
    is_safe = exchange.method in _METHODS
    return is_safe and b"text/html" in exchange.headers.get(b"accept", b"")
