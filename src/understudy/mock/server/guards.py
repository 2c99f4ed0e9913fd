"""Refuses foreign hosts, callers and origins, and bodies that are too large; sends CORS headers.

Other mocks had security advisories even on localhost, since a page in the developer's browser can reach
local ports. So the admin API and the console accept calls only from this machine, under a loopback
host name, and none that a browser sends for a page of another origin.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from hmac import compare_digest

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import BadRequest, Forbidden, NotFound, Problem, UnsupportedMediaType
from understudy.limits import BODY_BYTES, BODY_SECONDS, FORM_BYTES, FORM_FIELDS
from understudy.mock.server.api import Api
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.server.hosts import (
    CONSOLE_PATH,
    HEALTH_PATH,
    PRIVATE_PATHS,
    READY_PATH,
    host_name,
    is_local,
    origin_host,
)
from understudy.mock.server.request_context import RequestContext, Step, context_of
from understudy.mock.server.response_sending import problem_response
from understudy.mock.server.security import bearer_token
from understudy.mock.server.worlds import PREFIX
from understudy.openapi.paths import Paths

_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_TYPES = frozenset({b"application/json", b"application/zip"})


def guarding(token: str | None = None, hosts: frozenset[str] = frozenset()) -> Step:
    """Returns the step that protects the admin API and the console from other machines and pages.

    Args:
        token: Admin token that callers from other machines must send; None refuses them all.
        hosts: Host names that callers may use, besides loopback ones.
    """

    def guard_admin(context: RequestContext) -> None:
        path = context.path
        if not path.startswith(PRIVATE_PATHS) or _is_probe(context):
            return
        reasons = _reason_against_visit if path.startswith(CONSOLE_PATH) else reason_against
        reason = reasons(context.client, context.headers, token, hosts)
        if reason is not None:
            raise Forbidden(reason)
        has_body = (  # a chunked body has no Content-Length (RFC 9112, 6.3)
            context.headers.get(b"content-length", b"0") != b"0"
            or b"transfer-encoding" in context.headers
        )
        if context.method in _WRITES and has_body:
            _expect_no_simple_type(context)

    return guard_admin


def _is_probe(context: RequestContext) -> bool:
    """Tells whether a request is a health or readiness probe: these are open, and have no secrets."""
    return context.path in {HEALTH_PATH, READY_PATH} and context.method in {"GET", "HEAD"}


def _is_known(headers: Mapping[bytes, bytes], token: str | None) -> bool:
    sent = bearer_token(headers.get(b"authorization", b""))
    if token is None or sent is None:
        return False
    return compare_digest(sent.encode("latin-1"), token.encode())


def _expect_no_simple_type(context: RequestContext) -> None:
    """Refuses bodies that a page may send to any origin without a preflight (Fetch, simple requests)."""
    kind = context.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind not in _TYPES:
        msg = (
            f"A body of type {kind.decode('latin-1')!r} is not taken here; "
            "send it with Content-Type: application/json."
        )
        raise UnsupportedMediaType(msg)


def reason_against(
    client: str, headers: Mapping[bytes, bytes], token: str | None, hosts: frozenset[str]
) -> str | None:
    """Returns why a request may not use the admin API; None if it may.

    Args:
        client: IP address of the caller.
        headers: Headers of the request, with names in lower case.
        token: Admin token that callers from other machines must send; None refuses them all.
        hosts: Host names that callers may use, besides loopback ones.
    """
    if _is_known(headers, token):
        return None
    reason = _reason_against_client(client, token) or _reason_against_host(headers, hosts)
    if reason is not None:
        return reason
    host = headers.get(b"host", b"").decode("latin-1").lower()
    origin = headers.get(b"origin")
    if origin is not None and origin_host(origin.decode("latin-1")) != host:
        return "The admin API takes nothing from a page of another origin."
    site = headers.get(b"sec-fetch-site", b"none")
    if site not in {b"none", b"same-origin"}:
        return "The admin API takes nothing from a page of another site."
    return None


def _reason_against_visit(
    client: str, headers: Mapping[bytes, bytes], token: str | None, hosts: frozenset[str]
) -> str | None:
    """Returns why the console is not shown; None if it is.

    Any page may link to the console, as its files are static and public. With an admin token it is shown
    on other machines too, where the page asks for the token.
    """
    if is_local(client):
        return _reason_against_host(headers, hosts)
    return None if token else _reason_against_client(client, token)


def _reason_against_client(client: str, token: str | None) -> str | None:
    """Returns why a caller without a valid token is refused; None for a caller on this machine."""
    if is_local(client):
        return None
    if token:
        return (
            "The admin API answers callers on this machine only; others send its token: "
            "Authorization: Bearer, and what the mock showed when it started."
        )
    return (
        "The admin API answers callers on this machine only; serve --admin-token TOKEN "
        "lets in others who send it."
    )


def _reason_against_host(headers: Mapping[bytes, bytes], hosts: frozenset[str]) -> str | None:
    """Returns why a Host header is refused: an attacker may own that name; None for an allowed one."""
    host = headers.get(b"host", b"").decode("latin-1")
    name = host_name(host)
    if is_local(name) or name in hosts:
        return None
    return (
        f"The Host {host!r} is not a loopback host name; call 127.0.0.1 or localhost, "
        f"or start the mock with --admin-host {name or 'NAME'}."
    )


def admin_error(problem: Problem) -> HandlerResponse:
    """Returns a refusal by the admin API as problem+json."""
    title = type(problem).__name__
    return problem_response(problem.status, title, problem.message)._replace(
        headers=problem.headers
    )


def get_health(_call: Call) -> HandlerResponse:
    """Responds to ``GET /health``."""
    return HandlerResponse({"status": "healthy"})


def get_ready(call: Call) -> HandlerResponse:
    """Responds to ``GET /ready``; a store that cannot persist changes makes it fail."""
    if call.world.store is not None:
        call.world.store.expect_ready()
    return HandlerResponse({"status": "ready"})


HANDLERS: Handlers = {("GET", "/health"): get_health, ("GET", "/ready"): get_ready}


# An attacker's host name that suddenly resolves to 127.0.0.1 (DNS rebinding) gives the attacker's page
# the same origin as the mock's pages, with access to tokens and secrets in them. A browser on this machine
# therefore gets pages only under a loopback name, or under a name that the mock was started with.

IsPage = Callable[[str], bool]
"""Tells whether a path, without its world's prefix, is a page and not part of an API."""


