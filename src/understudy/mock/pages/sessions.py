"""Browser sessions at the authorization server: a cookie, and a record in the world."""

import hmac

from flask import Response, abort, request
from msgspec.structs import replace

from understudy.mock.pages.wsgi_bridge import exchange
from understudy.mock.store.applications import COOKIE, SESSIONS, Session, begin_session, set_cookie
from understudy.mock.store.people import PEOPLE, Person


def session_of() -> Session:
    """Returns the browser's session; a new one if it has none or its person was deleted."""
    session = exchange().world.get(SESSIONS, request.cookies.get(COOKIE, ""))
    if session is None or (session.person is not None and person_of(session) is None):
        return begin_session(exchange().world)
    return session


def end(session: Session) -> None:
    """Ends a session."""
    exchange().world.remove(SESSIONS, session.key)


def with_cookie(response: Response, session: Session) -> Response:
    """Adds the session's cookie to a response."""
    response.headers.add("Set-Cookie", set_cookie(session, exchange().site_url))
    return response


def person_of(session: Session) -> Person | None:
    """Returns the person who is signed in, or None."""
    return (session.person and exchange().world.get(PEOPLE, session.person)) or None


def expect_csrf(session: Session) -> None:
    """Refuses a form without the CSRF token of this session with status 400."""
    token = request.form.get("csrf", "")
    if not hmac.compare_digest(token.encode(), session.csrf.encode()):
        abort(400, "This form is not from this session's page. Go back, reload it, and try again.")


def show_once(session: Session, secrets: dict[str, str]) -> None:
    """Stores secrets for the next page of the session, which shows them once."""
    exchange().world.put(SESSIONS, session.key, replace(session, secrets=secrets))


def take_secrets(session: Session) -> dict[str, str]:
    """Returns the secrets that are stored for this page, and deletes them."""
    if session.secrets:
        exchange().world.put(SESSIONS, session.key, replace(session, secrets={}))
    return session.secrets
