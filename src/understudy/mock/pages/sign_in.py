"""The sign-in and consent pages, which redirect back to the client with a code or a token.

A GET never grants anything. The consent form sends a ticket that refers to the authorization
request; a ticket is valid once, and the request is validated again with it.
"""

import string
from itertools import islice
from urllib.parse import quote, urlencode, urlsplit

from flask import Blueprint, Response, abort, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as Redirect

from understudy.errors import TooManyRequests
from understudy.interface.rules import upholds
from understudy.interface.scopes import AUTH, READ_PROFILE
from understudy.mock.authserver import accounts, authorization_request
from understudy.mock.authserver.approval import APPROVE, approve, note_risks, refused
from understudy.mock.authserver.authorization_request import (
    CALLBACK_PATH,
    AuthorizationRequest,
    Parameters,
    RefusedPage,
    RefusedRedirect,
    ReturnAddress,
    find_return_address,
    parameters_of,
    validate,
)
from understudy.mock.pages import sessions
from understudy.mock.pages.wsgi_bridge import (
    address,
    allow_form_redirect,
    authorization_url,
    exchange,
)
from understudy.mock.server.hosts import is_local
from understudy.mock.server.request_context import RequestContext
from understudy.mock.store.applications import (
    APPLICATIONS,
    CODES,
    CONSENTS,
    Application,
    Consent,
    Session,
    begin_session,
)
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.vocabulary import vocabulary_of

SHOWN = 24
"""Most people that the page lists for a sign-in without a password."""

blueprint = Blueprint("authorization", __name__)


@blueprint.get("/")
def front_page() -> str:
    """Shows the endpoints, with applications to try them."""
    world = exchange().world
    registered = [application for _, application in world.items(APPLICATIONS)]
    people = (person for _, person in world.items(PEOPLE) if person.password)
    return render_template(
        "authorization.html",
        applications=registered,
        example=_example,
        account=next(people, None) if is_local(exchange().client) else None,
    )


def _example(application: Application, flow: str) -> str:
    parameters = {
        "client_id": application.client_id,
        "redirect_uri": authorization_url() + CALLBACK_PATH,
        "response_type": flow,
        "scope[0]": AUTH,
        "scope[1]": READ_PROFILE,
        "state": "example",
    }
    return address(f"/oauth2/authorize?{urlencode(parameters)}")


@blueprint.get("/oauth2/authorize")
def authorize() -> Response | tuple[str, int]:
    """Shows the sign-in or consent page for an authorization request (RFC 6749, 4.1.1)."""
    current = exchange()
    parameters = parameters_of(current.query)
    try:
        return_address = _return_address(parameters)
    except RefusedPage as refusal:
        return _refusal_page(refusal)
    approver = dict(parameters).get(APPROVE)
    if approver is not None:
        abort(400, f"{APPROVE} names {approver!r}, but there is no such person.")
    authorization = validate(parameters, return_address, vocabulary_of(current.world))
    note_risks(current.world, authorization, current.notes)
    return _ask(authorization, current.query)


@blueprint.get(CALLBACK_PATH)
def callback_page() -> str:
    """Shows the parameters of a redirect to an application, and the request that follows."""
    world, received = exchange().world, request.args
    code = world.get(CODES, received.get("code", ""))
    application = None if code is None else world.get(APPLICATIONS, code.client_id)
    is_open = is_local(exchange().client)  # other machines must not see the client secret
    return render_template(
        "callback.html",
        received=received,
        application=application if is_open else None,
        redirect_uri=authorization_url() + CALLBACK_PATH,
    )


@blueprint.get("/sign-in")
def sign_in_page() -> Response:
    """Shows the sign-in form of the dashboard."""
    return _sign_in_page(sessions.session_of(), "")


@blueprint.post("/sign-in")
def sign_in() -> Response | Redirect:
    """Signs a person in, by password or from the list, and redirects to the page before."""
    current = exchange()
    session = sessions.session_of()
    sessions.expect_csrf(session)
    query = request.form.get("query", "")
    slug = request.form.get("person") or _by_password(current)
    if slug is None or current.world.get(PEOPLE, slug) is None:
        error = "The user name or password is wrong."
        return _sign_in_page(session, query, error, 401, _application_of(query))
    sessions.end(session)
    session = begin_session(current.world, slug)
    # the form gives only the query, so that it cannot redirect to another site
    onward = f"/oauth2/authorize?{_printable(query.encode())}" if query else "/apps"
    response = make_response(redirect(current.site_url + onward, 303))
    return sessions.with_cookie(response, session)


@blueprint.post("/sign-out")
def sign_out() -> Response:
    """Ends the session and shows the sign-in form, with the authorization request if there is one."""
    current = exchange()
    session = sessions.session_of()
    sessions.expect_csrf(session)
    sessions.end(session)
    return _sign_in_page(begin_session(current.world), request.form.get("query", ""))


