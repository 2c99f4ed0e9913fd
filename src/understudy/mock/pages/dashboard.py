"""Pages of the developer dashboard: applications with their secrets, redirect URIs and grants."""

import hashlib

from flask import Blueprint, Response, abort, make_response, redirect, render_template, request
from msgspec.structs import replace
from werkzeug.wrappers import Response as Redirect

from understudy.errors import BadRequest, NotFound
from understudy.interface.rules import upholds
from understudy.mock.authserver import applications
from understudy.mock.authserver.client_advice import advice_for
from understudy.mock.authserver.token_lifecycle import revoke
from understudy.mock.pages import sessions
from understudy.mock.pages.wsgi_bridge import address, exchange
from understudy.mock.store.applications import Application, Session

blueprint = Blueprint("dashboard", __name__, url_prefix="/apps")


@blueprint.get("")
def overview() -> Response | Redirect:
    """Shows the applications of the person who is signed in."""
    session = sessions.session_of()
    if session.person is None:
        return redirect(address("/sign-in"), 303)
    return _overview(session)


@blueprint.post("")
def create() -> Response | Redirect:
    """Registers an application, and shows its client secret and API key once."""
    session = _signed_in()
    world = exchange().world
    uris = _lines(request.form.get("redirect_uris", ""))
    try:
        application = applications.register(
            world, str(session.person), request.form.get("name", ""), uris
        )
    except BadRequest as problem:
        page = _overview(session, problem.message)
        page.status_code = 400
        return page
    key = applications.api_key(world, application)
    secrets = {"Client secret": application.client_secret}
    sessions.show_once(session, secrets | ({"API key": key.token} if key else {}))
    return _to(application)


@blueprint.get("/<client_id>")
def application_page(client_id: str) -> Response | Redirect:
    """Shows one application."""
    session = sessions.session_of()
    if session.person is None:
        return redirect(address("/sign-in"), 303)
    return _app_page(session, _own_application(session, client_id))


@blueprint.post("/<client_id>/name")
def rename(client_id: str) -> Response | Redirect:
    """Renames an application."""
    application = _own_application(_signed_in(), client_id)
    return _changed(application, request.form.get("name", ""), application.redirect_uris)


@blueprint.post("/<client_id>/redirect-uris")
@upholds("dashboard-redirect-urls")
def change_redirect_uris(client_id: str) -> Response | Redirect:
    """Adds redirect URIs, or removes one."""
    application = _own_application(_signed_in(), client_id)
    added, removed = _lines(request.form.get("add", "")), request.form.get("remove")
    kept = tuple(uri for uri in application.redirect_uris if uri != removed)
    return _changed(application, application.name, (*kept, *added))


@blueprint.post("/<client_id>/secret")
def rotate_secret(client_id: str) -> Redirect:
    """Replaces the client secret, and shows the new one once."""
    session = _signed_in()
    application = applications.rotate_secret(exchange().world, _own_application(session, client_id))
    sessions.show_once(session, {"Client secret": application.client_secret})
    return _to(application)


@blueprint.post("/<client_id>/api-key")
def rotate_api_key(client_id: str) -> Redirect:
    """Replaces the API key, and shows the new one once."""
    session = _signed_in()
    application = _own_application(session, client_id)
    key = applications.rotate_api_key(exchange().world, application)
    sessions.show_once(session, {"API key": key.token})
    return _to(application)


@blueprint.post("/<client_id>/grants")
def revoke_grant(client_id: str) -> Redirect:
    """Revokes one of the tokens that were granted to an application."""
    session = _signed_in()
    application = _own_application(session, client_id)
    world = exchange().world
    digest = request.form.get("token", "")
    tokens = [t for t in applications.grants(world, application) if _digest(t.token) == digest]
    if not tokens:
        abort(400, "This token was not granted to the application, or is revoked already.")
    revoke(world, tokens[0].token)
    return _to(application)


@blueprint.post("/<client_id>/deletion")
def delete(client_id: str) -> Redirect:
    """Deletes an application and revokes its tokens."""
    session = _signed_in()
    applications.delete(exchange().world, _own_application(session, client_id))
    return redirect(address("/apps"), 303)


def _overview(session: Session, error: str = "") -> Response:
    own = applications.owned_by(exchange().world, str(session.person))
    return _page("apps.html", session, applications=own, error=error, form=request.form)


def _lines(text: str) -> tuple[str, ...]:
    """Returns the redirect URIs of a form, which has one per line."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _changed(
    application: Application, name: str, redirect_uris: tuple[str, ...]
) -> Response | Redirect:
    world = exchange().world
    try:
        applications.change(world, application, name=name, redirect_uris=redirect_uris)
    except BadRequest as problem:
        return _app_page(sessions.session_of(), application, problem.message)
    return _to(application)


def _signed_in() -> Session:
    session = sessions.session_of()
    sessions.expect_csrf(session)
    if session.person is None:
        abort(403, "Sign in first.")
    return session


def _own_application(session: Session, client_id: str) -> Application:
    try:
        return applications.find(exchange().world, client_id, session.person)
    except NotFound as problem:
        abort(404, problem.message)


def _app_page(session: Session, application: Application, error: str = "") -> Response:
    world = exchange().world
    page = _page(
        "app.html",
        session,
        application=application,
        api_key=applications.api_key(world, application),
        error=error,
        form=request.form if error else {},
        grants=[
            replace(t, token=_digest(t.token)) for t in applications.grants(world, application)
        ],
        secrets=sessions.take_secrets(session),
        advice=advice_for(world, application.client_id),
    )
    if error:
        page.status_code = 400
    return page


def _page(template: str, session: Session, **members: object) -> Response:
    person = sessions.person_of(session)
    page = render_template(template, csrf=session.csrf, person=person, query="", **members)
    return sessions.with_cookie(make_response(page), session)


def _digest(token: str) -> str:
    """Returns a digest that identifies a token in forms, so that the page does not disclose it."""
    return hashlib.sha256(token.encode()).hexdigest()


def _to(application: Application) -> Redirect:
    return redirect(address(f"/apps/{application.client_id}"), 303)
