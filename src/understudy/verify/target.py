"""Defines a target: a deployment's addresses, credentials, known people, permissions and budgets.

Target files (TOML) are read strictly: a misspelt permission must not silently be the default.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import md5, sha256
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args
from urllib.parse import urlsplit

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import asdict, replace

from understudy.cases.test_data import TestData, basic_credential
from understudy.errors import StartupError, expect_no_nul, nearest, not_toml, unreadable
from understudy.exchange.messages import ANONYMOUS_IDENTITY, Identity
from understudy.interface.scopes import AUTH, READ_PROFILE, SCOPES
from understudy.terminal import printable_line
from understudy.verify.value_texts import MANGLED, NEARLY, nearly

Mode = Literal["observe", "own", "full"]
Count = Annotated[int, Meta(ge=0)]
PUBLISHED = "published"
"""The value of ``document`` that selects the document that the deployment publishes itself."""

READ_SCOPES = frozenset({AUTH, READ_PROFILE})
ALL_SCOPES = frozenset(SCOPES)


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the target file."""


class Credentials(Table, frozen=True):
    """Bearer tokens, each optional.

    Attributes:
        access_token: Token of the test account, with every scope.
        read_only_token: Token of the test account, without ``avatar-profile:manage``.
        auth_only_token: Token of the test account, with the scope ``auth`` alone.
        no_auth_token: Token of the test account, with every scope but ``auth``.
        expired_token: A token that was valid and has expired.
        other_access_token: Token of a second account, with every scope.
        private_access_token: Token of the account whose profile is ``known.private_slug``.
        disabled_access_token: Token of an account whose profile is disabled.
        api_key: API key of any application.
        admin_token: Admin token of a mock on another machine, for ``permit.clock``.
    """

    access_token: str | None = None
    read_only_token: str | None = None
    auth_only_token: str | None = None
    no_auth_token: str | None = None
    expired_token: str | None = None
    other_access_token: str | None = None
    private_access_token: str | None = None
    disabled_access_token: str | None = None
    api_key: str | None = None
    admin_token: str | None = None


class TargetApplication(Table, frozen=True):
    """A registered application, with its owner's user name and password for the password grant.

    Attributes:
        client_id: Client ID, as the dashboard shows it.
        client_secret: Client secret.
        redirect_uri: One of the registered redirect URIs.
        name: Name that the consent page shows.
        username: User name of the owner, who signs in and uses the password grant.
        password: The owner's account password.
        application_password: The owner's application password, with two-step authentication.
        approve: Query parameter ``name=value`` that approves an authorization request, where a test
            deployment offers one; without it the sign-in form is filled in.
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
    """People that exist at the deployment.

    Attributes:
        slug: Slug of the test account's profile, which is public.
        emails: E-mail addresses of the test account, the primary one first.
        hashes: The SHA-256 hashes of these addresses, in place of them.
        other_slug: Slug of the second account.
        other_emails: E-mail addresses of the second account, the primary one first.
        other_hashes: The SHA-256 hashes of these addresses, in place of them.
        people: Slugs of further public profiles.
        private_slug: Slug of a private profile.
        disabled_slug: Slug of a disabled profile.
        hidden_contact_slug: Slug of a profile whose contact details are not public.
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
        """The hashes of the test account's e-mail addresses."""
        return self.hashes or tuple(email_hash(email) for email in self.emails)

    @property
    def others_hashes(self) -> tuple[str, ...]:
        """The hashes of the second account's e-mail addresses."""
        return self.other_hashes or tuple(email_hash(email) for email in self.other_emails)


_SECRET = re.compile("secret|password|passwd|pin|key|token|assertion", re.IGNORECASE)
"""Matches the names of a login's fields whose values no report shows."""


class Login(Table, frozen=True):
    """A request that obtains an access token, for services without tokens to keep in a file.

    A token endpoint takes a form with the fields of its grant; a login operation mostly takes JSON.

    Attributes:
        path: Path below the base URL, or a whole URL, that the request is sent to with POST.
        json: Members of a JSON body, which may be tables themselves.
        form: Fields of a URL-encoded body, such as `grant_type = "client_credentials"`.
        basic: Name and password for HTTP Basic, as `name:password`, for token endpoints.
        token: The place of the token in the JSON response; slashes lead into objects and lists.
    """

    path: str = ""
    json: dict[str, Any] = field(default_factory=dict)
    form: dict[str, str] = field(default_factory=dict)
    basic: str = ""
    token: str = "access_token"

    def secrets(self) -> Iterator[tuple[str, str]]:
        """Yields the name and the text of each value that no report shows."""
        parts: list[tuple[str, Any]] = [*self.json.items(), *self.form.items()]
        for name, value in parts:  # the loop also visits the members that it appends
            parts += value.items() if isinstance(value, dict) else ()
            if isinstance(value, str) and value and _SECRET.search(name):
                yield name, value
        if self.basic:
            yield "basic", self.basic


