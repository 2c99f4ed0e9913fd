"""The token endpoint: requests and responses (interface, Code grant; RFC 6749, 3.2 and 5)."""

import base64
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import TOKEN, TOKEN_INFO
from understudy.openapi.media_types import URLENCODED
from understudy.verify.browsing import form_of, password_form, post, recased_id
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    expect,
    expect_refused,
    status_is,
    succeeded,
    tells,
    unless,
    was_refused,
)
from understudy.verify.grant_history import (
    SECRETS,
    applications,
    authenticated_client,
    client_is_proven,
    expect_no_token,
    expect_token,
    holds_token,
    is_clean,
    is_no_client,
    shown_error,
)
from understudy.verify.history import MADE_UP, History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import schema_error
from understudy.verify.switches import reading
from understudy.verify.value_texts import as_json, nearly

GRANTS: Final = ("authorization_code", "password")
ATTEMPTS: Final = 10
ATTEMPTS_WITHIN: Final = timedelta(seconds=50)
"""A little less than the minute in which attempts are counted (rule guessing-slowed)."""

CLIENT = ("auth_url", "app", "tokens")
CODE = f"{MADE_UP}-code"


def _empty(exchange: Exchange) -> list[str]:
    return [name for name, text in exchange.request.form_pairs if text == ""]


is_token_endpoint = tells(
    "the request is one to the token endpoint",
    lambda it, _: it.site == "authorization" and it.path == "/oauth2/token",
)
uses_other_method = tells(
    "the method is neither POST nor OPTIONS",
    lambda it, _: it.request.method not in {"POST", "OPTIONS"},
)


