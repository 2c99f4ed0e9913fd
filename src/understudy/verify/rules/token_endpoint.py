"""The token endpoint, whatever is exchanged there (interface, Code grant; RFC 6749, 3.2 and 5)."""

from datetime import timedelta
from typing import Final

from understudy.deployments.exchange import NO_JSON, Exchange
from understudy.deployments.target import TargetApplication
from understudy.interface.operations import TOKEN, TOKEN_INFO
from understudy.verify.checks import CheckResult, check, expect, expect_refused
from understudy.verify.history import History
from understudy.verify.rules.authorize import applications
from understudy.verify.shapes import fault

GRANTS: Final = ("authorization_code", "password")
FORM: Final = "application/x-www-form-urlencoded"
SECRETS: Final = frozenset({"client_secret", "password", "code", "code_verifier"})
UNAUTHORIZED: Final = 401
ATTEMPTS: Final = 10
ATTEMPTS_WITHIN: Final = timedelta(seconds=50)


def client_of(exchange: Exchange, history: History) -> TargetApplication | None:
    """Returns the application whose ID and secret a form proves."""
    form = exchange.request.form
    app = applications(history).get(form.get("client_id", ""))
    is_right = app is not None and form.get("client_secret") == app.client_secret
    return app if is_right else None


def is_clean(exchange: Exchange) -> bool:
    """Tells whether a request breaks no rule that holds for every grant."""
    names = [name for name, _ in exchange.request.form_pairs]
    is_once = len(names) == len(set(names))
    return is_once and not SECRETS & set(exchange.request.query)


def gives_token(exchange: Exchange) -> bool:
    """Tells whether an answer holds an access token."""
    return exchange.response.is_success and bool(exchange.json_object.get("access_token"))


def no_token(exchange: Exchange, expected: str) -> CheckResult:
    """Returns the verdict that there must be a refusal, and no token in it."""
    is_right = exchange.response.is_refusal and "access_token" not in exchange.json_object
    return expect(
        is_right, expected, f"status {exchange.status}, {exchange.json_object.get('error')!r}"
    )


