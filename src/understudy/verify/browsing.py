"""Goes through sign-in and consent as a person does: fills in forms and presses buttons.

The interface says nothing of these pages, so they are known by what they are: a form with a
password, then one with a button to approve and a button to deny.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Literal
from urllib.parse import urljoin

from understudy.deployments.exchange import Exchange, split
from understudy.deployments.refusals import NotPermitted
from understudy.verify.history import REDIRECTS
from understudy.verify.probe_client import ProbeClient

Wish = Literal["approve", "deny"]

WORDS = {
    "approve": re.compile(r"approve|allow|accept|authorize|grant|yes", re.IGNORECASE),
    "deny": re.compile(r"deny|cancel|refuse|reject|decline|\bno\b", re.IGNORECASE),
}
STEPS = 8
"""More pages than any deployment shows on the way."""

_USER = re.compile(r"user|name|login|mail", re.IGNORECASE)


@dataclass
class Form:
    """A form of a page: where it goes, its fields, and its buttons by what they say."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)

    def has_password(self) -> bool:
        """Tells whether it asks for a password."""
        return "password" in self.kinds.values()


class _Forms(HTMLParser):
    """Collects the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._button: tuple[str, str] | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: text or "" for name, text in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("method", "get").upper()))
        elif tag == "input" and self.forms and given.get("type") == "submit":
            value = given.get("value", "")
            self.forms[-1].buttons.append((given.get("name", ""), value, value))
        elif tag == "input" and self.forms and given.get("name"):
            kind = given.get("type", "text")
            if kind not in {"checkbox", "radio"} or "checked" in given:
                self.forms[-1].fields[given["name"]] = given.get("value", "")
            self.forms[-1].kinds[given["name"]] = kind
        elif tag == "button":
            self._button, self._text = (given.get("name", ""), given.get("value", "")), ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "button" and self._button and self.forms:
            self.forms[-1].buttons.append((*self._button, f"{self._button[1]} {self._text}"))
            self._button = None


def forms_in(page: Exchange) -> list[Form]:
    """Returns the forms of a page."""
    parser = _Forms()
    parser.feed(page.response.body.decode("utf-8", "replace"))
    return parser.forms


@dataclass
class Browser:
    """A person's browser at the authorization server."""

    client: ProbeClient
    cookies: dict[str, str] = field(default_factory=dict)

    def open(self, url: str) -> Exchange:
        """Opens an address; a redirect within the server is followed, one that leaves is not."""
        return self._follow(self.client.send("GET", url, headers=self._headers()))

    def submit(self, page: Exchange, form: Form, more: Mapping[str, str]) -> Exchange:
        """Sends a form."""
        url = urljoin(page.request.url, split(form.action).geturl())
        fields = {**form.fields, **more}
        if form.method == "POST":
            answer = self.client.send("POST", url, form=fields, headers=self._headers())
        else:
            answer = self.client.send("GET", url, query=fields, headers=self._headers())
        return self._follow(answer)

    def _headers(self) -> dict[str, str]:
        pairs = "; ".join(f"{name}={text}" for name, text in self.cookies.items())
        return {"cookie": pairs} if pairs else {}

    def _follow(self, exchange: Exchange) -> Exchange:
        for _ in range(STEPS):
            for name, text in exchange.response.headers:
                if name == "set-cookie":
                    key, _, value = text.partition(";")[0].partition("=")
                    self.cookies[key.strip()] = value.strip()
            url = urljoin(exchange.request.url, exchange.location.geturl())
            root = (self.client.target.auth_url or "").rstrip("/")
            redirect_uri = self.client.app.redirect_uri or "\n"
            leaves = not url.startswith(root) or url.startswith(redirect_uri)
            if exchange.status not in REDIRECTS or leaves:
                return exchange
            exchange = self.client.send("GET", url, headers=self._headers())
        return exchange


def go_through(client: ProbeClient, url: str, wish: Wish) -> Exchange:
    """Signs in where that is asked for, and presses the button.

    Returns:
        The redirect that leaves the server, or the page where there was no way on.

    Raises:
        NotPermitted: The target gives nobody who could sign in.
    """
    browser = Browser(client)
    page = browser.open(url)
    for _ in range(STEPS):
        if page.status in REDIRECTS or not page.response.is_success:
            return page
        found = forms_in(page)
        signing_in = next((form for form in found if form.has_password()), None)
        onward = _sign_in(client, signing_in, wish) if signing_in else None
        form = signing_in
        if onward is None:
            form, onward = pressed(found, wish)
        if form is None or onward is None:
            return page
        page = browser.submit(page, form, onward)
    return page


def _sign_in(client: ProbeClient, form: Form, wish: Wish) -> dict[str, str]:
    """Returns what signs in; where the same form asks for consent, with the button pressed."""
    app = client.app
    if app.username is None or app.password is None:
        msg = "[application] username and password are not given"
        raise NotPermitted(msg)
    filled = {}
    for name, kind in form.kinds.items():
        if kind == "password":
            filled[name] = app.password
        elif kind in {"text", "email"} and _USER.search(name):
            filled[name] = app.username
    return filled | (pressed([form], wish)[1] or {})


def pressed(found: list[Form], wish: Wish) -> tuple[Form | None, dict[str, str] | None]:
    """Returns the form whose button says what a person wishes, and what pressing it sends."""
    for form in found:
        for name, value, text in form.buttons:
            if WORDS[wish].search(text):
                return form, ({name: value} if name else {})
    return None, None
