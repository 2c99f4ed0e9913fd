"""What is judged and with what: addresses, credentials, known people, permissions, budgets."""

from hashlib import sha256
from ipaddress import ip_address
from typing import Literal, get_args
from urllib.parse import urlsplit

from msgspec import Struct, field

from understudy.deployments.exchange import ANONYMOUS_IDENTITY, Identity
from understudy.interface.scopes import AUTH, READ_PROFILE, SCOPES

Mode = Literal["observe", "own", "full"]

READ_SCOPES = frozenset({AUTH, READ_PROFILE})
ALL_SCOPES = frozenset(SCOPES)


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file."""


class Credentials(Table, frozen=True):
    """Bearer tokens, each optional.

    Attributes:
        access_token: Of the test account, with every scope.
        read_only_token: Of the test account, without ``avatar-profile:manage``.
        auth_only_token: Of the test account, with the scope ``auth`` alone.
        expired_token: One that counted once.
        other_access_token: Of another account, with every scope.
        private_access_token: Of the account whose profile is ``known.private_slug``.
        disabled_access_token: Of an account whose profile is disabled.
        api_key: Of any application.
        admin_token: Of a mock on another machine, whose clock ``permit.clock`` lets be moved.
    """

    access_token: str | None = None
    read_only_token: str | None = None
    auth_only_token: str | None = None
    expired_token: str | None = None
    other_access_token: str | None = None
    private_access_token: str | None = None
    disabled_access_token: str | None = None
    api_key: str | None = None
    admin_token: str | None = None


class TargetApplication(Table, frozen=True):
    """An application, with its owner's user name and password for the password grant.

    Attributes:
        approve: What added to an authorization request's query approves it, where a deployment for
            tests knows such a thing; without it the sign-in form is filled in.
        deny: The same for a denial.
    """

    client_id: str | None = None
    client_secret: str | None = None
    redirect_uri: str | None = None
    name: str | None = None
    username: str | None = None
    password: str | None = None
    application_password: str | None = None
    approve: str | None = None
    deny: str | None = None


class Known(Table, frozen=True):
    """People that the deployment is known to have; all of them are named by the target's writer.

    Attributes:
        slug: Of the test account's profile, which is public.
        emails: Of the test account, the primary one first.
        hashes: The same as SHA-256 hashes, where the addresses are not to be written down.
        other_slug: Of the other account.
        other_emails: Of the other account, the primary one first.
        other_hashes: The same as hashes.
        people: Slugs of further public profiles to look at.
        private_slug: Of a private profile.
        disabled_slug: Of a disabled profile.
        hidden_contact_slug: Of a profile whose contact details are not public.
    """

    slug: str | None = None
    emails: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    other_slug: str | None = None
    other_emails: tuple[str, ...] = ()
    other_hashes: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    private_slug: str | None = None
    disabled_slug: str | None = None
    hidden_contact_slug: str | None = None

    @property
    def own_hashes(self) -> tuple[str, ...]:
        """The hashes of the test account's addresses."""
        return self.hashes or tuple(email_hash(email) for email in self.emails)

    @property
    def others_hashes(self) -> tuple[str, ...]:
        """The hashes of the other account's addresses."""
        return self.other_hashes or tuple(email_hash(email) for email in self.other_emails)


class Permit(Table, frozen=True):
    """What may be done beyond reading and editing.

    Attributes:
        uploads: Upload avatars, which are removed again.
        tokens: Have tokens issued.
        exhaust_rate_limit: Use an hour's requests up, so that a 429 is seen.
        clock: Move the clock of a mock by its admin API; it is put back.
    """

    uploads: bool = False
    tokens: bool = False
    exhaust_rate_limit: bool = False
    clock: bool = False


class Budget(Table, frozen=True):
    """Requests to profile endpoints that an hour allows (interface, Limits)."""

    anonymous: int = 100
    token: int = 1000


class Target(Table, frozen=True):
    """A deployment, and what is known and permitted there.

    Attributes:
        base_url: Of the resource API.
        auth_url: Of the authorization server; without it its rules are not checked.
        document: File of the document to judge by, or ``published`` for the deployment's own; ours
            where it is left out.
        mode: What may be written; see ``permits``.
        ours: Whether assumptions bind it: only the mock is held to those.
        other_application: Of anybody; a token of one must be of no use to the other.
        two_step: One whose owner uses two-step authentication.
        ledger: File that keeps the count of requests over runs.
    """

    base_url: str
    auth_url: str | None = None
    document: str | None = None
    mode: Mode | None = None
    ours: bool = False
    ledger: str | None = None
    credentials: Credentials = field(default_factory=Credentials)
    application: TargetApplication = field(default_factory=TargetApplication)
    other_application: TargetApplication = field(default_factory=TargetApplication)
    two_step: TargetApplication = field(default_factory=TargetApplication)
    known: Known = field(default_factory=Known)
    permit: Permit = field(default_factory=Permit)
    budget: Budget = field(default_factory=Budget)

    @property
    def writes(self) -> Mode:
        """The mode in force; a deployment elsewhere is only looked at unless the file says more."""
        return self.mode or ("own" if is_loopback(self.base_url) else "observe")

    def identities(self) -> dict[str, tuple[Identity, str]]:
        """Returns each credential by its name, with its token."""
        given = self.credentials
        named = (
            (Identity("owner", "oauth", "own", ALL_SCOPES), given.access_token),
            (Identity("reader", "oauth", "own", READ_SCOPES), given.read_only_token),
            (Identity("auth_only", "oauth", "own", frozenset({AUTH})), given.auth_only_token),
            (Identity("expired", "invalid"), given.expired_token),
            (Identity("other", "oauth", "other", ALL_SCOPES), given.other_access_token),
            (Identity("private", "oauth", "private", ALL_SCOPES), given.private_access_token),
            (Identity("disabled", "oauth", "disabled", ALL_SCOPES), given.disabled_access_token),
            (Identity("api_key", "api_key"), given.api_key),
            (Identity("wrong", "invalid"), WRONG_TOKEN),
        )
        return {who.name: (who, token) for who, token in named if token is not None}

    def identify(self, token: str | None) -> Identity:
        """Returns whose token it is."""
        if token is None:
            return ANONYMOUS_IDENTITY
        found = (who for who, known in self.identities().values() if known == token)
        stranger = f"token {sha256(token.encode()).hexdigest()[:6]}"
        return next(found, Identity(stranger, "unknown", stranger))

    def secrets(self) -> dict[str, str]:
        """Returns each secret with the name that stands for it in a report."""
        tokens = {token: f"{name.upper()}_TOKEN" for name, (_, token) in self.identities().items()}
        if self.credentials.admin_token:
            tokens[self.credentials.admin_token] = "ADMIN_TOKEN"
        parts = (
            ("APP", self.application),
            ("OTHER_APP", self.other_application),
            ("TWO_STEP", self.two_step),
        )
        for prefix, app in parts:
            for name in ("client_secret", "password", "application_password"):
                secret = getattr(app, name)
                if secret:
                    tokens[secret] = f"{prefix}_{name.upper()}"
        return tokens


WRONG_TOKEN = "understudy-wrong-token"
"""What no deployment has issued."""


def email_hash(address: str) -> str:
    """Returns the public name of an e-mail address (interface, Profile)."""
    return sha256(address.strip().lower().encode()).hexdigest()


def is_loopback(url: str) -> bool:
    """Tells whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


MODES: tuple[str, ...] = get_args(Mode)
