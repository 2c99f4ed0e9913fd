"""Mutants of lookups, visibility and the own profile, made by hand."""

from functools import partial

import httpx
from tests.proofs.mutants.edge import (
    LOOKUP,
    OWN,
    answer,
    asking,
    at,
    edits,
    is_profile,
    mutant,
    path_of,
    query_of,
    said,
    who,
)

from understudy.verify.shapes import EDITABLE
from understudy.verify.target import email_hash

OLU_WORK = email_hash("olu.work@example.com")
ADA = email_hash("ada@example.com")
ADA_SECOND = email_hash("ada.merrowdale@example.org")


_profile = partial(edits, is_profile)


@mutant("profile-lookup-open")
def lookups_want_a_token(request, send):
    if at(request, "GET", LOOKUP) and not who(request):
        return httpx.Response(401, json={"error": "no"}, headers={"www-authenticate": "Bearer"})
    return send(request)


@mutant("email-hash-normalised")
def addresses_are_hashed_as_they_are_written(request, send):
    if path_of(request).endswith(OLU_WORK):
        return send(asking(request, path="/profiles/nobody-at-all"))
    return send(request)


@_profile("hash-lower-case-hex")
def hashes_in_upper_case(b):
    return {**b, "hash": b["hash"].upper()}


@mutant("avatar-urls-resolve")
def pictures_are_gone(request, send):
    return httpx.Response(404) if "/avatar/" in str(request.url) else send(request)


@mutant("avatar-urls-resolve")
def header_images_are_pages(request, send):
    is_image = "/image/header" in str(request.url)
    return httpx.Response(200, html="<p>soon</p>") if is_image else send(request)


@mutant("profile-hash-is-primary")
def the_hash_is_that_of_the_address_asked_for(request, send):
    response = send(request)
    if path_of(request) == f"/profiles/{ADA_SECOND}" and response.status_code == 200:
        return answer(response, body={**said(response), "hash": ADA_SECOND})
    return response


@_profile("unset-required-strings-empty")
def what_is_unset_is_null(body):
    return {n: None if n in EDITABLE and v == "" else v for n, v in body.items()}


@_profile("profile-url-full")
def profile_addresses_without_a_host(b):
    return {**b, "profile_url": "/ada"}


def _all_accounts(request, send, path, identities):
    response = send(request)
    if path_of(request) != path or who(request) not in identities:
        return response
    full = said(send(asking(request, token="ada-full")))
    body = {**said(response), "verified_accounts": full["verified_accounts"]}
    return answer(response, body=body)


@mutant("verified-accounts-at-most-four")
def a_fifth_account_for_one_person_only(request, send):
    return _all_accounts(request, send, "/profiles/nora", {""})


@_profile("number-verified-accounts-counts-hidden")
def hidden_accounts_are_not_counted(body):
    if "number_verified_accounts" not in body:
        return body
    shown = [a for a in body["verified_accounts"] if not a["is_hidden"]]
    return {**body, "number_verified_accounts": len(shown)}


@mutant("hidden-accounts-left-out")
def hidden_accounts_are_shown_to_other_tokens(request, send):
    return _all_accounts(request, send, "/profiles/ada", {"olu-full", "ada-api-key"})


@_profile("hidden-accounts-left-out")
def hidden_accounts_are_kept_from_their_owner(body):
    shown = [a for a in body["verified_accounts"] if not a["is_hidden"]]
    return {**body, "verified_accounts": shown}


@_profile("last-edit-utc")
def the_last_edit_in_local_time(body):
    said_then = body.get("last_profile_edit")
    return {**body, "last_profile_edit": said_then.replace("Z", "+02:00")} if said_then else body


@_profile("registration-date-shapes")
def registration_dates_in_words(body):
    return {**body, "registration_date": "1 April 2015"} if "registration_date" in body else body


@mutant("contact-info-only-when-public")
def contact_details_are_always_shown(request, send):
    response = send(request)
    if path_of(request) == "/profiles/mei" and who(request):
        return answer(response, body={**said(response), "contact_info": {"email": "m@example.com"}})
    return response


