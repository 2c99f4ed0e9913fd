"""Who calls the resource API, and what they may do (interface, Bearer tokens; RFC 6750)."""

from collections.abc import Callable
from http import HTTPStatus
from typing import NoReturn

from flask import g, request
from tests.proofs.reference.records import AccessToken, ApiKey, Scope
from tests.proofs.reference.refusals import Refused
from tests.proofs.reference.service import chose, service

REALM = 'Bearer realm="reference"'
Credential = ApiKey | AccessToken | None


def presented() -> str | None:
    """Returns what follows ``Bearer`` in the header, if that is there at all."""
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else None


def remember() -> None:
    """Looks the credential up once for the request at hand."""
    value = presented()
    g.credential = None if value is None else service().grants.bearer(value, service().clock())


def credential() -> Credential:
    """Returns who calls; None if they say nothing, or nothing that is known here."""
    found: Credential = g.credential
    return found


def optional() -> Credential:
    """Admits anybody, and anybody's valid token that has the scope every endpoint wants.

    Raises:
        Refused: A token was sent that is unknown, has ended or lacks the scope ``auth``.
    """
    found = credential()
    is_open = chose("invalid-optional-token", "anonymous")
    if found is None and presented() is not None and not is_open:
        _refuse_unauthorized("The bearer token is unknown or has ended.", "invalid_token")
    if isinstance(found, AccessToken):
        _check(found, Scope.AUTH)
    return found


def required(
    scope: Scope, switch: str = "", *, before: Callable[[], object] | None = None
) -> AccessToken:
    """Admits a person's access token that has a scope, and ``auth`` beside it.

    Args:
        scope: The scope.
        switch: The switch by which the operator may let other scopes do.
        before: Reads the body, where the operator looks at that before the scope.

    Raises:
        Refused: With 401 there is no such token, with 403 it lacks a scope.
    """
    found = optional()
    if found is None:
        error = None if presented() is None else "invalid_token"
        _refuse_unauthorized("Send a header Authorization: Bearer and an access token.", error)
    if isinstance(found, ApiKey):
        message = "An API key stands for no person; send an OAuth access token."
        _refuse_unauthorized(message, "invalid_token")
    if before is not None and chose("scope-body-precedence", "body"):
        before()
    is_managing = chose(switch, "any") and Scope.MANAGE in found.scopes
    if not (is_managing or chose(switch, "auth")):
        _check(found, scope)
    return found


def _check(token: AccessToken, scope: Scope) -> None:
    if scope not in token.scopes and not chose("scopes", "ignored"):
        challenge = f'{REALM}, error="insufficient_scope", scope="{scope}"'
        raise Refused(
            HTTPStatus.FORBIDDEN,
            "insufficient_scope",
            f"The access token lacks the scope {scope}.",
            {"WWW-Authenticate": challenge},
            switch="missing-scope-error",
        )


def _refuse_unauthorized(message: str, error: str | None) -> NoReturn:
    # RFC 6750, 3.1: whoever sent no credentials is told no error code
    challenge = REALM if error is None else f'{REALM}, error="{error}"'
    raise Refused(
        HTTPStatus.UNAUTHORIZED,
        error or "unauthorized",
        message,
        {"WWW-Authenticate": challenge},
        switch="missing-token-error" if error is None else "invalid-token-error",
    )
