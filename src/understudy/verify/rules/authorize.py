"""The authorization request and where its answer goes (interface, Authorization request)."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote_plus

from understudy.deployments.exchange import Exchange, split
from understudy.deployments.target import TargetApplication
from understudy.interface.operations import AUTHORIZE
from understudy.verify.checks import CheckResult, check, expect, expect_equal
from understudy.verify.history import REDIRECTS, History

ONCE: Final = ("client_id", "redirect_uri", "response_type", "state", "code_challenge")
NAMED: Final = frozenset({*ONCE, "code_challenge_method", "scope", "mock_approve", "mock_deny"})
_SCOPE: Final = re.compile(r"scope(\[\d*\])?")


def applications(history: History) -> dict[str, TargetApplication]:
    """Returns the applications that the target names, by client_id."""
    target = history.target
    apps = (target.application, target.other_application, target.two_step)
    return {app.client_id: app for app in apps if app.client_id and app.redirect_uri}


def repeated(exchange: Exchange) -> list[str]:
    """Returns which parameters were given twice."""
    names = [name for name, _ in exchange.request.pairs]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def application_of(exchange: Exchange, history: History) -> TargetApplication | None:
    """Returns the application of a request whose client and redirect can be trusted."""
    if {"client_id", "redirect_uri"} & set(repeated(exchange)):
        return None
    app = applications(history).get(exchange.request.query.get("client_id", ""))
    is_right = app is not None and exchange.request.query.get("redirect_uri") == app.redirect_uri
    return app if is_right else None


def is_back(exchange: Exchange, app: TargetApplication) -> bool:
    """Tells whether an answer leads back to the application."""
    location = exchange.response.header("location")
    is_there = bool(app.redirect_uri) and location.startswith(app.redirect_uri or "")
    return exchange.status in REDIRECTS and is_there


def is_granted(exchange: Exchange) -> bool:
    """Tells whether an answer gives a code or a token."""
    told = exchange.redirect_parameters if exchange.status in REDIRECTS else {}
    return "code" in told or "access_token" in told


def given(exchange: Exchange) -> Mapping[str, str]:
    """Returns the parameters of a request that are not empty."""
    return {name: text for name, text in exchange.request.pairs if text}


def is_sound(exchange: Exchange) -> bool:
    """Tells whether all is in order that follows client and redirect."""
    asked = given(exchange)
    known = {"auth", "avatar-profile:read", "avatar-profile:manage"}
    words = scopes(exchange)
    twice = set(repeated(exchange)) - {"scope"}
    is_known = asked.get("response_type") in {"code", "token"} and words <= known
    return is_known and "auth" in words and not twice and "code_challenge" not in asked


def scopes(exchange: Exchange) -> set[str]:
    """Returns the scopes that a request asks for."""
    found = [text for name, text in exchange.request.pairs if _SCOPE.fullmatch(name)]
    return {word for text in found for word in text.split()}


@check("authorize-client-known", on=[AUTHORIZE])
def _client_known(exchange: Exchange, history: History) -> CheckResult | None:
    asked = exchange.request.query.get("client_id")
    if asked is not None and not history.is_made_up(asked):
        app = application_of(exchange, history)
        if app is None or not is_sound(exchange):
            return None
        is_taken = exchange.status == 200 or is_back(exchange, app)  # noqa: PLR2004 - a page
        return expect(is_taken, "a registered client is known", exchange.status)
    is_right = exchange.response.is_refusal and not exchange.response.header("location")
    return expect(is_right, "a refusal, and no redirect", _came(exchange))


@check("redirect-uri-registered", on=[AUTHORIZE])
def _registered(exchange: Exchange, history: History) -> CheckResult | None:
    app = applications(history).get(exchange.request.query.get("client_id", ""))
    if app is None or {"client_id", "redirect_uri"} & set(repeated(exchange)):
        return None
    uri = exchange.request.query.get("redirect_uri")
    if uri != app.redirect_uri:
        is_right = exchange.response.is_refusal and not exchange.response.header("location")
        return expect(is_right, "a refusal, and no redirect", _came(exchange))
    if not is_sound(exchange):
        return None
    is_taken = exchange.status == 200 or is_back(exchange, app)  # noqa: PLR2004 - a page
    return expect(is_taken, "a registered address is taken", exchange.status)


@check("redirect-uri-exact", on=[AUTHORIZE])
def _exact(exchange: Exchange, history: History) -> CheckResult | None:
    app = applications(history).get(exchange.request.query.get("client_id", ""))
    uri = exchange.request.query.get("redirect_uri", "")
    if app is None or app.redirect_uri is None or uri == app.redirect_uri or not uri:
        return None
    registered = split(app.redirect_uri)
    if split(uri).hostname != registered.hostname:
        return None  # not merely another spelling
    is_right = exchange.response.is_refusal and not exchange.response.header("location")
    return expect(is_right, "a refusal of another spelling", _came(exchange))


@check("authorize-error-page", on=[AUTHORIZE])
def _error_page(exchange: Exchange, history: History) -> CheckResult | None:
    asked = exchange.request.query
    is_made_up = history.is_made_up(asked.get("client_id", ""))
    app = applications(history).get(asked.get("client_id", ""))
    is_foreign = app is not None and asked.get("redirect_uri") != app.redirect_uri
    if not is_made_up and not is_foreign:
        return None
    is_page = exchange.status == 400 and exchange.response.media_type == "text/html"  # noqa: PLR2004 - as chosen
    return expect(is_page, "a page with status 400", _came(exchange))


@check("authorize-error-redirect", on=[AUTHORIZE])
def _error_redirect(exchange: Exchange, history: History) -> CheckResult | None:
    app = application_of(exchange, history)
    if app is None or is_sound(exchange) or "code_challenge" in given(exchange):
        return None
    if exchange.request.method != "GET" or set(repeated(exchange)) - NAMED:
        return None
    location = exchange.location
    types = [text for name, text in exchange.request.pairs if name == "response_type" and text]
    place = location.fragment if types == ["token"] else location.query
    told = dict(parse_qsl(place))
    is_right = is_back(exchange, app) and told.get("error") and told.get("error_description")
    return expect(is_right, "error and error_description on the redirect", _came(exchange))


@check("authorize-repeated-parameter", on=[AUTHORIZE])
def _repeated(exchange: Exchange, history: History) -> CheckResult | None:
    twice = [name for name in repeated(exchange) if name in ONCE or _SCOPE.fullmatch(name)]
    client = exchange.request.query.get("client_id", "")
    if not twice or client not in applications(history):
        return None
    is_shown = exchange.status == 200 and exchange.response.media_type == "text/html"  # noqa: PLR2004 - a page
    return expect(
        not is_granted(exchange) and not is_shown, f"{twice[0]} is refused", _came(exchange)
    )


@check("authorize-unknown-parameters-ignored", on=[AUTHORIZE])
def _unknown(exchange: Exchange, history: History) -> CheckResult | None:
    names = {name for name, _ in exchange.request.pairs if not _SCOPE.fullmatch(name)}
    app = application_of(exchange, history)
    if app is None or not is_sound(exchange) or names <= NAMED:
        return None
    is_taken = (
        exchange.status == 200
        or is_granted(exchange)
        or "error" not in exchange.redirect_parameters
    )
    actual = _came(exchange)
    return expect(is_taken and not exchange.response.is_refusal, "they change nothing", actual)


@check("authorize-empty-parameter", on=[AUTHORIZE])
def _empty(exchange: Exchange, history: History) -> CheckResult | None:
    empty = [name for name, text in exchange.request.pairs if text == "" and name in NAMED]
    app = application_of(exchange, history)
    if app is None or not empty or ("response_type" not in empty and not is_sound(exchange)):
        return None
    if "response_type" in empty:
        return expect(
            not is_granted(exchange) and exchange.status != 200, "missing", _came(exchange)
        )
    is_left_out = "state" not in exchange.redirect_parameters or "state" not in empty
    actual = _came(exchange)
    return expect(is_left_out and not exchange.response.is_refusal, "as if left out", actual)


@check("response-type", on=[AUTHORIZE])
def _response_type(exchange: Exchange, history: History) -> CheckResult | None:
    app = application_of(exchange, history)
    if app is None:
        return None
    asked = given(exchange).get("response_type")
    if asked in {"code", "token"}:
        if not is_granted(exchange) or "response_type" in repeated(exchange):
            return None
        wanted = "code" if asked == "code" else "access_token"
        return expect(
            wanted in exchange.redirect_parameters,
            f"{wanted} on the redirect",
            sorted(exchange.redirect_parameters),
        )
    is_page = exchange.status == 200  # noqa: PLR2004 - a page to approve
    return expect(not is_granted(exchange) and not is_page, "a refusal", _came(exchange))


@check("state-echoed", on=[])
def _state(exchange: Exchange, history: History) -> CheckResult | None:
    asked = history.request_behind(exchange)
    app = application_of(asked, history) if asked else None
    if asked is None or app is None or not is_back(exchange, app):
        return None
    if "state" in repeated(asked):
        return None
    sent = _raw(split(asked.request.url).query).get("state") or None
    location = exchange.location
    actual = (_raw(location.query) | _raw(location.fragment)).get("state")
    return expect_equal(
        actual and unquote_plus(actual),
        sent and unquote_plus(sent),
        "state",
        asked if asked is not exchange else None,
    )


def _raw(query: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    return {name: text for name, _, text in pairs}


def _came(exchange: Exchange) -> str:
    location = exchange.response.header("location").partition("?")[0].partition("#")[0]
    told = {
        name: text
        for name, text in exchange.redirect_parameters.items()
        if name.startswith("error")
    }
    onward = (
        f", to {location} with {told or sorted(exchange.redirect_parameters)}" if location else ""
    )
    return f"status {exchange.status}, {exchange.response.media_type}{onward}"
