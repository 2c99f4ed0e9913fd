"""What the reference service remembers, as frozen values.

Fields of a profile that this service only hands through stay mappings in the wire's own words:
a class for each would say the interface a third time.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

Json = Mapping[str, object]
"""A JSON object that is not changed once made."""


class Scope(StrEnum):
    """What an access token permits (interface, Authorization request)."""

    AUTH = "auth"
    READ = "avatar-profile:read"
    MANAGE = "avatar-profile:manage"


class Rating(StrEnum):
    """Whom a picture suits (interface, Rating)."""

    G = "G"
    PG = "PG"
    R = "R"
    X = "X"


@dataclass(frozen=True, kw_only=True)
class Account:
    """A person, as the account system and the profile service know them.

    Attributes:
        application_password: Set when the account uses two-step authentication; it then replaces
            the account password in the password grant.
        emails: The first is the primary one.
        texts: The seven fields that their owner may edit; empty where unset.
        public: Optional fields that anyone sees.
        private: Fields that only callers with a bearer token see.
        contact_info: None unless they made it public.
        edited: When they last edited the profile.
        is_private: Whether nobody but them may look the profile up.
        is_disabled: Whether they switched the profile off, so that there is none.
    """

    user_id: str
    username: str
    password: str
    application_password: str | None = None
    blog_id: str
    slug: str
    emails: tuple[str, ...]
    texts: Mapping[str, str]
    verified_accounts: tuple[Json, ...] = ()
    public: Json = field(default_factory=dict)
    private: Json = field(default_factory=dict)
    contact_info: Json | None = None
    registered: datetime
    edited: datetime | None = None
    is_private: bool = False
    is_disabled: bool = False

    @property
    def hashes(self) -> tuple[str, ...]:
        """The SHA-256 of each e-mail, primary first."""
        return tuple(email_hash(email) for email in self.emails)


@dataclass(frozen=True, kw_only=True)
class Avatar:
    """A picture that its owner has uploaded."""

    image_id: str
    owner: str
    content: bytes = field(repr=False)
    media_type: str
    rating: Rating = Rating.G
    alt_text: str = ""
    updated: datetime


@dataclass(frozen=True, kw_only=True)
class Application:
    """A client made in the developer dashboard; ``owner`` is a user id."""

    client_id: str
    client_secret: str
    name: str
    owner: str
    redirect_uris: tuple[str, ...]


@dataclass(frozen=True)
class ApiKey:
    """A bearer token that stands for an application, and for no person."""

    value: str
    client_id: str


@dataclass(frozen=True, kw_only=True)
class AccessToken:
    """A bearer token that stands for a person; ``expires`` is None for one that never does."""

    value: str
    client_id: str
    user_id: str
    scopes: tuple[Scope, ...]
    expires: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class AuthorizationRequest:
    """What an application asked of ``/oauth2/authorize``, found in order."""

    client_id: str
    redirect_uri: str
    response_type: str
    scopes: tuple[Scope, ...]
    state: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str = "plain"


@dataclass(frozen=True, kw_only=True)
class Code:
    """A time-limited code; ``token`` is what it was redeemed for."""

    value: str
    request: AuthorizationRequest
    user_id: str
    expires: datetime
    token: str | None = None


def email_hash(email: str) -> str:
    """Returns the hexadecimal SHA-256 of an address, trimmed and in lower case."""
    return hashlib.sha256(email.strip().lower().encode()).hexdigest()


def md5_hash(email: str) -> str:
    """Returns the hexadecimal MD5 of an address, trimmed and in lower case."""
    return hashlib.md5(email.strip().lower().encode(), usedforsecurity=False).hexdigest()
