"""Issues and revokes access tokens."""

from collections.abc import Sequence
from datetime import timedelta

from understudy.interface.rules import upholds
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import USED_SCOPES, Application
from understudy.mock.store.tokens import TOKEN_ALPHABET, TOKENS, Token

IMPLICIT_LIFETIME = timedelta(weeks=2)  # interface, Limits: Implicit-flow token lifetime

TOKEN_DIGITS = 48
"""Characters of a token, from an alphabet of 72: some 290 bits (RFC 6749, 10.10, requires 128)."""


@upholds("code-token-no-expiry", "implicit-token-two-weeks", "code-unguessable")
def issue(
    world: World,
    application: Application,
    person: str,
    scopes: Sequence[str],
    lifetime: timedelta | None = None,
) -> Token:
    """Issues a token.

    Args:
        world: World in which the token is valid.
        application: Client that gets the token.
        person: Slug of the person who granted it.
        scopes: Granted scopes.
        lifetime: Time until the token expires; None: never (interface, Limits).
    """
    expires = None if lifetime is None else (world.clock.now() + lifetime).isoformat()
    token = Token(
        token=world.mark + world.identifiers.text(TOKEN_DIGITS, TOKEN_ALPHABET),
        person=person,
        scopes=tuple(scopes),
        expires=expires,
        client_id=application.client_id,
        about=f"granted to {application.name}",
    )
    world.put(TOKENS, token.token, token)
    return token


def revoke(world: World, token: str) -> None:
    """Revokes a token; an unknown one is ignored."""
    world.remove(TOKENS, token)
    world.remove(USED_SCOPES, token)
