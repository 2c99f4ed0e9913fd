"""Mutants of codes and tokens, made by hand: ended too early, answered in another shape."""

import httpx
from tests.proofs.mutants.edge import (
    INFO,
    OWN,
    TOKEN,
    answer,
    asking,
    form_of,
    mutant,
    path_of,
    register,
    said,
    who,
)
from tests.proofs.mutants.redirects import refused, told


@mutant("code-lifetime", newest=list)
def a_new_code_ends_the_old_ones(request, send, newest):
    response = send(request)
    if "code" in told(response):
        newest.append(told(response)["code"])
    asked = form_of(request).get("code") if path_of(request) == TOKEN else None
    if asked in newest[:-1] and response.status_code == 200:
        return refused("invalid_grant")
    return response


@mutant("code-replay-revokes", given=set)
def a_replay_revokes_nothing(request, send, given):
    response = send(request)
    if path_of(request) == TOKEN and response.status_code == 200:
        given.add(said(response)["access_token"])
    if response.status_code == 401 and who(request) in given:
        return send(asking(request, token="ada-full"))
    return response


@mutant("code-bound-to-client", spent=set)
def a_strangers_attempt_spends_the_code(request, send, spent):
    if path_of(request) == TOKEN and form_of(request).get("code", "") in spent:
        return httpx.Response(400, json={"error": "invalid_grant", "error_description": "spent"})
    if path_of(request) == TOKEN and form_of(request).get("client_id") == "two-redirects":
        spent.add(form_of(request).get("code", ""))
    return send(request)


@mutant("pkce-honoured")
def plain_challenges_are_not_known(request, send):
    asked = form_of(request) if path_of(request) == TOKEN else {}
    return refused("invalid_grant") if asked.get("code_verifier") else send(request)


@mutant("code-exchange", "code-redirect-uri-repeated")
def codes_are_never_exchanged(request, send):
    is_code = (
        path_of(request) == TOKEN and form_of(request).get("grant_type") == "authorization_code"
    )
    return refused("invalid_grant") if is_code else send(request)


@mutant("token-client-credentials")
def the_right_secret_is_refused(request, send):
    response = send(request)
    return (
        refused("invalid_client", 401)
        if path_of(request) == TOKEN and response.status_code == 200
        else response
    )


@mutant("token-empty-field")
def an_empty_scope_is_refused(request, send):
    is_empty = path_of(request) == TOKEN and form_of(request).get("scope") == ""
    return refused("invalid_scope") if is_empty else send(request)


@mutant("token-empty-field")
def an_empty_grant_type_is_unknown(request, send):
    is_empty = path_of(request) == TOKEN and form_of(request).get("grant_type") == ""
    return refused("unsupported_grant_type") if is_empty else send(request)


@mutant("token-error-shape")
def token_errors_in_the_apis_shape(request, send):
    response = send(request)
    if path_of(request) == TOKEN and response.status_code >= 400 and response.read():
        body = said(response)
        return answer(response, body={"error": body["error_description"], "code": body["error"]})
    return response


@mutant("token-error-shape")
def token_info_errors_are_404(request, send):
    response = send(request)
    return (
        answer(response, status=404)
        if path_of(request) == INFO and response.status_code == 400
        else response
    )


@mutant("token-answer")
def the_token_type_is_mac(request, send):
    response = send(request)
    if path_of(request) == TOKEN and response.status_code == 200:
        return answer(response, body={**said(response), "token_type": "mac"})
    return response


@mutant("code-token-no-expiry", "password-grant-token-no-expiry")
def tokens_say_that_they_end(request, send):
    response = send(request)
    if path_of(request) == TOKEN and response.status_code == 200:
        return answer(response, body={**said(response), "expires_in": 1209600})
    return response


def _ending(name, rules, grant_type):
    """Registers a deployment whose tokens of a grant end after their first use."""

    def change(request, send, uses):
        response = send(request)
        is_grant = form_of(request).get("grant_type") == grant_type
        if path_of(request) == TOKEN and response.status_code == 200 and is_grant:
            uses[said(response)["access_token"]] = 0
        if who(request) in uses and path_of(request) == OWN:
            uses[who(request)] += 1
            if uses[who(request)] > 1:
                return httpx.Response(401, json={"error": "expired"})
        return response

    register(name, rules, change, uses=dict)


_ending("code_tokens_end", ("code-token-no-expiry",), "authorization_code")
_ending("password_tokens_end", ("password-grant-token-no-expiry",), "password")
