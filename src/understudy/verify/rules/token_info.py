"""Token validation (interface, Token validation)."""

from typing import Any, Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import TOKEN_INFO
from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import decide, info, parameters, token_in
from understudy.verify.checks import (
    TOO_MANY,
    CheckResult,
    check,
    expect,
    expect_equal,
    proven,
    succeeded,
    was_refused,
)
from understudy.verify.grant_history import issue_of
from understudy.verify.history import MADE_UP, History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.value_texts import as_json

OK = 200
MEMBERS: Final = ("client_id", "user_id", "blog_id", "scope")
REQUIRED: Final = frozenset({"client_id", "token"})


def _client_behind(exchange: Exchange, history: History) -> str | None:
    """Returns the client that the token in question was issued to, where that was seen."""
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
    """Tells whether the token was issued to another client than the one that sends it."""
    client, named = _client_behind(exchange, history), exchange.request.query.get("client_id")
    return client is not None and named is not None and named != client


def token_is_fresh(exchange: Exchange, history: History) -> bool:
    """Tells whether the token was issued within a day, so that it is surely valid."""
    return (exchange.at - proven(issue_of(exchange, history)).at).days < 1


def names_client_and_token(exchange: Exchange, _history: History) -> bool:
    """Tells whether client and token are given."""
    return {name for name, text in exchange.request.pairs if text} >= REQUIRED


def other_refusal(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the refusal of another token."""
    for before in history.of(TOKEN_INFO):
        is_other = before.request.query.get("token") != exchange.request.query.get("token")
        is_refusal = before.response.is_refusal and before.status != TOO_MANY
        if is_other and is_refusal and names_client_and_token(before, history):
            return before
    return None


def other_was_refused(exchange: Exchange, history: History) -> bool:
    """Tells whether another token was refused before."""
    return other_refusal(exchange, history) is not None


def is_first_refusal(exchange: Exchange, history: History) -> bool:
    """Tells whether no other token was refused before."""
    return not other_was_refused(exchange, history)


def _words(exchange: Exchange) -> tuple[int, Any, Any]:
    members = exchange.json_object
    return exchange.status, members.get("error"), members.get("error_description")


@check("token-info", on=[TOKEN_INFO], when=[client_owns_token, token_is_fresh])
def own_token_is_described(exchange: Exchange, history: History) -> CheckResult:
    """A client learns whom its token is for, and its scopes."""
    members = exchange.json_object
    lacking = [name for name in MEMBERS if not members.get(name)]
    is_own = members.get("client_id") == _client_behind(exchange, history)
    is_right = exchange.status == OK and not lacking and is_own
    client = as_json(members.get("client_id"))
    actual = f"status {exchange.status}, lacking {as_json(lacking)}, client {client}"
    return expect(is_right, "client_id, user_id, blog_id and scope", actual)


def names_blog_of_issue(exchange: Exchange, history: History) -> bool:
    """Tells whether both the response that issued the token and this one name a blog."""
    issued = issue_of(exchange, history)
    named = (issued, exchange) if issued is not None else ()
    return bool(named) and all("blog_id" in each.json_object for each in named)


@check("token-info", on=[TOKEN_INFO], when=[succeeded, client_owns_token, names_blog_of_issue])
def blog_is_that_of_the_issue(exchange: Exchange, history: History) -> CheckResult:
    """A token is of the blog that the response named which issued it."""
    issued = proven(issue_of(exchange, history))
    blog, earlier = (str(each.json_object["blog_id"]) for each in (exchange, issued))
    return expect_equal(blog, earlier, "blog_id", issued)


@check("token-info-foreign", on=[TOKEN_INFO], when=[is_from_other_client])
def token_of_other_client_is_an_error(exchange: Exchange, history: History) -> CheckResult:
    """A token that was not issued to the client is an error."""
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
    """A token that is refused is an invalid request, and the response shows nothing more."""
    is_right = exchange.json_object.get("error") == "invalid_request"
    return expect(is_right, "invalid_request", exchange.json_object)


@check(
    "token-info-unspecific",
    on=[TOKEN_INFO],
    when=[was_refused, names_client_and_token, other_was_refused],
)
def all_errors_are_alike(exchange: Exchange, history: History) -> CheckResult:
    """Every token that is refused is refused in the same words."""
    before = proven(other_refusal(exchange, history))
    return expect_equal(_words(exchange), _words(before), "the error", before)


@check("token-info-ids-strings", on=[TOKEN_INFO], when=[succeeded])
def ids_are_texts(exchange: Exchange, _history: History) -> CheckResult:
    """The ids of user and blog are decimal digits in texts."""
    ids = [exchange.json_object.get(name) for name in ("user_id", "blog_id")]
    is_right = all(isinstance(text, str) and text.isdecimal() for text in ids)
    return expect(is_right, "decimal digits in texts", ids)


def an_implicit_token(client: ProbeClient) -> str:
    """Returns an implicit token that this run was given, and gets one if need be."""
    earlier = (each for each in client.earlier if "access_token" in each.redirect_parameters)
    redirect = next(earlier, None) or decide(client, parameters(client.app, response_type="token"))
    return token_in(client, redirect, SCOPES[:2])


@probe(
    *("token-info-foreign", "token-info-unspecific", "token-error-shape"),
    needs=("auth_url", "app", "tokens", "approval", "other_app"),
)
def tokens_of_other_clients(client: ProbeClient) -> Parts:
    """Validates a token as its own client, as another, as one that does not exist; then none."""
    token = an_implicit_token(client)
    own = {"client_id": client.app.client_id or "", "token": token}
    url = f"{client.target.auth_url}/oauth2/token-info"
    client.recall(url, query=own, is_lasting=True)
    yield info(client, token, client.target.other_application.client_id)
    yield info(client, f"{MADE_UP}-token")
    yield info(client, token, f"{MADE_UP}-client")
    yield client.auth("GET", "/oauth2/token-info", query={"client_id": client.app.client_id})
