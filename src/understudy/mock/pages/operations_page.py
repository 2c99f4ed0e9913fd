"""Shows the start page of another service's document: its operations, and credentials that work."""

from flask import Blueprint, current_app, render_template

from understudy.mock.fixtures.curl_examples import sample_credentials
from understudy.mock.pages.wsgi_bridge import base_url, exchange
from understudy.mock.server.hosts import is_local
from understudy.mock.server.listing import ANY_CREDENTIALS, Listing, SampleCredentials

SHOWN = 200
"""Operations on the page; a document may have thousands."""

HIDDEN = SampleCredentials("TOKEN", "NAME:PASSWORD")
"""The placeholders that other machines see: a token lets anybody in who reads it."""

blueprint = Blueprint("operations", __name__)


@blueprint.get("/")
def operations() -> str:
    """Shows every operation as a command, and the security schemes."""
    listing: Listing = current_app.config["LISTING"]
    credentials = ANY_CREDENTIALS
    if listing.are_credentials_checked:
        is_open = is_local(exchange().client)
        credentials = (
            sample_credentials(exchange().world, exchange().started) if is_open else HIDDEN
        )
    listed = listing.operations(base_url(), credentials)
    return render_template(
        "operations.html",
        operations=listed[:SHOWN],
        operations_count=len(listed),
        schemes=listing.schemes(credentials),
    )
