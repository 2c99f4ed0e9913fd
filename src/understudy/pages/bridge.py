"""Runs Flask inside of an exchange, on the event loop.

Not in a WSGI server's threads: views change the world (who approved, which application there is),
and what runs on the loop is atomic. Rendering takes a millisecond or two.
"""

from io import BytesIO

from flask import Flask, current_app, g, request
from starlette.types import Send
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Response

from understudy.engine.exchange import Exchange
from understudy.records.hashing import email_hash
from understudy.records.people import Person

_EXCHANGE = "understudy.exchange"


async def respond(flask: Flask, exchange: Exchange, send: Send) -> None:
    """Answers an exchange by a view."""
    builder = EnvironBuilder(
        path=exchange.path,
        base_url=exchange.site_url,
        query_string=exchange.query.decode("latin-1"),
        method=exchange.method,
        headers=[(n.decode("latin-1"), v.decode("latin-1")) for n, v in exchange.headers.items()],
        input_stream=BytesIO(exchange.body),
        content_length=len(exchange.body),
    )
    environ = {**builder.get_environ(), _EXCHANGE: exchange}
    response = Response.from_app(flask, environ, buffered=True)
    headers = [(name.lower().encode(), text.encode("latin-1")) for name, text in response.headers]
    start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": response.get_data()})


def exchange() -> Exchange:
    """Returns the exchange that a view answers."""
    found: Exchange = request.environ[_EXCHANGE]
    return found


def address(path: str) -> str:
    """Returns where a path of this site lies: the one place that knows, so no link leaves it."""
    return exchange().site_url + path


def resource_url() -> str:
    """Returns where people's pages lie, at this address or the resource API's."""
    return exchange().resource_url


def base_url() -> str:
    """Returns where the resource API lies."""
    return resource_url() + str(current_app.config["BASE_PATH"])


def avatar_url(person: Person, size: int) -> str:
    """Returns where a person's avatar lies, at a size in pixels."""
    return address(f"/avatar/{email_hash(person.emails[0].email)}?s={size}")


def let_form_lead_to(origin: str) -> None:
    """Allows this page's form to be redirected to an origin: policies cover redirects as well."""
    g.onward = origin
