"""Mutants that compare, convert or keep carelessly: secrets, times, pictures, texts and caches."""

from collections.abc import Callable
from datetime import datetime, timedelta
from io import BytesIO
from urllib.parse import parse_qsl, urlsplit

import httpx
import orjson
from PIL import Image, ImageOps
from tests.proofs.mutants.edge import (
    INFO,
    LIST,
    LOOKUP,
    OWN,
    QR,
    TOKEN,
    answer,
    asking,
    at,
    editing,
    edits,
    form,
    form_of,
    is_avatar,
    is_profile,
    members_of,
    mutant,
    path_of,
    query_of,
    register,
    said,
    who,
)

from understudy.verify.rules.code_grant import VERIFIER

CALLER, SCOPE, FULL = "me-needs-oauth-token", "scope-per-operation", "authenticated-only-fields"
ASSOCIATED, INVALID = "/me/associated-email", "invalid-token-refused"
GOOD = "ada-full"


def _taken(name, rules, is_taken, is_meant, token=GOOD):
    """Registers tokens that are taken for another one."""

    def change(request, send):
        if is_meant(request) and is_taken(who(request)):
            return send(asking(request, token=token))
        return send(request)

    register(name, rules, change)


def _anything(_request):
    return True


def _is_change(request):
    return request.method != "GET" and path_of(request).startswith("/me/")


def _recased(token):
    return token != GOOD and token.lower() == GOOD


def _shortened(token):
    return len(token) > 4 and token != GOOD and GOOD.startswith(token)


def _lengthened(token):
    return token != GOOD and token.startswith(GOOD)


_taken("tokens_are_compared_without_case", (CALLER,), _recased, _anything)
_taken("tokens_are_compared_as_far_as_they_go", (CALLER,), _shortened, _anything)
_taken("tokens_are_cut_to_their_column", (CALLER,), _lengthened, _anything)
_taken("avatars_take_tokens_in_any_case", (CALLER,), _recased, lambda r: at(r, "GET", LIST))
_taken("changes_take_tokens_in_any_case", (CALLER,), _recased, lambda r: at(r, "PATCH", OWN))
_taken("addresses_take_longer_tokens", (CALLER,), _lengthened, lambda r: at(r, "GET", ASSOCIATED))
_taken("changes_take_shorter_tokens", (CALLER,), _shortened, lambda r: at(r, "PATCH", OWN))
_taken("lookups_take_tokens_in_any_case", (FULL, INVALID), _recased, lambda r: at(r, "GET", LOOKUP))
_taken(
    "lookups_take_expired_tokens",
    (FULL, INVALID),
    lambda token: token == "ada-expired",
    lambda r: at(r, "GET", LOOKUP),
)
_taken(
    "expired_tokens_ask_about_addresses",
    (CALLER,),
    lambda token: token == "ada-expired",
    lambda r: at(r, "GET", ASSOCIATED),
)
_taken(
    "expired_tokens_update", (CALLER,), lambda t: t == "ada-expired", lambda r: at(r, "PATCH", OWN)
)
_taken(
    "unknown_tokens_update",
    (CALLER,),
    lambda token: token == "understudy-wrong-token",
    lambda r: at(r, "PATCH", OWN),
)
_taken(
    "api_keys_ask_about_addresses",
    (CALLER,),
    lambda token: token == "ada-api-key",
    lambda r: at(r, "GET", ASSOCIATED),
)
_taken("signing_in_lets_update", (SCOPE,), lambda t: t == "ada-auth-only", _is_change)


def _validated(name, nearly: Callable[[str, str], bool]):
    """Registers token information of tokens that were never issued."""

    def change(request, send, issued):
        token = query_of(request).get("token", "")
        if not at(request, "GET", INFO):
            return send(request)
        for known in issued:
            if token != known and nearly(token, known):
                return send(asking(request, query={"token": known}))
        response = send(request)
        if response.status_code == 200:
            issued.append(token)
        return response

    register(name, ("token-info-foreign",), change, issued=list)


