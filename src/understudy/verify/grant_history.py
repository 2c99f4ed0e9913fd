"""Reads clients, codes and tokens from earlier exchanges; has conditions of checks on them."""

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import TOKEN
from understudy.interface.scopes import AUTH, SCOPES
from understudy.verify.checks import CheckResult, Condition, expect, found, proven, tells, unless
from understudy.verify.history import REDIRECTS, History
from understudy.verify.target import TargetApplication
from understudy.verify.value_texts import as_json
from understudy.verify.wording import SCOPE_NAME

ONCE: Final = ("client_id", "redirect_uri", "response_type", "state", "code_challenge")
"""Parameters that a request may give once (RFC 6749, 3.1)."""

KNOWN: Final = frozenset({*ONCE, "code_challenge_method", "scope", "mock_approve", "mock_deny"})
RESPONSE_TYPES: Final = frozenset({"code", "token"})


def applications(history: History) -> dict[str, TargetApplication]:
    """Returns the applications that the target names, by client_id."""
    target = history.target
    apps = (target.application, target.other_application, target.two_step)
    return {app.client_id: app for app in apps if app.client_id and app.redirect_uri}


def is_no_client(client_id: str, history: History) -> bool:
    """Returns whether a client ID is unknown: made up, or that of a known client in other case."""
    known = applications(history)
    is_recased = client_id not in known and client_id.lower() in map(str.lower, known)
    return is_recased or history.is_made_up(client_id)


def named_client(exchange: Exchange, history: History) -> TargetApplication | None:
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
    app = named_client(exchange, history)
    is_right = app is not None and exchange.request.query.get("redirect_uri") == app.redirect_uri
    return app if is_right else None


_ENDS: Final = frozenset({"", "?", "#", "&"})
"""The first character after a redirect URI in a location: none, or the start of a further part."""


def is_back(exchange: Exchange, app: TargetApplication) -> bool:
    """Tells whether a response redirects to the application's redirect URI, not to a subpath."""
    uri, location = app.redirect_uri or "", exchange.response.header("location")
    is_there = bool(uri) and location.startswith(uri)
    return exchange.status in REDIRECTS and is_there and location[len(uri) :][:1] in _ENDS


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


def shown_response(exchange: Exchange) -> str:
    """Returns status, type and target of a response, without its secrets."""
    location = exchange.response.header("location").partition("?")[0].partition("#")[0]
    parameters = exchange.redirect_parameters
    errors = {name: text for name, text in parameters.items() if name.startswith("error")}
    onward = f", to {location} with {as_json(errors or sorted(parameters))}" if location else ""
    return f"status {exchange.status}, {exchange.response.media_type}{onward}"


client_is_known = found(named_client, "the client is an application that the target names")

client_and_redirect_match = found(
    application_of, "client and redirect URI are those of one application"
)


def is_sound(exchange: Exchange, _history: History) -> bool:
    """Tells whether response type and scopes are in order."""
    is_known = nonempty_parameters(exchange).get("response_type") in RESPONSE_TYPES
    is_once = not set(repeated(exchange)) - {"scope"}
    words = scopes(exchange)
    is_plain = "code_challenge" not in nonempty_parameters(exchange)
    return is_known and is_once and is_plain and AUTH in words and words <= set(SCOPES)


is_unsound = unless(is_sound, "response type or scopes are not in order")
has_response_type = tells(
    "the response type is code or token",
    lambda it, _: nonempty_parameters(it).get("response_type") in RESPONSE_TYPES,
)
is_page = tells(
    "the response is a page",
    lambda it, _: it.status == HTTPStatus.OK and it.response.media_type == "text/html",
)
is_redirect = tells(
    "the authorization server redirects",
    lambda it, _: it.site == "authorization" and it.status in REDIRECTS,
)


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
    return tells(f"the redirect has {name}", lambda it, _: name in it.redirect_parameters)


SECRETS: Final = frozenset({"client_secret", "password", "code", "code_verifier"})
CODE_LIFETIME: Final = timedelta(minutes=10)
"""The longest lifetime of a code (RFC 6749, 4.1.2 recommends it; rule code-lifetime)."""
FRESH: Final = timedelta(minutes=1)
"""Age up to which every deployment must accept a code."""


def authenticated_client(exchange: Exchange, history: History) -> TargetApplication | None:
    """Returns the application whose ID and secret a form has."""
    form = exchange.request.form
    app = applications(history).get(form.get("client_id", ""))
    is_right = app is not None and form.get("client_secret") == app.client_secret
    return app if is_right else None


def gives_token(exchange: Exchange) -> bool:
    """Tells whether a response holds an access token."""
    return exchange.response.is_success and bool(exchange.json_object.get("access_token"))


holds_token = tells("the response holds a token", lambda it, _: gives_token(it))


def expect_token(exchange: Exchange, expected: str, *evidence: Exchange | None) -> CheckResult:
    """Returns a check result that holds if the response has a token."""
    error = exchange.json_object.get("error")
    return expect(gives_token(exchange), expected, error, *evidence)


