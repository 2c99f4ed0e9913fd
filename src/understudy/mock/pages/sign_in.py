"""Sign-in and consent: the pages a person sees on the way to a code or a token.

A GET never grants anything. What the consent form sends is a ticket for the request that was shown;
the request is judged again when it comes back, and the ticket counts once.
"""

import string
from itertools import islice
from urllib.parse import quote, urlencode, urlsplit

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
)
from werkzeug.wrappers import Response as Redirect

from understudy.errors import TooManyRequests
from understudy.interface.rules import upholds
from understudy.mock.authserver import accounts, requested_scopes
from understudy.mock.authserver.approval import approve
from understudy.mock.authserver.authorization_request import (
    AuthorizationRequest,
    ReturnAddress,
    judge,
    parameters_of,
    return_address,
)
from understudy.mock.authserver.client_advice import note
from understudy.mock.authserver.oauth_errors import RefusedPage, RefusedRedirect
from understudy.mock.engine.request_context import RequestContext
from understudy.mock.pages import sessions
from understudy.mock.pages.wsgi_bridge import address, exchange, let_form_lead_to
from understudy.mock.store.applications import APPLICATIONS, CONSENTS, Application, Consent, Session
from understudy.mock.store.people import PEOPLE

APPROVE, DENY = "mock_approve", "mock_deny"
"""Query parameters that name who approves or denies, for tests without a browser."""

SHOWN = 24
"""People to pick from; the others sign in with user name and password."""

blueprint = Blueprint("authorization", __name__)


@blueprint.get("/")
def front_page() -> str:
    """Shows the endpoints, and applications to try them with."""
    world = exchange().world
    found = [application for _, application in world.items(APPLICATIONS)]
    return render_template("authorization.html", applications=found, example=_example)


def _example(application: Application, flow: str) -> str:
    parameters = {
        "client_id": application.client_id,
        "redirect_uri": application.redirect_uris[0],
        "response_type": flow,
        "scope[0]": requested_scopes.AUTH,
        "scope[1]": requested_scopes.READ,
        "state": "example",
    }
    return address(f"/oauth2/authorize?{urlencode(parameters)}")


@blueprint.get("/oauth2/authorize")
def authorize() -> Response | tuple[str, int]:
    """Answers an authorization request by a page or a redirect."""
    return _answered(exchange().query)


@blueprint.get("/sign-in")
def sign_in_page() -> Response:
    """Shows the form to sign in for the dashboard."""
    return _sign_in_page(sessions.session_of(exchange()), "")


@blueprint.post("/sign-in")
def sign_in() -> Response | Redirect:
    """Signs a person in, by password or picked from the list, and goes on where they came from."""
    current = exchange()
    session = sessions.session_of(current)
    sessions.expect_csrf(session)
    query = request.form.get("query", "")
    slug = request.form.get("person") or _by_password(current)
    if slug is None or current.world.get(PEOPLE, slug) is None:
        fault = "The user name or the password is wrong."
        return _sign_in_page(session, query, fault, 401)
    sessions.end(current, session)
    session = sessions.begin(current, slug)
    # only paths of ours: what a form sends never decides the host
    onward = f"/oauth2/authorize?{_printable(query.encode())}" if query else "/apps"
    answer = make_response(redirect(current.site_url + onward, 303))
    return sessions.keep(answer, session)


@blueprint.post("/sign-out")
def sign_out() -> Response:
    """Ends the session and shows the form to sign in, for the request at hand if there is one."""
    current = exchange()
    session = sessions.session_of(current)
    sessions.expect_csrf(session)
    sessions.end(current, session)
    return _sign_in_page(sessions.begin(current), request.form.get("query", ""))


@blueprint.post("/consent")
@upholds("consent-by-person")
def consent() -> Response | tuple[str, int]:
    """Carries out what the person decided."""
    current = exchange()
    session = sessions.session_of(current)
    sessions.expect_csrf(session)
    ticket = request.form.get("ticket", "")
    pending = current.world.get(CONSENTS, ticket)
    if pending is None or pending.session != session.key or session.person is None:
        abort(400, "This decision was sent before, or belongs to another session. Start again.")
    current.world.remove(CONSENTS, ticket)
    decision = request.form.get("decision")
    if decision not in {"approve", "deny"}:
        abort(400, "decision must be approve or deny.")
    return _answered(pending.query, person=session.person, is_approved=decision == "approve")


