"""Records for bearer tokens: OAuth access tokens and API keys (interface, Bearer tokens)."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from understudy.mock.server.api import calls_token_unknown
from understudy.mock.server.call import Principal
from understudy.mock.server.worlds import Collection, World
from understudy.mock.store.people import PEOPLE


class Token(Struct, frozen=True, forbid_unknown_fields=True):
    """A bearer token.

    Attributes:
        token: The text after ``Bearer``.
        person: Slug of the account that the token acts for.
        kind: An API key shows more members of public profiles; ``/me`` needs an OAuth token.
        scopes: The granted scopes of an OAuth token; empty for an API key.
        client_id: The application that the token was issued to; None for a fixture without one.
        expires: Instant in ISO 8601 with its offset; None for a token that never expires.
        about: Purpose of the fixture.
    """

    token: str
    person: str
    kind: Literal["oauth", "api_key"] = "oauth"
    scopes: tuple[str, ...] = ()
    client_id: str | None = None
    expires: str | None = None
    about: str = ""


TOKENS: Collection[Token] = Collection("tokens", Token)
"""Tokens by their text."""

KEY_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
"""Characters of the client secrets and API keys that a world generates."""

TOKEN_ALPHABET = f"{KEY_ALPHABET}!#$%&()*^@"
"""Characters of the access tokens that a world generates.

Those that must be escaped in a URL's fragment reveal clients that do not decode it.
"""


def is_valid(token: Token, now: datetime) -> bool:
    """Tells whether a token has not expired."""
    return token.expires is None or now < datetime.fromisoformat(token.expires)


def authenticate(world: World, token: str, now: datetime) -> Principal | None:
    """Returns the principal of a bearer token; None if the token is not valid."""
    record = world.get(TOKENS, token)
    if record is None or not is_valid(record, now) or world.get(PEOPLE, record.person) is None:
        return None
    return Principal(record.person, record.kind, frozenset(record.scopes), token)


def why_invalid(world: World, token: str, now: datetime) -> str:
    """Returns why a bearer token is not valid; names no token, as any client may read the text."""
    record = world.get(TOKENS, token)
    if record is None:
        return calls_token_unknown(world, token, now)
    if not is_valid(record, now):
        return f"the token expired at {record.expires}, and it is {now:%Y-%m-%dT%H:%M:%SZ}"
    return "the person of the token does not exist"
