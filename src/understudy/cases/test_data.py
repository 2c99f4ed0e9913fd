"""Test data of a deployment: a person, an avatar, an application, and secrets by name.

The defaults are those of the mock's bundled fixtures. Requests contain secrets as variables, which
are replaced when a request is sent, or written with ``--include-secrets``.
"""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

SECRETS: Mapping[str, str] = {
    "TOKEN": "an OAuth token with all scopes",
    "READ_TOKEN": "an OAuth token without the scope to edit",
    "AUTH_TOKEN": "an OAuth token with the scope auth alone",
    "EXPIRED_TOKEN": "an OAuth token that has expired",
    "API_KEY": "an API key",
    "OTHER_TOKEN": "an OAuth token of another person",
    "PRIVATE_TOKEN": "an OAuth token of the person whose profile is private",
    "DISABLED_TOKEN": "an OAuth token of a person whose profile is disabled",
    "CLIENT_SECRET": "the secret of the application",
    "PASSWORD": "the password of the application's owner",
    "CLIENT_TOKEN": "a token that was issued to the application",
    "CODE": "an authorization code that was not exchanged yet",
    "CREDENTIAL": "an API key, or any other credential that the document requires",
    "BASIC_CREDENTIAL": "a user name and a password, with a colon between them, in base64 (RFC 7617)",
}
"""Variable to a description of its secret."""

AVATAR_ID, CODE, CLIENT_TOKEN = "AVATAR_ID", "CODE", "CLIENT_TOKEN"
"""Variables whose values set-up requests obtain: an avatar, an authorization code, and a token."""

_OF_THE_MOCK = {
    "TOKEN": "ada-full",
    "READ_TOKEN": "ada-read-only",
    "AUTH_TOKEN": "ada-auth-only",
    "EXPIRED_TOKEN": "ada-expired",
    "API_KEY": "ada-api-key",
    "OTHER_TOKEN": "ben-full",
    "PRIVATE_TOKEN": "hush-full",
    "DISABLED_TOKEN": "gone-full",
    "CLIENT_SECRET": "server-app-secret",
    "PASSWORD": "ada-password",
    "CREDENTIAL": "ada-api-key",
    "BASIC_CREDENTIAL": "YWRhOmFkYS1wYXNzd29yZA==",
}


@dataclass(frozen=True, slots=True)
class TestData:
    """The people, avatars and applications of a deployment that cases use.

    Attributes:
        slug: Slug of a public profile.
        email: Primary e-mail address of that person, who owns the secret ``TOKEN``.
        image_id: An avatar of that person.
        client_id: Client ID of an application of that person.
        redirect_uri: Redirect URI registered for the application.
        username: User name of that person at the authorization server.
        secrets: Variable to value, for the known secrets.
        email_hash: SHA-256 hash of ``email`` (rule email-hash-normalised); computed by default.
        second_hash: Hash of a second e-mail address of that person; empty if none is known.
        other_hash: Hash of an address of another person; empty if none is known.
        private_slug: Slug of a private profile; empty if none is known.
        disabled_slug: Slug of a disabled profile; empty if none is known.
        denial: Query by which the deployment denies an authorization request; empty if only a
            person can deny it.
        approval: Query by which it approves an authorization request; empty if only a person can.
        is_token_checked: Whether a service other than the interface's is known to refuse unknown
            tokens.
    """

    __test__ = False  # pytest would collect a class of this name

    slug: str = "ada"
    email: str = "ada@example.com"
    image_id: str = "288781428e4dfa058dcb4ccb157f0b79"
    client_id: str = "server-app"
    redirect_uri: str = "http://127.0.0.1:5000/callback"
    username: str = "ada"
    secrets: Mapping[str, str] = field(default_factory=lambda: dict(_OF_THE_MOCK))
    email_hash: str = ""
    second_hash: str = field(default_factory=lambda: digest("ada.merrowdale@example.org"))
    other_hash: str = field(default_factory=lambda: digest("ben@example.com"))
    private_slug: str = "hush"
    disabled_slug: str = "gone"
    denial: str = "mock_deny=1"
    approval: str = "mock_approve=ada"
    is_token_checked: bool = False

    def __post_init__(self) -> None:
        if not self.email_hash:
            object.__setattr__(self, "email_hash", digest(self.email.strip().lower()))


def basic_credential(username: str | None, password: str | None) -> str | None:
    """Returns the credential of Basic authentication, whose password may be empty; None without one."""
    if not username or password is None:
        return None
    return base64.b64encode(f"{username}:{password}".encode()).decode()


def digest(text: str) -> str:
    """Returns the SHA-256 of a text in lower-case hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
