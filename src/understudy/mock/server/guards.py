"""Refuses what may not come in: foreign hosts, callers, origins and bodies that are too large.

Mocks had advisories for this even on localhost: a page in the developer's browser can reach what
listens there. So the admin API and the console let in only this machine, under a name of this
machine's, and nothing that a browser sends for a page of another origin.
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
    """Returns the step that refuses calls of the admin API that the mock's user did not make.

    Args:
        token: The token that lets in callers from other machines; None lets in no other machine.
        hosts: Host names that callers may use, beside loopback ones.
    """

    def guard_admin(context: RequestContext) -> None:
        path = context.path
        if not path.startswith(PRIVATE_PATHS) or _is_probe(context):
            return
        reasons = _reason_against_visit if path.startswith(CONSOLE_PATH) else reason_against
        reason = reasons(context.client, context.headers, token, hosts)
        if reason is not None:
            raise Forbidden(reason)
        has_body = (  # of chunks, no length is known yet (RFC 9112, 6.3)
            context.headers.get(b"content-length", b"0") != b"0"
            or b"transfer-encoding" in context.headers
        )
        if context.method in _WRITES and has_body:
            _expect_no_simple_type(context)

    return guard_admin


def _is_probe(context: RequestContext) -> bool:
    """Returns True for health and readiness: they contain no secret, and probes may be remote."""
    return context.path in {HEALTH_PATH, READY_PATH} and context.method in {"GET", "HEAD"}


def _is_known(headers: Mapping[bytes, bytes], token: str | None) -> bool:
    sent = bearer_token(headers.get(b"authorization", b""))
    if token is None or sent is None:
        return False
    return compare_digest(sent.encode("latin-1"), token.encode())


def _expect_no_simple_type(context: RequestContext) -> None:
    """Refuses bodies that a page may send anywhere without being asked (Fetch, simple requests)."""
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
    """Returns why a request may not steer the mock; None if it may.

    Args:
        client: Address of the caller.
        headers: The request's headers, their names in lower case.
        token: The token that lets in callers from other machines; None lets in no other machine.
        hosts: Host names that callers may use, beside loopback ones.
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

    A link of any page may lead to it, as its files are the same for everybody. With an admin token
    it is shown on other machines too: the page then asks for the token.
    """
    if is_local(client):
        return _reason_against_host(headers, hosts)
    return None if token else _reason_against_client(client, token)


def _reason_against_client(client: str, token: str | None) -> str | None:
    """Returns the reason against a caller that sends no valid token; None on this machine."""
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
    """Returns the reason against a host name that an attacker could choose; None if it is ours."""
    host = headers.get(b"host", b"").decode("latin-1")
    name = host_name(host)
    if is_local(name) or name in hosts:
        return None
    return (
        f"The Host {host!r} is not a loopback host name; call 127.0.0.1 or localhost, "
        f"or start the mock with --admin-host {name or 'NAME'}."
    )


def admin_error(problem: Problem) -> HandlerResponse:
    """Returns a refusal as problem+json: production could never say it."""
    title = type(problem).__name__
    return problem_response(problem.status, title, problem.message)._replace(
        headers=problem.headers
    )


def get_health(_call: Call) -> HandlerResponse:
    """Responds to ``GET /health``."""
    return HandlerResponse({"status": "healthy"})


def get_ready(call: Call) -> HandlerResponse:
    """Responds to ``GET /ready``, where what keeps the worlds can keep them."""
    if call.world.store is not None:
        call.world.store.expect_ready()
    return HandlerResponse({"status": "ready"})


HANDLERS: Handlers = {("GET", "/health"): get_health, ("GET", "/ready"): get_ready}


# A page of an attacker whose host name suddenly leads to 127.0.0.1 (DNS rebinding) is of the same
# origin as the mock's pages then, and could read tokens and secrets from them. A browser on this
# machine therefore gets them only under a loopback name, or under one that the mock was started with.

IsPage = Callable[[str], bool]
"""Tells whether a path, within its world, is a page and not an API's."""


def page_test(paths: Paths, apis: Sequence[Api]) -> IsPage:
    """Returns the test for pages: what no document declares, and what a document calls a page."""
    declared_pages = {api.base_path + path for api in apis for _, path in api.pages}
    prefixes = (PREFIX, *(f"{api.base_path}/" for api in apis if api.base_path))

    def is_page(path: str) -> bool:
        if path in declared_pages:
            return True
        return not path.startswith(prefixes) and paths.template(paths.based(path)) is None

    return is_page


def guarding_paths(prefixes: Sequence[str], hosts: frozenset[str]) -> Step | None:
    """Returns the step that guards paths of documents as pages are guarded; None: there are none.

    Args:
        prefixes: What the guarded paths start with.
        hosts: Host names that are the mock's, beside loopback ones.
    """
    guarded = tuple(prefixes)

    def guard_paths(context: RequestContext) -> None:
        if context.path.startswith(guarded):
            expect_own_host(context, hosts)

    return guard_paths if guarded else None


def expect_own_host(context: RequestContext, hosts: frozenset[str]) -> None:
    """Refuses a local browser that calls the mock by a name that is not the mock's.

    Raises:
        Forbidden: The Host header is neither a loopback name nor one of ``hosts``.
    """
    reason = _reason_against_host(context.headers, hosts) if is_local(context.client) else None
    if reason is not None:
        raise Forbidden(reason, code="host_not_allowed")


MOST_DRAINED_BYTES = 64 * 1024 * 1024
"""Bytes of an oversize body that are still read, so that the client gets the response and no reset."""


async def read_body(context: RequestContext, receive: Receive) -> None:
    """Reads the body into the context, if the headers announce one.

    Raises:
        LimitExceeded: It is too large or too slow.
        BadRequest: The client went away in the middle, or its transfer coding is not known.
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
    """Counts the fields of the query, and fields and bytes of a form, before anyone parses them.

    Raises:
        LimitExceeded: There are too many.
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
