"""Mutants of the authorization request, made by hand: redirects by prefix, consent by a link."""

from urllib.parse import unquote

import httpx
from tests.proofs.mutants.edge import (
    INFO,
    OWN,
    answer,
    asking,
    at,
    mutant,
    path_of,
    query_of,
    said,
    who,
)
from tests.proofs.mutants.redirects import CALLBACK, PAGE, is_ask, relocated, retold, told

from understudy.api.bundled_target import TARGET

ADA = "40250381"
"""The user_id of the owner of the target's application."""

GIVEN_TOKENS = {"", *(token for _, token in TARGET.identities().values())}
"""No token, and those that the target names; every other one was issued during the run."""


CLIENTS = {"server-app", "two-redirects", "two-step"}


@mutant("authorize-client-known")
def unknown_clients_see_the_sign_in_page(request, send):
    if is_ask(request) and query_of(request).get("client_id", "server-app") not in CLIENTS:
        return httpx.Response(200, html=PAGE)
    return send(request)


@mutant("authorize-client-known")
def a_registered_client_is_not_known(request, send):
    if is_ask(request) and query_of(request).get("client_id") == "server-app":
        return send(asking(request, query={"client_id": "nobody"}))
    return send(request)


@mutant("redirect-uri-registered")
def every_redirect_address_will_do(request, send):
    uri = query_of(request).get("redirect_uri")
    if is_ask(request) and uri and uri != CALLBACK and "3000" not in uri:
        return send(asking(request, query={"redirect_uri": CALLBACK}))
    return send(request)


@mutant("redirect-uri-exact")
def redirect_addresses_match_by_prefix(request, send):
    uri = query_of(request).get("redirect_uri", "")
    if is_ask(request) and uri.startswith(CALLBACK) and uri != CALLBACK:
        return send(asking(request, query={"redirect_uri": CALLBACK}))
    return send(request)


@mutant("redirect-uri-exact")
def ports_of_redirect_addresses_do_not_matter(request, send):
    if is_ask(request) and ":59999" in query_of(request).get("redirect_uri", ""):
        return send(asking(request, query={"redirect_uri": CALLBACK}))
    return send(request)


@mutant("redirect-uri-exact")
def redirect_addresses_are_decoded_before_they_are_compared(request, send):
    uri = query_of(request).get("redirect_uri", "")
    if is_ask(request) and uri != CALLBACK and unquote(uri) == CALLBACK:
        return send(asking(request, query={"redirect_uri": CALLBACK}))
    return send(request)


@mutant("authorize-error-page")
def errors_of_the_client_are_json(request, send):
    response = send(request)
    if is_ask(request) and response.status_code == 400:
        return httpx.Response(400, json={"error": "invalid_request"})
    return response


@mutant("authorize-error-redirect")
def other_errors_are_pages(request, send):
    response = send(request)
    if is_ask(request) and "error" in told(response):
        return httpx.Response(400, html=PAGE)
    return response


@mutant("authorize-error-redirect")
def errors_are_told_without_a_description(request, send):
    return retold(send(request), "error", lambda t: {**t, "error_description": None})


@mutant("authorize-repeated-parameter")
def of_two_parameters_the_last_counts(request, send):
    return send(asking(request)) if is_ask(request) else send(request)


@mutant("authorize-unknown-parameters-ignored")
def unknown_parameters_are_refused_at_authorize(request, send):
    if is_ask(request) and "nonce" in query_of(request):
        return httpx.Response(400, html=PAGE)
    return send(request)


@mutant("authorize-empty-parameter")
def an_empty_response_type_is_code(request, send):
    if is_ask(request) and query_of(request).get("response_type") == "":
        return send(asking(request, query={"response_type": "code"}))
    return send(request)


@mutant("authorize-empty-parameter", "state-echoed")
def an_empty_state_is_echoed(request, send):
    response = send(request)
    if is_ask(request) and query_of(request).get("state") == "":
        return relocated(response, "code", lambda url: f"{url}&state=empty")
    return response


@mutant("response-type")
def unknown_response_types_are_code(request, send):
    known = {"code", "token", ""}
    if is_ask(request) and query_of(request).get("response_type", "") not in known:
        return send(asking(request, query={"response_type": "code", "mock_approve": "ada"}))
    return send(request)


@mutant("response-type")
def token_is_answered_with_a_code(request, send):
    if is_ask(request) and query_of(request).get("response_type") == "token":
        return send(asking(request, query={"response_type": "code"}))
    return send(request)


@mutant("scope-indexed-array")
def indexed_scopes_are_not_read(request, send):
    if is_ask(request) and "scope[0]" in query_of(request):
        return send(asking(request, query={"scope[0]": None, "scope[1]": None}))
    return send(request)


@mutant("scope-indexed-array")
def only_the_first_scope_is_granted(request, send):
    if is_ask(request) and "scope[0]" in query_of(request):
        return send(asking(request, query={"scope[1]": None}))
    return send(request)


