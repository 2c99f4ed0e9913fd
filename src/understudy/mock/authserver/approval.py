"""Issues a code or a token after a person's approval."""

from collections.abc import Mapping
from datetime import timedelta

from understudy.interface.rules import upholds
from understudy.mock.authserver.authorization_request import AuthorizationRequest
from understudy.mock.authserver.token_lifecycle import IMPLICIT_LIFETIME, issue
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import CODES, AuthorizationCode
from understudy.mock.store.people import account_number

CODE_DIGITS = 32
"""Hexadecimal digits of a code: 128 bits (RFC 6749, 10.10)."""


def approve(
    world: World, request: AuthorizationRequest, person: str, choices: Mapping[str, str]
) -> str:
    """Issues the code or token that was requested.

    Args:
        world: The world that it is valid in.
        request: The validated request that the person saw.
        person: Slug of the person who approved.
        choices: Switch name to the option in force.

    Returns:
        The URL to redirect the browser to.
    """
    if request.response_type == "token":
        return _token(world, request, person)
    seconds = int(choices.get("code-lifetime", "600"))
    return _code(world, request, person, timedelta(seconds=seconds))


@upholds("code-in-query", "code-time-limited", "code-lifetime", "code-unguessable", "pkce-honoured")
def _code(world: World, request: AuthorizationRequest, person: str, lifetime: timedelta) -> str:
    """Issues a code (interface, Code grant, 1: "time-limited"; RFC 6749, 4.1.2)."""
    code = AuthorizationCode(
        code=world.mark + world.identifiers.hexadecimal(CODE_DIGITS),
        client_id=request.return_address.application.client_id,
        redirect_uri=request.return_address.redirect_uri,
        person=person,
        scopes=request.scopes,
        expires=world.clock.now() + lifetime,
        challenge=request.challenge,
        challenge_method=request.challenge_method,
    )
    world.put(CODES, code.code, code)
    return request.return_address.with_response(code=code.code)


@upholds("implicit-token-in-fragment", "implicit-expires-in")
def _token(world: World, request: AuthorizationRequest, person: str) -> str:
    token = issue(
        world, request.return_address.application, person, request.scopes, IMPLICIT_LIFETIME
    )
    return request.return_address.with_response(
        access_token=token.token,
        expires_in=str(int(IMPLICIT_LIFETIME.total_seconds())),
        token_type="bearer",
        site_id=account_number(person),
    )
