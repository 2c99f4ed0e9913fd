"""Issues tokens at the token endpoint (interface, Code grant and Password grant; RFC 6749, 3.2)."""

from collections.abc import Callable, Mapping

from understudy.interface.rules import upholds
from understudy.mock.authserver import client_authentication
from understudy.mock.authserver.client_advice import note_problem
from understudy.mock.authserver.grants import authorization_code, password
from understudy.mock.authserver.oauth_errors import (
    INVALID_REQUEST,
    NO_STORE,
    UNSUPPORTED_GRANT_TYPE,
    OAuthError,
)
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.store.applications import Application
from understudy.mock.store.people import account_number
from understudy.mock.store.tokens import Token

Redeem = Callable[[Call, Application, Mapping[str, str]], Token]

GRANTS: Mapping[str, Redeem] = {
    "authorization_code": authorization_code.redeem,
    "password": password.redeem,
}

_SECRETS = frozenset({"client_secret", "password", "code", "code_verifier"})


@upholds(
    "token-answer",
    "token-answer-scope",
    "token-empty-field",
    "token-form-encoded",
    "token-grant-type",
    "token-not-cached",
    "token-secrets-not-in-query",
)
def issue_token(
    call: Call, *, origin: str | None = None, body: Mapping[str, str]
) -> HandlerResponse:
    """Exchanges a code or the owner's credentials for a token (``POST /oauth2/token``).

    Args:
        call: The call.
        origin: The Origin header. Only browsers send it, which cannot keep the secret: noted.
        body: The form fields; an empty one counts as omitted (RFC 6749, 3.2).

    Raises:
        OAuthError: The request is invalid (RFC 6749, 5.2).
        TooManyRequests: There were too many failed attempts.
    """
    in_query = sorted(_SECRETS & set(call.undeclared_query))
    if in_query:
        raise OAuthError(
            INVALID_REQUEST, f"{in_query[0]} is in the query string; send it as a form field."
        )
    form = {name: text for name, text in body.items() if text}
    application = client_authentication.authenticate(
        call, form.get("client_id"), form.get("client_secret")
    )
    if origin is not None:
        note_problem(call.world, application.client_id, "secret-in-browser", call.notes)
    grant_type = form.get("grant_type")
    if grant_type is None:
        raise OAuthError(INVALID_REQUEST, f"grant_type is missing; send {' or '.join(GRANTS)}.")
    redeem = GRANTS.get(grant_type)
    if redeem is None:
        description = f"grant_type {grant_type!r} is unknown; send {' or '.join(GRANTS)}."
        raise OAuthError(UNSUPPORTED_GRANT_TYPE, description)
    token = redeem(call, application, form)
    return HandlerResponse(
        {
            "access_token": token.token,
            "token_type": "bearer",
            "blog_id": account_number(token.person),
            "blog_url": f"{call.site_url}/{token.person}",
            "scope": " ".join(token.scopes),
        },
        headers=NO_STORE,
    )
