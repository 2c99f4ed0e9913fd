"""Creates the Flask application of one site, with the headers and error pages of all its pages."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, Flask, Response, g, render_template
from jinja2 import StrictUndefined
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from understudy.mock.pages import dashboard, public_pages, public_profile, sign_in
from understudy.mock.pages.page_groups import PageGroup
from understudy.mock.pages.wsgi_bridge import (
    address,
    authorization_url,
    avatar_url,
    base_url,
    exchange,
    resource_url,
)
from understudy.mock.server.listing import Listing
from understudy.mock.server.response_sending import PAGE_HEADERS, content_policy

BLUEPRINTS: Final[Mapping[PageGroup, Sequence[Blueprint]]] = {
    "people": (public_pages.blueprint,),
    "operations": (public_pages.operations_blueprint,),
    "authorization": (sign_in.blueprint, dashboard.blueprint),
}


class PageResponse(Response):
    """A response that sends ``Location`` unchanged, as a redirect URI is compared exactly."""

    def get_wsgi_headers(self, environ: Any) -> Headers:
        """Returns the headers; Werkzeug would normalise ``Location``, or fail to parse its host."""
        location = self.headers.pop("Location", None)
        headers = super().get_wsgi_headers(environ)
        if location is not None:
            headers["Location"] = location
        return headers


def create(
    groups: Sequence[PageGroup],
    base_path: str,
    listing: Listing | None = None,
) -> Flask:
    """Creates the application of one site.

    Args:
        groups: The groups of pages that the site shows.
        base_path: Base path of the resource API, on this site or a separate one.
        listing: The operations of another service's document; None for the bundled one.
    """
    flask = Flask(__package__ or "", static_url_path="/static")
    flask.response_class = PageResponse
    flask.config.update(
        BASE_PATH=base_path,
        LISTING=listing,
        PROPAGATE_EXCEPTIONS=True,  # the engine logs internal errors and responds to them
    )
    flask.url_map.merge_slashes = False  # a redirect to merge them would lose the world's prefix
    flask.jinja_options = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    flask.jinja_env.globals.update(
        address=address,
        authorization_url=authorization_url,
        avatar_url=avatar_url,
        base_url=base_url,
        listing=listing,
        resource_url=resource_url,
    )
    flask.jinja_env.tests["web_address"] = public_profile.is_web_address
    for group in groups:
        for blueprint in BLUEPRINTS[group]:
            flask.register_blueprint(blueprint)
    flask.register_error_handler(HTTPException, _error_page)
    flask.after_request(_with_headers)
    return flask


def _error_page(error: HTTPException) -> tuple[str, int, Sequence[tuple[str, str]]]:
    page = render_template("error.html", error=error, path=exchange().path)
    # keeps headers such as Allow
    headers = [pair for pair in error.get_headers() if pair[0] != "Content-Type"]
    return page, error.code or 500, headers


def _with_headers(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = content_policy(g.get("form_redirect_origin", ""))
    for name, text in PAGE_HEADERS:
        response.headers.setdefault(name, text)
    return response
