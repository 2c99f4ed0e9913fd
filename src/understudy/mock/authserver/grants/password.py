"""Issues tokens by the password grant, for an application's owner and for tests (interface, Password grant)."""

from collections.abc import Mapping

from understudy.interface.rules import upholds
from understudy.mock.authserver import accounts, authorization_request
from understudy.mock.authserver.oauth_errors import (
    INVALID_GRANT,
    INVALID_REQUEST,
    INVALID_SCOPE,
    NEEDS_2FA,
    OAuthError,
)
from understudy.mock.authserver.token_lifecycle import issue
from understudy.mock.server.call import Call
from understudy.mock.store.applications import Application
from understudy.mock.store.tokens import Token
from understudy.mock.store.vocabulary import vocabulary_of


@upholds(
    "password-grant-owner-only",
    "password-grant-scopes",
    "password-grant-token-no-expiry",
    "password-grant-two-step",
    "password-grant-two-step-error",
)
def redeem(call: Call, application: Application, form: Mapping[str, str]) -> Token:
    """Exchanges the owner's user name and password for a token.

    Raises:
        OAuthError: The credentials are wrong, or not those of the owner.
        TooManyRequests: There were too many failed attempts.
    """
    username, password = form.get("username"), form.get("password")
    if username is None or password is None:
        missing = "username" if username is None else "password"
        raise OAuthError(INVALID_REQUEST, f"{missing} is missing; send it as a form field.")
    vocabulary = vocabulary_of(call.world)
    scopes = authorization_request.requested(tuple(form.items())) or vocabulary.scope_names
    scope_error = authorization_request.error_in(scopes, vocabulary)
    if scope_error is not None:
        raise OAuthError(INVALID_SCOPE, scope_error)
    person = accounts.find_account(call.world, username)
    check = accounts.check_password(call.world, username, password)
    if person is None or check == "wrong":
        raise OAuthError(INVALID_GRANT, "The user name or password is wrong.")
    if person.slug != application.owner:
        description = "This grant is for the application's owner only; send others to authorize."
        raise OAuthError(INVALID_GRANT, description)
    if person.application_password is not None and check == "password":
        description = "The owner uses two-step authentication; send an application password."
        raise OAuthError(NEEDS_2FA, description)
    return issue(call.world, application, person.slug, scopes)
