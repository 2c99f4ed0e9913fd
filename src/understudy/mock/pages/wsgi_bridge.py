"""Runs the Flask application within a request, on the event loop.

Views change the world, and only code on the event loop is atomic, so they cannot run in the threads
of a WSGI server. Rendering takes a millisecond or two.
"""

import sys
from io import BytesIO
from typing import Any

from flask import Flask, current_app, g, request
from starlette.types import Send
from werkzeug.wrappers import Response

from understudy.mock.server.request_context import RequestContext
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import Person

_EXCHANGE = "understudy.exchange"


async def respond(flask: Flask, exchange: RequestContext, send: Send) -> None:
    """Sends the response of a Flask view."""
    response = Response.from_app(flask, _environ(exchange), buffered=True)
    headers = [(name.lower().encode(), text.encode("latin-1")) for name, text in response.headers]
    start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": response.get_data()})


def _environ(exchange: RequestContext) -> dict[str, Any]:
    """Returns the WSGI environment of a request (PEP 3333), where bytes are decoded as Latin-1.

    Links are built from ``site_url``; the Host header is left out, as Werkzeug may refuse it.
    """
    headers = {
        f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}": text.decode("latin-1")
        for name, text in exchange.headers.items()
        if name not in {b"content-length", b"content-type", b"host"}
    }
    return {
        **headers,
        "CONTENT_LENGTH": str(len(exchange.body)),
        "CONTENT_TYPE": exchange.headers.get(b"content-type", b"").decode("latin-1"),
        "PATH_INFO": exchange.path.encode().decode("latin-1"),
        "QUERY_STRING": exchange.query.decode("latin-1"),
        "REQUEST_METHOD": exchange.method,
        "SCRIPT_NAME": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.errors": sys.stderr,
        "wsgi.input": BytesIO(exchange.body),
        "wsgi.url_scheme": "http",
        "wsgi.version": (1, 0),
        "wsgi.multiprocess": False,
        "wsgi.multithread": False,
        "wsgi.run_once": False,
        _EXCHANGE: exchange,
    }


def exchange() -> RequestContext:
    """Returns the context of the current request."""
    context: RequestContext = request.environ[_EXCHANGE]
    return context


def address(path: str) -> str:
    """Returns the URL of a path of this site, within the current world."""
    return exchange().site_url + path


def resource_url() -> str:
    """Returns the URL of the resource API's site, without a trailing slash."""
    return exchange().resource_url


def authorization_url() -> str:
    """Returns the URL of the authorization server's site, without a trailing slash."""
    return exchange().authorization_url


def base_url() -> str:
    """Returns the base URL of the resource API."""
    return resource_url() + str(current_app.config["BASE_PATH"])


def avatar_url(person: Person, size: int) -> str:
    """Returns the URL of a person's avatar, at a size in pixels."""
    return address(f"/avatar/{email_hash(person.emails[0].email)}?s={size}")


def allow_form_redirect(origin: str) -> None:
    """Allows forms of this page to redirect to an origin (CSP ``form-action``)."""
    g.form_redirect_origin = origin