def page_test(paths: Paths, apis: Sequence[Api]) -> IsPage:
    """Returns the test for pages: paths that no document declares, or declares as a page."""
    declared_pages = {api.base_path + path for api in apis for _, path in api.pages}
    prefixes = (PREFIX, *(f"{api.base_path}/" for api in apis if api.base_path))

    def is_page(path: str) -> bool:
        if path in declared_pages:
            return True
        return not path.startswith(prefixes) and paths.template(paths.based(path)) is None

    return is_page


def guarding_paths(prefixes: Sequence[str], hosts: frozenset[str]) -> Step | None:
    """Returns the step that guards paths of documents like pages; None without such paths."""
    guarded = tuple(prefixes)

    def guard_paths(context: RequestContext) -> None:
        if context.path.startswith(guarded):
            expect_own_host(context, hosts)

    return guard_paths if guarded else None


def expect_own_host(context: RequestContext, hosts: frozenset[str]) -> None:
    """Refuses a local browser that calls the mock by a foreign host name.

    Raises:
        Forbidden: The Host header is neither a loopback name nor one of ``hosts``.
    """
    reason = _reason_against_host(context.headers, hosts) if is_local(context.client) else None
    if reason is not None:
        raise Forbidden(reason, code="host_not_allowed")


MOST_DRAINED_BYTES = 64 * 1024 * 1024
"""Bytes of an oversize body that are still read: a client that sends on would see a reset instead of
the response."""


async def read_body(context: RequestContext, receive: Receive) -> None:
    """Reads the body into the context, if the headers announce one.

    Raises:
        LimitExceeded: The body is too large or too slow.
        BadRequest: The client disconnected before the end, or the transfer coding is unknown.
    """
    if b"content-length" in context.headers or b"transfer-encoding" in context.headers:
        _expect_readable_coding(context)
        context.body = await _read(receive)


def _expect_readable_coding(context: RequestContext) -> None:
    coding = context.headers.get(b"transfer-encoding", b"chunked").strip().lower()
    if coding != b"chunked":
        msg = f"Transfer-Encoding {coding.decode('latin-1')!r} is not read here; send chunked."
        raise BadRequest(msg, code="unknown_transfer_coding")


def expect_bounded_fields(context: RequestContext) -> None:
    """Limits the fields of the query, and fields and bytes of a form, before they are parsed.

    Raises:
        LimitExceeded: The query or the form has too many fields, or the form too many bytes.
    """
    if context.query:
        FORM_FIELDS.check(context.query.count(b"&"))
    if (
        len(context.body) > FORM_FIELDS.most
        and b"urlencoded" in context.headers.get(b"content-type", b"").lower()
    ):
        FORM_FIELDS.check(context.body.count(b"&"))
        FORM_BYTES.check(len(context.body))


async def _read(receive: Receive) -> bytes:
    try:
        async with asyncio.timeout(BODY_SECONDS.most):
            return await _read_bounded(receive)
    except TimeoutError:
        raise BODY_SECONDS.exceeded() from None


async def _read_bounded(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            msg = "The body ended before its announced length."
            raise BadRequest(msg, code="incomplete_body")
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= BODY_BYTES.most:
            chunks.append(chunk)
        if size > MOST_DRAINED_BYTES or not message.get("more_body"):
            break
    BODY_BYTES.check(size)
    return b"".join(chunks)


_CLOSED = (
    "a browser sent this for a page, which cannot read the answer: no cross-origin header here, "
    "as in production. Send it from a server."
)

_OPEN = ((b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"*"))


class Cors:
    """ASGI middleware that lets pages of any origin read responses of APIs.

    A 404 at a path outside the APIs may be read too, since its message suggests the right address.

    Args:
        app: Next layer.
        closed: Paths that get no cross-origin headers, with all paths below them.
        is_page: Tells which paths are pages, which no other origin may read.
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
        """Tells whether a path gets no cross-origin headers."""
        return any(path == here or path.startswith(f"{here}/") for here in self._closed)

    async def _respond_at_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Responds at a page's path: with cross-origin headers only for a 404."""
        context = context_of(scope)
        is_preflight = (
            context.method == "OPTIONS" and b"access-control-request-method" in context.headers
        )
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
