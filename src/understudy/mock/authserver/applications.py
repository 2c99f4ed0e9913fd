"""Registers and changes applications (interface, Bearer tokens, 2), for the dashboard and the admin API.

The handlers of the admin API (``openapi/admin.yaml``) serve tests without a browser.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from understudy.errors import BadRequest, NotFound
from understudy.interface.rules import upholds
from understudy.mock.authserver.client_advice import advice_for
from understudy.mock.authserver.token_lifecycle import revoke
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import (
    APPLICATIONS,
    CODES,
    SPENT_CODES,
    Application,
    problem_with_name,
    problem_with_redirect_uri,
)
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.tokens import KEY_ALPHABET, TOKENS, Token


def owned_by(world: World, owner: str | None) -> list[Application]:
    """Returns a person's applications, or all, in the order of their registration."""
    return [app for _, app in world.items(APPLICATIONS) if owner in {None, app.owner}]


def find(world: World, client_id: str, owner: str | None = None) -> Application:
    """Returns an application by its client ID.

    Raises:
        NotFound: The application does not exist, or ``owner`` is given and does not own it.
    """
    application = world.get(APPLICATIONS, client_id)
    if application is None or (owner is not None and application.owner != owner):
        msg = f"There is no application with the client_id {client_id!r}."
        raise NotFound(msg, code="unknown_application")
    return application


@upholds("application-has-id-and-secret")
def register(world: World, owner: str, name: str, redirect_uris: tuple[str, ...]) -> Application:
    """Registers an application with a new client ID and secret, and an API key for its owner.

    Raises:
        BadRequest: The owner is unknown, or the name or a redirect URI is invalid.
    """
    if world.get(PEOPLE, owner) is None:
        msg = f"owner: there is no person {owner!r}."
        raise BadRequest(msg, code="unknown_person")
    application = Application(
        client_id=world.identifiers.text(12, "0123456789abcdefghijklmnopqrstuvwxyz"),
        client_secret=_secret(world),
        name=_checked_name(name),
        owner=owner,
        redirect_uris=_checked_redirect_uris(redirect_uris),
        about="registered while the mock ran",
    )
    world.put(APPLICATIONS, application.client_id, application)
    _issue_key(world, application)
    return application


def rotate_secret(world: World, application: Application) -> Application:
    """Replaces the client secret; the old one is refused from now on."""
    return _put(world, replace(application, client_secret=_secret(world)))


def change(
    world: World, application: Application, *, name: str, redirect_uris: tuple[str, ...]
) -> Application:
    """Changes the name and the redirect URIs, both or neither.

    Raises:
        BadRequest: The name is empty or too long, or a redirect URI is invalid.
    """
    checked = _checked_redirect_uris(redirect_uris)
    return _put(world, replace(application, name=_checked_name(name), redirect_uris=checked))


@upholds("application-deletion-ends-tokens")
def delete(world: World, application: Application) -> None:
    """Deletes an application, and revokes its codes and tokens."""
    for name, token in list(world.items(TOKENS)):
        if token.client_id == application.client_id:
            revoke(world, name)
    for codes in (CODES, SPENT_CODES):
        for key, code in list(world.items(codes)):
            if code.client_id == application.client_id:
                world.remove(codes, key)
    world.remove(APPLICATIONS, application.client_id)


@upholds("api-key-by-application")
def api_key(world: World, application: Application) -> Token | None:
    """Returns the API key of an application, or None."""
    tokens = (token for _, token in world.items(TOKENS))
    return next(
        (t for t in tokens if t.kind == "api_key" and t.client_id == application.client_id), None
    )


def rotate_api_key(world: World, application: Application) -> Token:
    """Replaces the API key; the old one is revoked."""
    old_key = api_key(world, application)
    if old_key is not None:
        revoke(world, old_key.token)
    return _issue_key(world, application)


def grants(world: World, application: Application) -> list[Token]:
    """Returns the access tokens that people granted to an application."""
    return [
        token
        for _, token in world.items(TOKENS)
        if token.client_id == application.client_id and token.kind == "oauth"
    ]


def _checked_redirect_uris(uris: Sequence[str]) -> tuple[str, ...]:
    for uri in uris:
        problem = problem_with_redirect_uri(uri)
        if problem:
            msg = f"redirect_uris: {problem}."
            raise BadRequest(msg, code="invalid_redirect_uri")
    return tuple(dict.fromkeys(uris))


def _checked_name(name: str) -> str:
    problem = problem_with_name(name)
    if problem:
        msg = f"name: {problem}."
        raise BadRequest(msg, code="invalid_name")
    return " ".join(name.split())


def _put(world: World, application: Application) -> Application:
    world.put(APPLICATIONS, application.client_id, application)
    return application


def _secret(world: World) -> str:
    return world.identifiers.text(40, KEY_ALPHABET)


