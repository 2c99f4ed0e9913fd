"""Obtains codes and tokens: signs in and decides on consent as a person does, by forms and buttons.

The interface does not describe these pages, so they are recognised by their content: a form with a
password field, then one with a button to approve and a button to deny.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode, urljoin

from understudy.exchange.messages import Exchange, split
from understudy.interface.scopes import AUTH, READ_PROFILE, SCOPES
from understudy.verify.grant_history import FRESH
from understudy.verify.history import MADE_UP, REDIRECTS
from understudy.verify.issued_values import Form, forms_in
from understudy.verify.permits import NotPermitted
from understudy.verify.probe_client import ProbeClient
from understudy.verify.target import TargetApplication

Decision = Literal["approve", "deny"]
SignIn = Literal["accepted", "refused", "unknown"]

WORDS = {
    "approve": re.compile(r"approve|allow|accept|authorize|grant|yes", re.IGNORECASE),
    "deny": re.compile(r"deny|cancel|refuse|reject|decline|\bno\b", re.IGNORECASE),
}
"""Words by which the buttons of a consent page are recognised."""
STEPS = 8
"""The most pages and redirects to follow; more than any deployment shows."""

_PAGES: Final = "text/html, */*;q=0.8"
"""The media types that a browser asks for when it opens a page."""

_USER_FIELD = re.compile(r"user|name|login|mail", re.IGNORECASE)


@dataclass
class Browser:
    """A person's browser at the authorization server."""

    client: ProbeClient
    cookies: dict[str, str] = field(default_factory=dict)

    def request(self, pairs: Sequence[tuple[str, str]]) -> Exchange:
        """Opens an authorization request, and follows redirects within the server only."""
        url = f"{self._root}/oauth2/authorize?{urlencode(list(pairs), quote_via=quote)}"
        return self._follow(self.client.send("GET", url, headers=self._headers()))

    def submit(self, page: Exchange, form: Form, more: Mapping[str, str]) -> Exchange:
        """Submits a form with some fields added or replaced."""
        url = urljoin(page.request.url, split(form.action).geturl())
        fields = {**form.fields, **more}
        if form.method == "POST":
            exchange = self.client.send("POST", url, form=fields, headers=self._headers())
        else:
            exchange = self.client.send("GET", url, query=fields, headers=self._headers())
        return self._follow(exchange)

    @property
    def _root(self) -> str:
        return (self.client.target.auth_url or "").rstrip("/")

    def _headers(self) -> dict[str, str]:
        pairs = "; ".join(f"{name}={text}" for name, text in self.cookies.items())
        return {"accept": _PAGES, **({"cookie": pairs} if pairs else {})}

    def _follow(self, exchange: Exchange) -> Exchange:
        for _ in range(STEPS):
            for name, text in exchange.response.headers:
                if name == "set-cookie":
                    key, _, value = text.partition(";")[0].partition("=")
                    self.cookies[key.strip()] = value.strip()
            url = urljoin(exchange.request.url, exchange.location.geturl())
            redirect_uri = self.client.app.redirect_uri or "\n"  # which no URL starts with
            leaves = not url.startswith(self._root) or url.startswith(redirect_uri)
            if exchange.status not in REDIRECTS or leaves:
                return exchange
            exchange = self.client.send("GET", url, headers=self._headers())
        return exchange


class Flow:
    """An authorization request, opened in a new browser without cookies.

    Args:
        client: The client that the browser sends with.
        pairs: The parameters of the request.
        person: The application whose owner signs in; None for the target's main application.
    """

    def __init__(
        self,
        client: ProbeClient,
        pairs: Sequence[tuple[str, str]],
        person: TargetApplication | None = None,
    ) -> None:
        self._person = person or client.app
        self._browser = Browser(client)
        self._page = self._browser.request(pairs)

    def decide(self, decision: Decision) -> Exchange:
        """Signs in where a page requires it, and presses the button of a decision.

        Returns:
            The redirect that leaves the server, or the page that lacks the button.

        Raises:
            NotPermitted: The target has no user name and password.
        """
        page = self._page
        for _ in range(STEPS):
            if page.status in REDIRECTS or not page.response.is_success:
                return page
            forms = forms_in(page)
            form = next((form for form in forms if form.has_password()), None)
            fields = _sign_in_fields(self._person, form, decision) if form else None
            if fields is None:
                form, fields = pressed(forms, decision)
            if form is None or fields is None:
                return page
            page = self._browser.submit(page, form, fields)
        return page