def expect_no_token(exchange: Exchange, expected: str) -> CheckResult:
    """Returns a check result that holds if the request was refused, without a token."""
    is_right = exchange.response.is_refusal and "access_token" not in exchange.json_object
    return expect(is_right, expected, shown_error(exchange))


def expect_no_grant(exchange: Exchange, expected: str) -> CheckResult:
    """Returns a check result that holds if the request got no grant, and no page that asks for it."""
    is_accepted = is_granted(exchange) or exchange.status == HTTPStatus.OK
    return expect(not is_accepted, expected, shown_response(exchange))


def shown_error(exchange: Exchange) -> str:
    """Returns status and error of a response."""
    return f"status {exchange.status}, {as_json(exchange.json_object.get('error'))}"


def redirect_of(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the redirect that gave the code of a form."""
    return history.redirect_with(exchange.request.form.get("code"))


def requested(exchange: Exchange, history: History, name: str) -> str:
    """Returns a parameter of the authorization request that issued the code of a form."""
    redirect = redirect_of(exchange, history)
    authorization = history.request_behind(redirect) if redirect else None
    return authorization.request.query.get(name, "") if authorization else ""


def redemptions(exchange: Exchange, history: History) -> list[Exchange]:
    """Returns the earlier exchanges that gave a token for the same code."""
    code = exchange.request.form.get("code")
    if not code:
        return []
    earlier = (it for it in history.of(TOKEN) if it.request.form.get("code") == code)
    return [exchange for exchange in earlier if gives_token(exchange)]


def age_of_code(exchange: Exchange, history: History) -> timedelta:
    """Returns the age of the code of a form."""
    return exchange.at - proven(redirect_of(exchange, history)).at


def issue_of(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the exchange that issued the token of a request."""
    return history.issued_by(exchange.request.token or exchange.request.query.get("token"))


client_is_proven = found(authenticated_client, "client ID and secret are those of one application")


def is_clean(exchange: Exchange, _history: History) -> bool:
    """Tells whether no field is given twice and no secret in the query."""
    names = [name for name, _ in exchange.request.form_pairs]
    is_once = len(names) == len(set(names))
    return is_once and not SECRETS & set(exchange.request.query)


code_is_known = found(redirect_of, "the code was seen on a redirect")

code_is_unspent = unless(redemptions, "the code was not redeemed before")
code_is_spent = tells(
    "the code was redeemed before", lambda it, history: bool(redemptions(it, history))
)
code_is_fresh = tells(
    "the code is younger than a minute, and so surely valid",
    lambda it, history: age_of_code(it, history) < FRESH,
)
is_code_grant = tells(
    "the grant type is authorization_code",
    lambda it, _: it.request.form.get("grant_type") == "authorization_code",
)


def code_is_clients(exchange: Exchange, history: History) -> bool:
    """Tells whether the code was given to the client."""
    app = authenticated_client(exchange, history)
    return app is not None and requested(exchange, history, "client_id") == app.client_id


def redirect_is_repeated(exchange: Exchange, history: History) -> bool:
    """Tells whether the redirect URI is that of the authorization request."""
    uri = exchange.request.form.get("redirect_uri")
    return uri == requested(exchange, history, "redirect_uri")


has_challenge = tells(
    "the authorization request had a code challenge",
    lambda it, history: bool(requested(it, history, "code_challenge")),
)


def has_neither_challenge_nor_verifier(exchange: Exchange, history: History) -> bool:
    """Tells whether neither a code challenge nor a code verifier was sent."""
    is_verified = "code_verifier" in exchange.request.form
    return not is_verified and not has_challenge(exchange, history)


FITTING: Final = (is_code_grant, is_clean, code_is_known, code_is_clients, redirect_is_repeated)
"""Conditions of a form in which client, redirect URI and grant fit, so that the code decides."""

fits = tells(
    "client, redirect URI and grant fit, so that only the code decides",
    lambda it, history: all(holds(it, history) for holds in FITTING),
)


def token_is_of_grant(grant_type: str) -> Condition:
    """Returns the condition that a token was issued by a grant."""

    def holds(exchange: Exchange, history: History) -> bool:
        issued = issue_of(exchange, history)
        return issued is not None and issued.request.form.get("grant_type") == grant_type

    return tells(f"the token was issued by the grant {grant_type}", holds)


def token_is_old(exchange: Exchange, history: History) -> bool:
    """Tells whether the token is older than three weeks, and so than implicit tokens may get."""
    issued = issue_of(exchange, history)
    return issued is not None and exchange.at - issued.at >= timedelta(weeks=3)


def issues_by(grant_type: str) -> Condition:
    """Returns the condition that a response issues a token by a grant."""
    return tells(
        f"a token was issued by the grant {grant_type}",
        lambda it, _: it.request.form.get("grant_type") == grant_type and gives_token(it),
    )
