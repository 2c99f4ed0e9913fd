"""Issues and revokes access tokens."""

import hashlib
from collections.abc import Sequence
from datetime import timedelta

from understudy.interface.rules import upholds
from understudy.mock.engine.worlds import World
from understudy.mock.store.applications import USED_SCOPES, Application
from understudy.mock.store.tokens import TOKENS, Token

IMPLICIT_LIFETIME = timedelta(weeks=2)  # interface, Limits: Implicit-flow token lifetime

TOKEN_DIGITS = 48
"""Characters of a token, out of 72: some 290 bits (RFC 6749, 10.10 asks for 128)."""

# Real tokens hold what a fragment must escape; a client that forgets to decode is found out here.
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&()*^@"


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
        world: Where it counts.
        application: Whom it is given to.
        person: Slug of whom it speaks for.
        scopes: What was approved.
        lifetime: None for a token that does not end (interface, Limits).
    """
    expires = None if lifetime is None else (world.clock.now() + lifetime).isoformat()
    token = Token(
        token=world.mark + world.identifiers.text(TOKEN_DIGITS, ALPHABET),
        person=person,
        scopes=tuple(scopes),
        expires=expires,
        client_id=application.client_id,
        about=f"granted to {application.name}",
    )
    world.put(TOKENS, token.token, token)
    return token


def revoke(world: World, token: str) -> None:
    """Ends a token; ending one that is not there changes nothing."""
    world.remove(TOKENS, token)
    world.remove(USED_SCOPES, token)


def revoke_all(
    world: World, *, client_id: str | None = None, person: str | None = None
) -> list[Token]:
    """Ends every token that an application was given, that speaks for a person, or both."""
    ended = [
        token
        for _, token in world.items(TOKENS)
        if (client_id is None or token.client_id == client_id)
        and (person is None or token.person == person)
    ]
    for token in ended:
        revoke(world, token.token)
    return ended


def account_number(slug: str) -> str:
    """Returns the number that an account and its site go by (``user_id``, ``blog_id``)."""
    return str(int(hashlib.sha256(slug.encode()).hexdigest()[:8], 16) % 90_000_000 + 10_000_000)
