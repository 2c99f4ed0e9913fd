"""The Flask application behind the pages. Its views read the world and change nothing in it."""

from collections.abc import Iterable
from typing import Any

from asgiref.wsgi import WsgiToAsgi
from flask import Flask, Response, abort, current_app, render_template, request
from jinja2 import StrictUndefined
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from werkzeug.exceptions import HTTPException

from understudy.engine.exchange import Exchange, exchange_of
from understudy.pages import profile
from understudy.records.hashing import email_hash
from understudy.records.people import PEOPLE, Person
from understudy.records.tokens import TOKENS, is_valid
from understudy.records.tour import curl_lines

SHOWN = 100
"""People and tokens on the front page; a directory may hold a hundred thousand."""

_EXCHANGE = "understudy.exchange"
_HEADERS = {
    "Cache-Control": "no-store",  # the world changes between two looks
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self'; script-src 'self'; style-src 'self'; "
        "style-src-attr 'unsafe-inline'; "  # the backdrop of a profile
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def create(base_path: str, static_path: str) -> ASGIApp:
    """Returns the application; it takes scopes that belong to an exchange.

    Args:
        base_path: Where the API lies, for the addresses on the pages.
        static_path: Where the style sheet lies.
    """
    flask = Flask(__package__ or "", static_url_path=static_path)
    flask.config.update(
        BASE_PATH=base_path,
        PROPAGATE_EXCEPTIONS=True,  # a failure of ours is for the engine to log and to answer
    )
    flask.url_map.merge_slashes = False  # by a redirect, which would lead out of the world
    flask.jinja_options = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    flask.jinja_env.globals.update(address=_address, avatar_url=_avatar_url, base_url=_base_url)
    flask.jinja_env.tests["web_address"] = profile.is_web_address
    flask.add_url_rule("/", view_func=_front_page)
    flask.add_url_rule("/<slug>", view_func=_profile_page)
    flask.register_error_handler(HTTPException, _refusal)
    flask.after_request(_with_headers)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        answer: list[Message] = []

        async def keep(message: Message) -> None:
            answer.append(message)

        def with_exchange(environ: dict[str, Any], start_response: Any) -> list[bytes]:
            return _whole(flask({**environ, _EXCHANGE: exchange_of(scope)}, start_response))

        bridge: ASGIApp = WsgiToAsgi(with_exchange)  # type: ignore[no-untyped-call]  # asgiref's
        await bridge(scope, receive, keep)
        # Sent only now: asgiref has one thread, which would wait for slow clients, and uvicorn
        # starts the next request of a connection inside of send, where asgiref's state is stale.
        for message in answer:
            await send(message)

    return application


def _whole(parts: Iterable[bytes]) -> list[bytes]:
    """Returns all the parts of a body, and closes it as PEP 3333 asks; asgiref does not."""
    try:
        return list(parts)
    finally:
        if hasattr(parts, "close"):
            parts.close()


def _front_page() -> str:
    world = _exchange().world
    people = [person for _, person in world.items(PEOPLE)]
    tokens = [(token, is_valid(token, _exchange().started)) for _, token in world.items(TOKENS)]
    valid = [token for token, counts in tokens if counts]
    return render_template(
        "front.html",
        lines=curl_lines(_base_url(), people, valid),
        people=people[:SHOWN],
        people_count=len(people),
        tokens=tokens[:SHOWN],
        tokens_count=len(tokens),
    )


def _profile_page(slug: str) -> str:
    person = profile.find(_exchange().world, slug)
    if person is None:
        abort(404)
    if person.visibility == "private":
        abort(403, f"{slug} keeps this profile private. Only its owner sees it, with a token.")
    return render_template(
        "profile.html",
        person=person,
        profile=person.profile,
        accounts=profile.shown_accounts(person.profile),
        avatar_alt=profile.avatar_alt(person),
        backdrop=profile.backdrop(person.profile, _address("/image")),
        language=profile.language(person.profile),
    )


def _refusal(error: HTTPException) -> tuple[str, int]:
    return render_template("refusal.html", error=error, path=_exchange().path), error.code or 500


def _with_headers(response: Response) -> Response:
    for name, text in _HEADERS.items():
        response.headers.setdefault(name, text)
    return response


def _exchange() -> Exchange:
    found: Exchange = request.environ[_EXCHANGE]
    return found


def _address(path: str) -> str:
    """Returns where a path of this site lies: the one place that knows, so no link leaves it."""
    return _exchange().site_url + path


def _base_url() -> str:
    return _address(current_app.config["BASE_PATH"])


def _avatar_url(person: Person, size: int) -> str:
    return _address(f"/avatar/{email_hash(person.emails[0].email)}?s={size}")
