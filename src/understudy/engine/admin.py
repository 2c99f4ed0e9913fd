"""The admin API's own handlers, and the guard before all of it (``openapi/admin.yaml``).

Mocks had advisories for this even on localhost: a page in the developer's browser can reach what
listens there. So the guard lets in only this machine, under a name of this machine's, and nothing
that a browser sends for a page of another origin.
"""

import ipaddress
from urllib.parse import urlsplit

from understudy.engine.call import Answer, Call
from understudy.engine.exchange import Exchange
from understudy.engine.handlers import Handlers
from understudy.engine.sending import mock_problem
from understudy.errors import Forbidden, Problem

BASE_PATH = "/__admin"


def guard_admin(exchange: Exchange) -> None:
    """Refuses calls of the admin API that this machine's user did not make.

    Raises:
        Forbidden: It is one.
    """
    if exchange.path.startswith(BASE_PATH):
        fault = _fault(exchange)
        if fault is not None:
            raise Forbidden(fault)


def _fault(exchange: Exchange) -> str | None:
    host = exchange.headers.get(b"host", b"").decode("latin-1")
    if not _is_local(exchange.client):
        return "The admin API answers callers on this machine only."
    if not _is_local(urlsplit(f"//{host}").hostname or ""):
        return f"The Host {host!r} is no name of this machine; call 127.0.0.1 or localhost."
    origin = exchange.headers.get(b"origin")
    if origin is not None and urlsplit(origin.decode("latin-1")).netloc != host:
        return "The admin API takes nothing from a page of another origin."
    site = exchange.headers.get(b"sec-fetch-site", b"none")
    if site not in {b"none", b"same-origin"}:
        return "The admin API takes nothing from a page of another site."
    return None


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def admin_error(problem: Problem) -> Answer:
    """Returns a refusal as problem+json: production could never say it."""
    title = type(problem).__name__
    return mock_problem(problem.status, title, problem.message)._replace(headers=problem.headers)


def get_health(_call: Call) -> Answer:
    """Answers ``GET /health``."""
    return Answer({"status": "healthy"})


HANDLERS: Handlers = {("GET", "/health"): get_health}
