"""Authenticates and authorizes requests, and enforces the hourly quota.

The order of a document's ``security`` list does not matter: if alternatives were tried in order, an
optional token would be either never read, or ignored silently when it is wrong.
"""

import base64
from functools import lru_cache
from typing import Final

from understudy.errors import Forbidden, Headers, TooManyRequests, Unauthorized
from understudy.exchange.messages import UNCHECKED_CREDENTIAL
from understudy.mock.server.api import ANYONE, Api
from understudy.mock.server.call import Principal
from understudy.mock.server.endpoint import Access, Endpoint
from understudy.mock.server.parameters import location_texts, parse_query
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.windows import LIMIT_HEADER, WINDOW, QuotaDecision, count
from understudy.openapi.operations import Credential

# Only operations without a handler have other credentials than bearer tokens; they may offer
# alternatives, of which one must be sent in full (OpenAPI 3.0.3, Security Requirement Object).

REALM: Final = 'realm="understudy"'
NOT_AUTHORIZED = "You are not authorized to perform this action"


def authenticate_alternatives(
    context: RequestContext, api: Api, access: Access
) -> Principal | None:
    """Returns the principal of the first alternative whose credentials are all valid.

    Returns:
        The principal; None for an anonymous request where credentials are optional.

    Raises:
        Unauthorized: No alternative is valid. Optional credentials that are sent must be valid, too,
            unless the policies ignore them.
    """
    for alternative in access.alternatives:
        principals = [_sent_principal(context, api, credential) for credential in alternative]
        if None not in principals:
            return principals[0]
    credentials = {it for alternative in access.alternatives for it in alternative}
    sent = [it for it in credentials if _text(context, it) is not None]
    if access.is_optional and (not sent or api.policies.ignores_invalid_token(context.choices)):
        return None
    wanted = " or ".join(
        " and ".join(credential.described for credential in alternative)
        for alternative in access.alternatives
    )
    msg = f"{NOT_AUTHORIZED}: send {wanted} ({api.credential_hint})."
    raise Unauthorized(msg, headers=_challenges(access.alternatives))


def bearer_token(authorization: bytes) -> str | None:
    """Returns the token after ``Bearer``, which is case-insensitive (RFC 9110, 11.1); None if absent."""
    return _after_scheme("bearer", authorization)


def _sent_principal(context: RequestContext, api: Api, credential: Credential) -> Principal | None:
    text = _text(context, credential)
    if text is None:
        return None
    if credential.scheme == "basic":
        pair = basic_pair(text, errors="replace")
        return None if pair is None else api.authenticate_account(context.world, *pair)
    look_up = api.authenticate if credential.scheme == "bearer" else api.authenticate_key
    return look_up(context.world, text, context.started)


def _text(context: RequestContext, credential: Credential) -> str | None:
    """Returns the text that a request sends as a credential; None if absent. API keys may be empty."""
    if credential.scheme:
        return _after_scheme(credential.scheme, context.headers.get(b"authorization", b""))
    if credential.location == "query":
        values = parse_query(context.query).get(credential.name) if context.query else None
        return values[0] if values else None
    if credential.location == "cookie":
        values = location_texts("cookie", path={}, headers=context.headers).get(credential.name)
        return values[0] if values else None
    value = context.headers.get(credential.name.lower().encode("latin-1", "replace"))
    return None if value is None else value.decode("latin-1")


@lru_cache(maxsize=64)  # runs for every request, with the same few credentials
def _after_scheme(scheme: str, authorization: bytes) -> str | None:
    sent, _, text = authorization.partition(b" ")
    if sent.lower() != scheme.encode() or not text.strip():
        return None
    return text.strip().decode("latin-1")


def basic_pair(text: str, errors: str = "strict") -> tuple[str, str] | None:
    """Returns the user name and the password of Basic credentials (RFC 7617, 2); None if malformed.

    Args:
        text: Text after the scheme.
        errors: Error handler for bytes that are not UTF-8, as of ``bytes.decode``.
    """
    try:
        name, colon, password = (
            base64.b64decode(text, validate=True).decode(errors=errors).partition(":")
        )
    except ValueError:
        return None
    return (name, password) if colon else None