_validated("token_info_ignores_case", lambda token, known: token.lower() == known.lower())
_validated(
    "token_info_of_the_beginning", lambda token, known: bool(token) and known.startswith(token)
)
_validated("token_info_of_more_than_a_token", lambda token, known: token.startswith(known))


@mutant("password-grant-token-no-expiry", issued=list)
def a_newer_token_ends_the_older_one(request, send, issued):
    response = send(request)
    body = said(response)
    is_grant = at(request, "POST", TOKEN) and form_of(request).get("grant_type") == "password"
    if is_grant and response.status_code == 200:
        issued.append(body["access_token"])
    if who(request) in issued[:-1]:
        return httpx.Response(401, json={"error": "no"}, headers={"www-authenticate": "Bearer"})
    return response


def _ahead(text, hours):
    moment = datetime.fromisoformat(text) + timedelta(hours=hours)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _times(name, rule, member, is_meant, hours):
    """Registers local times that are labelled as those of UTC."""

    def edit(body):
        parts = body if isinstance(body, list) else [body]
        changed = [{**p, member: _ahead(p[member], hours)} if p.get(member) else p for p in parts]
        return changed if isinstance(body, list) else changed[0]

    change = editing(is_meant, edit)
    change.__name__ = name
    mutant(rule)(change)


EDIT = "last_profile_edit"
_times("edits_are_two_hours_ahead", "last-edit-utc", EDIT, lambda r: at(r, "PATCH", OWN), 2)
_times("edits_are_read_an_hour_ahead", "last-edit-utc", EDIT, is_profile, 1)
_times(
    "lists_are_two_hours_ahead", "avatar-members", "updated_date", lambda r: at(r, "GET", LIST), 2
)


def _is_picture(request):
    return "/image/" in str(request.url) or "/avatar/" in str(request.url)


def _shown(name, edit):
    """Registers another picture at every address of one."""

    def change(request, send):
        response = send(request)
        if request.method != "GET" or not _is_picture(request) or response.status_code != 200:
            return response
        content = BytesIO()
        edit(Image.open(BytesIO(response.read())).convert("RGB")).save(content, "PNG")
        return answer(response, body=content.getvalue(), headers={"content-type": "image/png"})

    register(name, ("avatar-urls-resolve",), change)


_shown("pictures_are_mirrored", ImageOps.mirror)
_shown("pictures_lie_on_their_side", lambda image: image.rotate(90))
_shown("pictures_are_inverted", ImageOps.invert)
_shown("pictures_are_one_pixel", lambda image: image.crop((0, 0, 1, 1)))
_shown("pictures_are_black", lambda image: Image.new("RGB", image.size))


@mutant("avatar-urls-resolve", cached=list)
def the_first_picture_is_cached_for_all(request, send, cached):
    response = send(request)
    if _is_picture(request) and response.status_code == 200:
        cached.append(response.read())
        return answer(response, body=cached[0])
    return response


@mutant("avatar-urls-resolve", cached=dict)
def the_profiles_picture_stays_after_an_assignment(request, send, cached):
    response = send(request)
    if "/avatar/" in str(request.url) and response.status_code == 200:
        return answer(response, body=cached.setdefault(str(request.url), response.read()))
    return response


@mutant("foreign-avatars-invisible", "avatar-list-of-caller", uploaded=dict, gone=set)
def one_file_is_kept_of_equal_pictures(request, send, uploaded, gone):
    response = send(request)
    body = said(response)
    if at(request, "POST", LIST) and response.status_code == 200:
        start = request.read().find(b"\x89PNG")
        picture = request.read()[start:].partition(b"IEND")[0]
        uploaded.setdefault(picture, []).append(body["image_id"])
    if is_avatar(request, "DELETE") and response.status_code == 204:
        image = path_of(request).rpartition("/")[2]
        gone.update(*(ids for ids in uploaded.values() if image in ids))
    if at(request, "GET", LIST) and isinstance(body, list):
        return answer(response, body=[each for each in body if each["image_id"] not in gone])
    return response


