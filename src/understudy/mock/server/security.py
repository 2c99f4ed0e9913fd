"""Authenticates a request, and decides whether it is authorized.

Not left to the order of a document's ``security`` list: with alternatives tried in order, an
optional token is either never read or a wrong one silently counts as none.
"""

from understudy.errors import Forbidden, Headers, Unauthorized
from understudy.mock.server.call import Principal
from understudy.mock.server.credentials import (
    NOT_AUTHORIZED,
    REALM,
    authenticate_alternatives,
    bearer_token,
)
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.request_context import RequestContext

CHALLENGE = f"Bearer {REALM}"
EXPECTED = "send Authorization: Bearer TOKEN"


def authorize(context: RequestContext) -> None:
    """Determines whom a request speaks for.

    Raises:
        Unauthorized: A token is required and missing, or it is not valid (RFC 6750, 3.1).
        Forbidden: The token lacks a scope.
    """
    endpoint = context.endpoint
    if endpoint is None or endpoint.access.token == "unread":
        if endpoint is not None and endpoint.access.alternatives:
            principal = authenticate_alternatives(context, endpoint.api, endpoint.access)
            _expect_declared_scopes(context, endpoint, principal)
            context.principal = principal
        return
    authorization = context.headers.get(b"authorization")
    if authorization is None:
        if endpoint.access.token == "required":
            raise Unauthorized(_because(endpoint, EXPECTED), headers=_challenge())
        return
    principal = _principal(context, authorization)
    if principal is None:
        refuse_token(context, endpoint, authorization)
        return
    if endpoint.access.scopes is not None:
        _expect_needed_scopes(context, endpoint, principal, endpoint.access.scopes)
    _expect_declared_scopes(context, endpoint, principal)
    context.principal = principal


def _expect_needed_scopes(
    context: RequestContext, endpoint: Endpoint, principal: Principal, scopes: frozenset[str]
) -> None:
    """Refuses a token that lacks a scope, at once or after the body was read, by the policies.

    Raises:
        Unauthorized: It is an API key, which speaks for no user.
        Forbidden: It is refused at once.
    """
    try:
        is_granted = _counts_as_granted(context, endpoint, principal)
        expect_scopes(principal, scopes, is_granted=is_granted)
    except Forbidden as refusal:
        is_deferred = endpoint.api.policies.defers_missing_scope(context.choices)
        if endpoint.body is None or not is_deferred:
            raise
        context.deferred = refusal


def _counts_as_granted(context: RequestContext, endpoint: Endpoint, principal: Principal) -> bool:
    """Tells whether a token opens an operation by the choices in force, whatever it was granted."""
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


def refuse_token(context: RequestContext, endpoint: Endpoint, authorization: bytes) -> None:
    """Refuses a token that is not valid, at once or after all else; or ignores it, by the policies.

    Raises:
        Unauthorized: It is refused at once.
    """
    is_optional = endpoint.access.token == "optional"
    if is_optional and endpoint.api.policies.ignores_invalid_token(context.choices):
        context.notes.append(
            "the token is not valid; the response is the one for anonymous clients"
        )
        return
    msg = _because(endpoint, _reason_against(context, endpoint, authorization))
    refusal = Unauthorized(msg, code="invalid_token", headers=_challenge("invalid_token"))
    if not (is_optional and endpoint.api.policies.defers_invalid_token(context.choices)):
        raise refusal
    context.deferred = refusal


def _reason_against(context: RequestContext, endpoint: Endpoint, authorization: bytes) -> str:
    """Returns why an Authorization header does not authenticate; repeats nothing of its value."""
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
    """Refuses an OAuth token that was granted the scopes of no alternative, where they are checked.

    Raises:
        Forbidden: It is such a token (RFC 6750, 3.1).
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
    """Refuses a token that does not open an operation.

    Args:
        principal: Whom the token speaks for.
        scopes: What the operation needs.
        is_granted: Whether every OAuth token counts as granted them.

    Raises:
        Unauthorized: It is an API key, which speaks for no user.
        Forbidden: It was not granted a scope (RFC 6750, 3.1).
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