def _challenges(alternatives: tuple[tuple[Credential, ...], ...]) -> Headers:
    """Returns a challenge for each credential (RFC 9110, 11.6.1)."""
    credentials = dict.fromkeys(it for alternative in alternatives for it in alternative)
    return tuple(("www-authenticate", challenge(credential)) for credential in credentials)


def challenge(credential: Credential) -> str:
    """Returns the WWW-Authenticate challenge for a credential."""
    if credential.scheme:
        return f"{credential.scheme.capitalize()} {REALM}"
    # no registered scheme exists for API keys: "ApiKey" is made up, as a 401 needs a challenge
    name = credential.name.replace("\\", "").replace('"', "")
    return f'ApiKey {REALM}, in="{credential.location}", name="{name}"'


CHALLENGE = f"Bearer {REALM}"
EXPECTED = "send Authorization: Bearer TOKEN"


def authorize(context: RequestContext) -> None:
    """Authenticates a request, and checks the scopes of its token.

    Raises:
        Unauthorized: A required token is missing, or the token is invalid (RFC 6750, 3.1).
        Forbidden: The token lacks a scope.
    """
    endpoint = context.endpoint
    if endpoint is None or endpoint.access.token == "unread":
        if endpoint is not None and endpoint.access.alternatives:
            principal = authenticate_alternatives(context, endpoint.api, endpoint.access)
            _set_principal(context, principal)  # first, since a refusal's explanation names it
            _expect_declared_scopes(context, endpoint, principal)
        return
    authorization = context.headers.get(b"authorization")
    if authorization is None:
        if endpoint.access.token == "required":
            raise missing_token(endpoint)
        return
    principal = _principal(context, authorization)
    if principal is None:
        if endpoint.access.token == "required":
            raise invalid_token(context, endpoint, authorization)
        refuse_optional_token(context, endpoint, authorization)
        return
    _set_principal(context, principal)
    if endpoint.access.scopes is not None:
        _expect_needed_scopes(context, endpoint, principal, endpoint.access.scopes)
    _expect_declared_scopes(context, endpoint, principal)


def _set_principal(context: RequestContext, principal: Principal | None) -> None:
    """Sets the principal of a request, and adds a header where credentials are not checked."""
    context.principal = principal
    if principal is ANYONE:
        context.extra_headers = (*context.extra_headers, (UNCHECKED_CREDENTIAL, "any is taken"))


def _expect_needed_scopes(
    context: RequestContext, endpoint: Endpoint, principal: Principal, scopes: frozenset[str]
) -> None:
    """Refuses a token that lacks a scope: at once, or after the body was validated, by the policies.

    Raises:
        Unauthorized: The token is an API key, which stands for no user.
        Forbidden: The token lacks a scope, and the refusal is not deferred.
    """
    if principal.kind == "oauth" and scopes <= principal.scopes:
        return
    try:
        is_granted = _counts_as_granted(context, endpoint, principal)
        expect_scopes(principal, scopes, is_granted=is_granted)
    except Forbidden as refusal:
        is_deferred = endpoint.api.policies.defers_missing_scope(context.choices)
        if endpoint.body is None or not is_deferred:
            raise
        context.deferred = refusal


def _counts_as_granted(context: RequestContext, endpoint: Endpoint, principal: Principal) -> bool:
    """Tells whether the policies treat a token as granted the scopes that an operation requires."""
    policies, choices = endpoint.api.policies, context.choices
    if not choices:
        return False
    is_open = policies.opens(choices, endpoint.binding.handler, principal.scopes)
    return is_open or policies.ignores_scopes(choices)


def _principal(context: RequestContext, authorization: bytes) -> Principal | None:
    if b"authorization" in context.head.repeated_headers:
        msg = "The Authorization header is given more than once; send one."
        raise Unauthorized(msg, code="invalid_request", headers=_challenge("invalid_request"))
    token = bearer_token(authorization)
    if token is None or context.endpoint is None:
        return None
    return context.endpoint.api.authenticate(context.world, token, context.started)