class Permit(Table, frozen=True):
    """Permissions beyond reading and editing.

    Attributes:
        uploads: Upload avatars; they are deleted again.
        fill_account: Fill up an account that has avatars; those that are evicted are uploaded again.
        long_texts: Replace texts of over 100 characters, which a deployment may not restore whole.
        tokens: Request authorization codes and tokens.
        max_tokens: The most tokens that are issued to a run; no limit by default.
        exhaust_rate_limit: Use up an hour's requests; others at this address then wait for an hour.
        clock: Move the clock of a mock by its admin API; it is restored.
    """

    uploads: bool = False
    fill_account: bool = False
    long_texts: bool = False
    tokens: bool = False
    max_tokens: Count | None = None
    exhaust_rate_limit: bool = False
    clock: bool = False


class Budget(Table, frozen=True):
    """Requests to the profile endpoints per hour (interface, Limits).

    Attributes:
        anonymous: Requests without a token.
        token: Requests with a token.
    """

    anonymous: Count = 100
    token: Count = 1000


class Target(Table, frozen=True):
    """A deployment, what is known of it, and what is permitted there; paths are relative to the file.

    Attributes:
        base_url: Base URL of the resource API.
        auth_url: Base URL of the authorization server; without it its rules are not checked.
        document: OpenAPI document to judge by, or ``published`` for the deployment's own; the
            bundled one by default.
        overlays: Overlay files that change the document, in their order.
        vocabulary: File of the deployment's words for scopes, QR types, rate-limit headers and the
            field of an upload; the interface's own by default.
        like: Profile of the deployment, as ``serve --like`` takes it: its document, overlays,
            vocabulary, facts and state model apply where they are not named here.
        mode: What may be written: nothing (``observe``), the named account (``own``), or whatever
            the credentials allow (``full``).
        is_mock: Whether assumed and inferred rules give findings and not only notes, as for the mock.
        state_model: State-model file that corrects what is inferred from the document of another
            service.
        accept: Rules whose breach is a note here and not a finding, by their ids.
        accept_as_stated: Inferred rules whose breach is a finding here and not only a note, by their
            ids.
        other_application: A second application; a token or redirect URI of one must be useless to the
            other.
        two_step: An application whose owner uses two-step authentication.
        facts: Facts file that ``understudy learn`` wrote of the deployment, by which it is judged
            instead of by assumptions.
        login: How to obtain the access token, if it is not given.
        other_login: How to obtain the token of the second account.
        reader_login: How to obtain the read-only token.
        read_only_scopes: The scopes of the read-only token, by which another service is judged.
        ledger: File that counts the requests of the hour across runs, or the URL of a store that counts
            them for runs of several machines, such as ``valkey://host/0``.
        variables: Each value that the file reads from a variable, and that variable; no key of the
            file.
    """

    base_url: str
    auth_url: str | None = None
    document: str | None = None
    overlays: tuple[str, ...] = ()
    vocabulary: str | None = None
    like: str | None = None
    mode: Mode | None = None
    is_mock: bool = False
    state_model: str | None = None
    accept: tuple[str, ...] = ()
    facts: str | None = None
    accept_as_stated: tuple[str, ...] = ()
    ledger: str | None = None
    credentials: Credentials = field(default_factory=Credentials)
    application: TargetApplication = field(default_factory=TargetApplication)
    other_application: TargetApplication = field(default_factory=TargetApplication)
    two_step: TargetApplication = field(default_factory=TargetApplication)
    known: Known = field(default_factory=Known)
    login: Login = field(default_factory=Login)
    other_login: Login = field(default_factory=Login)
    reader_login: Login = field(default_factory=Login)
    read_only_scopes: tuple[str, ...] = ()
    permit: Permit = field(default_factory=Permit)
    budget: Budget = field(default_factory=Budget)
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def writes(self) -> Mode:
        """The mode in force: by default ``own`` on this machine, ``observe`` elsewhere."""
        return self.mode or ("own" if is_loopback(self.base_url) else "observe")

    def identities(self) -> Mapping[str, tuple[Identity, str]]:
        """Returns each credential's identity and token by its name."""
        return _identities(self.credentials)

    def identify(self, token: str | None) -> Identity:
        """Returns the identity of a token; an unknown token is named by its hash."""
        if token is None:
            return ANONYMOUS_IDENTITY
        matches = (identity for identity, own in self.identities().values() if own == token)
        name = f"token {sha256(token.encode()).hexdigest()[:6]}"
        return next(matches, Identity(name, "unknown", name))

    def secrets(self) -> dict[str, str]:
        """Returns each secret with the variable that replaces it in reports."""
        tokens = {token: f"{name.upper()}_TOKEN" for name, (_, token) in self.identities().items()}
        tokens |= {NEARLY["basic"].make(text): f"{name}_BASIC" for text, name in tokens.items()}
        if self.credentials.admin_token:
            tokens[self.credentials.admin_token] = "ADMIN_TOKEN"
        for prefix, table in _APPLICATIONS.items():
            for name in ("client_secret", "password", "application_password"):
                secret = getattr(getattr(self, table), name)
                for way, text in nearly(secret) if secret else ():
                    tokens.setdefault(text, f"{prefix}{name.upper()}_{way.upper()}")
                if secret:
                    tokens[secret] = f"{prefix}{name.upper()}"
        for prefix, login in (
            ("LOGIN", self.login),
            ("OTHER_LOGIN", self.other_login),
            ("READER_LOGIN", self.reader_login),
        ):
            tokens |= {text: f"{prefix}_{name.upper()}" for name, text in login.secrets()}
        tokens.pop(WRONG_TOKEN, None)  # no secret: commands show it as it is
        return tokens | {
            secret: name for secret, name in self.variables.items() if secret in tokens
        }


