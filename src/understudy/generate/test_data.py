"""What cases are about at a deployment: a person, an avatar, an application, and secrets by name.

The defaults are those of the mock's bundled fixtures. Secrets are only ever put into a request when
it is sent, or where ``--include-secrets`` was asked for.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from understudy.deployments.target import Target

SECRETS: Mapping[str, str] = {
    "token": "an OAuth token with all scopes",
    "read_token": "an OAuth token without the scope to edit",
    "auth_token": "an OAuth token with the scope auth alone",
    "expired_token": "an OAuth token that has expired",
    "api_key": "an API key",
    "other_token": "an OAuth token of another person",
    "private_token": "an OAuth token of the person whose profile is private",
    "disabled_token": "an OAuth token of a person whose profile is disabled",
    "client_secret": "the secret of the application",
    "password": "the password of the application's owner",
    "client_token": "a token that was issued to the application",
    "code": "an authorization code that was not exchanged yet",
    "credential": "what else the document asks for",
}
"""Every variable of a request, and what it is."""

_OF_THE_MOCK = {
    "token": "ada-full",
    "read_token": "ada-read-only",
    "auth_token": "ada-auth-only",
    "expired_token": "ada-expired",
    "api_key": "ada-api-key",
    "other_token": "ben-full",
    "private_token": "hush-full",
    "disabled_token": "gone-full",
    "client_secret": "server-app-secret",
    "password": "ada-password",
}


@dataclass(frozen=True, slots=True)
class TestData:
    """What cases are about.

    Attributes:
        slug: Of a public profile.
        email: The primary address of the person whom ``token`` speaks for, and whose slug it is.
        image_id: An avatar of that person.
        client_id: An application of that person.
        redirect_uri: Registered for it.
        username: Of that person at the authorization server.
        secrets: Name of a variable to its value, of those that are known.
        email_hash: The hash by which the profile is found (rule email-hash-normalised); worked out
            from the address where it is left out.
        second_hash: Of a further address of that person; empty for none that is known.
        other_hash: Of an address of another person; empty as above, and so on.
        private_slug: Of a private profile.
        disabled_slug: Of a disabled profile.
        denial: What denies an authorization request at once, as a query; empty where only a person
            can.
    """

    __test__ = False  # pytest would take a class of this name for tests

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

    def __post_init__(self) -> None:
        if not self.email_hash:
            object.__setattr__(self, "email_hash", digest(self.email.strip().lower()))


def digest(text: str) -> str:
    """Returns the SHA-256 of a text in lower-case hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def data_for_target(target: Target) -> TestData:
    """Returns what cases are about at a target, as far as its file says it."""
    given, app, known = target.credentials, target.application, target.known
    secrets = {
        "token": given.access_token,
        "read_token": given.read_only_token,
        "auth_token": given.auth_only_token,
        "expired_token": given.expired_token,
        "api_key": given.api_key,
        "other_token": given.other_access_token,
        "private_token": given.private_access_token,
        "disabled_token": given.disabled_access_token,
        "client_secret": app.client_secret,
        "password": app.password,
    }
    mock = TestData()
    return TestData(
        slug=known.slug or mock.slug,
        email=known.emails[0] if known.emails else mock.email,
        email_hash=known.own_hashes[0] if known.own_hashes else "",
        client_id=app.client_id or mock.client_id,
        denial=app.deny or "",
        redirect_uri=app.redirect_uri or mock.redirect_uri,
        username=app.username or mock.username,
        second_hash=next(iter(known.own_hashes[1:]), ""),
        other_hash=next(iter(known.others_hashes), ""),
        private_slug=known.private_slug or "",
        disabled_slug=known.disabled_slug or "",
        secrets={name: text for name, text in secrets.items() if text is not None},
    )
