"""Mutants that a first look misses: of writes in another dress, of credentials at every operation, of tags.

Each is written from the RFCs and the interface, as a hurried developer would have it.
"""

import io
import re
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import urlencode

import httpx
import orjson
from PIL import Image
from tests.proofs.mutants.edge import (
    AUTHORIZATION,
    AUTHORIZE,
    LIST,
    LOOKUP,
    OWN,
    QR,
    TOKEN,
    answer,
    asking,
    at,
    editing,
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

SECOND = "ada-full"
CONTENT, ADDRESS, HEAD, TAGS = (
    *("equivalent-content", "equivalent-address", "head-like-get", "conditional-reads"),
)
CALLER, SCOPE = "me-needs-oauth-token", "scope-per-operation"
EDIT, ASSIGN = "profile-patch-seven-fields", "avatar-email-assign"


def _content_type(request):
    return request.headers.get("content-type", "")


def _is_chunked(request):
    return "transfer-encoding" in request.headers


def _has_charset(request):
    return "charset" in _content_type(request)


def _is_update(request):
    return at(request, "PATCH", OWN)


def _is_rating(request):
    return is_avatar(request, "PATCH")


def _is_assignment(request):
    return is_avatar(request, "POST")


# What is written in another dress is accepted, and not carried out.


def _emptied(name, rules, is_meant, is_dressed):
    """Registers updates that are read as empty objects in some dress."""

    def change(request, send):
        if is_meant(request) and is_dressed(request):
            return send(asking(request, body=b"{}"))
        return send(request)

    register(name, rules, change)


for _name, _dressed in (("chunked", _is_chunked), ("with_a_charset", _has_charset)):
    _emptied(f"updates_{_name}_are_empty", (EDIT, CONTENT), _is_update, _dressed)
    _emptied(f"ratings_{_name}_are_empty", (CONTENT,), _is_rating, _dressed)


def _ignored(name, is_dressed):
    """Registers assignments that are accepted in some dress, and not carried out."""

    def change(request, send):
        if _is_assignment(request) and is_dressed(request):
            return httpx.Response(204)
        return send(request)

    register(name, (ASSIGN,), change)


_ignored("assignments_with_a_charset_are_forgotten", _has_charset)
_ignored("chunked_assignments_are_forgotten", _is_chunked)


def _refused(name, rules, is_meant, status=400):
    def change(request, send):
        if is_meant(request):
            return httpx.Response(status, json={"error": "The request is malformed."})
        return send(request)

    register(name, rules, change)


_refused(
    "ratings_with_a_charset_are_not_json",
    (CONTENT,),
    lambda r: _is_rating(r) and _has_charset(r),
    415,
)
_refused(
    "chunked_assignments_are_malformed", (CONTENT,), lambda r: _is_assignment(r) and _is_chunked(r)
)
_refused(
    "an_encoded_letter_hides_an_assignment",
    (ADDRESS, ASSIGN),
    lambda r: r.method == "POST" and path_of(r).endswith("/%65mail"),
    404,
)
_refused(
    "codes_with_a_charset_are_not_redeemed",
    ("pkce-honoured",),
    lambda r: at(r, "POST", TOKEN) and _has_charset(r) and "code" in form_of(r),
)


@mutant("avatar-urls-resolve")
def a_quoted_boundary_loses_the_picture(request, send):
    quoted = re.search(r'boundary="([^"]+)"', _content_type(request))
    if not quoted or not at(request, "POST", LIST):
        return send(request)
    black, line = io.BytesIO(), f"--{quoted[1]}"
    Image.new("RGB", (96, 96)).save(black, "PNG")
    head = f'{line}\r\nContent-Disposition: form-data; name="data"; filename="a.png"\r\n\r\n'
    return send(asking(request, body=head.encode() + black.getvalue() + f"\r\n{line}--".encode()))


# HEAD of what GET refuses.


def _head_is_fine(name, is_meant):
    def change(request, send):
        response = send(request)
        if request.method == "HEAD" and is_meant(request) and response.status_code >= 400:
            return httpx.Response(200, headers={"content-type": "application/json"})
        return response

    register(name, (HEAD,), change)


_head_is_fine("head_finds_everybody", lambda r: LOOKUP in path_of(r))
_head_is_fine("head_needs_no_token", lambda r: path_of(r) in {OWN, LIST})


# A token opens one operation more than it should.


def _opened(name, rule, token, is_meant):
    def change(request, send):
        if who(request) == token and is_meant(request):
            return send(asking(request, token=SECOND))
        return send(request)

    register(name, (rule,), change)


_OPERATIONS = {
    "upload": lambda r: at(r, "POST", LIST),
    "rate": _is_rating,
    "assign": _is_assignment,
    "delete": lambda r: is_avatar(r, "DELETE"),
}
for _verb, _meant in _OPERATIONS.items():
    for _who, _token in (
        ("expired_tokens", "ada-expired"),
        ("api_keys", "ada-api-key"),
        ("tokens_in_another_case", "ADA-FULL"),
        ("tokens_that_are_too_long", "ada-full0"),
        ("tokens_that_are_too_short", "ada-ful"),
    ):
        _opened(f"{_who}_{_verb}", CALLER, _token, _meant)
    for _who, _token in (
        ("tokens_that_sign_in", "ada-auth-only"),
        ("tokens_without_auth", "ada-no-auth"),
        ("tokens_that_read", "ada-read-only"),
    ):
        _opened(f"{_who}_{_verb}", SCOPE, _token, _meant)


def _revived(name, is_meant):
    """Registers an operation that does not ask whether a token was revoked."""

    def change(request, send):
        response = send(request)
        is_issued = who(request) and not who(request).startswith("ada-")
        if is_meant(request) and response.status_code == 401 and is_issued:
            return send(asking(request, token=SECOND))
        return response

    register(name, (CALLER,), change)


_revived("revoked_tokens_list_avatars", lambda r: at(r, "GET", LIST))
_revived("revoked_tokens_edit", _is_update)


# One tag for two contents.


def _tagged(name, is_meant, tag_of):
    def change(request, send):
        response = send(request)
        if request.method != "GET" or not is_meant(request) or response.status_code != 200:
            return response
        tag = f'"{sha256(tag_of(request).encode()).hexdigest()[:12]}"'
        if tag in request.headers.get("if-none-match", ""):
            return httpx.Response(304, headers={"etag": tag})
        return answer(response, headers={"etag": tag})

    register(name, (TAGS,), change)


_tagged("tags_are_of_the_address", lambda r: path_of(r) in {OWN, LIST}, path_of)
_tagged(
    "tags_stay_after_an_edit",
    lambda r: path_of(r) in {OWN, LIST},
    lambda r: path_of(r) + who(r),
)
_tagged("a_lookup_has_one_tag_for_everybody", lambda r: LOOKUP in path_of(r), path_of)
_tagged(
    "the_tag_of_a_lookup_stays_after_an_edit",
    lambda r: LOOKUP in path_of(r),
    lambda r: path_of(r) + who(r),
)


# Times that are behind.


def _behind(text, hours):
    moved = datetime.fromisoformat(text) - timedelta(hours=hours)
    return moved.strftime("%Y-%m-%dT%H:%M:%SZ")


def _late(name, rule, member, is_meant):
    def edit(body):
        return {**body, member: _behind(body[member], 5)} if body.get(member) else body

    change = editing(is_meant, edit)
    change.__name__ = name
    mutant(rule)(change)


_late("uploads_are_five_hours_old", "avatar-members", "updated_date", lambda r: at(r, "POST", LIST))
_late("edits_are_five_hours_old", "last-edit-utc", "last_profile_edit", is_profile)


@mutant("last-edit-utc", first=dict)
def the_time_of_the_last_edit_stands_still(request, send, first):
    response = send(request)
    body = said(response)
    if not is_profile(request) or not isinstance(body, dict) or "last_profile_edit" not in body:
        return response
    kept = first.setdefault(body["hash"], body["last_profile_edit"])
    return answer(response, body={**body, "last_profile_edit": kept})


@mutant("code-token-no-expiry", issued=list)
def a_newer_code_ends_the_token_of_an_older_one(request, send, issued):
    response = send(request)
    is_code = path_of(request) == TOKEN and "code" in form_of(request)
    if is_code and response.status_code == 200:
        issued.append(orjson.loads(response.read())["access_token"])
    if path_of(request) == OWN and who(request) in issued[:-1]:
        refused = {"www-authenticate": "Bearer"}
        return httpx.Response(401, json={"error": "It has ended."}, headers=refused)
    return response


# A tag that no response has, and HEAD of what is no operation.


def _is_of_pictures(request):
    return (
        path_of(request).removeprefix("http://127.0.0.1:8080").startswith(("/avatar/", "/image/"))
    )


def _unmodified(name, is_meant):
    """Registers 304 to whatever tag a request names."""

    def change(request, send):
        tag = request.headers.get("if-none-match")
        if tag and is_meant(request):
            return httpx.Response(304, headers={"etag": tag})
        return send(request)

    register(name, (TAGS,), change)


_unmodified("every_tag_is_that_of_a_picture", lambda r: r.method == "GET" and _is_of_pictures(r))
_unmodified("head_takes_any_tag_of_a_picture", lambda r: r.method == "HEAD" and _is_of_pictures(r))
_unmodified("every_tag_is_that_of_a_code", lambda r: r.method == "GET" and QR in path_of(r))
_refused(
    "head_of_the_definition_finds_none",
    (HEAD,),
    lambda r: at(r, "HEAD", "/openapi"),
    404,
)
_refused(
    "two_spaces_before_a_token_are_malformed",
    ("equivalent-headers",),
    lambda r: "  " in r.headers.get("authorization", ""),
)


# Secrets and words that are compared carelessly.


def _tidied(name, rule, field, tidy):
    """Registers a field of the token endpoint's form that is changed before it is compared."""

    def change(request, send):
        text = form_of(request).get(field, "") if at(request, "POST", TOKEN) else ""
        return send(form(request, **{field: tidy(text)}) if tidy(text) != text else request)

    register(name, (rule,), change)


def _until_nul(text):
    return text.partition("\0")[0]


for _field, _rule in (
    ("client_secret", "token-client-credentials"),
    ("password", "password-grant-owner-only"),
    ("code", "code-exchange"),
):
    _tidied(f"{_field}s_end_at_a_nul", _rule, _field, _until_nul)
_tidied("client_secrets_are_trimmed", "token-client-credentials", "client_secret", str.strip)
_tidied("codes_are_trimmed", "code-exchange", "code", str.strip)
_tidied(
    "client_secrets_are_padded_columns", "token-client-credentials", "client_secret", str.rstrip
)
_tidied("verifiers_are_trimmed", "pkce-honoured", "code_verifier", str.strip)
_tidied("passwords_are_trimmed", "password-grant-owner-only", "password", str.strip)
_tidied("grant_types_are_of_any_case", "token-grant-type", "grant_type", str.lower)


@mutant("profile-by-hash-or-slug")
def the_third_address_finds_nobody(request, send):
    third = sha256(b"olu@example.net").hexdigest()
    if path_of(request) == f"{LOOKUP}{third}":
        return httpx.Response(404, json={"error": "There is no such profile."})
    return send(request)


# Parts of a picture that nobody asked for, or that nothing tells of (RFC 9110, 14 and 15.3.7).


def _parts(name, is_meant, length, **told):
    """Registers 206 for pictures, with the beginning of their bytes."""

    def change(request, send):
        response = send(request)
        is_shown = _is_of_pictures(request) and response.status_code == 200
        if request.method != "GET" or not is_shown or not is_meant(request):
            return response
        return answer(response, status=206, body=response.read()[:length], headers=told)

    register(name, ("avatar-urls-resolve",), change)


def _wants_a_part(request):
    return "range" in request.headers


_parts("every_picture_is_a_part", lambda r: not _wants_a_part(r), None)
_parts("a_part_does_not_say_which_it_is", _wants_a_part, 64)
_parts("a_part_says_that_it_is_more", _wants_a_part, 64, **{"content-range": "bytes 0-99/100"})
_refused(
    "no_range_can_be_satisfied",
    ("avatar-urls-resolve",),
    lambda r: _wants_a_part(r) and _is_of_pictures(r),
    416,
)


# What a redirect says twice (RFC 6749, 3.1).


def _repeated(member, rule):
    """Registers redirects that hold a parameter twice."""

    def change(request, send):
        response = send(request)
        location = response.headers.get("location", "")
        pair = re.search(rf"[?&#]({member}=[^&#]*)", location)
        if pair is None:
            return response
        return answer(response, headers={"location": f"{location}&{pair[1]}"})

    register(f"a_redirect_has_{member}_twice", (rule,), change)


_repeated("state", "state-echoed")
_repeated("code", "code-in-query")
_repeated("access_token", "implicit-token-in-fragment")


# Addresses that redirects lead to, and words of other kinds that a server takes.


@mutant("redirect-uri-registered")
def redirects_lead_below_the_registered_address(request, send):
    response = send(request)
    location = response.headers.get("location", "")
    below = re.sub(r"/callback([?#])", r"/callback/\1", location)
    return answer(response, headers={"location": below}) if location else response


_tidied(
    "secrets_lose_a_line_end",
    "token-client-credentials",
    "client_secret",
    lambda t: t[:-1] if t.endswith("\n") else t,
)


@mutant("token-post-only")
def tokens_come_by_get(request, send):
    if path_of(request) == TOKEN and query_of(request).get("grant_type"):
        headers = {"content-type": "application/x-www-form-urlencoded"}
        whole = urlencode(query_of(request)).encode()
        return send(httpx.Request("POST", AUTHORIZATION + TOKEN, headers=headers, content=whole))
    return send(request)


@mutant("response-type")
def a_response_type_is_one_of_several_words(request, send):
    words = query_of(request).get("response_type", "").split()
    if at(request, "GET", AUTHORIZE) and len(words) > 1:
        return send(asking(request, query={"response_type": words[0]}))
    return send(request)


@mutant("profile-by-hash-or-slug")
def a_slug_is_a_pattern(request, send):
    text = path_of(request).removeprefix(LOOKUP)
    if at(request, "GET", LOOKUP) and "_" in text and re.fullmatch(text.replace("_", "."), "ada"):
        return send(asking(request, path=f"{LOOKUP}ada"))
    return send(request)


@mutant("qr-centre-icon")
def version_1_has_no_icons(request, send):
    if at(request, "GET", QR) and query_of(request).get("version", "1") == "1":
        return send(asking(request, query={"type": "none"}))
    return send(request)


@mutant("avatar-urls-resolve")
def every_picture_is_said_to_be_a_jpeg(request, send):
    response = send(request)
    is_png = response.headers.get("content-type") == "image/png"
    if request.method != "GET" or not is_png or QR in path_of(request):
        return response
    return answer(response, headers={"content-type": "image/jpeg"})


@mutant("scope-indexed-array")
def scopes_begin_with_the_first(request, send):
    names = [name for name in query_of(request) if name.startswith("scope[")]
    if path_of(request) == AUTHORIZE and names != sorted(names):
        return httpx.Response(400, text="The scopes are malformed.")
    return send(request)


@mutant("state-echoed")
def a_state_of_zero_is_none(request, send):
    if path_of(request) == AUTHORIZE and query_of(request).get("state") == "0":
        return send(asking(request, query={"state": None}))
    return send(request)


@mutant("qr-utm-parameters")
def a_medium_needs_a_campaign(request, send):
    if at(request, "GET", QR) and "utm_campaign" not in query_of(request):
        return send(asking(request, query={"utm_medium": None}))
    return send(request)


@mutant("profile-patch-seven-fields")
def pronouns_are_stored_in_small_letters(request, send):
    members = members_of(request)
    if not at(request, "PATCH", OWN) or not isinstance(members.get("pronouns"), str):
        return send(request)
    members["pronouns"] = members["pronouns"].lower()
    return send(asking(request, body=orjson.dumps(members)))