CREDENTIALS: Final = {
    "owner": "access_token",
    "reader": "read_only_token",
    "auth_only": "auth_only_token",
    "no_auth": "no_auth_token",
    "expired": "expired_token",
    "other": "other_access_token",
    "private": "private_access_token",
    "disabled": "disabled_access_token",
    "api_key": "api_key",
}
"""The names of the credentials, and their keys in the file."""

_APPLICATIONS: Final = {
    "APP_": "application",
    "OTHER_APP_": "other_application",
    "TWO_STEP_": "two_step",
}
"""Prefixes of the variables of applications, and the applications' tables."""


def key_of_variable(name: str) -> str:
    """Returns the key whose value a report's variable replaces; empty for the user's variables."""
    credential = CREDENTIALS.get(name.removesuffix("_TOKEN").lower())
    if credential is not None:
        return f"[credentials] {credential}"
    for prefix, table in _APPLICATIONS.items():
        if name.startswith(prefix):
            return f"[{table}] {name.removeprefix(prefix).lower()}"
    return ""


WRONG_TOKEN = "understudy-wrong-token"
"""A token that no deployment has issued."""


@lru_cache(maxsize=16)
def _identities(credentials: Credentials) -> Mapping[str, tuple[Identity, str]]:
    """Returns each identity and token by its name; cached, as every request needs them."""
    mangled = nearly(credentials.access_token or "", (*MANGLED, "escaped", "quoted"))
    named = (
        (Identity("owner", "oauth", "own", ALL_SCOPES), credentials.access_token),
        (Identity("reader", "oauth", "own", READ_SCOPES), credentials.read_only_token),
        (Identity("auth_only", "oauth", "own", frozenset({AUTH})), credentials.auth_only_token),
        (Identity("no_auth", "oauth", "own", ALL_SCOPES - {AUTH}), credentials.no_auth_token),
        (Identity("expired", "invalid"), credentials.expired_token),
        (Identity("other", "oauth", "other", ALL_SCOPES), credentials.other_access_token),
        (Identity("private", "oauth", "private", ALL_SCOPES), credentials.private_access_token),
        (
            Identity("disabled", "oauth", "disabled", ALL_SCOPES),
            credentials.disabled_access_token,
        ),
        (Identity("api_key", "api_key"), credentials.api_key),
        (Identity("wrong", "invalid"), WRONG_TOKEN),
        *((Identity(way, "invalid"), text) for way, text in mangled),
    )
    return MappingProxyType(
        {identity.name: (identity, token) for identity, token in named if token is not None}
    )


@lru_cache(maxsize=256)  # checks ask for the same few addresses at every exchange
def email_hash(address: str) -> str:
    """Returns the SHA-256 hash of an e-mail address (interface, Profile)."""
    return sha256(address.strip().lower().encode()).hexdigest()


