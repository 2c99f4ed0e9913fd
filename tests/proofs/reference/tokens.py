"""``/oauth2/token`` and ``/oauth2/token-info``.

Neither says anything of cross-origin requests, so a browser refuses a page that tries (interface,
Code grant, 4).
"""

import hashlib
from base64 import urlsafe_b64encode
from hmac import compare_digest
from http import HTTPStatus

from flask import Blueprint, request
from flask.typing import ResponseReturnValue
from tests.proofs.reference.records import AccessToken, Account, Application, Code, Scope
from tests.proofs.reference.refusals import Refused, refuse
from tests.proofs.reference.service import chose, service

tokens = Blueprint("tokens", __name__, url_prefix="/oauth2")


@tokens.post("/token")
def token() -> ResponseReturnValue:
    """Exchanges a code, or the owner's password, for a token."""
    form = _form()
    grant_type = form.get("grant_type")
    if grant_type is None:
        refuse("The form lacks grant_type.")
    grant = {"authorization_code": _by_code, "password": _by_password}.get(grant_type)
    if grant is None:
        message = f"grant_type is {grant_type!r}; send authorization_code or password."
        refuse(message, "unsupported_grant_type")
    body = grant(_application(form), form)
    # RFC 6749, 5.1
    return body, {"Cache-Control": "no-store", "Pragma": "no-cache"}


@tokens.get("/token-info")
def token_info() -> ResponseReturnValue:
    """Tells an application what one of its own tokens is good for."""
    client_id, value = request.args.get("client_id"), request.args.get("token")
    if not client_id or not value:
        refuse("The query needs client_id and token.")
    found = service().grants.bearer(value, service().clock())
    if not isinstance(found, AccessToken) or found.client_id != client_id:
        message = "This token was not issued to the application."
        refuse(message, "invalid_token", switch="token-info-error")
    return {
        "client_id": found.client_id,
        "user_id": found.user_id,
        "blog_id": service().grants.owner(found).blog_id,
        "scope": " ".join(found.scopes),
    }, {"Cache-Control": "no-store"}


def _form() -> dict[str, str]:
    for name in request.form:
        if len(request.form.getlist(name)) > 1:
            refuse(f"{name} was sent more than once.")
    # RFC 6749, 3.2: a parameter without a value counts as left out
    return {name: value for name, value in request.form.items() if value}


def _application(form: dict[str, str]) -> Application:
    basic = request.authorization
    client_id, secret = form.get("client_id"), form.get("client_secret")
    if basic is not None and basic.type == "basic":
        if secret is not None:
            refuse("Send the client secret once: in the form or in the header.")
        if client_id not in {None, basic.username}:
            refuse("The form and the header name different applications.")
        if not chose("token-endpoint-basic-auth", "refuse"):
            client_id, secret = basic.username, basic.password
    application = service().grants.application(client_id or "")
    if application is None or not _equal(application.client_secret, secret or ""):
        raise Refused(
            HTTPStatus.UNAUTHORIZED,
            "invalid_client",
            "client_id and client_secret are of no application.",
            {"WWW-Authenticate": 'Basic realm="reference"'},
        )
    return application


def _by_code(application: Application, form: dict[str, str]) -> dict[str, str]:
    for name in ("code", "redirect_uri"):
        if name not in form:
            refuse(f"The form lacks {name}.")
    code = service().grants.code(form["code"], application.client_id, service().clock())
    if code is None:
        refuse("The code is unknown, used or over.", "invalid_grant")
    if form["redirect_uri"] != code.request.redirect_uri:
        message = "redirect_uri is not the one of the authorization request."
        refuse(message, "invalid_grant")
    if not _is_proved(code, form.get("code_verifier")):
        refuse("code_verifier does not fit the code_challenge.", "invalid_grant")
    issued = service().grants.redeem(code)
    if issued is None:
        refuse("The code has just been used.", "invalid_grant")
    return _body(issued)


def _by_password(application: Application, form: dict[str, str]) -> dict[str, str]:
    for name in ("username", "password"):
        if name not in form:
            refuse(f"The form lacks {name}.")
    account = service().grants.account(form["username"])
    if account is None or not _is_owner(account, application, form["password"]):
        if account is not None and _lacks_second_step(account, application, form["password"]):
            refuse("Send an application password.", "invalid_grant", switch="two-step-error")
        message = "The password grant is for the application's owner, with the right password."
        refuse(message, "invalid_grant")
    issued = service().grants.issue_token(application.client_id, account.user_id, tuple(Scope))
    # RFC 6749, 5.1: the request named no scope, so the answer does
    return {**_body(issued), "scope": " ".join(issued.scopes)}


def _is_owner(account: Account, application: Application, password: str) -> bool:
    """Tells whether it is; two-step authentication wants an application password."""
    wanted = account.application_password or account.password
    return application.owner == account.user_id and _equal(wanted, password)


def _lacks_second_step(account: Account, application: Application, password: str) -> bool:
    """Tells whether it is the owner, with the password that two-step authentication does not take."""
    is_owner = application.owner == account.user_id
    return (
        is_owner and account.application_password is not None and _equal(account.password, password)
    )


def _is_proved(code: Code, verifier: str | None) -> bool:
    challenge = code.request.code_challenge
    if challenge is None or verifier is None:
        # RFC 9700, 2.1.1: a verifier without a challenge is a downgrade
        return challenge == verifier
    if code.request.code_challenge_method == "S256":
        digest = hashlib.sha256(verifier.encode()).digest()
        verifier = urlsafe_b64encode(digest).rstrip(b"=").decode()
    return _equal(challenge, verifier)


def _equal(one: str, other: str) -> bool:
    return compare_digest(one.encode(), other.encode())


def _body(issued: AccessToken) -> dict[str, str]:
    account = service().grants.owner(issued)
    return {
        "access_token": issued.value,
        "token_type": "bearer",
        "blog_id": account.blog_id,
        "blog_url": f"{service().addresses.site}/{account.slug}",
    }
