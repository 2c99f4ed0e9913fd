"""Mutants of whose request it is and of what HTTP demands of a refusal, made by hand."""

import httpx
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
    form,
    form_of,
    is_profile,
    mutant,
    path_of,
    query_of,
    register,
    said,
    who,
)

CALLER = "me-needs-oauth-token"
COUNT = "number-verified-accounts-counts-hidden"
ASSOCIATED = "/me/associated-email"


@mutant(CALLER)
def anonymous_clients_get_an_empty_list_of_avatars(request, send):
    if at(request, "GET", LIST) and "authorization" not in request.headers:
        return httpx.Response(200, json=[])
    return send(request)


@mutant(CALLER)
def anonymous_clients_get_the_avatars_of_the_first_account(request, send):
    if at(request, "GET", LIST) and "authorization" not in request.headers:
        return send(asking(request, token="ada-full"))
    return send(request)


@mutant("profile-hash-is-primary", CALLER)
def every_token_reads_the_profile_of_the_first_account(request, send):
    if at(request, "GET", OWN) and who(request) == "olu-full":
        return send(asking(request, token="ada-full"))
    return send(request)


@mutant("profile-hash-is-primary", CALLER, "own-profile-is-full", cached=list)
def the_own_profile_is_cached_for_every_token(request, send, cached):
    if not at(request, "GET", OWN):
        return send(request)
    response = send(request)
    if response.status_code == 200:
        cached.append(response.read())
        return answer(response, body=cached[0])
    return response


@mutant("avatar-list-of-caller", CALLER)
def every_token_lists_the_avatars_of_the_first_account(request, send):
    if at(request, "GET", LIST) and who(request) == "olu-full":
        return send(asking(request, token="ada-full", query={"selected_email_hash": None}))
    return send(request)


@mutant("associated-email")
def every_token_asks_about_the_addresses_of_the_first_account(request, send):
    if at(request, "GET", ASSOCIATED) and who(request) == "olu-full":
        return send(asking(request, token="ada-full"))
    return send(request)


def _scheme(request):
    return request.headers.get("authorization", "").partition(" ")[0]


@mutant("bearer-scheme-any-case")
def the_scheme_in_lower_case_is_not_known(request, send):
    if _scheme(request) == "bearer":
        kept = {"authorization": f"Unknown {who(request)}"}
        return send(asking(request, headers=kept))
    return send(request)


@mutant("bearer-scheme-any-case")
def the_scheme_in_lower_case_is_not_known_for_avatars(request, send):
    if _scheme(request) == "bearer" and path_of(request).startswith(LIST):
        return httpx.Response(401, json={"error": "no"}, headers={"www-authenticate": "Bearer"})
    return send(request)


@mutant("bearer-scheme-any-case")
def a_lookup_ignores_the_scheme_in_lower_case(request, send):
    if _scheme(request) == "bearer" and at(request, "GET", LOOKUP):
        kept = {n: t for n, t in request.headers.items() if n != "authorization"}
        return send(httpx.Request("GET", request.url, headers=kept))
    return send(request)


def _unchallenged(name, is_meant):
    def change(request, send):
        response = send(request)
        if response.status_code == 401 and is_meant(request):
            return answer(response, headers={"www-authenticate": None})
        return response

    register(name, ("unauthorized-challenge", CALLER), change)


_unchallenged("no_401_has_a_challenge", lambda r: True)
_unchallenged("a_401_of_the_own_profile_has_no_challenge", lambda r: at(r, "GET", OWN))
_unchallenged("a_401_of_avatars_has_no_challenge", lambda r: path_of(r).startswith(LIST))
_unchallenged("a_401_of_a_change_has_no_challenge", lambda r: r.method != "GET")
_unchallenged("a_401_without_credentials_has_no_challenge", lambda r: not who(r))


def _unallowed(name, is_meant):
    def change(request, send):
        response = send(request)
        if response.status_code == 405 and is_meant(request):
            return answer(response, headers={"allow": None})
        return response

    register(name, ("method-not-allowed-allow",), change)


_unallowed("no_405_says_what_is_allowed", lambda r: True)
_unallowed("a_405_of_the_resource_api_has_no_allow", lambda r: str(r.url).find("/v3/") > 0)
_unallowed("a_405_of_the_token_endpoint_has_no_allow", lambda r: path_of(r) == TOKEN)