def _issue_key(world: World, application: Application) -> Token:
    token = Token(
        token=f"{world.mark}key-{world.identifiers.text(36, KEY_ALPHABET)}",
        person=application.owner,
        kind="api_key",
        client_id=application.client_id,
        about=f"API key of {application.name}",
    )
    world.put(TOKENS, token.token, token)
    return token


def list_applications(call: Call, *, owner: str | None = None) -> HandlerResponse:
    """Lists applications (``GET /applications``)."""
    listed = owned_by(call.world, owner)
    return HandlerResponse([_body(call.world, application) for application in listed])


def create_application(call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Registers an application (``POST /applications``).

    Raises:
        BadRequest: The owner is unknown, or the name or a redirect URI is invalid.
    """
    uris = tuple(body.get("redirect_uris", ()))
    application = register(call.world, body["owner"], body["name"], uris)
    return HandlerResponse(_body(call.world, application), 201)


def get_application(call: Call, client_id: str) -> HandlerResponse:
    """Returns an application (``GET /applications/{client_id}``).

    Raises:
        NotFound: There is no such application.
    """
    return HandlerResponse(_body(call.world, find(call.world, client_id)))


def update_application(call: Call, client_id: str, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Changes an application, completely or not at all (``PATCH /applications/{client_id}``).

    Raises:
        NotFound: There is no such application.
        BadRequest: The name or a redirect URI is invalid.
    """
    application = find(call.world, client_id)
    changed = change(
        call.world,
        application,
        name=body.get("name", application.name),
        redirect_uris=tuple(body.get("redirect_uris", application.redirect_uris)),
    )
    return HandlerResponse(_body(call.world, changed))


def delete_application(call: Call, client_id: str) -> HandlerResponse:
    """Deletes an application (``DELETE /applications/{client_id}``).

    Raises:
        NotFound: There is no such application.
    """
    delete(call.world, find(call.world, client_id))
    return HandlerResponse(status=204)


def replace_secret(call: Call, client_id: str) -> HandlerResponse:
    """Replaces the client secret (``POST /applications/{client_id}/secret``).

    Raises:
        NotFound: There is no such application.
    """
    application = find(call.world, client_id)
    return HandlerResponse(_body(call.world, rotate_secret(call.world, application)))


def replace_api_key(call: Call, client_id: str) -> HandlerResponse:
    """Replaces the API key (``POST /applications/{client_id}/api-key``).

    Raises:
        NotFound: There is no such application.
    """
    application = find(call.world, client_id)
    rotate_api_key(call.world, application)
    return HandlerResponse(_body(call.world, application))


def list_grants(call: Call, client_id: str) -> HandlerResponse:
    """Lists granted tokens (``GET /applications/{client_id}/grants``).

    Raises:
        NotFound: There is no such application.
    """
    application = find(call.world, client_id)
    return HandlerResponse(
        [
            {
                "token": token.token,
                "person": token.person,
                "scopes": list(token.scopes),
                **({"expires": token.expires} if token.expires else {}),
            }
            for token in grants(call.world, application)
        ]
    )


def revoke_grants(call: Call, client_id: str, *, person: str | None = None) -> HandlerResponse:
    """Revokes granted tokens (``DELETE /applications/{client_id}/grants``).

    Raises:
        NotFound: There is no such application.
    """
    application = find(call.world, client_id)
    for token in grants(call.world, application):
        if person in {None, token.person}:
            revoke(call.world, token.token)
    return HandlerResponse(status=204)


def list_advice(call: Call, client_id: str) -> HandlerResponse:
    """Lists the advice on a client (``GET /applications/{client_id}/advice``).

    Raises:
        NotFound: There is no such application.
    """
    find(call.world, client_id)
    return HandlerResponse(
        [
            {
                "problem": advice.problem,
                "advice": advice.advice,
                "count": advice.count,
                "seen": advice.seen.isoformat(),
            }
            for advice in advice_for(call.world, client_id)
        ]
    )


def _body(world: World, application: Application) -> dict[str, Any]:
    key = api_key(world, application)
    return {
        "client_id": application.client_id,
        "client_secret": application.client_secret,
        **({"api_key": key.token} if key else {}),
        "name": application.name,
        "owner": application.owner,
        "redirect_uris": list(application.redirect_uris),
    }


HANDLERS: Handlers = {
    ("GET", "/applications"): list_applications,
    ("POST", "/applications"): create_application,
    ("GET", "/applications/{client_id}"): get_application,
    ("PATCH", "/applications/{client_id}"): update_application,
    ("DELETE", "/applications/{client_id}"): delete_application,
    ("POST", "/applications/{client_id}/secret"): replace_secret,
    ("POST", "/applications/{client_id}/api-key"): replace_api_key,
    ("GET", "/applications/{client_id}/grants"): list_grants,
    ("DELETE", "/applications/{client_id}/grants"): revoke_grants,
    ("GET", "/applications/{client_id}/advice"): list_advice,
}