def _answered(
    query: bytes, *, person: str | None = None, is_approved: bool | None = None
) -> Response | tuple[str, int]:
    """Judges a request, and goes as far with it as has been decided."""
    current = exchange()
    parameters = parameters_of(query)
    try:
        back = return_address(parameters, lambda key: current.world.get(APPLICATIONS, key))
    except RefusedPage as refusal:
        return _refusal_page(refusal)
    try:
        asked = judge(parameters, back)
    except RefusedRedirect as refusal:
        return _back(_refused(back, refusal))
    if person is None:
        _note_risks(current, asked)
        given = dict(parameters)
        return _unattended(asked, given.get(APPROVE), given.get(DENY)) or _ask(asked, query)
    return _back(approve(current.world, asked, person) if is_approved else back.denied())


@upholds("authorize-error-page")
def _refusal_page(refusal: RefusedPage) -> tuple[str, int]:
    return render_template("unauthorizable.html", refusal=refusal), 400


@upholds("authorize-error-redirect")
def _refused(back: ReturnAddress, refusal: RefusedRedirect) -> str:
    return back.with_answer(error=refusal.error, error_description=refusal.description)


def _unattended(
    asked: AuthorizationRequest, approver: str | None, denier: str | None
) -> Response | None:
    """Answers at once where the request, or whoever started the mock, says who decides."""
    current = exchange()
    if denier is not None:
        return _back(asked.back.denied())
    slug = approver or current_app.config["AUTO_APPROVE"]
    if slug is None:
        return None
    if current.world.get(PEOPLE, slug) is None:
        abort(400, f"{APPROVE} names {slug!r}, and there is no such person.")
    return _back(approve(current.world, asked, slug))


def _ask(asked: AuthorizationRequest, query: bytes) -> Response:
    current = exchange()
    session = sessions.session_of(current)
    if sessions.person_of(current, session) is None:
        return _sign_in_page(session, _printable(query), application=asked.back)
    return _consent_page(session, asked, query)


@upholds("consent-names-scopes", "authorize-page-not-framed")
def _consent_page(session: Session, asked: AuthorizationRequest, query: bytes) -> Response:
    current = exchange()
    ticket = current.world.identifiers.hexadecimal(32)
    current.world.put(CONSENTS, ticket, Consent(session.key, query))
    let_form_lead_to(_origin(asked.back.redirect_uri))
    page = make_response(
        render_template(
            "consent.html",
            application=asked.back.application,
            destination=urlsplit(asked.back.redirect_uri).netloc,
            meanings=[(scope, requested_scopes.MEANINGS[scope]) for scope in asked.scopes],
            person=sessions.person_of(current, session),
            csrf=session.csrf,
            ticket=ticket,
            query=_printable(query),
        )
    )
    return sessions.keep(page, session)


def _sign_in_page(
    session: Session,
    query: str,
    fault: str = "",
    status: int = 200,
    application: ReturnAddress | None = None,
) -> Response:
    people = [person for _, person in islice(exchange().world.items(PEOPLE), SHOWN)]
    page = render_template(
        "sign_in.html",
        application=application and application.application,
        csrf=session.csrf,
        fault=fault,
        people=people,
        query=query,
    )
    return sessions.keep(make_response(page, status), session)


def _by_password(current: RequestContext) -> str | None:
    username = request.form.get("username", "")
    try:
        proof = accounts.prove(current.world, username, request.form.get("password", ""))
    except TooManyRequests as error:
        abort(429, error.message, retry_after=dict(error.headers)["retry-after"])
    found = accounts.find(current.world, username)
    return found.slug if found is not None and proof == "password" else None


def _back(url: str) -> Response:
    """Sends the browser back to the application; not in a body too, which would be kept longer."""
    answer = make_response("", 302)
    answer.headers["Location"] = url
    return answer


def _printable(query: bytes) -> str:
    """Returns a query string as a form or a header can carry it, meaning the same."""
    return quote(query, safe=string.punctuation.replace("#", ""))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}:"


def _note_risks(current: RequestContext, asked: AuthorizationRequest) -> None:
    client_id = asked.back.application.client_id
    if asked.back.state is None:
        note(current.world, client_id, "no-state", current.notes)
    if asked.response_type == "code" and asked.challenge is None:
        note(current.world, client_id, "no-pkce", current.notes)
