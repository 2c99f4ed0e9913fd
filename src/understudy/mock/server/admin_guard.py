"""Guards the admin API and the console, and serves the health check (``openapi/admin.yaml``).

Mocks had advisories for this even on localhost: a page in the developer's browser can reach what
listens there. So the guard lets in only this machine, under a name of this machine's, and nothing
that a browser sends for a page of another origin.
"""

from collections.abc import Mapping
from hmac import compare_digest

from understudy.errors import Forbidden, Problem, UnsupportedMediaType
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.credentials import bearer_token
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.hosts import host_name, is_local, origin_host
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.response_sending import problem_response
from understudy.mock.server.steps import Step

BASE_PATH = "/__admin"

CONSOLE_PATH = "/__console"
"""The path of the console: files without any data, which call the admin API."""

PRIVATE_PATHS = (BASE_PATH, CONSOLE_PATH)
"""Beginnings of the paths of the mock's own user, which no client of the service calls."""

HEALTH_PATH = f"{BASE_PATH}/health"

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
        if not path.startswith(PRIVATE_PATHS) or _is_health_check(context):
            return
        reasons = _reason_against_visit if path.startswith(CONSOLE_PATH) else reason_against
        reason = reasons(context.client, context.headers, token, hosts)
        if reason is not None:
            raise Forbidden(reason)
        if context.method in _WRITES and context.headers.get(b"content-length", b"0") != b"0":
            _expect_no_simple_type(context)

    return guard_admin


def _is_health_check(context: RequestContext) -> bool:
    """Returns True for ``GET /__admin/health``: it contains no secret, and health probes may be remote."""
    return context.path == HEALTH_PATH and context.method in {"GET", "HEAD"}


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


HANDLERS: Handlers = {("GET", "/health"): get_health}
