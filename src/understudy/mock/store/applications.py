"""Defines the records of the authorization server, and the rules for registering an application."""

import re
from datetime import datetime
from typing import Literal
from unicodedata import category
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from understudy.limits import Count
from understudy.mock.server.clock import Instant
from understudy.mock.server.worlds import Collection, World


class Application(Struct, frozen=True, forbid_unknown_fields=True):
    """A client, as the developer dashboard registers it (interface, What the service does).

    Attributes:
        client_id: Identifies the client.
        client_secret: Authenticates the client at the token endpoint.
        name: The name that the consent page shows.
        owner: Slug of the person who registered it.
        redirect_uris: The registered redirect URIs; compared exactly.
        about: Purpose of the fixture.
    """

    client_id: str
    client_secret: str
    name: str
    owner: str
    redirect_uris: tuple[str, ...] = ()
    about: str = ""


class AuthorizationCode(Struct, frozen=True):
    """A code that waits for its exchange (interface, Code grant; RFC 6749, 4.1.2).

    Attributes:
        code: The code itself.
        client_id: Whom it was given to.
        redirect_uri: Of the authorization request; the exchange must repeat it.
        person: Slug of who approved.
        scopes: What was approved.
        expires: When it expires.
        challenge: The PKCE challenge, where one was sent (RFC 7636, 4.3).
        challenge_method: ``S256`` or ``plain``.
        token: The token that it was exchanged for; None until then.
    """

    code: str
    client_id: str
    redirect_uri: str
    person: str
    scopes: tuple[str, ...]
    expires: Instant
    challenge: str | None = None
    challenge_method: Literal["S256", "plain"] = "plain"
    token: str | None = None


class Session(Struct, frozen=True):
    """A browser at the authorization server.

    Attributes:
        key: The cookie's value.
        csrf: What each form must send back.
        person: Slug of who signed in; None: nobody has signed in yet.
        secrets: What the next page shows once, by name.
    """

    key: str
    csrf: str
    person: str | None = None
    secrets: dict[str, str] = {}


class Consent(Struct, frozen=True):
    """A consent page that waits for the person's decision, which is accepted once.

    Attributes:
        session: Key of the session it was shown in.
        query: The query of the authorization request, unchanged.
    """

    session: str
    query: bytes


class ClientAdvice(Struct, frozen=True):
    """Advice on a client's behaviour, even where its requests succeeded.

    Attributes:
        client_id: Who did it.
        problem: Its name, such as ``no-state``.
        advice: What to do instead.
        count: How often it was seen.
        seen: When last.
    """

    client_id: str
    problem: str
    advice: str
    count: Count
    seen: Instant


APPLICATIONS: Collection[Application] = Collection("applications", Application)
"""client_id to application."""

CODES: Collection[AuthorizationCode] = Collection("codes", AuthorizationCode, is_transient=True)
"""Code to its record, until it is exchanged."""

SPENT_CODES: Collection[AuthorizationCode] = Collection(
    "spent_codes", AuthorizationCode, is_transient=True
)
"""Code to its record, in the order of their exchange, so that a second exchange is detected."""

SESSIONS: Collection[Session] = Collection("sessions", Session, is_transient=True)
"""Cookie value to session."""

USED_SCOPES: Collection[frozenset[str]] = Collection(
    "used_scopes", frozenset[str], is_transient=True
)
"""Access token to the scopes that its calls have needed so far."""

CONSENTS: Collection[Consent] = Collection("consents", Consent, is_transient=True)
"""Consent pages by the secret that the page's form sends back."""

CLIENT_ADVICE: Collection[ClientAdvice] = Collection(
    "client_advice", ClientAdvice, is_transient=True
)
"""client_id, a space and the problem to the advice."""


class FailedAttempts(Struct, frozen=True):
    """Wrong guesses at one secret.

    Attributes:
        since: When the first of them was made.
        count: How many there were.
    """

    since: Instant
    count: Count


FAILED_CLIENT_AUTHENTICATIONS: Collection[FailedAttempts] = Collection(
    "failed_client_authentications", FailedAttempts, is_transient=True
)
"""client_id to the wrong client secrets that were sent for it."""

FAILED_CODES: Collection[FailedAttempts] = Collection(
    "failed_codes", FailedAttempts, is_transient=True
)
"""client_id to the wrong authorization codes that it sent."""

FAILED_SIGN_INS: Collection[FailedAttempts] = Collection(
    "failed_sign_ins", FailedAttempts, is_transient=True
)
"""User name, in lower case, to the wrong passwords that were given for it."""

RATE_LIMITED_CLIENTS: Collection[datetime] = Collection(
    "rate_limited_clients", Instant, is_transient=True
)
"""client_id to when a request with its token was first answered 429 within the hour."""


