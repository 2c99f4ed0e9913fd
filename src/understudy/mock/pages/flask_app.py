"""The Flask application of one address: the pages it shows, and what holds for all of them."""

from collections.abc import Mapping, Sequence
from typing import Final

from flask import Blueprint, Flask, Response, g, render_template
from jinja2 import StrictUndefined
from werkzeug.exceptions import HTTPException

from understudy.mock.pages import dashboard, public_pages, public_profile, sign_in
from understudy.mock.pages.page_groups import Part
from understudy.mock.pages.wsgi_bridge import (
    address,
    authorization_url,
    avatar_url,
    base_url,
    exchange,
    resource_url,
)

STATIC_PATH = "/static"

BLUEPRINTS: Final[Mapping[Part, Sequence[Blueprint]]] = {
    "people": (public_pages.blueprint,),
    "authorization": (sign_in.blueprint, dashboard.blueprint),
}

_POLICY: Final = (
    "default-src 'none'; img-src 'self'; script-src 'self'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; "  # the backdrop of a profile
    "base-uri 'none'; form-action 'self'{onward}; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Cache-Control": "no-store",  # the world changes between two looks
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def create(parts: Sequence[Part], base_path: str, auto_approve: str | None = None) -> Flask:
    """Returns the application of one address.

    Args:
        parts: What it shows.
        base_path: Where the resource API lies, at this address or its own.
        auto_approve: Slug of who approves every authorization at once.
    """
    flask = Flask(__package__ or "", static_url_path=STATIC_PATH)
    flask.config.update(
        AUTO_APPROVE=auto_approve,
        BASE_PATH=base_path,
        PROPAGATE_EXCEPTIONS=True,  # a failure of ours is for the engine to log and to answer
    )
    flask.url_map.merge_slashes = False  # by a redirect, which would lead out of the world
    flask.jinja_options = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    flask.jinja_env.globals.update(
        address=address,
        authorization_url=authorization_url,
        avatar_url=avatar_url,
        base_url=base_url,
        resource_url=resource_url,
    )
    flask.jinja_env.tests["web_address"] = public_profile.is_web_address
    for part in parts:
        for blueprint in BLUEPRINTS[part]:
            flask.register_blueprint(blueprint)
    flask.register_error_handler(HTTPException, _refusal)
    flask.after_request(_with_headers)
    return flask


def _refusal(error: HTTPException) -> tuple[str, int, Sequence[tuple[str, str]]]:
    page = render_template("refusal.html", error=error, path=exchange().path)
    headers = [pair for pair in error.get_headers() if pair[0] != "Content-Type"]  # Allow and such
    return page, error.code or 500, headers


def _with_headers(response: Response) -> Response:
    onward = f" {g.onward}" if "onward" in g else ""
    response.headers["Content-Security-Policy"] = _POLICY.format(onward=onward)
    for name, text in _HEADERS.items():
        response.headers.setdefault(name, text)
    return response
