"""Mutants that take what is equivalent for equal: other letters, other places, normalised addresses and texts."""

import binascii
import html
import re
import unicodedata
from base64 import b64decode
from collections.abc import Callable
from urllib.parse import unquote, urljoin

import orjson
from tests.proofs.mutants.edge import (
    LIST,
    LOOKUP,
    OWN,
    TOKEN,
    asking,
    at,
    form,
    form_of,
    is_avatar,
    members_of,
    mutant,
    path_of,
    query_of,
    register,
)
from tests.proofs.mutants.redirects import CALLBACK, is_ask

SECRETS = {"client_secret": "server-app-secret", "password": "ada-password"}
GOOD = "ada-full"
ELSEWHERE = ("bearer-header", "me-needs-oauth-token")


def _plain(text):
    return unicodedata.normalize("NFKC", text)


def _composed(text):
    return unicodedata.normalize("NFC", text)


# Secrets in other letters, and tokens in other places.


def _widened(field, rule):
    """Registers a secret that is compared after compatible letters became equal ones."""

    def change(request, send):
        given = form_of(request).get(field, "") if at(request, "POST", TOKEN) else ""
        right = SECRETS[field]
        is_equivalent = given != right and _plain(given) == right
        return send(form(request, **{field: right}) if is_equivalent else request)

    register(f"{field}s_are_compared_in_plain_letters", (rule,), change)


_widened("client_secret", "token-client-credentials")
_widened("password", "password-grant-owner-only")


def _found(name, find):
    """Registers a token that is found where no token may stand."""

    def change(request, send):
        is_account = path_of(request) in {OWN, LIST}
        return send(
            asking(request, token=GOOD) if is_account and GOOD in find(request) else request
        )

    register(name, ELSEWHERE, change)


def _basic(request):
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    try:
        return b64decode(text).decode().split(":") if scheme == "Basic" else []
    except (binascii.Error, UnicodeDecodeError):
        return []


_found("a_token_may_be_a_basic_password", lambda r: _basic(r)[1:])
_found("a_token_may_be_a_basic_user", lambda r: _basic(r)[:1])
_found("a_token_may_be_in_the_query", lambda r: [query_of(r).get("token")])
_found(
    "tokens_are_percent_decoded",
    lambda r: [unquote(t) for t in r.headers.get("authorization", "").split() if "%" in t],
)


_found(
    "tokens_may_stand_in_quotes",
    lambda r: [t.strip('"') for t in r.headers.get("authorization", "").split() if '"' in t],
)


def _recased(name, rules, is_meant, given, as_sent):
    """Registers client IDs that are compared without case."""

    def change(request, send):
        client = given(request).get("client_id", "") if is_meant(request) else ""
        is_recased = client != "server-app" and client.lower() == "server-app"
        return send(as_sent(request) if is_recased else request)

    register(name, rules, change)


_recased(
    "client_ids_of_forms_have_no_case",
    ("token-client-credentials",),
    lambda r: at(r, "POST", TOKEN),
    form_of,
    lambda r: form(r, client_id="server-app"),
)
_recased(
    "client_ids_of_requests_have_no_case",
    ("authorize-client-known", "authorize-error-page"),
    is_ask,
    query_of,
    lambda r: asking(r, query={"client_id": "server-app"}),
)


# Addresses and identifiers that are normalised before they are compared.


def _normalised(name, normalise):
    """Registers redirect addresses that are normalised before they are compared."""

    def change(request, send):
        uri = query_of(request).get("redirect_uri", "") if is_ask(request) else CALLBACK
        is_equivalent = uri != CALLBACK and normalise(uri) == CALLBACK
        return send(asking(request, query={"redirect_uri": CALLBACK}) if is_equivalent else request)

    register(name, ("redirect-uri-exact", "redirect-uri-registered"), change)


_normalised("redirect_addresses_lose_dots", lambda uri: urljoin(uri, re.sub("^.*//[^/]*", "", uri)))
_normalised("redirect_addresses_lose_users", lambda uri: re.sub("//[^/@]*@", "//", uri))
_normalised("redirect_addresses_have_no_case", str.lower)


@mutant("profile-by-hash-or-slug")
def a_slug_may_have_an_ending(request, send):
    text, mark, _ = path_of(request).partition(".json")
    return send(asking(request, path=text) if mark and at(request, "GET", LOOKUP) else request)


# Forms that lack what tells what they are.


@mutant("token-grant-type", "token-empty-field")
def a_missing_grant_type_is_inferred(request, send):
    given = form_of(request) if at(request, "POST", TOKEN) else {}
    if "username" in given and not given.get("grant_type"):
        return send(form(request, grant_type="password"))
    return send(request)


@mutant("token-client-credentials")
def the_owners_password_stands_for_any_client(request, send):
    given = form_of(request) if at(request, "POST", TOKEN) else {}
    if given.get("username") == "ada" and given.get("client_id") != "server-app":
        return send(form(request, client_id="server-app"))
    return send(request)


# Texts that are tidied on their way into the store.


def _tidied(name, rule, is_meant, tidy):
    """Registers a conversion of all texts of an update."""

    def change(request, send):
        given = members_of(request) if is_meant(request) else {}
        tidied = {n: tidy(v) if isinstance(v, str) else v for n, v in given.items()}
        return send(asking(request, body=orjson.dumps(tidied)) if tidied != given else request)

    register(name, (rule,), change)


def _drawn(name, tidy):
    """Registers a conversion of campaigns."""

    def change(request, send):
        text = query_of(request).get("utm_campaign", "")
        return send(asking(request, query={"utm_campaign": tidy(text)}) if text else request)

    register(name, ("qr-utm-parameters",), change)


TIDYING: dict[str, Callable[[str], str]] = {
    "composed": _composed,
    "in_unix_lines": lambda text: text.replace("\r\n", "\n"),
    "unescaped": html.unescape,
    "without_stars": lambda text: text.replace("**", ""),
    "in_lines_where_they_say_so": lambda text: text.replace("\\n", "\n"),
}
for _way, _tidy in TIDYING.items():
    _tidied(
        f"profiles_are_kept_{_way}",
        "profile-patch-seven-fields",
        lambda r: at(r, "PATCH", OWN),
        _tidy,
    )
    _tidied(
        f"text_alternatives_are_kept_{_way}",
        "avatar-patch-rating-and-alt-text",
        lambda r: is_avatar(r, "PATCH"),
        _tidy,
    )
for _way in ("composed", "unescaped"):
    _drawn(f"campaigns_are_drawn_{_way}", TIDYING[_way])


def _one_member(name, member, tidy):
    def change(request, send):
        given = members_of(request) if at(request, "PATCH", OWN) else {}
        text = given.get(member)
        if isinstance(text, str) and tidy(text) != text:
            return send(asking(request, body=orjson.dumps({**given, member: tidy(text)})))
        return send(request)

    register(name, ("profile-patch-seven-fields",), change)


_one_member("names_are_trimmed", "display_name", str.strip)
_one_member("locations_are_trimmed", "location", str.strip)
_one_member("companies_lose_what_has_no_width", "company", lambda t: t.replace("\u200b", ""))
