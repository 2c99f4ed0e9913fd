"""Mutants that give a token where they should refuse: codes that work twice, no secret needed."""

from urllib.parse import urlencode

import httpx
from tests.proofs.mutants.edge import (
    AUTHORIZATION,
    TOKEN,
    form_of,
    path_of,
    query_of,
    register,
    said,
)


def _by_password(request, send):
    """Gets a token in another way, where a deployment would be too generous."""
    fields = {"grant_type": "password", "username": "ada", "password": "ada-password"}
    credentials = {"client_id": "server-app", "client_secret": "server-app-secret"}
    body = urlencode({**fields, **credentials}).encode()
    return send(
        httpx.Request(
            "POST",
            f"{AUTHORIZATION}{TOKEN}",
            content=body,
            headers={"content-type": "application/x-www-form-urlencoded"},
        )
    )


def _generous(name, rules, is_meant):
    """Registers a token endpoint that gives a token where it should refuse."""

    def change(request, send):
        response = send(request)
        if (
            path_of(request) == TOKEN
            and response.status_code >= 400
            and is_meant(request, response)
        ):
            return _by_password(request, send)
        return response

    register(name, rules, change)


def _code(request):
    return form_of(request).get("code", "")


_generous(
    "a_code_works_twice", ("code-single-use",), lambda r, s: "exchanged before" in str(said(s))
)
_generous(
    "tokens_are_refreshed",
    ("token-grant-type",),
    lambda r, s: form_of(r).get("grant_type") == "refresh_token" and "refresh_token" in form_of(r),
)
_generous(
    "codes_never_end",
    ("code-lifetime", "code-time-limited"),
    lambda r, s: "expired" in str(said(s)),
)
_generous(
    "any_code_is_exchanged",
    ("code-exchange",),
    lambda r, s: (
        "made-up" in _code(r)
        and form_of(r).get("client_secret") == "server-app-secret"
        and "unknown" in str(said(s))
    ),
)
_generous(
    "codes_of_others_are_exchanged",
    ("code-bound-to-client",),
    lambda r, s: form_of(r).get("client_id") == "two-redirects",
)
_generous(
    "the_redirect_address_is_not_compared",
    ("code-redirect-uri-repeated",),
    lambda r, s: "redirect_uri" in str(said(s)),
)
_generous(
    "the_redirect_address_may_be_left_out",
    ("code-redirect-uri-repeated",),
    lambda r, s: "redirect_uri is missing" in str(said(s)),
)
_generous(
    "the_secret_is_not_compared",
    ("token-client-credentials",),
    lambda r, s: form_of(r).get("client_secret", "server-app-secret") != "server-app-secret",
)
_generous("the_token_endpoint_takes_get", ("token-post-only",), lambda r, _: r.method == "GET")
_generous(
    "the_token_endpoint_takes_json",
    ("token-form-encoded",),
    lambda r, _: "json" in r.headers.get("content-type", ""),
)
_generous(
    "basic_will_do",
    ("token-credentials-in-form",),
    lambda r, _: r.headers.get("authorization", "").startswith("Basic"),
)
_generous(
    "secrets_may_stand_in_the_query",
    ("token-secrets-not-in-query",),
    lambda r, _: bool(query_of(r)),
)
_generous(
    "unknown_grant_types_are_password",
    ("token-grant-type",),
    lambda r, s: '"unsupported_grant_type"' in s.text,
)
_generous(
    "fields_may_be_given_twice",
    ("token-repeated-field",),
    lambda r, s: (
        "more than once" in str(said(s))
        or "twice" in str(said(s))
        or r.read().count(b"username") > 1
    ),
)
_generous(
    "anybody_may_use_the_password_grant",
    ("password-grant-owner-only",),
    lambda r, s: "owner only" in str(said(s)),
)
_generous(
    "any_password_will_do",
    ("password-grant-owner-only",),
    lambda r, s: (
        "password is wrong" in str(said(s)) and form_of(r).get("client_id") == "server-app"
    ),
)
_generous(
    "two_step_owners_may_use_their_password",
    ("password-grant-two-step",),
    lambda r, s: '"needs_2fa"' in s.text,
)
_generous(
    "verifiers_are_not_compared",
    ("pkce-honoured",),
    lambda r, s: "does not match the code_challenge" in str(said(s)),
)
_generous(
    "verifiers_need_no_challenge",
    ("pkce-honoured",),
    lambda r, s: "had no code_challenge" in str(said(s)),
)