def sign_in(client: ProbeClient, username: str, password: str) -> SignIn:
    """Tries a user name and a password on the sign-in page, without deciding on consent.

    Returns:
        ``unknown`` if no page asks for a password, or the attempt was throttled.
    """
    browser = Browser(client)
    page = browser.request(parameters(client.app))
    form = next((form for form in forms_in(page) if form.has_password()), None)
    if form is None:
        return "unknown"
    page = browser.submit(page, form, _filled(form, username, password))
    has_form_again = any(form.has_password() for form in forms_in(page))
    if page.status in REDIRECTS or (page.response.is_success and not has_form_again):
        return "accepted"
    is_refused = page.response.is_success or page.response.is_refusal
    return "refused" if is_refused and page.status != HTTPStatus.TOO_MANY_REQUESTS else "unknown"


def _sign_in_fields(person: TargetApplication, form: Form, decision: Decision) -> dict[str, str]:
    """Returns the fields that sign in, with the button of the decision if the form has it."""
    if person.username is None or person.password is None:
        msg = "[application] username and password are not given"
        raise NotPermitted(msg)
    return _filled(form, person.username, person.password) | (pressed([form], decision)[1] or {})


def _filled(form: Form, username: str, password: str) -> dict[str, str]:
    """Returns the fields of a form for the user name and the password."""
    filled = {}
    for name, kind in form.kinds.items():
        if kind == "password":
            filled[name] = password
        elif kind in {"text", "email"} and _USER_FIELD.search(name):
            filled[name] = username
    return filled


def pressed(forms: list[Form], decision: Decision) -> tuple[Form | None, dict[str, str] | None]:
    """Returns the form with the button of a decision, and the field that the button sends."""
    for form in forms:
        for name, value, text in form.buttons:
            if WORDS[decision].search(text):
                return form, ({name: value} if name else {})
    return None, None


STATE = "Af0/ &=%?ü=="
"""A ``state`` with characters that need escaping; redirects must return it unchanged."""


def recased_id(app: TargetApplication) -> str:
    """Returns an application's client ID in swapped case; a made-up one if it has no letters."""
    client_id = app.client_id or ""
    recased = client_id.swapcase()
    return recased if recased != client_id else f"{MADE_UP}-client"


def parameters(app: TargetApplication, **changes: str | None) -> list[tuple[str, str]]:
    """Returns the parameters of a valid authorization request; a change to None omits one."""
    values = {
        "client_id": app.client_id,
        "redirect_uri": app.redirect_uri,
        "response_type": "code",
        "scope[0]": AUTH,
        "scope[1]": READ_PROFILE,
        "state": STATE,
    }
    return _given({**values, **changes})


def _given(values: Mapping[str, str | None]) -> list[tuple[str, str]]:
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
    return Flow(probe_client, pairs).decide(decision)


def code(probe_client: ProbeClient, **changes: str | None) -> str:
    """Returns an approved authorization code.

    Raises:
        NotPermitted: The server returned no code; the check of the redirect has the details.
    """
    return code_in(decide(probe_client, parameters(probe_client.app, **changes)))


def code_in(redirect: Exchange) -> str:
    """Returns the code of a redirect.

    Raises:
        NotPermitted: The redirect has no code; the check of the redirect has the details.
    """
    if "code" not in redirect.redirect_parameters:
        msg = f"the authorization request returned no code, but status {redirect.status}"
        raise NotPermitted(msg)
    return redirect.redirect_parameters["code"]


def spare_code(probe_client: ProbeClient) -> str:
    """Returns an unused recent code of this run, or a new one.

    Raises:
        NotPermitted: The server returned no code.
    """
    used = {exchange.request.form.get("code") for exchange in probe_client.earlier}
    for exchange in reversed(probe_client.earlier):
        is_late = probe_client.gateway.time.now() - exchange.at >= FRESH
        query = exchange.request.query
        is_plain = dict(parameters(probe_client.app)).items() <= query.items()
        is_plain = is_plain and "code_challenge" not in query
        candidate = exchange.redirect_parameters.get("code")
        if candidate and candidate not in used and is_plain and not is_late:
            return candidate
    return code(probe_client)


def form_of(app: TargetApplication, code: str, **changes: str | None) -> list[tuple[str, str]]:
    """Returns the form that exchanges a code for a token; a change to None omits a field."""
    fields = {
        "grant_type": "authorization_code",
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "redirect_uri": app.redirect_uri,
        "code": code,
    }
    return _given({**fields, **changes})


def password_form(app: TargetApplication, **changes: str | None) -> list[tuple[str, str]]:
    """Returns the form of a password grant; a change to None omits a field."""
    fields = {
        "grant_type": "password",
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "username": app.username,
        "password": app.password,
    }
    return _given({**fields, **changes})


def post(probe_client: ProbeClient, form: Sequence[tuple[str, str]], **more: Any) -> Exchange:
    """Sends a form to the token endpoint."""
    return probe_client.auth("POST", "/oauth2/token", form=form, **more)


def token_in(probe_client: ProbeClient, exchange: Exchange, scopes: Sequence[str] = SCOPES) -> str:
    """Returns the token of a response or a redirect, and registers its scopes with the gateway.

    Raises:
        NotPermitted: The exchange has no token.
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
