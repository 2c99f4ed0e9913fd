"""Reads what is known of an authorization request when it is judged; conditions that follow from it."""

import re
from collections.abc import Mapping
from typing import Final

from understudy.deployments.target import TargetApplication
from understudy.exchange.messages import Exchange
from understudy.interface.scopes import AUTH, SCOPES
from understudy.verify.checks import Condition, named, proven
from understudy.verify.history import REDIRECTS, History
from understudy.verify.value_texts import as_json

OK: Final = 200
ONCE: Final = ("client_id", "redirect_uri", "response_type", "state", "code_challenge")
"""Parameters that a request may give once (RFC 6749, 3.1)."""

KNOWN: Final = frozenset({*ONCE, "code_challenge_method", "scope", "mock_approve", "mock_deny"})
RESPONSE_TYPES: Final = frozenset({"code", "token"})
SCOPE_NAME: Final = re.compile(r"scope(\[\d*\])?")


def applications(history: History) -> dict[str, TargetApplication]:
    """Returns the applications that the target names, by client_id."""
    target = history.target
    apps = (target.application, target.other_application, target.two_step)
    return {app.client_id: app for app in apps if app.client_id and app.redirect_uri}


def client_of(exchange: Exchange, history: History) -> TargetApplication | None:
    """Returns the application that an authorization request names."""
    return applications(history).get(exchange.request.query.get("client_id", ""))


def repeated(exchange: Exchange) -> list[str]:
    """Returns the names of the parameters that occur twice."""
    names = [name for name, _ in exchange.request.pairs]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def application_of(exchange: Exchange, history: History) -> TargetApplication | None:
    """Returns the application of a request whose client and redirect URI can be trusted."""
    if {"client_id", "redirect_uri"} & set(repeated(exchange)):
        return None
    app = client_of(exchange, history)
    is_right = app is not None and exchange.request.query.get("redirect_uri") == app.redirect_uri
    return app if is_right else None


def is_back(exchange: Exchange, app: TargetApplication) -> bool:
    """Tells whether a response leads back to the application."""
    location = exchange.response.header("location")
    is_there = bool(app.redirect_uri) and location.startswith(app.redirect_uri or "")
    return exchange.status in REDIRECTS and is_there


def is_granted(exchange: Exchange) -> bool:
    """Tells whether a response gives a code or a token."""
    parameters = exchange.redirect_parameters if exchange.status in REDIRECTS else {}
    return "code" in parameters or "access_token" in parameters


def nonempty_parameters(exchange: Exchange) -> Mapping[str, str]:
    """Returns the parameters of a request that are not empty."""
    return {name: text for name, text in exchange.request.pairs if text}


def scopes(exchange: Exchange) -> set[str]:
    """Returns the requested scopes."""
    texts = [text for name, text in exchange.request.pairs if SCOPE_NAME.fullmatch(name)]
    return {word for text in texts for word in text.split()}


def shown(exchange: Exchange) -> str:
    """Returns status, type and target of a response, without its secrets."""
    location = exchange.response.header("location").partition("?")[0].partition("#")[0]
    parameters = exchange.redirect_parameters
    errors = {name: text for name, text in parameters.items() if name.startswith("error")}
    onward = f", to {location} with {as_json(errors or sorted(parameters))}" if location else ""
    return f"status {exchange.status}, {exchange.response.media_type}{onward}"


def client_is_known(exchange: Exchange, history: History) -> bool:
    """Tells whether the client is an application that the target names."""
    return client_of(exchange, history) is not None


def client_and_redirect_match(exchange: Exchange, history: History) -> bool:
    """Tells whether client and redirect URI are those of one application."""
    return application_of(exchange, history) is not None


def is_sound(exchange: Exchange, _history: History) -> bool:
    """Tells whether response type and scopes are in order."""
    is_known = nonempty_parameters(exchange).get("response_type") in RESPONSE_TYPES
    is_once = not set(repeated(exchange)) - {"scope"}
    words = scopes(exchange)
    is_plain = "code_challenge" not in nonempty_parameters(exchange)
    return is_known and is_once and is_plain and AUTH in words and words <= set(SCOPES)


def is_unsound(exchange: Exchange, history: History) -> bool:
    """Tells whether response type or scopes are not in order."""
    return not is_sound(exchange, history)


def has_response_type(exchange: Exchange, _history: History) -> bool:
    """Tells whether the response type is code or token."""
    return nonempty_parameters(exchange).get("response_type") in RESPONSE_TYPES


def is_page(exchange: Exchange, _history: History) -> bool:
    """Tells whether the response is a page."""
    return exchange.status == OK and exchange.response.media_type == "text/html"


def is_redirect(exchange: Exchange, _history: History) -> bool:
    """Tells whether the authorization server redirects."""
    return exchange.site == "authorization" and exchange.status in REDIRECTS


def answers_request(exchange: Exchange, history: History) -> bool:
    """Tells whether a redirect leads back to the application whose request it ends."""
    request = history.request_behind(exchange)
    app = application_of(request, history) if request else None
    return app is not None and is_back(exchange, app)


def request_of(exchange: Exchange, history: History) -> Exchange:
    """Returns the authorization request that a redirect ends."""
    return proven(history.request_behind(exchange))


def redirect_has(name: str) -> Condition:
    """Returns the condition that a redirect has a parameter."""
    return named(
        lambda exchange, _history: name in exchange.redirect_parameters,
        f"the redirect has {name}",
    )