def md5_of(email: str) -> str:
    """Returns the MD5 hash of an e-mail address, as old clients send it."""
    return md5(email.strip().lower().encode(), usedforsecurity=False).hexdigest()


def is_loopback(url: str) -> bool:
    """Returns True if a URL's host is a loopback host."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


MODES: tuple[str, ...] = get_args(Mode)


def load_target(path: Path, environment: Mapping[str, str], base_url: str | None = None) -> Target:
    """Reads a target file.

    Args:
        path: A TOML file.
        environment: The variables that ``env:NAME`` refers to.
        base_url: The base URL where the file has none.

    Raises:
        StartupError: The file cannot be read or is invalid; the text names the key and the remedy.
    """
    try:
        raw = tomllib.loads(path.read_text("utf-8-sig"))  # some editors write a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        remedy = "`understudy verify --init` writes one."
        raise StartupError(unreadable(path, error, remedy)) from error
    except (ValueError, RecursionError) as error:  # not TOML, too large a number, or too deep
        remedy = "`understudy verify --template` prints a target file."
        raise StartupError(not_toml(path, error, remedy)) from error
    expect_no_nul(raw, path)
    return target_of({"base_url": base_url, **raw} if base_url else raw, environment, str(path))


def target_of(raw: Mapping[str, Any], environment: Mapping[str, str], where: str) -> Target:
    """Returns the target that a file's content describes.

    Raises:
        StartupError: The content is invalid.
    """
    _expect_known_keys(raw, Target, where)
    try:
        target = convert(_resolved(raw, environment, where), Target)
        target = replace(target, variables=dict(_variables(raw, environment)))
    except ValidationError as error:
        raise StartupError(_invalid(raw, error, where)) from error
    for name in ("base_url", "auth_url"):
        _expect_base_url(getattr(target, name), f"{where}: {name}")
    return target


_TOKEN = re.compile("[!-~]+")
"""Matches a text that a header can have after ``Bearer``."""

_KEY = re.compile("[!-~]+( [!-~]+)*")
"""Matches an API key, and a name and a password."""


def expect_sendable(target: Target, where: str) -> None:
    """Checks that all credentials can be sent; messages do not repeat them.

    Raises:
        StartupError: A credential is empty, or has a character that no header can have.
    """
    # another service may take "Token abc" as an API key, or a password of several words
    sendable = _TOKEN if target.document is None else _KEY
    for name, token in asdict(target.credentials).items():
        if token == "":
            msg = f"{where}: [credentials] {name} is empty; give a token, or leave the key out."
            raise StartupError(msg)
        if token is not None and not sendable.fullmatch(token):
            msg = (
                f"{where}: [credentials] {name} holds a space, a line end or a letter beyond ASCII, "
                "which no Authorization header carries; copy the token again."
            )
            raise StartupError(msg)


def _expect_base_url(url: str | None, what: str) -> None:
    """Checks that a text is a base URL; messages do not repeat a password in it."""
    if url is None:
        return
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        msg = f"{what} = {_as_toml(url)} is not a URL; write it as https://host/path."
        raise StartupError(msg)
    if "@" in parts.netloc or parts.query or parts.fragment:
        msg = f"{what} has a user name, a query or a fragment; write it as https://host/path."
        raise StartupError(msg)


def _expect_known_keys(raw: Mapping[str, Any], kind: type[Struct], where: str) -> None:
    known = {f: kind.__annotations__[f] for f in kind.__struct_fields__ if f != "variables"}
    for key, value in raw.items():
        if key not in known:
            hint = nearest(key, list(known)) or f"; there are {', '.join(known)}."
            msg = f"{where}: there is no key '{printable_line(key):.200}'{hint}"
            raise StartupError(msg)
        table = known[key]
        if isinstance(value, dict) and isinstance(table, type) and issubclass(table, Table):
            _expect_known_keys(value, table, f"{where}: [{key}]")


_INVALID = re.compile(r"(?P<what>.*) - at `\$\.(?P<path>[a-z_.]+)(?P<item>[^`]*)`")
"""The text of msgspec's validation error: what is wrong, and the path of the value."""

_MISSING = re.compile(r"Object missing required field `(\w+)`")

_EXPECTED = {"int": "a whole number", "str": "a text", "bool": "true or false", "array": "a list"}