def _alternative(name, convert):
    """Registers a conversion of text alternatives on their way into the store."""

    def change(request, send):
        body = members_of(request)
        if not is_avatar(request, "PATCH") or not isinstance(body.get("alt_text"), str):
            return send(request)
        changed = {**body, "alt_text": convert(body["alt_text"])}
        return send(asking(request, body=orjson.dumps(changed)))

    register(name, ("avatar-patch-rating-and-alt-text",), change)


ALTERNATIVES: dict[str, Callable[[str], str]] = {
    "text_alternatives_are_escaped": lambda text: text.replace("&", "&amp;"),
    "text_alternatives_have_no_quotes": lambda text: text.replace('"', ""),
    "text_alternatives_have_doubled_apostrophes": lambda text: text.replace("'", "''"),
    "text_alternatives_end_at_a_number_sign": lambda text: text.partition("#")[0],
    "text_alternatives_have_spaces_for_plus": lambda text: text.replace("+", " "),
    "text_alternatives_are_percent_decoded": lambda text: text.replace("%41", "A"),
    "text_alternatives_are_ascii": lambda text: text.encode("ascii", "replace").decode(),
    "text_alternatives_have_no_emoji": lambda text: text.replace("🎭", ""),
    "text_alternatives_have_no_tags": lambda text: text.replace("<b>", ""),
    "text_alternatives_have_no_backslashes": lambda text: text.replace("\\", ""),
    "text_alternatives_are_trimmed": str.strip,
    "text_alternatives_are_cut_after_100_characters": lambda text: text[:100],
    "text_alternatives_have_one_line": lambda text: text.replace("\n", " "),
    "text_alternatives_have_single_spaces": lambda text: text.replace("  ", " "),
}
for _name, _convert in ALTERNATIVES.items():
    _alternative(_name, _convert)


@mutant("avatar-patch-partial", "rating-values")
def what_stands_beside_an_unknown_rating_is_stored(request, send):
    body = members_of(request)
    response = send(request)
    if is_avatar(request, "PATCH") and response.status_code == 400 and "alt_text" in body:
        send(asking(request, body=orjson.dumps({"alt_text": body["alt_text"]})))
    return response


def _campaign(name, convert):
    """Registers a conversion of campaigns before they are drawn."""

    def change(request, send):
        campaign = query_of(request).get("utm_campaign")
        if at(request, "GET", QR) and campaign:
            return send(asking(request, query={"utm_campaign": convert(campaign)}))
        return send(request)

    register(name, ("qr-utm-parameters",), change)


CAMPAIGNS: dict[str, Callable[[str], str]] = {
    "campaigns_end_at_an_ampersand": lambda text: text.partition("&")[0] or "-",
    "campaigns_end_at_a_number_sign": lambda text: text.partition("#")[0] or "-",
    "campaigns_are_decoded_twice": lambda text: text.replace("%41", "A"),
    "campaigns_are_ascii": lambda text: text.encode("ascii", "ignore").decode() or "-",
    "campaigns_have_no_underscores": lambda text: text.replace("_", " "),
    "campaigns_have_no_emoji": lambda text: text.replace("🎭", ""),
}
for _name, _convert in CAMPAIGNS.items():
    _campaign(_name, _convert)


CACHES: tuple[tuple[str, str, tuple[str, ...], str, str], ...] = (
    ("codes", "campaign", ("qr-utm-parameters",), QR, "utm_campaign"),
    ("codes", "medium", ("qr-utm-parameters",), QR, "utm_medium"),
    ("codes", "size", ("qr-size-exact", "qr-default-size"), QR, "size"),
    ("codes", "version", ("qr-versions",), QR, "version"),
    ("codes", "icon", ("qr-centre-icon",), QR, "type"),
    ("codes", "person", ("qr-points-to-profile",), QR, "path"),
    ("addresses", "caller", ("associated-email",), ASSOCIATED, "caller"),
    ("addresses", "hash", ("associated-email",), ASSOCIATED, "email_hash"),
    ("lists", "caller", ("avatar-list-of-caller",), LIST, "caller"),
    ("lists", "address", ("avatar-email-assign",), LIST, "selected_email_hash"),
    ("profiles", "caller", ("profile-hash-is-primary", "own-profile-is-full"), OWN, "caller"),
    ("lookups", "caller", ("authenticated-only-fields",), LOOKUP, "caller"),
    ("lookups", "person", ("profile-by-hash-or-slug", "profile-hash-is-primary"), LOOKUP, "path"),
    ("validations", "client", ("token-info-foreign",), INFO, "client_id"),
    ("validations", "token", ("token-info-foreign", "token-info"), INFO, "token"),
)
"""What is cached, what its key lacks, the rules that this breaks, where, and the name of the part."""

