"""Tokens: the token grant, the lifetime of tokens, and their validation (interface, Limits)."""

import re
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

from understudy.exchange.messages import Exchange
from understudy.interface.operations import OWN_PROFILE, TOKEN, TOKEN_INFO
from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import (
    code,
    decide,
    form_of,
    info,
    parameters,
    password_form,
    post,
    recased_id,
    token_in,
)
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    expect,
    expect_equal,
    expect_refused,
    found,
    proven,
    succeeded,
    tells,
    unless,
    was_refused,
)
from understudy.verify.grant_history import (
    FRESH,
    gives_token,
    is_redirect,
    issue_of,
    issues_by,
    redirect_has,
    token_is_of_grant,
    token_is_old,
)
from understudy.verify.history import MADE_UP, History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.code_grant import code_was_sent_once
from understudy.verify.switches import oauth_error_form, reading
from understudy.verify.value_texts import MANGLED, as_json, in_parts, nearly

# The token grant: what is in the fragment of the redirect (interface, Token grant).

LIFETIME: Final = timedelta(weeks=2)  # interface, Limits: Implicit-flow token lifetime
FRAGMENT_MEMBERS: Final = frozenset({"access_token", "expires_in", "token_type", "site_id"})
_ESCAPED: Final = re.compile(r"([A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})*")


def has_fragment(exchange: Exchange, _history: History) -> bool:
    """Tells whether the redirect has a fragment."""
    return "#" in exchange.response.header("location").rstrip("#")


@check("implicit-token-in-fragment", when=[is_redirect, redirect_has("access_token")])
def token_is_in_fragment(exchange: Exchange, _history: History) -> CheckResult:
    """The token and its parameters are in the fragment, which browsers do not send to servers."""
    location = exchange.location
    members = dict(parse_qsl(location.fragment))
    names = [name for name, _ in exchange.redirect_pairs]
    wrong = [name for name in sorted(FRAGMENT_MEMBERS) if names.count(name) != 1]
    in_query = "access_token" in dict(parse_qsl(location.query))
    kind = members.get("token_type", "")
    is_right = not wrong and not in_query and kind.lower() == "bearer"
    actual = as_json({"lacking or repeated": wrong, "token_type": kind, "in query": in_query})
    return expect(is_right, "four members in the fragment, each once", actual)


@check("implicit-expires-in", when=[is_redirect, redirect_has("access_token")])
def lifetime_is_stated(exchange: Exchange, _history: History) -> CheckResult:
    """The redirect states the token's lifetime: two weeks in seconds."""
    wanted = str(int(LIFETIME.total_seconds()))
    return expect_equal(exchange.redirect_parameters.get("expires_in"), wanted, "expires_in")


@check("fragment-percent-encoded", when=[is_redirect, has_fragment])
def fragment_is_escaped(exchange: Exchange, _history: History) -> CheckResult:
    """Every reserved character in the fragment is percent-encoded."""
    fragment = exchange.response.header("location").partition("#")[2]
    values = [pair.partition("=")[2] for pair in fragment.split("&")]
    wrong = [value[:12] for value in values if not _ESCAPED.fullmatch(value)]
    return expect(not wrong, "everything is escaped but letters, digits and -._~", wrong)


@probe(
    "implicit-token-in-fragment",
    "implicit-expires-in",
    "fragment-percent-encoded",
    "state-echoed",
    "code-unguessable",
    "response-type",
    "scope-indexed-array",
    "authorize-client-known",
    "redirect-uri-registered",
    "token-info",
    "token-info-ids-strings",
    "json-bodies",
    needs=("auth_url", "app", "tokens", "approval"),
)
def implicit_flow(client: ProbeClient) -> Parts:
    """Has a person approve a request for a token, and validates the token."""
    redirect = decide(client, parameters(client.app, response_type="token"))
    yield redirect
    yield info(client, token_in(client, redirect, SCOPES[:2]))
    yield decide(client, parameters(client.app, response_type="token", state=None))


# Token validation (interface, Token validation).

INFO_MEMBERS: Final = ("client_id", "user_id", "blog_id", "scope")
REQUIRED: Final = frozenset({"client_id", "token"})


def _client_behind(exchange: Exchange, history: History) -> str | None:
    """Returns the client that the validated token was issued to; None if that was not seen."""
    issued = issue_of(exchange, history)
    if issued is None:
        return None
    request = history.request_behind(issued)
    by_request = request.request.query.get("client_id") if request else None
    return issued.request.form.get("client_id") or by_request


