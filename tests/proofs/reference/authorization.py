"""``/oauth2/authorize``: one page to sign in and consent, without a session.

The password comes with the decision, so there is no cookie that another site could ride on. With
the option ``approve`` a request is granted at once, for those who drive no browser.
"""

from datetime import timedelta
from http import HTTPStatus

from flask import Blueprint, Response, redirect, render_template_string, request
from flask.typing import ResponseReturnValue
from tests.proofs.reference.asking import SentBack, asked, way_back
from tests.proofs.reference.grants import CODE_LIFETIME, IMPLICIT_LIFETIME
from tests.proofs.reference.records import Account, AuthorizationRequest
from tests.proofs.reference.service import number, service

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sign in</title>
<h1>{{ application.name }} asks for access</h1>
<ul>{% for scope in scopes %}<li>{{ scope.value }}</li>{% endfor %}</ul>
{% if problem %}<p role="alert">{{ problem }}</p>{% endif %}
<form method="post">
<p><label>Username <input name="username" autocomplete="username"></label></p>
<p><label>Password
<input name="password" type="password" autocomplete="current-password"></label></p>
<p><button name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button></p>
</form></html>"""
GUARDS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
"""RFC 6749, 10.13: no other site may frame this page."""

authorization = Blueprint("authorization", __name__, url_prefix="/oauth2")


@authorization.get("/authorize")
def ask() -> ResponseReturnValue:
    """Shows the page, or grants at once where the operator said so."""
    wanted = asked(request.args, service().grants)
    approver = service().grants.account(service().options.approve or "")
    if approver is not None:
        return _sent(_granted(wanted, approver))
    return _page(wanted, None)


@authorization.post("/authorize")
def decide() -> ResponseReturnValue:
    """Takes the person's decision; denying needs no password."""
    wanted = asked(request.args, service().grants)
    if request.form.get("decision") != "approve":
        return _sent(way_back(wanted).denial())
    account = service().grants.account(request.form.get("username", ""))
    if account is None or account.password != request.form.get("password"):
        return _page(wanted, "Username or password is wrong.")
    return _sent(_granted(wanted, account))


@authorization.errorhandler(SentBack)
def send_back(error: SentBack) -> ResponseReturnValue:
    """Tells the application what is wrong with its request."""
    return _sent(error.address)


def _granted(wanted: AuthorizationRequest, account: Account) -> str:
    now, back = service().clock(), way_back(wanted)
    if wanted.response_type == "code":
        lifetime = timedelta(seconds=number("code-lifetime", CODE_LIFETIME.seconds))
        code = service().grants.issue_code(wanted, account.user_id, now, lifetime)
        return back.address({"code": code.value})
    token = service().grants.issue_token(
        wanted.client_id, account.user_id, wanted.scopes, now + IMPLICIT_LIFETIME
    )
    return back.address(
        {
            "access_token": token.value,
            "expires_in": str(int(IMPLICIT_LIFETIME.total_seconds())),
            "token_type": "bearer",
            "site_id": account.blog_id,
        }
    )


def _sent(address: str) -> ResponseReturnValue:
    # RFC 9110, 15.4.4: after a POST the browser must GET, and not send the password on
    status = HTTPStatus.SEE_OTHER if request.method == "POST" else HTTPStatus.FOUND
    response = redirect(address, status)
    response.headers.update(GUARDS)
    return response


def _page(wanted: AuthorizationRequest, problem: str | None) -> ResponseReturnValue:
    text = render_template_string(
        PAGE,
        application=service().grants.application(wanted.client_id),
        scopes=wanted.scopes,
        problem=problem,
    )
    status = HTTPStatus.FORBIDDEN if problem else HTTPStatus.OK
    return Response(text, status, GUARDS, mimetype="text/html")
