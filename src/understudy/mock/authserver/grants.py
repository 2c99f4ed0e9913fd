"""Redeems authorization codes and passwords (interface, Code grant, Password grant; RFC 6749, 4.1.3; RFC 7636, 4.6)."""

import base64
import hashlib
import hmac
from collections.abc import Mapping

from msgspec.structs import replace

from understudy.interface.rules import upholds
from understudy.mock.authserver import accounts, authorization_request
from understudy.mock.authserver.oauth_errors import (
    INVALID_GRANT,
    INVALID_REQUEST,
    INVALID_SCOPE,
    NEEDS_2FA,
    OAuthError,
)
from understudy.mock.authserver.throttling import hold_off
from understudy.mock.authserver.token_lifecycle import issue, revoke
from understudy.mock.server.call import Call
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import (
    CODES,
    FAILED_CODES,
    SPENT_CODES,
    Application,
    AuthorizationCode,
)
from understudy.mock.store.tokens import Token
from understudy.mock.store.vocabulary import vocabulary_of

REMEMBERED = 1000
"""Spent codes that a world remembers to detect replays; older ones are refused as unknown."""


@upholds("code-exchange", "code-bound-to-client", "code-single-use", "code-replay-revokes")
def redeem_code(call: Call, application: Application, form: Mapping[str, str]) -> Token:
    """Exchanges a code for a token.

    Raises:
        OAuthError: The code is invalid, or does not match what it is bound to.
        TooManyRequests: There were too many failed attempts by this client.
    """
    code_text = form.get("code")
    if code_text is None:
        raise OAuthError(INVALID_REQUEST, "code is missing; send the code of the redirect.")
    attempts = hold_off(call.world, FAILED_CODES, application.client_id)
    code = call.world.get(CODES, code_text) or call.world.get(SPENT_CODES, code_text)
    if code is None or code.client_id != application.client_id:
        attempts.failed()
        raise OAuthError(INVALID_GRANT, "The code is unknown, or was issued to another client.")
    _expect_binding(code, form)
    if code.token is not None:
        revoke(call.world, code.token)
        description = "The code was exchanged before, so the token issued for it is now revoked."
        raise OAuthError(INVALID_GRANT, description)
    if call.world.clock.now() >= code.expires:
        raise OAuthError(INVALID_GRANT, "The code has expired; send the person to authorize again.")
    token = issue(call.world, application, code.person, code.scopes)
    _spend(call.world, replace(code, token=token.token))
    return token


def _spend(world: World, code: AuthorizationCode) -> None:
    """Remembers the exchange, and forgets the oldest one over the limit."""
    world.remove(CODES, code.code)
    world.put(SPENT_CODES, code.code, code)
    if world.changed(SPENT_CODES) > REMEMBERED:
        oldest, _ = next(world.items(SPENT_CODES))
        world.remove(SPENT_CODES, oldest)


@upholds("code-redirect-uri-repeated", "pkce-honoured")
def _expect_binding(code: AuthorizationCode, form: Mapping[str, str]) -> None:
    """Refuses an exchange that does not match the authorization request; the code stays valid."""
    redirect_uri = form.get("redirect_uri")
    if redirect_uri is None:
        raise OAuthError(
            INVALID_REQUEST, "redirect_uri is missing; repeat that of the authorization request."
        )
    if redirect_uri != code.redirect_uri:
        description = "redirect_uri differs from that of the authorization request; send the same."
        raise OAuthError(INVALID_GRANT, description)
    verifier = form.get("code_verifier")
    if code.challenge is None and verifier is not None:  # RFC 9700, 4.8.2: a downgrade
        description = "code_verifier was sent, but the authorization request had no code_challenge."
        raise OAuthError(INVALID_GRANT, description)
    if code.challenge is not None and not _verifies(verifier, code):
        raise OAuthError(INVALID_GRANT, "code_verifier does not match the code_challenge.")


def _verifies(verifier: str | None, code: AuthorizationCode) -> bool:
    if verifier is None or code.challenge is None:
        return False
    derived = verifier
    if code.challenge_method == "S256":
        digest = hashlib.sha256(verifier.encode()).digest()
        derived = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(derived.encode(), code.challenge.encode())


@upholds(
    "password-grant-owner-only",
    "password-grant-scopes",
    "password-grant-token-no-expiry",
    "password-grant-two-step",
    "password-grant-two-step-error",
)
def redeem_password(call: Call, application: Application, form: Mapping[str, str]) -> Token:
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
