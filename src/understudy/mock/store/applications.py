"""Records of the authorization server, and the rules for registering an application."""

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
        code: The text of the code.
        client_id: The client that the code was issued to.
        redirect_uri: Redirect URI of the authorization request; the exchange must repeat it.
        person: Slug of the person who approved.
        scopes: The approved scopes.
        expires: End of the code's validity.
        challenge: The PKCE challenge, if one was sent (RFC 7636, 4.3).
        challenge_method: ``S256`` or ``plain``.
        token: The token that the code was exchanged for; None until then.
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
    """A browser session at the authorization server.

    Attributes:
        key: Value of the session cookie.
        csrf: CSRF token, which each form must send back.
        person: Slug of the person who signed in; None before a sign-in.
        secrets: Secrets that the next page shows once, by label.
    """

    key: str
    csrf: str
    person: str | None = None
    secrets: dict[str, str] = {}


class Consent(Struct, frozen=True):
    """A consent page that waits for the person's decision, which is accepted once.

    Attributes:
        session: Key of the session that the page was shown in.
        query: The query of the authorization request, unchanged.
    """

    session: str
    query: bytes


class ClientAdvice(Struct, frozen=True):
    """Advice on a client's bad practice, which its successful requests do not show.

    Attributes:
        client_id: The client.
        problem: Name of the practice, such as ``no-state``.
        advice: The practice to use instead.
        count: Number of times that it was seen.
        seen: Time of the last one.
    """

    client_id: str
    problem: str
    advice: str
    count: Count
    seen: Instant


APPLICATIONS: Collection[Application] = Collection("applications", Application)
"""Applications by client_id."""

CODES: Collection[AuthorizationCode] = Collection("codes", AuthorizationCode, is_transient=True)
"""Codes by their text, until they are exchanged."""

SPENT_CODES: Collection[AuthorizationCode] = Collection(
    "spent_codes", AuthorizationCode, is_transient=True
)
"""Exchanged codes by their text, in the order of exchange, to detect a second exchange."""

SESSIONS: Collection[Session] = Collection("sessions", Session, is_transient=True)
"""Sessions by the value of the cookie."""

USED_SCOPES: Collection[frozenset[str]] = Collection(
    "used_scopes", frozenset[str], is_transient=True
)
"""The scopes that requests with a token have needed so far, by access token."""

CONSENTS: Collection[Consent] = Collection("consents", Consent, is_transient=True)
"""Consent pages by the secret that the page's form sends back."""

CLIENT_ADVICE: Collection[ClientAdvice] = Collection(
    "client_advice", ClientAdvice, is_transient=True
)
"""Advice by client_id and problem, with a space between them."""


class FailedAttempts(Struct, frozen=True):
    """Failed attempts to give one secret."""

    since: Instant
    count: Count


FAILED_CLIENT_AUTHENTICATIONS: Collection[FailedAttempts] = Collection(
    "failed_client_authentications", FailedAttempts, is_transient=True
)
"""Attempts with a wrong client secret, by client_id."""

FAILED_CODES: Collection[FailedAttempts] = Collection(
    "failed_codes", FailedAttempts, is_transient=True
)
"""Attempts with a wrong authorization code, by client_id."""

FAILED_SIGN_INS: Collection[FailedAttempts] = Collection(
    "failed_sign_ins", FailedAttempts, is_transient=True
)
"""Attempts with a wrong password, by user name in lower case."""

RATE_LIMITED_CLIENTS: Collection[datetime] = Collection(
    "rate_limited_clients", Instant, is_transient=True
)
"""Time of the first response 429 of the hour to a token of a client, by client_id."""

COOKIE = "understudy_session"

_DIGITS = 32
"""Hexadecimal digits of a key: 128 bits."""


def begin_session(world: World, person: str | None = None) -> Session:
    """Creates a session. Each sign-in needs a new one, against session fixation."""
    mark = world.mark  # two worlds of one seed must not share sessions
    key, csrf = (mark + world.identifiers.hexadecimal(_DIGITS) for _ in range(2))
    session = Session(key, csrf, person)
    world.put(SESSIONS, key, session)
    return session