def missing_token(endpoint: Endpoint) -> Unauthorized:
    """Returns the refusal of a request without the token that its operation requires."""
    return Unauthorized(_because(endpoint, EXPECTED), headers=_challenge())


def invalid_token(
    context: RequestContext, endpoint: Endpoint, authorization: bytes
) -> Unauthorized:
    """Returns the refusal of a token that is not valid."""
    msg = _because(endpoint, _reason_against(context, endpoint, authorization))
    return Unauthorized(msg, code="invalid_token", headers=_challenge("invalid_token"))


def refuse_optional_token(
    context: RequestContext, endpoint: Endpoint, authorization: bytes
) -> None:
    """Refuses an invalid token: at once or after validation; or ignores it, by the policies.

    Raises:
        Unauthorized: The policies neither ignore the token nor defer its refusal.
    """
    policies = endpoint.api.policies
    if policies.ignores_invalid_token(context.choices):
        context.notes.append(
            "the token is not valid; the response is the one for anonymous clients"
        )
        return
    refusal = invalid_token(context, endpoint, authorization)
    if not policies.defers_invalid_token(context.choices):
        raise refusal
    context.deferred = refusal


def _reason_against(context: RequestContext, endpoint: Endpoint, authorization: bytes) -> str:
    """Returns why an Authorization header does not authenticate, without quoting the secret in it."""
    token = bearer_token(authorization)
    if token is not None:
        return endpoint.api.explain_token(context.world, token, context.started)
    words = authorization.split()
    if not words or [word.lower() for word in words] == [b"bearer"]:
        return f"the token is missing; {EXPECTED}"
    if len(words) == 1:
        return f"the word Bearer is missing before the token; {EXPECTED}"
    return f"the scheme is not Bearer; {EXPECTED}"


def _because(endpoint: Endpoint, reason: str) -> str:
    hint = endpoint.api.token_hint
    return f"{NOT_AUTHORIZED}: {reason}.{f' {hint}' if hint else ''}"


def _expect_declared_scopes(
    context: RequestContext, endpoint: Endpoint, principal: Principal | None
) -> None:
    """Checks that an OAuth token was granted the declared scopes of an alternative.

    Raises:
        Forbidden: The token lacks scopes of every alternative (RFC 6750, 3.1).
    """
    declared = endpoint.access.declared_scopes
    if not (declared and endpoint.api.checks_declared_scopes and principal):
        return
    if bearer_token(context.headers.get(b"authorization", b"")) is None:
        return
    if principal.kind == "oauth" and not any(scopes <= principal.scopes for scopes in declared):
        ignores = endpoint.api.policies.ignores_scopes(context.choices)
        expect_scopes(principal, declared[0], is_granted=ignores)


def expect_scopes(principal: Principal, scopes: frozenset[str], *, is_granted: bool) -> None:
    """Checks that a token was granted the required scopes.

    Args:
        principal: Principal of the token.
        scopes: Scopes that the operation requires.
        is_granted: Whether every OAuth token is treated as granted them.

    Raises:
        Unauthorized: The token is an API key, which stands for no user.
        Forbidden: The token was not granted a scope (RFC 6750, 3.1).
    """
    if principal.kind != "oauth":
        msg = f"{NOT_AUTHORIZED}: an API key does not speak for a user; send an OAuth access token."
        raise Unauthorized(msg, code="invalid_token", headers=_challenge("invalid_token"))
    missing = scopes - principal.scopes
    if missing and not is_granted:
        listed = " ".join(sorted(missing))
        msg = f"The token was not granted the scope this needs: {listed}."
        challenge = f'{CHALLENGE}, error="insufficient_scope", scope="{" ".join(sorted(scopes))}"'
        headers = (("www-authenticate", challenge),)
        raise Forbidden(msg, code="insufficient_scope", headers=headers)