@mutant("error-members", "error-shape")
def errors_as_numbers(request, send):
    response = send(request)
    is_error = response.status_code >= 400 and isinstance(said(response), dict)
    return answer(response, body={**said(response), "error": 17}) if is_error else response


@mutant("error-members")
def codes_as_numbers(request, send):
    response = send(request)
    is_error = response.status_code >= 400 and "code" in (said(response) or {})
    return answer(response, body={**said(response), "code": 17}) if is_error else response


@mutant("error-shape")
def errors_as_pages(request, send):
    response = send(request)
    if response.status_code == 404 and at(request, "GET", LOOKUP):
        return httpx.Response(404, html="<h1>Not found</h1>")
    return response


@mutant("unknown-query-parameters-accepted")
def unknown_parameters_are_refused(request, send):
    if at(request, "GET", LOOKUP) and "source" in query_of(request):
        return httpx.Response(400, json={"error": "source?"})
    return send(request)


@mutant("profile-by-hash-or-slug")
def only_the_primary_hash_is_found(request, send):
    if path_of(request) == f"/profiles/{ADA_SECOND}":
        return httpx.Response(404, json={"error": "no"})
    return send(request)


@mutant("profile-by-hash-or-slug", "profile-hash-is-primary")
def a_hash_finds_somebody_else(request, send):
    if path_of(request) == f"/profiles/{ADA_SECOND}":
        return send(asking(request, path="/profiles/olu"))
    return send(request)


@mutant("profile-unknown-404")
def unknown_people_are_empty_profiles(request, send):
    response = send(request)
    if (
        at(request, "GET", LOOKUP)
        and response.status_code == 404
        and "gone" not in path_of(request)
    ):
        return send(asking(request, path="/profiles/ben"))
    return response


@mutant("profile-private")
def private_profiles_are_shown(request, send):
    if path_of(request) == "/profiles/hush":
        return send(asking(request, token="hush-full"))
    return send(request)


@mutant("profile-private")
def private_profiles_are_kept_from_their_owner(request, send):
    if path_of(request) == "/profiles/hush" and who(request) == "hush-full":
        return send(asking(request, token="olu-full"))
    return send(request)


@mutant("profile-lookup-other-refusals")
def wrong_tokens_get_an_empty_401(request, send):
    response = send(request)
    is_meant = at(request, "GET", LOOKUP) and response.status_code == 401
    return answer(response, body=b"") if is_meant else response


@mutant("invalid-token-refused")
def wrong_tokens_count_as_none(request, send):
    response = send(request)
    if at(request, "GET", LOOKUP) and response.status_code == 401:
        plain = httpx.Request("GET", str(request.url))
        return send(plain)
    return response


@mutant("own-profile-is-full")
def the_own_profile_shows_another_name(request, send):
    response = send(request)
    if at(request, "GET", OWN) and response.status_code == 200:
        return answer(response, body={**said(response), "pronouns": "they/them"})
    return response


@mutant("own-profile-disabled-404")
def disabled_profiles_are_refused_with_403(request, send):
    response = send(request)
    return answer(response, status=403) if who(request) == "gone-full" else response


@mutant("bearer-header")
def any_scheme_will_do(request, send):
    given = request.headers.get("authorization", "")
    return send(asking(request, token=given.rpartition(" ")[2])) if given else send(request)


@mutant("bearer-header", "me-needs-oauth-token")
def tokens_in_the_query_count(request, send):
    token = query_of(request).get("access_token")
    return send(asking(request, token=token)) if token else send(request)


@mutant("scope-per-operation")
def reading_needs_the_manage_scope(request, send):
    if at(request, "GET", OWN) and who(request) == "ada-read-only":
        return httpx.Response(403, json={"error": "no", "code": "insufficient_scope"})
    return send(request)


@mutant("associated-email")
def only_the_primary_address_is_associated(request, send):
    if query_of(request).get("email_hash") == ADA_SECOND:
        return send(asking(request, query={"email_hash": OLU_WORK}))
    return send(request)


@mutant("associated-email-hash-required")
def no_address_is_not_associated(request, send):
    response = send(request)
    if path_of(request) == "/me/associated-email" and response.status_code == 400:
        return answer(response, status=200, body={"associated": False})
    return response
