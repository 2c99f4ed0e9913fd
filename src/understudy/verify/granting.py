"""Obtains codes and tokens as a client does, for the probes that need one."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from understudy.deployments.refusals import NotPermitted
from understudy.deployments.target import TargetApplication
from understudy.exchange.messages import Exchange
from understudy.interface.scopes import AUTH, READ_PROFILE, SCOPES
from understudy.verify.browsing import Decision, Flow
from understudy.verify.probe_client import ProbeClient
from understudy.verify.token_history import FRESH

STATE = "af0/ &=%?ü"
"""A state that must be returned unchanged, with characters that need escaping."""


def parameters(app: TargetApplication, **changes: str | None) -> list[tuple[str, str]]:
    """Returns a valid authorization request with changes; None leaves a parameter out."""
    values: dict[str, str | None] = {
        "client_id": app.client_id,
        "redirect_uri": app.redirect_uri,
        "response_type": "code",
        "scope[0]": AUTH,
        "scope[1]": READ_PROFILE,
        "state": STATE,
    }
    values |= changes
    return [(name, text) for name, text in values.items() if text is not None]


def request_authorization(probe_client: ProbeClient, pairs: Sequence[tuple[str, str]]) -> Exchange:
    """Sends an authorization request without a decision."""
    return probe_client.auth("GET", "/oauth2/authorize", query=pairs)


def decide(
    probe_client: ProbeClient, pairs: Sequence[tuple[str, str]], decision: Decision = "approve"
) -> Exchange:
    """Sends an authorization request and decides on consent."""
    shortcut = probe_client.app.approve if decision == "approve" else probe_client.app.deny
    if shortcut is not None:
        name, _, text = shortcut.partition("=")
        return request_authorization(probe_client, [*pairs, (name, text)])
    return open_request(probe_client, pairs).decide(decision)


def open_request(
    probe_client: ProbeClient,
    pairs: Sequence[tuple[str, str]],
    person: TargetApplication | None = None,
) -> Flow:
    """Opens an authorization request in a browser of its own.

    Args:
        probe_client: Sends the requests.
        pairs: The parameters.
        person: The application whose owner signs in; None for the one that the target is about.
    """
    query = urlencode(list(pairs), quote_via=quote)
    root = (probe_client.target.auth_url or "").rstrip("/")
    return Flow(probe_client, f"{root}/oauth2/authorize?{query}", person)


def code(probe_client: ProbeClient, **changes: str | None) -> str:
    """Returns an approved authorization code.

    Raises:
        NotPermitted: None was returned; the check of the redirect has the details.
    """
    return code_in(decide(probe_client, parameters(probe_client.app, **changes)))


def code_in(redirect: Exchange) -> str:
    """Returns the code of a redirect.

    Raises:
        NotPermitted: It has none; the check of the redirect has the details.
    """
    if "code" not in redirect.redirect_parameters:
        msg = f"the authorization request returned no code, but status {redirect.status}"
        raise NotPermitted(msg)
    return redirect.redirect_parameters["code"]


def spare_code(probe_client: ProbeClient) -> str:
    """Returns an unused recent code of this run, or a new one.

    Raises:
        NotPermitted: None was returned.
    """
    used = {each.request.form.get("code") for each in probe_client.earlier}
    for each in reversed(probe_client.earlier):
        is_late = probe_client.gateway.time.now() - each.at >= FRESH
        query = each.request.query
        is_plain = dict(parameters(probe_client.app)).items() <= query.items()
        is_plain = is_plain and "code_challenge" not in query
        unused = each.redirect_parameters.get("code")
        if unused and unused not in used and is_plain and not is_late:
            return unused
    return code(probe_client)


def form_of(app: TargetApplication, code: str, **changes: str | None) -> list[tuple[str, str]]:
    """Returns the form that exchanges a code, with changes; None leaves a field out."""
    fields: dict[str, str | None] = {
        "grant_type": "authorization_code",
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "redirect_uri": app.redirect_uri,
        "code": code,
    }
    fields |= changes
    return [(name, text) for name, text in fields.items() if text is not None]


def password_form(app: TargetApplication, **changes: str | None) -> list[tuple[str, str]]:
    """Returns the form of a password grant, with changes; None leaves a field out."""
    fields: dict[str, str | None] = {
        "grant_type": "password",
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "username": app.username,
        "password": app.password,
    }
    fields |= changes
    return [(name, text) for name, text in fields.items() if text is not None]


def post(probe_client: ProbeClient, form: Sequence[tuple[str, str]], **more: Any) -> Exchange:
    """Sends a form to the token endpoint."""
    return probe_client.auth("POST", "/oauth2/token", form=form, **more)


def token_in(probe_client: ProbeClient, exchange: Exchange, scopes: Sequence[str] = SCOPES) -> str:
    """Returns the token of a response or a redirect, and tells the gateway its identity.

    Raises:
        NotPermitted: It has none.
    """
    token = exchange.json_object.get("access_token") or exchange.redirect_parameters.get(
        "access_token"
    )
    if not isinstance(token, str) or not token:
        msg = f"no token was issued, but status {exchange.status}"
        raise NotPermitted(msg)
    return probe_client.learn(token, frozenset(scopes))


def info(probe_client: ProbeClient, token: str, client_id: str | None = None) -> Exchange:
    """Requests the token information of a token."""
    client_id = client_id or probe_client.app.client_id or ""
    return probe_client.auth(
        "GET", "/oauth2/token-info", query={"client_id": client_id, "token": token}
    )
