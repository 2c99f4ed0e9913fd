"""Mutants of the implicit and the password grant and of token-info, made by hand."""

import httpx
from tests.proofs.mutants.edge import (
    INFO,
    OWN,
    TOKEN,
    answer,
    asking,
    form,
    form_of,
    mutant,
    path_of,
    query_of,
    register,
    said,
    who,
)
from tests.proofs.mutants.redirects import refused, relocated, retold, told


@mutant("implicit-token-two-weeks", given=set)
def implicit_tokens_never_end(request, send, given):
    response = send(request)
    if "access_token" in told(response):
        given.add(told(response)["access_token"])
    if who(request) in given and response.status_code == 401:
        return send(asking(request, token="ada-full"))
    return response


@mutant("implicit-token-two-weeks", given=set)
def implicit_tokens_end_early(request, send, given):
    response = send(request)
    if "access_token" in told(response):
        given.add(told(response)["access_token"])
    if who(request) in given and path_of(request) == OWN:
        return httpx.Response(401, json={"error": "expired"})
    return response


def _implicit(name, rules, edit):
    def change(request, send):
        return retold(send(request), "access_token", edit)

    register(name, rules, change)


for _name in ("expires_in", "token_type", "site_id"):
    _implicit(
        f"no_{_name}_in_the_fragment",
        ("implicit-token-in-fragment",),
        lambda t, n=_name: {**t, n: None},
    )
_implicit(
    "implicit_tokens_for_an_hour", ("implicit-expires-in",), lambda t: {**t, "expires_in": "3600"}
)
_implicit(
    "expires_in_is_one_less", ("implicit-expires-in",), lambda t: {**t, "expires_in": "1209599"}
)


@mutant("implicit-token-in-fragment")
def implicit_tokens_in_the_query(request, send):
    return relocated(send(request), "access_token", lambda url: url.replace("#", "?"))


@mutant("fragment-percent-encoded")
def spaces_in_the_fragment_are_plus_signs(request, send):
    response = send(request)
    location = response.headers.get("location", "")
    if "#" not in location:
        return response
    spaced = location.replace("%20", "+").replace("%2F", "/")
    return answer(response, headers={"location": spaced})


@mutant("token-info-foreign", mine=dict)
def token_info_answers_any_client(request, send, mine):
    response = send(request)
    if path_of(request) == INFO and response.status_code == 200:
        mine["body"] = said(response)
    if path_of(request) == INFO and query_of(request).get("client_id") == "two-redirects" and mine:
        return httpx.Response(200, json=mine["body"])
    return response


@mutant("token-info-unspecific")
def token_info_tells_foreign_from_unknown(request, send):
    response = send(request)
    if path_of(request) == INFO and query_of(request).get("client_id") == "two-redirects":
        return refused("access_denied")
    return response


@mutant("token-info")
def token_info_names_another_client(request, send):
    response = send(request)
    if path_of(request) == INFO and response.status_code == 200 and response.read():
        return answer(response, body={**said(response), "client_id": "another"})
    return response


@mutant("password-grant-two-step-error")
def two_step_owners_hear_invalid_grant(request, send):
    response = send(request)
    if "needs_2fa" in str(said(response)):
        return answer(response, body={"error": "invalid_grant", "error_description": "no"})
    return response


@mutant("password-grant-two-step")
def application_passwords_are_refused(request, send):
    is_meant = path_of(request) == TOKEN and form_of(request).get("password", "").startswith("hbtq")
    return refused("invalid_grant") if is_meant else send(request)


@mutant("password-grant-owner-only")
def the_owner_is_refused(request, send):
    is_meant = path_of(request) == TOKEN and form_of(request).get("grant_type") == "password"
    return refused("invalid_grant") if is_meant else send(request)


@mutant("password-grant-scopes")
def the_password_grant_gives_all_scopes(request, send):
    if path_of(request) == TOKEN and form_of(request).get("grant_type") == "password":
        return send(form(request, scope=None))
    return send(request)


@mutant("token-no-cors")
def preflights_of_the_token_endpoint_are_allowed(request, send):
    response = send(request)
    if path_of(request) == TOKEN and request.method == "OPTIONS":
        return answer(response, headers={"access-control-allow-origin": "*"})
    return response


@mutant("guessing-slowed")
def anybody_may_guess(request, send):
    response = send(request)
    is_slowed = path_of(request) == TOKEN and response.status_code == 429
    return refused("invalid_client", 401) if is_slowed else response
