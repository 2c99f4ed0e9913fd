"""Serves the developer dashboard as JSON, for tests without a browser (``openapi/admin.yaml``)."""

from collections.abc import Mapping
from typing import Any

from understudy.mock.authserver import applications
from understudy.mock.authserver.client_advice import advice_for
from understudy.mock.authserver.token_lifecycle import revoke
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import APPLICATIONS, Application


def list_applications(call: Call, *, owner: str | None = None) -> HandlerResponse:
    """Lists applications (``GET /applications``)."""
    every = (application for _, application in call.world.items(APPLICATIONS))
    listed = [app for app in every if owner is None or app.owner == owner]
    return HandlerResponse([_body(call.world, application) for application in listed])


def create_application(call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Registers an application (``POST /applications``).

    Raises:
        BadRequest: The owner is unknown, or the name or a redirect address is invalid.
    """
    uris = tuple(body.get("redirect_uris", ()))
    application = applications.register(call.world, body["owner"], body["name"], uris)
    return HandlerResponse(_body(call.world, application), 201)


def get_application(call: Call, client_id: str) -> HandlerResponse:
    """Returns an application (``GET /applications/{client_id}``).

    Raises:
        NotFound: There is no such application.
    """
    return HandlerResponse(_body(call.world, applications.find(call.world, client_id)))


def update_application(call: Call, client_id: str, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Applies all changes, or none (``PATCH /applications/{client_id}``).

    Raises:
        NotFound: There is no such application.
        BadRequest: The name or a redirect address is invalid.
    """
    application = applications.find(call.world, client_id)
    changed = applications.change(
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
    applications.delete(call.world, applications.find(call.world, client_id))
    return HandlerResponse(status=204)


def rotate_secret(call: Call, client_id: str) -> HandlerResponse:
    """Replaces the client secret (``POST /applications/{client_id}/secret``).

    Raises:
        NotFound: There is no such application.
    """
    application = applications.find(call.world, client_id)
    return HandlerResponse(_body(call.world, applications.rotate_secret(call.world, application)))


def rotate_api_key(call: Call, client_id: str) -> HandlerResponse:
    """Replaces the API key (``POST /applications/{client_id}/api-key``).

    Raises:
        NotFound: There is no such application.
    """
    application = applications.find(call.world, client_id)
    applications.rotate_api_key(call.world, application)
    return HandlerResponse(_body(call.world, application))


def list_grants(call: Call, client_id: str) -> HandlerResponse:
    """Lists granted tokens (``GET /applications/{client_id}/grants``).

    Raises:
        NotFound: There is no such application.
    """
    application = applications.find(call.world, client_id)
    return HandlerResponse(
        [
            {
                "token": token.token,
                "person": token.person,
                "scopes": list(token.scopes),
                **({"expires": token.expires} if token.expires else {}),
            }
            for token in applications.grants(call.world, application)
        ]
    )


def revoke_grants(call: Call, client_id: str, *, person: str | None = None) -> HandlerResponse:
    """Revokes granted tokens (``DELETE /applications/{client_id}/grants``).

    Raises:
        NotFound: There is no such application.
    """
    application = applications.find(call.world, client_id)
    for token in applications.grants(call.world, application):
        if person in {None, token.person}:
            revoke(call.world, token.token)
    return HandlerResponse(status=204)


def list_advice(call: Call, client_id: str) -> HandlerResponse:
    """Lists the advice on a client (``GET /applications/{client_id}/advice``).

    Raises:
        NotFound: There is no such application.
    """
    applications.find(call.world, client_id)
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
    key = applications.api_key(world, application)
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
    ("POST", "/applications/{client_id}/secret"): rotate_secret,
    ("POST", "/applications/{client_id}/api-key"): rotate_api_key,
    ("GET", "/applications/{client_id}/grants"): list_grants,
    ("DELETE", "/applications/{client_id}/grants"): revoke_grants,
    ("GET", "/applications/{client_id}/advice"): list_advice,
}
