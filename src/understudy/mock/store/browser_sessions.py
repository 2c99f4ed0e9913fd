"""Begins browser sessions at the authorization server, and writes their cookie."""

from urllib.parse import urlsplit

from understudy.mock.server.worlds import World
from understudy.mock.store.applications import SESSIONS, Session

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
