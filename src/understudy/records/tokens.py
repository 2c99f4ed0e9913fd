"""Bearer tokens: OAuth access tokens and API keys (interface, Bearer tokens)."""

from typing import Literal

from msgspec import Struct

from understudy.engine.worlds import Collection


class Token(Struct, frozen=True, forbid_unknown_fields=True):
    """A bearer token as a world holds it.

    Attributes:
        token: What stands behind ``Bearer``.
        person: Slug of the account it speaks for.
        kind: An API key reads public lookup with more fields; only OAuth tokens open ``/me``.
        scopes: What an OAuth token was granted; empty for an API key.
        expires: Aware instant, ISO 8601; None for a token that does not end.
        about: Why it is among the fixtures.
    """

    token: str
    person: str
    kind: Literal["oauth", "api_key"] = "oauth"
    scopes: tuple[str, ...] = ()
    expires: str | None = None
    about: str = ""


TOKENS: Collection[Token] = Collection("tokens")
"""Token string to token."""