UPLOADED, ASSIGNED, DELETED, EDITED = "POST", "/email", "DELETE", "PATCH"

STALE: tuple[tuple[str, str, tuple[str, ...], str, str], ...] = (
    ("lists", "an_upload", ("avatar-delete-no-content",), LIST, UPLOADED),
    ("lists", "a_deletion", ("avatar-upload-returns-avatar",), LIST, DELETED),
    ("lists", "an_assignment", ("avatar-upload-returns-avatar",), LIST, ASSIGNED),
    ("lists", "an_edit", ("avatar-upload-returns-avatar",), LIST, EDITED),
    ("profiles", "an_upload", ("profile-patch-seven-fields",), OWN, UPLOADED),
    ("profiles", "an_assignment", ("profile-patch-seven-fields",), OWN, ASSIGNED),
    ("lookups", "an_upload", ("profile-patch-seven-fields",), LOOKUP, UPLOADED),
    ("lookups", "a_deletion", ("profile-patch-seven-fields",), LOOKUP, DELETED),
    (
        "validations",
        "a_deletion",
        ("code-replay-revokes", "token-info", "implicit-token-two-weeks"),
        INFO,
        DELETED,
    ),
)
"""What is cached, the one kind of write that empties the cache, the rules, where, and the write."""


def _keyed(request, without):
    parts = {"path": path_of(request), "caller": who(request), **query_of(request)}
    return tuple(sorted(pair for pair in parts.items() if pair[0] != without))


def _empties(request, write):
    if write == UPLOADED:
        return request.method == "POST" and path_of(request) == LIST
    return request.method == write or path_of(request).endswith(write)


def _cached(name, rules, where, without="", write=""):
    """Registers a cache that leaves a part out of its key, or that one kind of write alone empties."""

    def change(request, send, kept):
        is_read, key = at(request, "GET", where), _keyed(request, without)
        if is_read and key in kept:
            return kept[key]
        response = send(request)
        if write and _empties(request, write):
            kept.clear()
        if is_read and response.status_code == 200:
            kept[key] = response
        return response

    register(name, rules, change, kept=dict)


for _what, _part, _rules, _where, _without in CACHES:
    _cached(f"{_what}_are_cached_without_their_{_part}", _rules, _where, without=_without)
for _what, _part, _rules, _where, _write in STALE:
    _cached(f"{_what}_are_cached_until_{_part}", _rules, _where, write=_write)


@edits(
    lambda r: is_profile(r) and bool(who(r)),
    "verified-accounts-at-most-four",
    "number-verified-accounts-counts-hidden",
    "hidden-accounts-left-out",
)
def lists_of_accounts_are_cut_for_tokens_too(body):
    return {**body, "verified_accounts": body["verified_accounts"][:4]}


# Secrets that are nearly right, or missing.

SECRET = ("token-client-credentials",)


def _comparing(name, rules, field, right, is_taken, is_meant=_anything):
    """Registers a token endpoint that takes other texts for the right secret."""

    def change(request, send):
        given = form_of(request) if at(request, "POST", TOKEN) else {}
        text = given.get(field, "")
        is_own = "server-app" in given.values() and is_meant(given)
        if is_own and text != right and is_taken(text, right):
            return send(form(request, **{field: right}))
        return send(request)

    register(name, rules, change)