@mutant("scope-any-index")
def indexes_start_at_zero(request, send):
    if is_ask(request) and "scope[0]" not in query_of(request):
        return send(asking(request, query={"scope[1]": None, "scope[5]": None, "scope[7]": None}))
    return send(request)


@mutant("scope-space-joined")
def joined_scopes_are_refused(request, send):
    if is_ask(request) and "scope" in query_of(request):
        return send(asking(request, query={"scope": None}))
    return send(request)


@mutant("scope-at-least-one")
def no_scope_means_auth(request, send):
    if is_ask(request) and not any(n.startswith("scope") for n in query_of(request)):
        return send(asking(request, query={"scope[0]": "auth"}))
    return send(request)


@mutant("scope-auth-needed")
def auth_is_added_where_it_is_missing(request, send):
    scopes = [t for n, t in query_of(request).items() if n.startswith("scope")]
    if is_ask(request) and scopes == ["avatar-profile:read"]:
        return send(asking(request, query={"scope[0]": "auth"}))
    return send(request)


@mutant("scope-known")
def unknown_scopes_are_dropped(request, send):
    if is_ask(request) and query_of(request).get("scope[1]") == "avatar-profile:sparkle":
        return send(asking(request, query={"scope[1]": None}))
    return send(request)


@mutant("consent-by-person")
def following_a_link_grants(request, send):
    if is_ask(request) and "mock_deny" not in query_of(request):
        return send(asking(request, query={"mock_approve": "ada"}))
    return send(request)


@mutant("consent-by-person")
def the_page_hides_a_scope_that_is_granted(request, send):
    if not is_ask(request) or {"mock_approve", "mock_deny"} & set(query_of(request)):
        return send(request)
    page = send(asking(request, query={"scope[2]": "avatar-profile:manage"}))
    return answer(page, body=page.read().replace(b"avatar-profile:manage", b"nothing else"))


@mutant("consent-by-person")
def every_token_is_of_the_owner_of_its_application(request, send):
    response = send(request)
    if not at(request, "GET", INFO) or response.status_code != 200:
        return response
    return answer(response, body={**said(response), "user_id": ADA})


@mutant("scope-per-operation")
def a_token_edits_more_than_was_approved(request, send):
    is_edit = path_of(request) == OWN and request.method == "PATCH"
    if is_edit and who(request) not in GIVEN_TOKENS:
        return send(asking(request, token="ada-full"))
    return send(request)


@mutant("consent-names-scopes")
def consent_does_not_name_one_scope(request, send):
    response = send(request)
    if is_ask(request) and b"avatar-profile:read" in response.read():
        return answer(
            response, body=response.read().replace(b"avatar-profile:read", b"other things")
        )
    return response


@mutant("consent-names-scopes")
def consent_does_not_name_the_application(request, send):
    response = send(request)
    if is_ask(request) and b"Trail Journal" in response.read():
        return answer(response, body=response.read().replace(b"Trail Journal", b"An application"))
    return response


def _denied(response, changes):
    is_meant = told(response).get("error") == "access_denied"
    return retold(response, "error", lambda t: {**t, **changes}) if is_meant else response


@mutant("denial-access-denied")
def a_denial_is_a_server_error(request, send):
    return _denied(send(request), {"error": "server_error"})


@mutant("denial-error-parameter")
def access_denied_is_a_parameter_of_its_own(request, send):
    return _denied(send(request), {"error": None, "access_denied": "1"})


@mutant("denial-access-denied")
def a_denial_grants_all_the_same(request, send):
    if "mock_deny" in query_of(request):
        return send(asking(request, query={"mock_deny": None, "mock_approve": "ada"}))
    return send(request)


@mutant("state-echoed")
def the_state_is_forgotten(request, send):
    return retold(send(request), "code", lambda t: {**t, "state": None})


@mutant("state-echoed")
def the_state_is_trimmed(request, send):
    return retold(send(request), "state", lambda t: {**t, "state": t["state"].replace("%", "")})


@mutant("state-echoed")
def the_state_is_forgotten_on_a_denial(request, send):
    return retold(send(request), "error", lambda t: {**t, "state": None})


@mutant("authorize-page-not-framed")
def pages_may_be_framed(request, send):
    response = send(request)
    return answer(response, headers={"content-security-policy": None, "x-frame-options": None})


@mutant("code-in-query")
def the_code_stands_in_the_fragment(request, send):
    return relocated(send(request), "code", lambda url: url.replace("?code", "#code"))


@mutant("code-unguessable")
def codes_are_numbers(request, send):
    return retold(send(request), "code", lambda t: {**t, "code": "123456"})


@mutant("code-in-query")
def the_code_stands_in_the_fragment_too(request, send):
    response = send(request)
    location = response.headers.get("location", "")
    if "code=" not in location:
        return response
    return answer(response, headers={"location": f"{location}#{location.partition('?')[2]}"})
