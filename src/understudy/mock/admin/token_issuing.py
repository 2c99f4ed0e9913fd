"""Issues tokens and signs browsers in, for tests without a sign-in (``openapi/admin.yaml``)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from understudy.errors import BadRequest, NotFound, nearest
from understudy.interface.vocabulary import Vocabulary
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.clock import written
from understudy.mock.server.handlers import Handlers
from understudy.mock.store.applications import COOKIE, USED_SCOPES, begin, cookie_path, set_cookie
from understudy.mock.store.people import expect_person
from understudy.mock.store.tokens import TOKENS, Token
from understudy.mock.store.vocabulary import vocabulary_of

_DIGITS = 40


def create_token(call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``POST /tokens``.

    Raises:
        BadRequest: There is no such person or scope.
    """
    world, person = call.world, body["person"]
    expect_person(world, person)
    kind = body.get("kind", "oauth")
    lasts = body.get("expires_in")
    end = None if lasts is None else written(world.clock.now() + timedelta(seconds=lasts))
    token = Token(
        token=world.mark + world.identifiers.hexadecimal(_DIGITS),
        person=person,
        kind=kind,
        scopes=() if kind == "api_key" else _scopes(body.get("scopes"), vocabulary_of(world)),
        expires=end,
        about="Made by a test.",
    )
    world.put(TOKENS, token.token, token)
    return HandlerResponse(_as_json(token), 201)


def delete_token(call: Call, *, token: str) -> HandlerResponse:
    """Revokes a token (``DELETE /tokens``).

    Raises:
        NotFound: There is no such token.
    """
    if call.world.get(TOKENS, token) is None:
        msg = "There is no such token in this world."
        raise NotFound(msg)
    call.world.remove(TOKENS, token)
    call.world.remove(USED_SCOPES, token)
    return HandlerResponse(status=204)


def _scopes(scopes: Sequence[str] | None, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Returns the scopes of a token in the deployment's words; every one if none is named."""
    known = vocabulary.scope_names
    if scopes is None:
        return known
    words = tuple(vocabulary.words.get(scope, scope) for scope in scopes)
    for word in words:
        if word not in known:
            hint = nearest(word, known) or f"; there are {', '.join(known)}."
            msg = f"scopes: there is no {word!r}{hint}"
            raise BadRequest(msg)
    return words


def _as_json(token: Token) -> dict[str, Any]:
    content: dict[str, Any] = {
        "token": token.token,
        "person": token.person,
        "kind": token.kind,
        "scopes": list(token.scopes),
    }
    return content if token.expires is None else {**content, "expires": token.expires}


def create_session(call: Call, *, body: Mapping[str, str]) -> HandlerResponse:
    """Responds to ``POST /sessions``, with the cookie in a header and in the body.

    Browsers send a cookie to every port of its host (RFC 6265, 8.5), so that one of the resource
    API's address signs in at the authorization server of the same host.

    Raises:
        BadRequest: There is no such person.
    """
    world, person = call.world, body["person"]
    expect_person(world, person)
    session = begin(world, person)
    url = call.authorization_url
    about = {
        "person": person,
        "auth_url": url,
        "cookie": {"name": COOKIE, "value": session.key, "path": cookie_path(url)},
    }
    return HandlerResponse(about, 201, headers=(("set-cookie", set_cookie(session, url)),))


HANDLERS: Handlers = {
    ("POST", "/tokens"): create_token,
    ("DELETE", "/tokens"): delete_token,
    ("POST", "/sessions"): create_session,
}
