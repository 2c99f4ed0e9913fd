"""Runs Flask inside of an exchange, on the event loop.

Not in a WSGI server's threads: views change the world (who approved, which application there is),
and what runs on the loop is atomic. Rendering takes a millisecond or two.
"""

import sys
from io import BytesIO
from typing import Any

from flask import Flask, current_app, g, request
from starlette.types import Send
from werkzeug.wrappers import Response

from understudy.mock.engine.request_context import RequestContext
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import Person

_EXCHANGE = "understudy.exchange"


async def respond(flask: Flask, exchange: RequestContext, send: Send) -> None:
    """Answers an exchange by a view."""
    response = Response.from_app(flask, _environ(exchange), buffered=True)
    headers = [(name.lower().encode(), text.encode("latin-1")) for name, text in response.headers]
    start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": response.get_data()})


def _environ(exchange: RequestContext) -> dict[str, Any]:
    """Returns what WSGI knows of a request (PEP 3333): bytes stand in it as Latin-1.

    The host is left out, as links are made of ``site_url``; so no Host header can fail us here.
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
    """Returns the exchange that a view answers."""
    found: RequestContext = request.environ[_EXCHANGE]
    return found


def address(path: str) -> str:
    """Returns where a path of this site lies: the one place that knows, so no link leaves it."""
    return exchange().site_url + path


def resource_url() -> str:
    """Returns where people's pages lie, at this address or the resource API's."""
    return exchange().resource_url


def authorization_url() -> str:
    """Returns where people sign in, at this address or the authorization server's."""
    return exchange().authorization_url


def base_url() -> str:
    """Returns where the resource API lies."""
    return resource_url() + str(current_app.config["BASE_PATH"])


def avatar_url(person: Person, size: int) -> str:
    """Returns where a person's avatar lies, at a size in pixels."""
    return address(f"/avatar/{email_hash(person.emails[0].email)}?s={size}")


def let_form_lead_to(origin: str) -> None:
    """Allows this page's form to be redirected to an origin: policies cover redirects as well."""
    g.onward = origin
