"""The public pages: front pages of the resource API's site, and profile pages."""

from itertools import islice

from flask import Blueprint, abort, current_app, redirect, render_template
from werkzeug.wrappers import Response as Redirect

from understudy.mock.fixtures.listing import curl_lines, sample_credentials
from understudy.mock.pages import public_profile
from understudy.mock.pages.wsgi_bridge import address, base_url, exchange
from understudy.mock.server.hosts import is_local
from understudy.mock.server.listing import ANY_CREDENTIALS, Listing, SampleCredentials
from understudy.mock.server.worlds import World
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.tokens import TOKENS, is_valid

SHOWN = 100
"""Most people and tokens on the front page; a fixtures directory may have a hundred thousand."""

blueprint = Blueprint("people", __name__)


@blueprint.get("/")
def front_page() -> str:
    """Shows the addresses of the mock, its people and its tokens."""
    world, now = exchange().world, exchange().started
    is_open = is_local(exchange().client)  # other machines must not see valid tokens
    records = world.items(TOKENS) if is_open else ()
    tokens = [(token, is_valid(token, now)) for _, token in records]
    valid = [token for token, valid in tokens if valid]
    return render_template(
        "front.html",
        lines=curl_lines(base_url(), world, valid),
        people=[person for _, person in islice(world.items(PEOPLE), SHOWN)],
        people_count=world.count(PEOPLE),
        tokens=tokens[:SHOWN],
        tokens_count=len(tokens),
        tokens_are_shown=is_open,
    )


def _onward(world: World, name: str) -> str | None:
    """Returns where an e-mail hash, a QR code's path or ``/profile`` redirects; None for others."""
    identifier = name.removesuffix(public_profile.QR_ENDING)
    slug = public_profile.slug_of(world, identifier)
    if identifier != name:
        query = exchange().query.decode("latin-1")
        return (
            None if slug is None else f"{base_url()}/qr-code/{identifier}{'?' * bool(query)}{query}"
        )
    if slug is not None:
        return address(f"/{slug}")
    return address("/#people") if name == public_profile.OWN else None


@blueprint.get("/<slug>")
def profile_page(slug: str) -> str | Redirect:
    """Shows the public profile of a person."""
    world = exchange().world
    person = public_profile.find_visible(world, slug)
    if person is None:
        onward = _onward(world, slug)
        if onward is None:
            abort(404)
        return redirect(onward)
    if person.visibility == "private":
        abort(
            403,
            f"{slug} keeps this profile private; only its owner can look it up, with an access token.",
        )
    return render_template(
        "profile.html",
        person=person,
        profile=person.profile,
        accounts=public_profile.shown_accounts(person.profile),
        avatar_alt=public_profile.avatar_alt(person),
        backdrop=public_profile.backdrop(person.profile, address("/image")),
        language=public_profile.language(person.profile),
    )


# The front page for another service's document: its operations, with valid credentials.

SHOWN_OPERATIONS = 200
"""Most operations on the page; a document may have thousands."""

HIDDEN = SampleCredentials("TOKEN", "NAME:PASSWORD")
"""Placeholders for clients on other machines, which must not see valid credentials."""

operations_blueprint = Blueprint("operations", __name__)


@operations_blueprint.get("/")
def operations() -> str:
    """Shows every operation as a command, and the security schemes."""
    listing: Listing = current_app.config["LISTING"]
    credentials = ANY_CREDENTIALS
    if listing.are_credentials_checked:
        is_open = is_local(exchange().client)
        credentials = (
            sample_credentials(exchange().world, exchange().started) if is_open else HIDDEN
        )
    return render_template(
        "operations.html",
        operations=list(islice(listing.operations(base_url(), credentials), SHOWN_OPERATIONS)),
        operations_count=len(listing.endpoints),
        schemes=listing.schemes(credentials),
    )
