"""The scopes of an authorization request and of the token that it gives (interface, Scopes)."""

import re
from http import HTTPStatus
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import AUTHORIZE, TOKEN, TOKEN_INFO
from understudy.interface.scopes import AUTH, SCOPES
from understudy.verify.browsing import (
    code_in,
    decide,
    form_of,
    info,
    parameters,
    post,
    request_authorization,
    token_in,
)
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    expect,
    found,
    proven,
    succeeded,
    tells,
)
from understudy.verify.grant_history import (
    application_of,
    client_and_redirect_match,
    expect_no_grant,
    has_response_type,
    is_back,
    is_sound,
    scopes,
)
from understudy.verify.history import History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.value_texts import as_json

_INDEXED: Final = re.compile(r"scope\[(\d+)\]")


def _indexes(exchange: Exchange) -> list[int]:
    matches = (_INDEXED.fullmatch(name) for name, _ in exchange.request.pairs)
    return sorted(int(match[1]) for match in matches if match)


def has_plain_indexes(exchange: Exchange, _history: History) -> bool:
    """Tells whether the scopes are an array whose indexes count from zero."""
    indexes = _indexes(exchange)
    return bool(indexes) and indexes == list(range(len(indexes)))


def has_odd_indexes(exchange: Exchange, _history: History) -> bool:
    """Tells whether the scopes are an array whose indexes do not count from zero."""
    indexes = _indexes(exchange)
    return indexes != list(range(len(indexes)))


has_joined_scopes = tells(
    "the scopes are one parameter", lambda it, _: "scope" in it.request.query and not _indexes(it)
)
has_no_scope = tells("no scope is requested", lambda it, _: not scopes(it))


def lacks_auth(exchange: Exchange, _history: History) -> bool:
    """Tells whether known scopes are requested, and the scope auth is not among them."""
    requested = scopes(exchange)
    return bool(requested) and AUTH not in requested and requested <= set(SCOPES)


has_unknown_scope = tells(
    "a scope is requested that does not exist", lambda it, _: not scopes(it) <= set(SCOPES)
)


def last_issue(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest exchange that issued a token, as a server may issue the same one again."""
    token = exchange.request.query.get("token")
    issues = (each for each in history.of(TOKEN) if each.json_object.get("access_token") == token)
    return next(issues, None) or history.issued_by(token)


def request_behind_token(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the authorization request that a token was issued for."""
    issued = last_issue(exchange, history)
    redirect = None
    if issued is not None and issued.request.form.get("code"):
        redirect = history.redirect_with(issued.request.form["code"])
    elif issued is not None and not issued.request.form:
        redirect = issued
    return history.request_behind(redirect) if redirect else None


token_is_of_known_request = found(
    request_behind_token, "the authorization request that the token was issued for was seen"
)


_SOUND = (client_and_redirect_match, is_sound)


def _error(exchange: Exchange) -> str | None:
    return exchange.redirect_parameters.get("error")


def _shown(exchange: Exchange) -> str:
    return f"status {exchange.status}, error {as_json(_error(exchange))}"


def _expect_accepted(exchange: Exchange, history: History) -> CheckResult:
    """The scopes are accepted in the notation of the request."""
    app = proven(application_of(exchange, history))
    is_redirect = is_back(exchange, app) and _error(exchange) in {None, "access_denied"}
    is_accepted = exchange.status == HTTPStatus.OK or is_redirect
    return expect(is_accepted, "scopes in this notation are accepted", _shown(exchange))


def _expect_invalid_scope(exchange: Exchange) -> CheckResult:
    return expect(_error(exchange) == "invalid_scope", "invalid_scope", _shown(exchange))


for _rule, _is_in_notation in (
    ("scope-indexed-array", has_plain_indexes),
    ("scope-any-index", has_odd_indexes),
    ("scope-space-joined", has_joined_scopes),
):
    check(_rule, on=[AUTHORIZE], when=[*_SOUND, _is_in_notation])(_expect_accepted)


@check(
    "scope-indexed-array",
    "scope-any-index",
    "scope-space-joined",
    on=[TOKEN_INFO],
    when=[succeeded, token_is_of_known_request],
)
def token_has_requested_scopes(exchange: Exchange, history: History) -> CheckResult:
    """A token has exactly the scopes of its authorization request."""
    authorization = proven(request_behind_token(exchange, history))
    issued = last_issue(exchange, history)
    granted = set(str(exchange.json_object.get("scope")).split())
    wanted = scopes(authorization)
    return expect(granted == wanted, as_json(wanted), sorted(granted), authorization, issued)


@probe(
    "scope-at-least-one",
    "authorize-error-redirect",
    "state-echoed",
    "scope-known",
    "scope-auth-needed",
    "authorize-error-form",
    needs=("auth_url", "app"),
)
def requests_with_refused_scopes(client: ProbeClient) -> Parts:
    """Requests no scope, an unknown scope, and scopes without ``auth``."""
    none: dict[str, str | None] = {"scope[0]": None, "scope[1]": None}
    yield request_authorization(client, parameters(client.app, **none))
    yield request_authorization(
        client, parameters(client.app, **{"scope[1]": "avatar-profile:sparkle"})
    )
    yield request_authorization(client, parameters(client.app, **{"scope[0]": None}))
    yield request_authorization(client, parameters(client.app, **none, response_type="token"))


@probe(
    "scope-any-index",
    "scope-space-joined",
    "token-info",
    needs=("auth_url", "app", "tokens", "approval"),
)
def requests_with_scopes_in_each_form(client: ProbeClient) -> Parts:
    """Requests scopes in each notation, and validates the tokens to see their scopes."""
    forms: tuple[dict[str, str | None], ...] = (
        {"scope[0]": None, "scope[1]": "auth", "scope[5]": "avatar-profile:manage"},
        {"scope[0]": None, "scope[1]": None, "scope": "auth avatar-profile:read"},
        {
            "scope[0]": "avatar-profile:manage",
            "scope[1]": "avatar-profile:read",
            "scope[2]": "auth",
        },
        {"scope[0]": "avatar-profile:read", "scope[1]": "auth"},
        {"scope[1]": None},
    )
    for changes in forms:
        pairs = parameters(client.app, **changes)
        requested = {word for name, text in pairs if "scope" in name for word in text.split()}
        redirect = decide(client, pairs)
        yield redirect
        exchange = post(client, form_of(client.app, code_in(redirect)))
        yield info(client, token_in(client, exchange, sorted(requested)))


# Rules that demand one outcome wherever their conditions hold.

of_authorize = demands(AUTHORIZE)
of_authorize(
    "scope-at-least-one", [client_and_redirect_match, has_no_scope], expect_no_grant, "a refusal"
)
of_authorize(
    "scope-auth-needed",
    [client_and_redirect_match, has_response_type, lacks_auth],
    _expect_invalid_scope,
)
of_authorize(
    "scope-known",
    [client_and_redirect_match, has_response_type, has_unknown_scope],
    _expect_invalid_scope,
)
