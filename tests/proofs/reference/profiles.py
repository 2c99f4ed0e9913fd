"""Profiles: the public lookup, the owner's own, and whether an e-mail is theirs."""

from html import escape
from http import HTTPStatus
from typing import NoReturn

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from tests.proofs.reference import bearer, bodies
from tests.proofs.reference.records import AccessToken, Json, Scope
from tests.proofs.reference.refusals import Refused, refuse, refuse_missing
from tests.proofs.reference.service import Addresses, chose, number, service
from tests.proofs.reference.state import Shown

EDITABLE = (
    "display_name",
    "description",
    "pronunciation",
    "pronouns",
    "location",
    "job_title",
    "company",
)
PUBLIC_VERIFIED_ACCOUNTS = 4

profiles = Blueprint("profiles", __name__, url_prefix="/v3")
pages = Blueprint("pages", __name__)


@profiles.get("/profiles/<identifier>")
def lookup(identifier: str) -> ResponseReturnValue:
    """Shows a person: everything to whoever brings a token, the public part to others."""
    shown = found(identifier)
    is_unknown = shown is None or shown.account.is_disabled
    if is_unknown and chose("invalid-token-precedence", "profile"):
        _refuse_unknown(identifier)
    caller = bearer.optional()
    if shown is None or is_unknown:
        _refuse_unknown(identifier)
    _check_visible(shown, caller, identifier)
    body = full(shown) if caller else public(shown, service().addresses)
    # what a token sees must not be kept for those who have none (RFC 9111, 4.1)
    return dict(body), {"Vary": "Authorization"}


@profiles.get("/me/profile")
def own() -> ResponseReturnValue:
    """Shows callers their own profile, as any token sees it."""
    token = bearer.required(Scope.READ, "own-profile-scope")
    shown = service().state.shown(token.user_id)
    if shown.account.is_disabled:
        refuse_missing("The profile is disabled.", switch="disabled-profile-error")
    return dict(full(shown))


@profiles.patch("/me/profile")
def edit() -> ResponseReturnValue:
    """Changes the fields that were sent; an empty string unsets one."""
    token = bearer.required(Scope.MANAGE, before=_texts)
    texts = _texts()
    for name, text in texts.items():
        longest = number(f"{name.replace('_', '-')}-longest", len(text))
        if len(text) > longest:
            refuse(f"{name} has {len(text)} characters; {longest} are the most.")
    return dict(full(service().state.edit(token.user_id, texts, service().clock())))


def _texts() -> dict[str, str]:
    return bodies.strings(EDITABLE, is_open=chose("unknown-profile-members", "ignore"))


@profiles.get("/me/associated-email")
def associated_email() -> ResponseReturnValue:
    """Tells callers whether the hash is of an e-mail of theirs."""
    token = bearer.required(Scope.READ, "associated-email-scope")
    email_hash = request.args.get("email_hash")
    if email_hash is None:
        refuse("The query lacks email_hash.")
    return {"associated": service().state.owns_email(token.user_id, email_hash)}


@pages.get("/<slug>")
def page(slug: str) -> ResponseReturnValue:
    """Shows the page that ``profile_url`` leads to."""
    shown = service().state.named(slug)
    if shown is None or shown.account.is_private or shown.account.is_disabled:
        refuse_missing(f"There is no profile for {slug!r}.")
    name = escape(shown.account.texts["display_name"] or shown.account.slug)
    return Response(f"<!doctype html><title>{name}</title><h1>{name}</h1>", mimetype="text/html")


def found(identifier: str) -> Shown | None:
    """Finds a person by what a path names them with."""
    shown = service().state.named(identifier)
    if shown is None and chose("email-hashes", "md5-too"):
        return service().state.with_md5(identifier)
    return shown


def _check_visible(shown: Shown, caller: bearer.Credential, identifier: str) -> None:
    """Keeps a private profile for its owner.

    Raises:
        Refused: Somebody else asks.
    """
    is_owner = isinstance(caller, AccessToken) and caller.user_id == shown.account.user_id
    if not shown.account.is_private or is_owner:
        return
    if chose("private-profile-lookup", "403"):
        message = "The profile is private."
        raise Refused(HTTPStatus.FORBIDDEN, "private", message, switch="private-profile-error")
    _refuse_unknown(identifier)


def _refuse_unknown(identifier: str) -> NoReturn:
    refuse_missing(f"There is no profile for {identifier!r}.", switch="unknown-profile-error")


def profile_url(shown: Shown, addresses: Addresses) -> str:
    """Returns the address of a person's page."""
    return f"{addresses.site}/{shown.account.slug}"


def public(shown: Shown, addresses: Addresses) -> Json:
    """Returns what anybody sees (interface, Profile)."""
    account, avatar = shown
    visible = [v for v in account.verified_accounts if not v["is_hidden"]]
    return {
        "hash": account.hashes[0],
        **account.texts,
        "profile_url": profile_url(shown, addresses),
        "avatar_url": f"{addresses.site}/avatar/{avatar.image_id}" if avatar else "",
        "avatar_alt_text": avatar.alt_text if avatar else "",
        "verified_accounts": visible[:PUBLIC_VERIFIED_ACCOUNTS],
        **account.public,
    }


def full(shown: Shown) -> Json:
    """Returns what any bearer token sees."""
    account = shown.account
    contact = {} if account.contact_info is None else {"contact_info": account.contact_info}
    return {
        **public(shown, service().addresses),
        **account.private,
        **contact,
        "verified_accounts": account.verified_accounts,
        "number_verified_accounts": len(account.verified_accounts),
        "last_profile_edit": account.edited and account.edited.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "registration_date": account.registered.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