COOKIE = "understudy_session"

_DIGITS = 32
"""Hexadecimal digits of a key: 128 bits."""


def begin(world: World, person: str | None = None) -> Session:
    """Creates a session; signing in always creates a new one (session fixation)."""
    mark = world.mark  # two worlds of one seed must not share sessions
    key, csrf = (mark + world.identifiers.hexadecimal(_DIGITS) for _ in range(2))
    session = Session(key, csrf, person)
    world.put(SESSIONS, key, session)
    return session


def cookie_path(url: str) -> str:
    """Returns the path that the cookie is sent below.

    A browser may be in two worlds at once, and sees them below the path of a proxy.

    Args:
        url: Address of the authorization server in the world of the session.
    """
    return f"{urlsplit(url).path}/"


def set_cookie(session: Session, url: str) -> str:
    """Returns the value of the Set-Cookie header of a session (RFC 6265, 4.1).

    The cookie is hidden from scripts and not sent with forms of other sites; one that is set over
    https is sent over https only (4.1.2.5).

    Args:
        session: The session.
        url: Address of the authorization server in the world of the session.
    """
    secure = "; Secure" if url.startswith("https:") else ""
    return f"{COOKIE}={session.key}; HttpOnly; Path={cookie_path(url)}; SameSite=Lax{secure}"


MAX_NAME = 80
"""Characters; a person must be able to read the name on the consent page."""

_UNREADABLE = frozenset({"Cc", "Cn", "Co", "Cs"})
"""Categories of characters that no font shows: controls, and those that Unicode does not assign."""

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of what is behind them (UAX 9, 2)."""

_INVISIBLE = frozenset({"Cf", "Mn", "Zs"})
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that look like a space."""

_REFUSED_SCHEMES = frozenset({"about", "blob", "data", "file", "javascript", "vbscript"})
_WEB_SCHEMES = frozenset({"http", "https"})
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9a-fA-F:.]+")
"""Host names and IP addresses; any other character could end the pages' Content-Security-Policy."""


def problem_with_name(name: str) -> str | None:
    """Returns what is wrong with the name of an application, or None."""
    words = " ".join(name.split())
    if not words or len(words) > MAX_NAME:
        return f"give 1 to {MAX_NAME} characters; people read the name on the consent page"
    hidden = next((it for it in words if it in _TURNING or category(it) in _UNREADABLE), None)
    if hidden is not None:
        return f"leave out U+{ord(hidden):04X}; people read the name on the consent page"
    if all(it in _BLANK or category(it) in _INVISIBLE for it in words):
        return "give a character that can be seen; people read the name on the consent page"
    return None


def problem_with_redirect_uri(uri: str) -> str | None:
    """Returns why an address cannot be registered, or None (RFC 6749, 3.1.2; RFC 8252, 7).

    It must be absolute, and without a fragment, credentials, or a scheme that runs scripts.
    """
    advice = _advice_on_text(uri)
    if advice is None:
        try:
            parts = urlsplit(uri)
            parts.port  # noqa: B018 - one over 65535 raises
        except ValueError as error:
            advice = f"it is not a URL: {error}"
        else:
            advice = _advice_on_scheme(parts) or _advice_on_host(parts)
    return None if advice is None else f"{uri!r} cannot be registered; {advice}"


def _advice_on_text(uri: str) -> str | None:
    """Returns what to change in the characters of an address, or None."""
    if not (uri.isascii() and uri.isprintable()) or " " in uri:
        return "percent-encode its spaces and letters beyond ASCII, and write its host as xn--"
    return "leave out the fragment, where tokens are returned" if "#" in uri else None


def _advice_on_scheme(parts: SplitResult) -> str | None:
    """Returns what to change in a scheme, or None."""
    scheme = parts.scheme
    if not scheme:
        return "give an absolute address, such as http://127.0.0.1:3000/callback"
    if scheme in _REFUSED_SCHEMES:
        return f"give an http or https address: browsers do not redirect to {scheme}:"
    is_reversed_domain = "." in scheme
    is_known = scheme in _WEB_SCHEMES or is_reversed_domain
    return None if is_known else "name an app's own scheme like com.example.app"


def _advice_on_host(parts: SplitResult) -> str | None:
    """Returns what to change in the part of an address between its scheme and its path, or None."""
    host = parts.hostname
    if "@" in parts.netloc:
        return "leave out the user name and the password"
    if host is None:
        return "name its host" if parts.scheme in _WEB_SCHEMES else None
    return None if _HOST.fullmatch(host) else f"{host!r} is not a host name or an IP address"