def _invalid(raw: Mapping[str, Any], error: ValidationError, where: str) -> str:
    """Returns the message for an invalid value, in the words of the file."""
    missing = _MISSING.fullmatch(str(error))
    if missing is not None:
        return f"{where}: {missing[1]} is missing; `understudy verify --template` shows every key."
    match = _INVALID.fullmatch(str(error))
    if match is None:
        return f"{where}: {error}."
    *tables, key = match["path"].split(".")
    value: Any = raw
    for name in (*tables, key):
        value = value[name]
    named = f"[{tables[0]}] {key}" if tables else key
    is_secret = tables == ["credentials"] or key.endswith(("secret", "password"))
    shown = named if is_secret else f"{named} = {_as_toml(value)}"
    if key == "mode":
        return f"{where}: {named} = {_as_toml(value)} is not a mode; write {', '.join(MODES)}."
    expected = re.search(r"Expected `(\w+)", match["what"])
    wanted = _EXPECTED.get(expected[1], expected[1]) if expected else match["what"]
    wanted += ", 0 or more" if ">=" in match["what"] else ""
    wanted = "a list of texts" if match["item"] else wanted
    return f"{where}: {shown} must be {wanted}."


def _as_toml(value: Any) -> str:
    """Returns the start of a value as TOML, which has JSON's syntax for most; a date as a text."""
    return f"{json.dumps(value, ensure_ascii=False, default=str):.200}"


def _variables(value: Any, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields each value that comes from a variable, with the name of the variable."""
    for member in value.values() if isinstance(value, dict) else ():
        yield from _variables(member, environment)
    if isinstance(value, str) and value.startswith("env:"):
        name = value.removeprefix("env:")
        yield environment[name].strip("\r\n"), name


def _resolved(value: Any, environment: Mapping[str, str], where: str) -> Any:
    if isinstance(value, dict):
        return {
            key: _resolved(member, environment, f"{where}: {key}") for key, member in value.items()
        }
    if isinstance(value, str) and value.startswith("env:"):
        name = value.removeprefix("env:")
        if not environment.get(name):
            msg = f"{where}: the environment variable {name} is not set; export it, or leave the key out."
            raise StartupError(msg)
        return environment[name].strip("\r\n")  # values that were read from files may end so
    return value


SECRET_KEYS: Final = {
    "TOKEN": ("credentials", "access_token"),
    "READ_TOKEN": ("credentials", "read_only_token"),
    "AUTH_TOKEN": ("credentials", "auth_only_token"),
    "EXPIRED_TOKEN": ("credentials", "expired_token"),
    "API_KEY": ("credentials", "api_key"),
    "OTHER_TOKEN": ("credentials", "other_access_token"),
    "PRIVATE_TOKEN": ("credentials", "private_access_token"),
    "DISABLED_TOKEN": ("credentials", "disabled_access_token"),
    "CLIENT_SECRET": ("application", "client_secret"),
    "PASSWORD": ("application", "password"),
    "CREDENTIAL": ("credentials", "api_key"),
}
"""The table and the key of a target file with the value of each variable of a case."""


def named_in_target(variable: str) -> str:
    """Returns the key of a target file that holds a variable of a case; its own name without one."""
    if variable == "BASIC_CREDENTIAL":
        return "[application] username and password"
    table, key = SECRET_KEYS.get(variable, ("", variable))
    return f"[{table}] {key}" if table else key


def data_for_target(target: Target) -> TestData:
    """Returns the test data of a deployment, as far as its target file names it."""
    app, known = target.application, target.known
    secrets = {
        name: getattr(getattr(target, table), key) for name, (table, key) in SECRET_KEYS.items()
    }
    name, colon, password = (secrets["TOKEN"] or "").partition(":")
    of_owner = basic_credential(name, password if colon else None)
    secrets["BASIC_CREDENTIAL"] = basic_credential(app.username, app.password) or of_owner
    secrets["CREDENTIAL"] = secrets["CREDENTIAL"] or secrets["TOKEN"]
    mock = TestData()
    return TestData(
        slug=known.slug or mock.slug,
        email=known.emails[0] if known.emails else mock.email,
        email_hash=known.own_hashes[0] if known.own_hashes else "",
        client_id=app.client_id or mock.client_id,
        denial=app.deny or "",
        approval=(app.approve or "") if target.permit.tokens else "",
        redirect_uri=app.redirect_uri or mock.redirect_uri,
        username=app.username or mock.username,
        second_hash=next(iter(known.own_hashes[1:]), ""),
        other_hash=next(iter(known.others_hashes), ""),
        private_slug=known.private_slug or "",
        disabled_slug=known.disabled_slug or "",
        secrets={name: text for name, text in secrets.items() if text is not None},
    )