@check("token-post-only")
def _post_only(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.site != "authorization" or exchange.path != "/oauth2/token":
        return None
    if exchange.request.method in {"POST", "OPTIONS"}:
        return None
    return no_token(exchange, "POST and no other method")


@check("token-form-encoded", on=[TOKEN])
def _form(exchange: Exchange, _history: History) -> CheckResult | None:
    if (
        exchange.request.header("content-type").lower().startswith(FORM)
        or not exchange.request.body
    ):
        return None
    return no_token(exchange, "a form and no other body")


@check("token-client-credentials", on=[TOKEN])
def _credentials(exchange: Exchange, history: History) -> CheckResult | None:
    form = exchange.request.form
    if not {"client_id", "client_secret"} <= set(form) or not is_clean(exchange):
        return None
    if client_of(exchange, history) is None:
        is_known = form["client_id"] in applications(history)
        is_ours = is_known or history.is_made_up(form["client_id"])
        return no_token(exchange, "the ID and secret of one application") if is_ours else None
    is_known = exchange.json_object.get("error") != "invalid_client"
    return expect(is_known, "the right secret counts", exchange.json_object.get("error"))


@check("token-credentials-in-form", on=[TOKEN])
def _in_form(exchange: Exchange, _history: History) -> CheckResult | None:
    is_basic = exchange.request.header("authorization").lower().startswith("basic ")
    if not is_basic or "client_secret" in exchange.request.form:
        return None
    is_right = (
        exchange.status == UNAUTHORIZED and exchange.json_object.get("error") == "invalid_client"
    )
    actual = f"status {exchange.status}, {exchange.json_object.get('error')!r}"
    return expect(is_right, "401 invalid_client", actual)


@check("token-secrets-not-in-query", on=[TOKEN])
def _not_in_query(exchange: Exchange, _history: History) -> CheckResult | None:
    if not SECRETS & set(exchange.request.query):
        return None
    return no_token(exchange, "no secret is read from the query")


@check("token-repeated-field", on=[TOKEN])
def _repeated(exchange: Exchange, _history: History) -> CheckResult | None:
    names = [name for name, text in exchange.request.form_pairs if text]
    if len(names) == len(set(names)):
        return None
    is_right = (
        exchange.response.is_refusal and exchange.json_object.get("error") == "invalid_request"
    )
    return expect(
        is_right,
        "invalid_request",
        f"status {exchange.status}, {exchange.json_object.get('error')!r}",
    )


@check("token-empty-field", on=[TOKEN])
def _empty(exchange: Exchange, history: History) -> CheckResult | None:
    form = exchange.request.form
    empty = [name for name, text in exchange.request.form_pairs if text == ""]
    if client_of(exchange, history) is None or not is_clean(exchange):
        return None
    if "grant_type" in empty:
        is_right = exchange.json_object.get("error") == "invalid_request"
        return expect(
            is_right, "invalid_request, as if left out", exchange.json_object.get("error")
        )
    if form.get("grant_type") == "password" and empty == ["scope"] and _is_owner(exchange, history):
        return expect(
            gives_token(exchange), "a token, as if left out", exchange.json_object.get("error")
        )
    return None


def _is_owner(exchange: Exchange, history: History) -> bool:
    app, form = client_of(exchange, history), exchange.request.form
    given = (form.get("username"), form.get("password"))
    return app is not None and None not in given and given == (app.username, app.password)


@check("token-grant-type", on=[TOKEN])
def _grant_type(exchange: Exchange, history: History) -> CheckResult | None:
    if client_of(exchange, history) is None or not is_clean(exchange):
        return None
    grant_type = exchange.request.form.get("grant_type")
    if not grant_type:
        return expect_refused(exchange)
    if grant_type in GRANTS:
        is_known = exchange.json_object.get("error") != "unsupported_grant_type"
        return expect(is_known, f"{grant_type} is known", exchange.json_object.get("error"))
    is_right = exchange.json_object.get("error") == "unsupported_grant_type"
    return expect(
        is_right or exchange.response.is_refusal, "a refusal", f"status {exchange.status}"
    )


@check("token-answer", on=[TOKEN])
def _answer(exchange: Exchange, _history: History) -> CheckResult | None:
    if not exchange.response.is_success:
        return None
    wrong = fault(exchange.body, "Token", document="authorization.yaml")
    return expect(not wrong, "access_token, blog_id, blog_url and token_type bearer", wrong)


@check("token-answer-scope", on=[TOKEN])
def _answer_scope(exchange: Exchange, _history: History) -> CheckResult | None:
    if not exchange.response.is_success:
        return None
    scope = exchange.json_object.get("scope")
    is_right = isinstance(scope, str) and bool(scope.split())
    return expect(is_right, "the scopes, separated by spaces", scope)


@check("token-error-shape", on=[TOKEN, TOKEN_INFO])
def _error_shape(exchange: Exchange, _history: History) -> CheckResult | None:
    if not exchange.response.is_refusal or exchange.request.method == "HEAD":
        return None
    error, text = exchange.json_object.get("error"), exchange.json_object.get("error_description")
    statuses = {400, UNAUTHORIZED} if error == "invalid_client" else {400, 405, 413}
    is_right = isinstance(error, str) and isinstance(text, str) and exchange.status in statuses
    is_right = is_right and "code" not in exchange.json_object and exchange.body is not NO_JSON
    actual = f"status {exchange.status}, {sorted(exchange.json_object)}"
    return expect(is_right, "error and error_description, with 400 or 401", actual)


@check("token-not-cached", on=[TOKEN])
def _not_cached(exchange: Exchange, _history: History) -> CheckResult | None:
    control, pragma = exchange.response.header("cache-control"), exchange.response.header("pragma")
    is_right = "no-store" in control and "no-cache" in pragma
    actual = f"Cache-Control: {control!r}, Pragma: {pragma!r}"
    return expect(is_right, "Cache-Control: no-store and Pragma: no-cache", actual)


@check("token-no-cors")
def _no_cors(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.site != "authorization" or exchange.path != "/oauth2/token":
        return None
    if not exchange.request.header("origin"):
        return None
    allowed = exchange.response.header("access-control-allow-origin")
    return expect(not allowed, "no Access-Control-Allow-Origin", allowed)


@check("guessing-slowed", on=[TOKEN], is_of_limits=True)
def _slowed(exchange: Exchange, history: History) -> CheckResult | None:
    client = exchange.request.form.get("client_id")
    wrong = 0
    for before in history.of(TOKEN):
        is_same = before.request.form.get("client_id") == client
        if not is_same or exchange.at - before.at > ATTEMPTS_WITHIN:
            continue
        wrong += before.json_object.get("error") == "invalid_client"
    if client_of(exchange, history) is not None or wrong < ATTEMPTS:
        return None
    return expect(
        exchange.status == 429, "429 after ten wrong attempts", f"status {exchange.status}"
    )
