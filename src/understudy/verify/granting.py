"""Gets codes and tokens as a client does, for the probes that need one."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from understudy.deployments.exchange import Exchange
from understudy.deployments.refusals import NotPermitted
from understudy.deployments.target import Application
from understudy.verify.browsing import Wish, go_through
from understudy.verify.probe_client import Visit

ALL_SCOPES = ("auth", "avatar-profile:read", "avatar-profile:manage")
LATELY = timedelta(minutes=3)
"""An age at which a code is good for long enough still."""

STATE = "af0/ &=%?ü"
"""What must come back byte for byte."""


def parameters(app: Application, **changes: str | None) -> list[tuple[str, str]]:
    """Returns a good authorization request, but for the changes; None leaves one out."""
    asked: dict[str, str | None] = {
        "client_id": app.client_id,
        "redirect_uri": app.redirect_uri,
        "response_type": "code",
        "scope[0]": "auth",
        "scope[1]": "avatar-profile:read",
        "state": STATE,
    }
    asked |= changes
    return [(name, text) for name, text in asked.items() if text is not None]


def ask(visit: Visit, pairs: Sequence[tuple[str, str]]) -> Exchange:
    """Sends an authorization request, and lets nobody decide."""
    return visit.auth("GET", "/oauth2/authorize", query=pairs)


def decide(visit: Visit, pairs: Sequence[tuple[str, str]], wish: Wish = "approve") -> Exchange:
    """Sends an authorization request and lets a person decide."""
    shortcut = visit.app.approve if wish == "approve" else visit.app.deny
    if shortcut is not None:
        name, _, text = shortcut.partition("=")
        return ask(visit, [*pairs, (name, text)])
    query = urlencode(list(pairs))
    return go_through(visit, f"{visit.target.auth_url}/oauth2/authorize?{query}", wish)


def code(visit: Visit, **changes: str | None) -> str:
    """Returns a code that a person approved.

    Raises:
        NotPermitted: None came; the check of the redirect says more.
    """
    return code_in(decide(visit, parameters(visit.app, **changes)))


def code_in(redirect: Exchange) -> str:
    """Returns the code of a redirect.

    Raises:
        NotPermitted: There is none; the check of the redirect says more.
    """
    if "code" not in redirect.told:
        msg = f"no code came of an authorization request, but status {redirect.status}"
        raise NotPermitted(msg)
    return redirect.told["code"]


def spare_code(visit: Visit) -> str:
    """Returns a code that this run was given lately and did not use; where there is none, a new one.

    Raises:
        NotPermitted: None came.
    """
    used = {each.request.form.get("code") for each in visit.earlier}
    for each in reversed(visit.earlier):
        is_late = visit.gateway.time.now() - each.at > LATELY
        asked = each.request.query
        is_plain = dict(parameters(visit.app)).items() <= asked.items()
        is_plain = is_plain and "code_challenge" not in asked
        given = each.told.get("code")
        if given and given not in used and is_plain and not is_late:
            return given
    return code(visit)


def form_of(app: Application, code: str, **changes: str | None) -> list[tuple[str, str]]:
    """Returns a good exchange of a code, but for the changes; None leaves a field out."""
    fields: dict[str, str | None] = {
        "grant_type": "authorization_code",
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "redirect_uri": app.redirect_uri,
        "code": code,
    }
    fields |= changes
    return [(name, text) for name, text in fields.items() if text is not None]


def password_form(app: Application, **changes: str | None) -> list[tuple[str, str]]:
    """Returns a good password grant, but for the changes; None leaves a field out."""
    fields: dict[str, str | None] = {
        "grant_type": "password",
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "username": app.username,
        "password": app.password,
    }
    fields |= changes
    return [(name, text) for name, text in fields.items() if text is not None]


def post(visit: Visit, form: Sequence[tuple[str, str]], **more: Any) -> Exchange:
    """Sends a form to the token endpoint."""
    return visit.auth("POST", "/oauth2/token", form=form, **more)


def token_in(visit: Visit, exchange: Exchange, scopes: Sequence[str] = ALL_SCOPES) -> str:
    """Returns the token of an answer or a redirect, and makes it known.

    Raises:
        NotPermitted: There is none.
    """
    token = exchange.said.get("access_token") or exchange.told.get("access_token")
    if not isinstance(token, str) or not token:
        msg = f"no token was issued, but status {exchange.status}"
        raise NotPermitted(msg)
    return visit.learn(token, frozenset(scopes))


def info(visit: Visit, token: str, client_id: str | None = None) -> Exchange:
    """Asks whom a token speaks for."""
    asked = client_id or visit.app.client_id or ""
    return visit.auth("GET", "/oauth2/token-info", query={"client_id": asked, "token": token})