def _challenge(error: str | None = None) -> Headers:
    return (("www-authenticate", f'{CHALLENGE}, error="{error}"' if error else CHALLENGE),)


ANONYMOUS = "anonymous"
"""Name for all clients without a token, where the admin API changes limits."""


def enforce_quota(context: RequestContext) -> None:
    """Counts a request of a limited operation, by its principal or else by the client's address.

    Raises:
        TooManyRequests: The quota of the hour is used up.
    """
    endpoint = context.endpoint
    if endpoint is None or not endpoint.is_limited:
        return
    policies, choices = endpoint.api.policies, context.choices
    if choices and policies.lifts_quota(choices):
        return
    who = context.principal.person if context.principal else f"address {context.client}"
    limits = context.world.limits
    quota = endpoint.api.quota(context.principal)
    if limits:
        quota = limits.get(who, limits.get(ANONYMOUS, quota) if not context.principal else quota)
    decision = count_request(context, who, quota)
    if decision.allowed:
        return
    if choices and policies.warns_of_quota(choices):
        _warn(context, who, decision)
        return
    principal = context.principal.person if context.principal else ANONYMOUS
    msg = (
        f"Rate limit exceeded: {_used_up(decision)}. Reset the count with curl -X DELETE "
        f"{context.site_url}/__admin/limits/{principal}, or {policies.quota_advice}."
    )
    context.notes.append(msg)
    raise TooManyRequests(msg, code="rate_limit_exceeded")


def count_request(context: RequestContext, who: str, quota: int) -> QuotaDecision:
    """Counts one request of a principal, and adds the headers with the remaining quota.

    Args:
        context: Request.
        who: Slug of a person, or ``address`` and the address of an anonymous client.
        quota: Requests allowed per hour.
    """
    world, endpoint, choices = context.world, context.endpoint, context.choices
    is_aligned = False
    if choices and endpoint is not None:
        is_aligned = endpoint.api.policies.aligns_windows(choices)
    opened = world.windows.get(who)
    decision, window = count(opened, context.started, quota, is_aligned=is_aligned)
    dropped = world.windows.keep(who, window)
    if world.store is not None:
        world.store.windows_changed(world, (who, *dropped))
    context.extra_headers = decision.headers
    return decision


def sent_headers(context: RequestContext, status: int, headers: Headers) -> Headers:
    """Returns the headers of a response under the chosen names, or else the declared ones."""
    endpoint = context.endpoint
    if endpoint is None:
        return headers
    chosen = endpoint.api.policies.limit_headers(context.choices) if context.choices else ""
    declared = headers
    if not endpoint.headers.is_silent:
        declared = endpoint.headers.sent(status, headers, lambda: _whole_quota(context, endpoint))
    if not chosen:
        return declared
    return (
        *(
            (f"{chosen}-{name.removeprefix(LIMIT_HEADER)}", value)
            if name.startswith(LIMIT_HEADER)
            else renamed
            for (name, value), renamed in zip(headers, declared, strict=False)
        ),
        *declared[len(headers) :],
    )


def _whole_quota(context: RequestContext, endpoint: Endpoint) -> Headers:
    """Returns the headers of an unused quota, for a request that is not counted."""
    quota = endpoint.api.quota(context.principal)
    return QuotaDecision(
        allowed=True, limit=quota, remaining=quota, reset=context.started + WINDOW
    ).headers


def _warn(context: RequestContext, who: str, decision: QuotaDecision) -> None:
    """Counts a request beyond the quota, and warns at the first one of a window."""
    world = context.world
    window = world.windows[who]
    world.windows[who] = window._replace(used=window.used + 1)
    if window.used > decision.limit:
        return
    context.notes.append(f"the service would respond with 429 from here on: {_used_up(decision)}")
    context.extra_headers = (*context.extra_headers, ("x-mock-rate-limit", "429 from here on"))


def _used_up(decision: QuotaDecision) -> str:
    return f"{decision.limit:,} requests an hour are used up until {decision.reset:%H:%M:%S} UTC"
