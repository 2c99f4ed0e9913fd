"""Signs a browser in at the authorization server, without its password (``openapi/admin.yaml``)."""

from collections.abc import Mapping

from understudy.errors import BadRequest, nearest
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers
from understudy.mock.store.browser_sessions import COOKIE, begin, cookie_path, set_cookie
from understudy.mock.store.people import PEOPLE


def create_session(call: Call, *, body: Mapping[str, str]) -> HandlerResponse:
    """Responds to ``POST /sessions``, with the cookie in a header and in the body.

    Browsers send a cookie to every port of its host (RFC 6265, 8.5), so that one of the resource
    API's address signs in at the authorization server of the same host.

    Raises:
        BadRequest: There is no such person.
    """
    world, person = call.world, body["person"]
    if world.get(PEOPLE, person) is None:
        hint = nearest(person, list(world.keys(PEOPLE))) or "."
        msg = f"person: there is no {person!r} in this world{hint}"
        raise BadRequest(msg)
    session = begin(world, person)
    url = call.authorization_url
    about = {
        "person": person,
        "auth_url": url,
        "cookie": {"name": COOKIE, "value": session.key, "path": cookie_path(url)},
    }
    return HandlerResponse(about, 201, headers=(("set-cookie", set_cookie(session, url)),))


HANDLERS: Handlers = {("POST", "/sessions"): create_session}