@mutant("method-not-allowed-allow")
def a_405_allows_what_it_refuses(request, send):
    response = send(request)
    if response.status_code == 405:
        return answer(response, headers={"allow": f"{request.method}, HEAD"})
    return response


@mutant("token-not-cached")
def tokens_may_be_stored(request, send):
    response = send(request)
    if path_of(request) == TOKEN and response.status_code == 200:
        return answer(response, headers={"cache-control": "private", "pragma": None})
    return response


@mutant("token-not-cached")
def tokens_by_password_may_be_stored(request, send):
    response = send(request)
    is_meant = path_of(request) == TOKEN and form_of(request).get("grant_type") == "password"
    if is_meant and response.status_code == 200:
        return answer(response, headers={"cache-control": None})
    return response


def _is_foreign(request):
    return at(request, "GET", LOOKUP) and "%" in str(request.url)


@mutant("profile-lookup-statuses", "profile-unknown-404")
def identifiers_beyond_ascii_crash(request, send):
    if _is_foreign(request):
        return httpx.Response(500, json={"error": "UnicodeEncodeError"})
    return send(request)


@mutant("profile-unknown-404")
def identifiers_beyond_ascii_are_folded(request, send):
    if _is_foreign(request):
        return send(asking(request, path="/profiles/ada"))
    return send(request)


@mutant("profile-lookup-statuses", "profile-unknown-404", "error-shape")
def identifiers_beyond_ascii_are_a_bad_request_in_html(request, send):
    if _is_foreign(request):
        return httpx.Response(400, html="<h1>Bad Request</h1>")
    return send(request)


def _numbered(name, is_meant, number):
    def edit(body):
        if "number_verified_accounts" not in body:
            return body
        return {**body, "number_verified_accounts": number(body)}

    def change(request, send):
        return editing(lambda r: is_profile(r) and is_meant(r), edit)(request, send)

    register(name, (COUNT, "hidden-accounts-left-out", "authenticated-only-fields"), change)


def _listed(body):
    return len(body["verified_accounts"])


_numbered("the_number_of_accounts_is_zero", lambda r: True, lambda b: 0)
_numbered(
    "another_token_is_told_the_number_of_the_accounts_listed",
    lambda r: who(r) in {"olu-full", "ada-api-key"},
    _listed,
)


@mutant("token-info-foreign")
def any_application_may_ask_about_a_token(request, send):
    response = send(request)
    if path_of(request) == INFO and query_of(request).get("client_id") == "two-redirects":
        own = send(asking(request, query={"client_id": "server-app"}))
        if own.status_code == 200:
            return answer(own, body={**said(own), "client_id": "two-redirects"})
    return response


# A credential that needs none, in a place that is no place, and one of nearly nobody.


def _coded(name, token):
    """Registers QR codes that need no credential, and are refused with one."""

    def change(request, send):
        if at(request, "GET", QR) and who(request) == token:
            return httpx.Response(403, json={"error": "Not with this token."})
        return send(request)

    register(name, ("qr-no-authentication",), change)


_coded("the_owner_gets_no_codes", "ada-full")
_coded("api_keys_get_no_codes", "ada-api-key")
_coded("expired_tokens_get_no_codes", "ada-expired")


@mutant(CALLER)
def tokens_in_the_query_list_avatars(request, send):
    token = query_of(request).get("access_token")
    if at(request, "GET", LIST) and token and not who(request):
        return send(asking(request, token=token))
    return send(request)


@mutant("bearer-header", CALLER)
def no_token_is_that_of_the_first_account(request, send):
    if request.headers.get("authorization", "").strip() == "Bearer":
        return send(asking(request, token="ada-full"))
    return send(request)


@mutant("token-info-foreign")
def whoever_names_no_client_is_told_about_tokens(request, send):
    if at(request, "GET", INFO) and "client_id" not in query_of(request):
        return send(asking(request, query={"client_id": "server-app"}))
    return send(request)


@mutant("token-info-foreign")
def clients_are_compared_without_case(request, send):
    named = query_of(request).get("client_id", "")
    if at(request, "GET", INFO) and named != "server-app" == named.lower():
        return send(asking(request, query={"client_id": "server-app"}))
    return send(request)


@mutant("code-redirect-uri-repeated")
def redirects_are_compared_without_their_query(request, send):
    address, mark, _ = form_of(request).get("redirect_uri", "").partition("?")
    if at(request, "POST", TOKEN) and mark:
        return send(form(request, redirect_uri=address))
    return send(request)