def cookie_path(url: str) -> str:
    """Returns the Path attribute of a session cookie.

    The path is that of the world, as seen through a proxy, so that a browser can be in two worlds.

    Args:
        url: Address of the authorization server in the world of the session.
    """
    return f"{urlsplit(url).path}/"


def set_cookie(session: Session, url: str) -> str:
    """Returns the value of the Set-Cookie header of a session (RFC 6265, 4.1).

    The cookie is hidden from scripts and not sent with forms of other sites; over https it is
    ``Secure`` (4.1.2.5).

    Args:
        session: The session.
        url: Address of the authorization server in the world of the session.
    """
    secure = "; Secure" if url.startswith("https:") else ""
    return f"{COOKIE}={session.key}; HttpOnly; Path={cookie_path(url)}; SameSite=Lax{secure}"


MAX_NAME = 80
"""Most characters of an application's name, which people read on the consent page."""

_UNREADABLE = frozenset({"Cc", "Cn", "Co", "Cs"})
"""Unicode categories without a glyph: controls, surrogates, unassigned and private characters."""

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the following text (UAX 9, 2)."""

_INVISIBLE = frozenset({"Cf", "Mn", "Zs"})
"""Unicode categories that are invisible alone: format characters, combining marks and spaces."""

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that look like a space."""

_ABSOLUTE = "give an absolute address, such as http://127.0.0.1:3000/callback"
"""Advice on a redirect URI without a scheme."""

_REFUSED_SCHEMES = frozenset({"about", "blob", "data", "file", "javascript", "vbscript"})
_WEB_SCHEMES = frozenset({"http", "https"})
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9a-fA-F:.]+")
"""Host names and IP addresses. Other characters could break out of the Content-Security-Policy."""


def problem_with_name(name: str) -> str | None:
    """Returns why a name of an application is refused, as advice; None if it is accepted."""
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
    """Returns why a redirect URI is refused; None if it is accepted (RFC 6749, 3.1.2; RFC 8252, 7).

    It must be absolute, without a fragment or credentials, and with a scheme that runs no scripts.
    """
    advice = _advice_on_text(uri)
    if advice is None:
        try:
            parts = urlsplit(uri)
            parts.port  # noqa: B018 - raises ValueError for a number above 65535
        except ValueError as error:
            advice = f"it is not a URL: {error}"
        else:
            advice = _advice_on_scheme(parts) or _advice_on_host(parts)
    return None if advice is None else f"{uri!r} cannot be registered; {advice}"


def _advice_on_text(uri: str) -> str | None:
    """Returns advice on the characters of a redirect URI; None if they are accepted."""
    if ":" not in uri:
        return _ABSOLUTE
    if not (uri.isascii() and uri.isprintable()) or " " in uri:
        return "percent-encode its spaces and letters beyond ASCII, and write its host as xn--"
    return "leave out the fragment, where tokens are returned" if "#" in uri else None


def _advice_on_scheme(parts: SplitResult) -> str | None:
    """Returns advice on the scheme of a redirect URI; None if it is accepted."""
    scheme = parts.scheme
    if not scheme:
        return _ABSOLUTE
    if scheme in _REFUSED_SCHEMES:
        return f"give an http or https address: browsers do not redirect to {scheme}:"
    is_reversed_domain = "." in scheme
    is_known = scheme in _WEB_SCHEMES or is_reversed_domain
    return None if is_known else "name an app's own scheme like com.example.app"


def _advice_on_host(parts: SplitResult) -> str | None:
    """Returns advice on the authority of a redirect URI; None if it is accepted."""
    host = parts.hostname
    if "@" in parts.netloc:
        return "leave out the user name and the password"
    if host is None:
        return "name its host" if parts.scheme in _WEB_SCHEMES else None
    return None if _HOST.fullmatch(host) else f"{host!r} is not a host name or an IP address"