COMPARISONS = {
    "without_case": lambda text, right: text.lower() == right.lower(),
    "as_far_as_they_are_given": lambda text, right: right.startswith(text),
    "as_far_as_they_are_stored": lambda text, right: text.startswith(right),
    "unless_they_are_missing": lambda text, right: not text,
}
for _name, _is_taken in COMPARISONS.items():
    _comparing(
        f"client_secrets_are_compared_{_name}",
        SECRET,
        "client_secret",
        "server-app-secret",
        _is_taken,
    )
    _comparing(
        f"passwords_are_compared_{_name}",
        ("password-grant-owner-only",),
        "password",
        "ada-password",
        _is_taken,
        lambda given: given.get("username") == "ada",
    )
for _name, _is_taken in list(COMPARISONS.items())[:3]:
    _comparing(
        f"verifiers_are_compared_{_name}",
        ("pkce-honoured",),
        "code_verifier",
        VERIFIER,
        lambda text, right, is_taken=_is_taken: bool(text) and is_taken(text, right),
    )
_comparing(
    "a_verifier_stands_in_for_the_secret",
    SECRET,
    "client_secret",
    "server-app-secret",
    lambda text, right: not text,
    lambda given: "code_verifier" in given,
)
_comparing(
    "a_verifier_makes_any_secret_good",
    SECRET,
    "client_secret",
    "server-app-secret",
    lambda text, right: True,
    lambda given: "code_verifier" in given,
)


def _redeemed(name, is_taken):
    """Registers a token endpoint that takes nearly a code for the code."""

    def change(request, send, issued):
        code = form_of(request).get("code") if at(request, "POST", TOKEN) else None
        for known in issued:
            if code and code != known and is_taken(code, known):
                return send(form(request, code=known))
        response = send(request)
        location = urlsplit(response.headers.get("location", ""))
        issued += dict(parse_qsl(location.query)).get("code", "").split()
        return response

    register(name, ("code-exchange",), change, issued=list)


for _name, _is_taken in list(COMPARISONS.items())[:3]:
    _redeemed(f"codes_are_compared_{_name}", _is_taken)


@mutant("consent-by-person", issued=list)
def a_code_is_of_whoever_signed_in_last(request, send, issued):
    code = form_of(request).get("code") if at(request, "POST", TOKEN) else None
    if code in issued[-2:-1]:
        return send(form(request, code=issued[-1]))
    response = send(request)
    location = urlsplit(response.headers.get("location", ""))
    issued += dict(parse_qsl(location.query)).get("code", "").split()
    return response


@mutant("registration-date-shapes")
def people_register_in_the_future(request, send):
    response = send(request)
    body = said(response)
    if is_profile(request) and isinstance(body, dict) and "registration_date" in body:
        return answer(response, body={**body, "registration_date": "2099-01-01T00:00:00Z"})
    return response


@mutant("avatar-members")
def changes_of_avatars_go_back_by_an_hour(request, send):
    response = send(request)
    body = said(response)
    if is_avatar(request, "PATCH") and response.status_code == 200:
        return answer(response, body={**body, "updated_date": _ahead(body["updated_date"], -1)})
    return response


_shown(
    "pictures_lose_their_blue",
    lambda image: Image.merge("RGB", (*image.split()[:2], Image.new("L", image.size))),
)
for _token, _name in (("ada-full0", "longer"), ("ada-ful", "shorter")):
    _taken(
        f"lookups_take_{_name}_tokens",
        (FULL, INVALID),
        lambda token, wrong=_token: token == wrong,
        lambda r: at(r, "GET", LOOKUP),
    )


@mutant("me-needs-oauth-token", edits=list)
def an_edit_is_noted_at_every_account(request, send, edits):
    response = send(request)
    if at(request, "PATCH", OWN) and response.status_code == 200:
        edits.append(request)
    body = said(response)
    if who(request).startswith("olu") and is_profile(request) and isinstance(body, dict) and edits:
        moment = f"2020-01-01T00:{len(edits):02}:00Z"
        return answer(response, body={**body, "last_profile_edit": moment})
    return response


@mutant(FULL)
def what_a_token_is_shown_may_be_shared(request, send):
    response = send(request)
    if who(request) and is_profile(request):
        return answer(response, headers={"cache-control": "public, max-age=60", "vary": None})
    return response