def has_other_body(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body is not a form."""
    is_form = exchange.request.header("content-type").lower().startswith(URLENCODED)
    return bool(exchange.request.body) and not is_form


names_client = tells(
    "the form has a client ID, and a secret is sent nowhere else",
    lambda it, _: "client_id" in it.request.form and not it.request.header("authorization"),
)


def client_is_not_proven(exchange: Exchange, history: History) -> bool:
    """Tells whether the client is made up, or the secret is not that of a known client."""
    client = exchange.request.form.get("client_id", "")
    is_known = client in applications(history)
    return (is_known or is_no_client(client, history)) and not client_is_proven(exchange, history)


def uses_basic_authentication(exchange: Exchange, _history: History) -> bool:
    """Tells whether the client credentials are sent by HTTP Basic alone."""
    is_basic = exchange.request.header("authorization").lower().startswith("basic ")
    return is_basic and "client_secret" not in exchange.request.form


has_secret_in_query = tells(
    "a secret is in the query", lambda it, _: bool(SECRETS & set(it.request.query))
)
has_secret_in_query_only = tells(
    "a secret is in the query and not in the form",
    lambda it, _: bool(SECRETS & set(it.request.query) - set(it.request.form)),
)


def repeats_a_field(exchange: Exchange, _history: History) -> bool:
    """Tells whether a field is sent twice."""
    names = [name for name, text in exchange.request.form_pairs if text]
    return len(names) != len(set(names))


grant_type_is_empty = tells("the grant type is empty", lambda it, _: "grant_type" in _empty(it))


def only_scope_is_empty(exchange: Exchange, history: History) -> bool:
    """Tells whether a password grant of the owner has an empty scope, and no other empty field."""
    app, form = authenticated_client(exchange, history), exchange.request.form
    if app is None or form.get("grant_type") != "password" or _empty(exchange) != ["scope"]:
        return False
    person = (form.get("username"), form.get("password"))
    return None not in person and person == (app.username, app.password)


has_no_grant_type = tells(
    "there is no grant type", lambda it, _: not it.request.form.get("grant_type")
)
has_known_grant_type = tells(
    "the grant type is authorization_code or password",
    lambda it, _: it.request.form.get("grant_type") in GRANTS,
)


def has_other_grant_type(exchange: Exchange, history: History) -> bool:
    """Tells whether the grant type is neither authorization_code nor password."""
    is_known = has_known_grant_type(exchange, history)
    return not (is_known or has_no_grant_type(exchange, history))


def ten_attempts_failed(exchange: Exchange, history: History) -> bool:
    """Tells whether ten attempts at the client's secret failed within a minute."""
    client = exchange.request.form.get("client_id")
    wrong = 0
    for before in history.of(TOKEN):
        is_same = before.request.form.get("client_id") == client
        if is_same and exchange.at - before.at <= ATTEMPTS_WITHIN:
            wrong += before.json_object.get("error") == "invalid_client"
    return wrong >= ATTEMPTS


client_lacks_proof = unless(
    client_is_proven, "client ID and secret are not those of one application"
)


_PROVEN = (client_is_proven, is_clean)


@check("token-client-credentials", on=[TOKEN], when=_PROVEN)
def right_secret_is_accepted(exchange: Exchange, _history: History) -> CheckResult:
    """The right secret does not get ``invalid_client``."""
    error = exchange.json_object.get("error")
    return expect(error != "invalid_client", "no error for the right secret", error)


@check("token-credentials-in-form", on=[TOKEN], when=[uses_basic_authentication])
def basic_authentication_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """Client credentials by HTTP Basic are refused, as only the form may have them."""
    error = exchange.json_object.get("error")
    is_right = exchange.status == HTTPStatus.UNAUTHORIZED and error == "invalid_client"
    return expect(is_right, "401 invalid_client", shown_error(exchange))


@check("token-repeated-field", on=[TOKEN], when=[repeats_a_field])
def repeated_field_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A field that is sent twice is refused (RFC 6749, 3.2)."""
    is_error = exchange.json_object.get("error") == "invalid_request"
    is_right = exchange.response.is_refusal and is_error
    return expect(is_right, "invalid_request", shown_error(exchange))


@check("token-empty-field", on=[TOKEN], when=[*_PROVEN, grant_type_is_empty])
def empty_grant_type_counts_as_missing(exchange: Exchange, _history: History) -> CheckResult:
    """An empty grant type is treated as missing (RFC 6749, 3.2)."""
    error = exchange.json_object.get("error")
    return expect(error == "invalid_request", "invalid_request, as if left out", error)


@check("token-grant-type", on=[TOKEN], when=[*_PROVEN, has_known_grant_type])
def known_grant_type_is_supported(exchange: Exchange, _history: History) -> CheckResult:
    """The grant types ``authorization_code`` and ``password`` are supported."""
    error = exchange.json_object.get("error")
    return expect(error != "unsupported_grant_type", "a known grant type", error)


@check(
    "guessing-slowed",
    on=[TOKEN],
    when=[client_lacks_proof, ten_attempts_failed],
    is_of_limits=True,
)
def guessing_is_slowed(exchange: Exchange, _history: History) -> CheckResult:
    """After ten wrong secrets within a minute, the next request gets 429."""
    is_slowed = exchange.status == HTTPStatus.TOO_MANY_REQUESTS
    return expect(is_slowed, "429 after ten wrong attempts", f"status {exchange.status}")


def _valid_form(client: ProbeClient, **changes: str | None) -> list[tuple[str, str]]:
    """Returns a token request with these changes, otherwise valid if the target has a password."""
    if client.app.username is not None:
        return password_form(client.app, **changes)
    return form_of(client.app, CODE, **changes)


@probe("token-post-only", "method-not-allowed-allow", needs=("auth_url",))
def token_request_by_get(client: ProbeClient) -> None:
    """Requests a token by GET, with fields that are valid by POST if the target has a password."""
    query = password_form(client.app) if client.app.username is not None else ()
    client.auth("GET", "/oauth2/token", query=query)


@probe("token-form-encoded", needs=CLIENT)
def token_requests_in_json(client: ProbeClient) -> Parts:
    """Sends the fields of a token request as JSON; valid ones if the target has a password."""
    yield client.auth("POST", "/oauth2/token", json=dict(_valid_form(client)))


@probe(
    "token-empty-field",
    "token-grant-type",
    "token-error-shape",
    "token-client-credentials",
    needs=CLIENT,
)
def unknown_clients_and_grant_types(client: ProbeClient) -> Parts:
    """Sends an empty, a missing and an unsupported grant type, and the client's ID in other case."""
    yield post(client, _valid_form(client, grant_type=""))
    yield post(client, _valid_form(client, client_id=recased_id(client.app)))
    yield post(client, _valid_form(client, grant_type=None))
    # An issued token, since a server that supports refreshing would refuse any other.
    held = {"refresh_token": client.token("owner")} if client.has("owner") else {}
    others = ({"grant_type": "client_credentials"}, {"grant_type": "refresh_token", **held})
    yield [post(client, form_of(client.app, CODE, **fields)) for fields in others]


@probe("token-credentials-in-form", needs=CLIENT)
def credentials_in_header(client: ProbeClient) -> None:
    """Sends client credentials by HTTP Basic alone."""
    basic = base64.b64encode(f"{client.app.client_id}:{client.app.client_secret}".encode()).decode()
    form = form_of(client.app, CODE, client_id=None, client_secret=None)
    post(client, form, headers={"authorization": f"Basic {basic}"})


@probe("token-secrets-not-in-query", needs=(*CLIENT, "password"))
def secrets_in_query(client: ProbeClient) -> Parts:
    """Sends the client's secret and the password in the query, and the secret in query and form."""
    whole = password_form(client.app)
    for name in ("client_secret", "password"):
        form = password_form(client.app, **{name: None})
        yield post(client, form, query={name: dict(whole)[name]})
    yield post(client, whole, query={"client_secret": client.app.client_secret})


@probe("token-repeated-field", needs=(*CLIENT, "password"))
def repeated_fields(client: ProbeClient) -> Parts:
    """Sends a field twice."""
    form = password_form(client.app)
    for name in ("grant_type", "username"):
        yield post(client, [*form, (name, dict(form)[name])])


@probe("guessing-slowed", needs=(*CLIENT, "exhaust"))
def wrong_secrets(client: ProbeClient) -> None:
    """Sends eleven wrong secrets for a made-up client."""
    for _ in range(ATTEMPTS + 1):
        post(client, form_of(client.app, CODE, client_id=f"{MADE_UP}-guessed"))


# The token endpoint's responses: tokens, errors, headers (interface, Code grant; RFC 6749, 5).

STATUSES: Final = frozenset({400, 405, 413})
"""Statuses of an error; an unknown client gets 400 or 401."""

OF_UNKNOWN_CLIENT: Final = frozenset({400, 401})


may_have_body = tells("the method is not HEAD", lambda it, _: it.request.method != "HEAD")
is_cross_origin = tells(
    "a browser's script requests from another origin",
    lambda it, _: bool(it.request.header("origin")),
)


@check("token-answer", on=[TOKEN], when=[succeeded])
def token_has_its_members(exchange: Exchange, _history: History) -> CheckResult:
    """A token response has blog_id, blog_url and the token type bearer."""
    kind = str(exchange.json_object.get("token_type", "")).lower()  # without case: RFC 6749, 5.1
    error = schema_error(
        {**exchange.json_object, "token_type": kind}, "Token", document="authorization.yaml"
    )
    return expect(not error, "access_token, blog_id, blog_url and token_type bearer", error)


@check("token-answer-scope", on=[TOKEN], when=[succeeded])
def token_names_its_scopes(exchange: Exchange, _history: History) -> CheckResult:
    """A token response has the scopes, separated by spaces."""
    scope = exchange.json_object.get("scope")
    is_right = isinstance(scope, str) and bool(scope.split())
    return expect(is_right, "the scopes, separated by spaces", scope)


@check("token-error-shape", on=[TOKEN], when=[status_is(400, 401), may_have_body])
def error_is_named(exchange: Exchange, _history: History) -> CheckResult:
    """An error response is JSON with a code under ``error`` (RFC 6749, 5.2)."""
    is_named = isinstance(exchange.json_object.get("error"), str)
    return expect(
        is_named, "error in a JSON object", f"members {as_json(sorted(exchange.json_object))}"
    )


@check(
    "token-error-shape",
    on=[TOKEN, TOKEN_INFO],
    when=[was_refused, may_have_body],
    is_choice=True,
)
def error_is_described(exchange: Exchange, _history: History) -> CheckResult:
    """An error has a description, a suitable status, and no ``code`` as in the resource API."""
    members = exchange.json_object
    error, text = members.get("error"), members.get("error_description")
    statuses = OF_UNKNOWN_CLIENT if error == "invalid_client" else STATUSES
    is_right = isinstance(error, str) and isinstance(text, str) and exchange.status in statuses
    is_right = is_right and "code" not in members and exchange.body is not NO_JSON
    actual = f"status {exchange.status}, {as_json(sorted(members))}"
    return expect(is_right, "error and error_description, with 400 or 401", actual)


def _expect_not_stored(exchange: Exchange) -> CheckResult:
    control, pragma = exchange.response.header("cache-control"), exchange.response.header("pragma")
    is_right = "no-store" in control and "no-cache" in pragma
    actual = f"Cache-Control: {as_json(control)}, Pragma: {as_json(pragma)}"
    return expect(is_right, "Cache-Control: no-store and Pragma: no-cache", actual)


@check("token-no-cors", when=[is_token_endpoint, is_cross_origin])
def browser_gets_cross_origin_error(exchange: Exchange, _history: History) -> CheckResult:
    """A browser's script is not allowed to read a token (interface, Code grant, 4)."""
    allowed = exchange.response.header("access-control-allow-origin")
    return expect(not allowed, "no Access-Control-Allow-Origin", allowed)


@probe(
    "token-no-cors",
    "token-client-credentials",
    "token-error-shape",
    "token-not-cached",
    needs=CLIENT,
)
def requests_of_browser_script(client: ProbeClient) -> Parts:
    """Requests tokens as a script of another origin: with a wrong secret, and correctly."""
    origin = {"origin": "https://understudy.invalid"}
    made_up = dict(nearly(client.app.client_secret or "")).get("widened", f"{MADE_UP}-secret")
    yield post(client, _valid_form(client, client_secret=made_up), headers=origin)
    headers = {**origin, "access-control-request-method": "POST"}
    yield client.auth("OPTIONS", "/oauth2/token", headers=headers)
    if client.app.username is not None:
        yield post(client, password_form(client.app), headers=origin)


def _of_basic(exchange: Exchange) -> str:
    """Returns the option of the switch: if Basic is accepted, only the made-up code is refused."""
    error = exchange.json_object.get("error")
    return "refuse" if error == "invalid_client" else "accept"


reading("token-credentials-in-form", on=[TOKEN], when=[uses_basic_authentication], read=_of_basic)


# Rules that demand one outcome wherever their conditions hold.

demands()(
    "token-post-only",
    [is_token_endpoint, uses_other_method],
    expect_no_token,
    "POST and no other method",
)
of_token = demands(TOKEN)
of_token("token-form-encoded", [has_other_body], expect_no_token, "a form and no other body")
of_token(
    "token-client-credentials",
    [names_client, is_clean, client_is_not_proven],
    expect_no_token,
    "the ID and secret of one application",
)
of_token(
    "token-secrets-not-in-query",
    [has_secret_in_query_only],
    expect_no_token,
    "no secret is read from the query",
)
of_token(
    "token-secrets-not-in-query",
    [has_secret_in_query],
    expect_no_token,
    "a refusal of a secret in the query",
    is_choice=True,
)
of_token(
    "token-empty-field", [*_PROVEN, only_scope_is_empty], expect_token, "a token, as if left out"
)
of_token("token-grant-type", [*_PROVEN, has_no_grant_type], expect_refused)
of_token("token-grant-type", [*_PROVEN, has_other_grant_type], expect_refused)
of_token("token-not-cached", [holds_token], _expect_not_stored)
of_token(
    "token-not-cached",
    [unless(holds_token, "the response holds no token")],
    _expect_not_stored,
    is_choice=True,
)
