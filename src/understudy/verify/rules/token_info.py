"""Token validation (interface, Token validation)."""

from typing import Any

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import TOKEN_INFO
from understudy.verify.checks import CheckResult, check, expect, expect_equal
from understudy.verify.history import History

MEMBERS = ("client_id", "user_id", "blog_id", "scope")


def _client_behind(exchange: Exchange, history: History) -> str | None:
    """Returns the client that the token in question was issued to, where that was seen."""
    issued = history.issued_by(exchange.request.query.get("token"))
    if issued is None:
        return None
    asked = history.request_behind(issued)
    return issued.request.form.get("client_id") or (
        asked.request.query.get("client_id") if asked else None
    )


def _is_fresh(exchange: Exchange, history: History) -> bool:
    issued = history.issued_by(exchange.request.query.get("token"))
    return issued is not None and (exchange.at - issued.at).days < 1


@check("token-info", on=[TOKEN_INFO])
def _members(exchange: Exchange, history: History) -> CheckResult | None:
    client = _client_behind(exchange, history)
    is_own = client is not None and exchange.request.query.get("client_id") == client
    if not is_own or not _is_fresh(exchange, history):
        return None
    lacking = [name for name in MEMBERS if not exchange.json_object.get(name)]
    is_own = exchange.json_object.get("client_id") == client
    is_right = exchange.status == 200 and not lacking and is_own  # noqa: PLR2004 - OK
    actual = f"status {exchange.status}, lacking {lacking}, client {exchange.json_object.get('client_id')!r}"
    return expect(is_right, "client_id, user_id, blog_id and scope", actual)


@check("token-info-foreign", on=[TOKEN_INFO])
def _foreign(exchange: Exchange, history: History) -> CheckResult | None:
    client = _client_behind(exchange, history)
    asked = exchange.request.query.get("client_id")
    if client is None or asked is None or asked == client:
        return None
    is_right = exchange.response.is_refusal and "user_id" not in exchange.json_object
    return expect(is_right, "an error", f"status {exchange.status}, {sorted(exchange.json_object)}")


@check("token-info-unspecific", on=[TOKEN_INFO])
def _unspecific(exchange: Exchange, history: History) -> CheckResult | None:
    if not exchange.response.is_refusal or not {"client_id", "token"} <= set(_given(exchange)):
        return None
    for before in history.of(TOKEN_INFO):
        is_other = before.request.query.get("token") != exchange.request.query.get("token")
        is_refusal = before.response.is_refusal and {"client_id", "token"} <= set(_given(before))
        if is_other and is_refusal and before.status != 429:  # noqa: PLR2004 - limits
            ours, theirs = _words(exchange), _words(before)
            return expect_equal(ours, theirs, "the error", before)
    return expect(
        exchange.json_object.get("error") == "invalid_request",
        "invalid_request",
        exchange.json_object,
    )


def _given(exchange: Exchange) -> list[str]:
    return [name for name, text in exchange.request.pairs if text]


def _words(exchange: Exchange) -> tuple[int, Any, Any]:
    return (
        exchange.status,
        exchange.json_object.get("error"),
        exchange.json_object.get("error_description"),
    )


@check("token-info-ids-strings", on=[TOKEN_INFO])
def _strings(exchange: Exchange, _history: History) -> CheckResult | None:
    if not exchange.response.is_success:
        return None
    ids = [exchange.json_object.get(name) for name in ("user_id", "blog_id")]
    is_right = all(isinstance(text, str) and text.isdecimal() for text in ids)
    return expect(is_right, "decimal digits in texts", ids)