@blueprint.post("/consent")
@upholds("consent-by-person")
def consent() -> Response | tuple[str, int]:
    """Carries out the person's decision."""
    current = exchange()
    session = sessions.session_of()
    sessions.expect_csrf(session)
    ticket = request.form.get("ticket", "")
    pending = current.world.get(CONSENTS, ticket)
    if pending is None or pending.session != session.key or session.person is None:
        abort(
            400,
            "This decision was sent before, or belongs to another session. Start again from the application.",
        )
    decision = request.form.get("decision")
    if decision not in {"approve", "deny"}:
        abort(400, "decision must be approve or deny.")
    current.world.remove(CONSENTS, ticket)
    return _decided(pending.query, session.person, is_approved=decision == "approve")


def _decided(query: bytes, person: str, *, is_approved: bool) -> Response | tuple[str, int]:
    """Validates an authorization request again, and redirects according to the decision."""
    world, parameters = exchange().world, parameters_of(query)
    try:
        return_address = _return_address(parameters)
    except RefusedPage as refusal:
        return _refusal_page(refusal)
    try:
        authorization = validate(parameters, return_address, vocabulary_of(world))
    except RefusedRedirect as refusal:
        return _redirect_back(refused(return_address, refusal))
    if is_approved:
        return _redirect_back(approve(world, authorization, person, exchange().choices))
    return _redirect_back(return_address.denied())


def _return_address(parameters: Parameters) -> ReturnAddress:
    world = exchange().world
    return find_return_address(
        parameters, lambda key: world.get(APPLICATIONS, key), authorization_url()
    )


@upholds("authorize-error-page")
def _refusal_page(refusal: RefusedPage) -> tuple[str, int]:
    return render_template("unauthorizable.html", refusal=refusal), 400


def _ask(authorization: AuthorizationRequest, query: bytes) -> Response:
    session = sessions.session_of()
    if sessions.person_of(session) is None:
        return _sign_in_page(
            session, _printable(query), application=authorization.return_address.application
        )
    return _consent_page(session, authorization, query)


@upholds("consent-names-scopes", "authorize-page-not-framed")
def _consent_page(session: Session, authorization: AuthorizationRequest, query: bytes) -> Response:
    current = exchange()
    ticket = current.world.mark + current.world.identifiers.hexadecimal(32)
    current.world.put(CONSENTS, ticket, Consent(session.key, query))
    allow_form_redirect(_form_action_source(authorization.return_address.redirect_uri))
    meanings = authorization_request.meanings(vocabulary_of(current.world))
    page = make_response(
        render_template(
            "consent.html",
            application=authorization.return_address.application,
            destination=urlsplit(authorization.return_address.redirect_uri).netloc,
            meanings=[(scope, meanings[scope]) for scope in authorization.scopes],
            person=sessions.person_of(session),
            csrf=session.csrf,
            ticket=ticket,
            query=_printable(query),
        )
    )
    return sessions.with_cookie(page, session)


def _sign_in_page(
    session: Session,
    query: str,
    error: str = "",
    status: int = 200,
    application: Application | None = None,
) -> Response:
    people = [person for _, person in islice(exchange().world.items(PEOPLE), SHOWN)]
    page = render_template(
        "sign_in.html",
        application=application,
        csrf=session.csrf,
        error=error,
        people=people,
        query=query,
        username=request.form.get("username", ""),
    )
    return sessions.with_cookie(make_response(page, status), session)


def _application_of(query: str) -> Application | None:
    client_id = dict(parameters_of(query.encode("utf-8", "surrogateescape"))).get("client_id", "")
    return exchange().world.get(APPLICATIONS, client_id)


def _by_password(current: RequestContext) -> str | None:
    username = request.form.get("username", "")
    try:
        password = request.form.get("password", "")
        person, check = accounts.check_password(current.world, username, password)
    except TooManyRequests as error:
        abort(429, error.message, retry_after=dict(error.headers)["retry-after"])
    return person.slug if person is not None and check == "password" else None


def _redirect_back(url: str) -> Response:
    """Redirects to the application, without a body: the URL may contain a token."""
    response = make_response("", 302)
    response.headers["Location"] = url
    return response


def _printable(query: bytes) -> str:
    """Returns an equivalent query string in ASCII, for a form or a header."""
    return quote(query, safe=string.punctuation.replace("#", ""))


def _form_action_source(url: str) -> str:
    """Returns the origin of a URL for a CSP; only the scheme for IPv6, which CSP lacks (CSP 3, 2.3.1)."""
    parts = urlsplit(url)
    has_name = parts.netloc and not parts.netloc.startswith("[")
    return f"{parts.scheme}://{parts.netloc}" if has_name else f"{parts.scheme}:"