def client_owns_token(exchange: Exchange, history: History) -> bool:
    """Tells whether the token was issued to the client that sends it."""
    client = _client_behind(exchange, history)
    return client is not None and exchange.request.query.get("client_id") == client


def is_from_other_client(exchange: Exchange, history: History) -> bool:
    """Tells whether the token was issued to a client other than the one named, if any."""
    client = _client_behind(exchange, history)
    return client is not None and exchange.request.query.get("client_id") != client


token_is_fresh = tells(
    "the token was issued within a day, so that it is surely valid",
    lambda it, history: (it.at - proven(issue_of(it, history)).at).days < 1,
)
names_client_and_token = tells(
    "client and token are sent",
    lambda it, _: {name for name, text in it.request.pairs if text} >= REQUIRED,
)


def other_refusal(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest refusal of another token."""
    for before in history.of(TOKEN_INFO):
        is_other = before.request.query.get("token") != exchange.request.query.get("token")
        is_refusal = before.response.is_refusal and before.status != HTTPStatus.TOO_MANY_REQUESTS
        if is_other and is_refusal and names_client_and_token(before, history):
            return before
    return None


other_was_refused = found(other_refusal, "another token was refused before")


is_first_refusal = unless(other_was_refused, "no other token was refused before")


def _words(exchange: Exchange) -> tuple[int, Any, Any]:
    members = exchange.json_object
    return exchange.status, members.get("error"), members.get("error_description")


@check(
    "token-info",
    on=[TOKEN_INFO],
    when=[
        client_owns_token,
        token_is_fresh,
        code_was_sent_once,
    ],
)
def own_token_is_described(exchange: Exchange, history: History) -> CheckResult:
    """Validating an own token returns its client, user, blog and scopes."""
    members = exchange.json_object
    lacking = [name for name in INFO_MEMBERS if not members.get(name)]
    is_own = members.get("client_id") == _client_behind(exchange, history)
    is_right = exchange.status == HTTPStatus.OK and not lacking and is_own
    client = [] if is_own else [as_json(members.get("client_id"))]
    actual = f"status {exchange.status}, {in_parts(lacking=lacking, for_client=client)}"
    return expect(is_right, "client_id, user_id, blog_id and scope", actual)


def names_blog_of_issue(exchange: Exchange, history: History) -> bool:
    """Tells whether both the response that issued the token and this one name a blog."""
    issued = issue_of(exchange, history)
    named = (issued, exchange) if issued is not None else ()
    return bool(named) and all("blog_id" in each.json_object for each in named)


@check("token-info", on=[TOKEN_INFO], when=[succeeded, client_owns_token, names_blog_of_issue])
def blog_is_that_of_the_issue(exchange: Exchange, history: History) -> CheckResult:
    """Validation returns the same blog as the response that issued the token."""
    issued = proven(issue_of(exchange, history))
    blog, earlier = (str(each.json_object["blog_id"]) for each in (exchange, issued))
    return expect_equal(blog, earlier, "blog_id", issued)


names_nearly_an_issued_token = tells(
    "the token is an altered copy of an issued one",
    lambda it, history: history.issued_nearly(it.request.query.get("token", "")) is not None,
)


@check("token-info-foreign", on=[TOKEN_INFO], when=[is_from_other_client])
def token_of_other_client_is_an_error(exchange: Exchange, history: History) -> CheckResult:
    """Validating another client's token is an error."""
    is_right = exchange.response.is_refusal and "user_id" not in exchange.json_object
    actual = f"status {exchange.status}, {as_json(sorted(exchange.json_object))}"
    return expect(is_right, "an error", actual, _own_validation(exchange, history))


def _own_validation(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest validation of the token by its own client."""
    for before in history.of(TOKEN_INFO):
        is_same = before.request.query.get("token") == exchange.request.query.get("token")
        if is_same and before.response.is_success and client_owns_token(before, history):
            return before
    return None


@check(
    "token-info-unspecific",
    on=[TOKEN_INFO],
    when=[was_refused, names_client_and_token, is_first_refusal],
)
def error_is_invalid_request(exchange: Exchange, _history: History) -> CheckResult:
    """A refused token gets ``invalid_request``, whatever the reason."""
    is_right = exchange.json_object.get("error") == "invalid_request"
    return expect(is_right, "invalid_request", exchange.json_object)


@check(
    "token-info-unspecific",
    on=[TOKEN_INFO],
    when=[was_refused, names_client_and_token, other_was_refused],
)
def all_errors_are_alike(exchange: Exchange, history: History) -> CheckResult:
    """All refused tokens get the same status, error and description."""
    before = proven(other_refusal(exchange, history))
    return expect_equal(_words(exchange), _words(before), "the error", before)


@check("token-info-ids-strings", on=[TOKEN_INFO], when=[succeeded])
def ids_are_texts(exchange: Exchange, _history: History) -> CheckResult:
    """The ids of user and blog are strings of decimal digits."""
    ids = [exchange.json_object.get(name) for name in ("user_id", "blog_id")]
    is_right = all(isinstance(text, str) and text.isdecimal() for text in ids)
    return expect(is_right, "decimal digits in texts", ids)


@probe(
    "password-grant-token-no-expiry",
    "json-bodies",
    needs=("auth_url", "app", "tokens", "password", "hashes"),
)
def older_token_after_a_newer_one(client: ProbeClient) -> None:
    """Requests two tokens by password, and reads with the first."""
    form = password_form(client.app)
    earlier = (each for each in client.earlier if each.request.form_pairs == tuple(form))
    first = next(filter(gives_token, earlier), None) or post(client, form)
    post(client, form)
    client.get("/me/profile", token_in(client, first))


def an_implicit_token(client: ProbeClient) -> str:
    """Returns a token of the implicit flow that this run obtained, or obtains one."""
    earlier = (each for each in client.earlier if "access_token" in each.redirect_parameters)
    redirect = next(earlier, None) or decide(client, parameters(client.app, response_type="token"))
    return token_in(client, redirect, SCOPES[:2])


@probe(
    "token-info-foreign",
    "token-info-unspecific",
    "token-error-shape",
    needs=("auth_url", "app", "tokens", "approval", "other_app"),
)
def tokens_of_other_clients(client: ProbeClient) -> Parts:
    """Validates a token as its own and other clients, made-up and altered tokens, and none."""
    token = an_implicit_token(client)
    own = {"client_id": client.app.client_id or "", "token": token}
    url = f"{client.target.auth_url}/oauth2/token-info"
    client.recall(url, query=own, is_lasting=True)
    yield info(client, token, client.target.other_application.client_id)
    yield info(client, f"{MADE_UP}-token")
    for _, mangled in nearly(token, MANGLED):
        yield info(client, mangled)
    yield info(client, token, recased_id(client.app))
    for name, text in own.items():
        yield client.auth("GET", "/oauth2/token-info", query={name: text})


TOLERANCE: Final = timedelta(minutes=1)
"""Allowed difference between the clocks of deployment and verify."""


def _age(exchange: Exchange, history: History) -> timedelta:
    return exchange.at - proven(issue_of(exchange, history)).at


def token_is_implicit(exchange: Exchange, history: History) -> bool:
    """Tells whether the token was issued on a redirect."""
    issued = issue_of(exchange, history)
    is_grant = issued is not None and is_redirect(issued, history)
    return is_grant and "access_token" in proven(issued).redirect_parameters


two_weeks_are_over = tells(
    "the token is older than two weeks",
    lambda it, history: _age(it, history) >= LIFETIME + TOLERANCE,
)
two_weeks_are_nearly_over = tells(
    "the token is in its second week",
    lambda it, history: LIFETIME / 2 <= _age(it, history) <= LIFETIME - TOLERANCE,
)


def is_used_by_its_client(exchange: Exchange, history: History) -> bool:
    """Tells whether the token is used, or validated by its own client."""
    client = proven(issue_of(exchange, history)).request.query.get("client_id")
    return exchange.operation == OWN_PROFILE or exchange.request.query.get("client_id") == client


def _expect_unlimited(exchange: Exchange) -> CheckResult:
    limit = exchange.json_object.get("expires_in")
    return expect("expires_in" not in exchange.json_object, "a token that never expires", limit)


def _expect_valid(exchange: Exchange, history: History) -> CheckResult:
    """A token is still valid after the time that has passed, or after a newer one was issued."""
    actual = f"status {exchange.status} after {_age(exchange, history).days} days"
    is_valid = exchange.status == HTTPStatus.OK
    uses = (
        each for each in history.of(OWN_PROFILE) if each.request.token == exchange.request.token
    )
    earlier = (issue_of(exchange, history), next(uses, None))
    return expect(is_valid, "a token that is still valid", actual, *earlier)


@check(
    "implicit-token-two-weeks",
    on=[OWN_PROFILE, TOKEN_INFO],
    when=[token_is_implicit, two_weeks_are_over],
)
def implicit_token_expires(exchange: Exchange, history: History) -> CheckResult:
    """A token of the implicit flow expires after two weeks."""
    actual = f"status {exchange.status} after {_age(exchange, history)}"
    is_refused = exchange.response.is_refusal
    return expect(is_refused, "an expired token", actual, issue_of(exchange, history))


@check(
    "implicit-token-two-weeks",
    on=[OWN_PROFILE, TOKEN_INFO],
    when=[token_is_implicit, two_weeks_are_nearly_over, is_used_by_its_client],
)
def implicit_token_lasts(exchange: Exchange, history: History) -> CheckResult:
    """A token of the implicit flow is valid for two weeks."""
    actual = f"status {exchange.status} after {_age(exchange, history)}"
    is_valid = exchange.response.is_success
    return expect(is_valid, "a valid token", actual, issue_of(exchange, history))


def newer_issue(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest later exchange that issued another token to the same client."""
    issued = issue_of(exchange, history)
    newer = (
        later
        for later in history.of(TOKEN)
        if issued is not None
        and later.number > issued.number
        and gives_token(later)
        and {**later.request.form, "code": ""} == {**issued.request.form, "code": ""}
    )
    return next(newer, None)


token_was_superseded = found(newer_issue, "the token's client was issued another one since")
token_is_new = tells(
    "the token is younger than a minute, so that no lifetime is over",
    lambda it, history: _age(it, history) < FRESH,
)


check(
    "password-grant-token-no-expiry",
    on=[OWN_PROFILE],
    when=[token_is_of_grant("password"), token_was_superseded],
)(_expect_valid)
for _rule, _grant in (
    ("code-token-no-expiry", "authorization_code"),
    ("password-grant-token-no-expiry", "password"),
):
    check(_rule, on=[OWN_PROFILE], when=[token_is_of_grant(_grant), token_is_old])(_expect_valid)


@check(
    "code-token-no-expiry",
    on=[OWN_PROFILE],
    when=[
        token_is_of_grant("authorization_code"),
        token_was_superseded,
        token_is_new,
        code_was_sent_once,
    ],
)
def newer_code_ends_no_token(exchange: Exchange, history: History) -> CheckResult:
    """A token of the code grant stays valid after its client redeemed another code."""
    issued, newer = issue_of(exchange, history), newer_issue(exchange, history)
    is_valid = exchange.status != HTTPStatus.UNAUTHORIZED  # 403 is right if it lacks a scope
    return expect(is_valid, "a token that is still valid", exchange.status, issued, newer)


@probe(
    "implicit-token-two-weeks",
    "code-token-no-expiry",
    "password-grant-token-no-expiry",
    "token-info-unspecific",
    needs=("auth_url", "app", "tokens", "approval", "password", "clock"),
)
def tokens_that_grow_old(client: ProbeClient) -> None:
    """Obtains a token by each grant, and uses it before and after two weeks, and a year on."""
    scopes = SCOPES[:2]
    redirect = decide(client, parameters(client.app, response_type="token"))
    implicit = token_in(client, redirect, scopes)
    by_code = token_in(client, post(client, form_of(client.app, code(client))), scopes)
    by_password = token_in(client, post(client, password_form(client.app)))
    post(client, form_of(client.app, code(client)))  # must not revoke the older one
    client.get("/me/profile", by_code)
    client.advance(timedelta(days=13, hours=23))
    client.get("/me/profile", implicit)
    info(client, implicit)
    client.advance(timedelta(hours=1, minutes=2))
    client.get("/me/profile", implicit)
    info(client, implicit)
    client.get("/me/avatars", implicit)
    for span in (timedelta(weeks=2), timedelta(days=365)):
        client.advance(span)
        for token in (by_code, by_password):
            client.get("/me/profile", token)


def names_known_client(exchange: Exchange, history: History) -> bool:
    """Tells whether the client is one that the target names."""
    target = history.target
    known = (target.application.client_id, target.other_application.client_id)
    return exchange.request.query.get("client_id") in known


reading(
    "token-info-unspecific",
    on=[TOKEN_INFO],
    when=[was_refused, names_client_and_token, names_known_client],
    read=oauth_error_form,
)


# Rules that demand one outcome wherever their conditions hold.

demands(TOKEN_INFO)("token-info-foreign", [names_nearly_an_issued_token], expect_refused)

of_token = demands(TOKEN)
of_token("code-token-no-expiry", [issues_by("authorization_code")], _expect_unlimited)
of_token("password-grant-token-no-expiry", [issues_by("password")], _expect_unlimited)
