"""The code grant: a code on the redirect, and what it is exchanged for (interface, Code grant)."""

import math
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl

from understudy.exchange.messages import Exchange, is_masked
from understudy.interface.operations import AUTHORIZE, TOKEN
from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import (
    code,
    code_in,
    decide,
    form_of,
    parameters,
    post,
    spare_code,
    token_in,
)
from understudy.verify.checks import CheckResult, check, expect
from understudy.verify.grant_history import (
    CODE_LIFETIME,
    FITTING,
    FRESH,
    age_of_code,
    client_is_proven,
    code_is_fresh,
    code_is_unspent,
    expect_no_token,
    expect_token,
    has_neither_challenge_nor_verifier,
    is_code_grant,
    is_granted,
    is_redirect,
    redirect_has,
    redirect_of,
)
from understudy.verify.history import MADE_UP, History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe

GRANTED = ("auth_url", "app", "tokens", "approval")
LONG: Final = timedelta(days=1)
"""Whatever lifetime a deployment gives a code, it has ended by then."""

BITS: Final = 128  # RFC 6749, 10.10


def _issued(exchange: Exchange, history: History) -> list[str]:
    """Returns the codes and tokens that a response issues, as far as they are not masked."""
    if exchange.site != "authorization":
        return []
    is_back = is_redirect(exchange, history)
    members = exchange.redirect_parameters if is_back else exchange.json_object
    names = ("code", "access_token") if is_back else ("access_token",)
    values = [str(members[name]) for name in names if members.get(name)]
    return [value for value in values if not is_masked(value)]


def issues_something(exchange: Exchange, history: History) -> bool:
    """Tells whether a code or a token was issued."""
    return bool(_issued(exchange, history))


def request_was_seen(exchange: Exchange, history: History) -> bool:
    """Tells whether the authorization request was seen."""
    return history.request_behind(exchange) is not None


def code_is_made_up(exchange: Exchange, history: History) -> bool:
    """Tells whether the code is made up."""
    return history.is_made_up(exchange.request.form.get("code", ""))


def code_is_a_day_old(exchange: Exchange, history: History) -> bool:
    """Tells whether the code is older than a day."""
    return age_of_code(exchange, history) >= LONG


def code_is_over(exchange: Exchange, history: History) -> bool:
    """Tells whether the code is ten minutes old, or older."""
    return age_of_code(exchange, history) >= CODE_LIFETIME


def code_is_nearly_over(exchange: Exchange, history: History) -> bool:
    """Tells whether the code is between one and ten minutes old."""
    return FRESH <= age_of_code(exchange, history) < CODE_LIFETIME


UNSPENT: Final = (*FITTING, has_neither_challenge_nor_verifier, code_is_unspent)
"""Conditions of a form in which only the age of the code decides."""


@check("code-in-query", when=[is_redirect, redirect_has("code"), request_was_seen])
def code_is_in_query(exchange: Exchange, _history: History) -> CheckResult:
    """The code is in the query of the redirect."""
    query = dict(parse_qsl(exchange.location.query))
    return expect("code" in query, "the code in the query", "it is in the fragment")


@check("code-unguessable", when=[issues_something])
def secrets_are_unguessable(exchange: Exchange, history: History) -> CheckResult:
    """A code or token is so long that it cannot be guessed."""
    weakest = min(_bits(text) for text in _issued(exchange, history))
    return expect(weakest >= BITS, f"{BITS} bits", f"{weakest:.0f} bits at most")


def _bits(text: str) -> float:
    """Returns how many bits a text can hold: its length, times what its letters are chosen from."""
    kinds = (
        (16, set("0123456789abcdef")),
        (36, set("0123456789abcdefghijklmnopqrstuvwxyz")),
        (94, set(text)),
    )
    size = next(
        size for size, letters in kinds if set(text.lower()) <= letters or letters == set(text)
    )
    is_varied = len(set(text)) >= min(8, len(text) / 2)
    return len(text) * math.log2(size) if is_varied else 0.0


@check("code-exchange", on=[TOKEN], when=[is_code_grant, client_is_proven, code_is_made_up])
def made_up_code_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A code that was never issued gives no token."""
    return expect_no_token(exchange, "no token for a code that was never issued")


@check("code-exchange", on=[TOKEN], when=[*UNSPENT, code_is_fresh])
def fresh_code_gives_token(exchange: Exchange, history: History) -> CheckResult:
    """A fresh code gives its client a token."""
    return expect_token(exchange, "a token", redirect_of(exchange, history))


@check("code-time-limited", on=[TOKEN], when=[*FITTING, code_is_a_day_old])
def old_code_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A code ends, however long it lasts."""
    return expect_no_token(exchange, "no token for a code that has ended")


@check("code-lifetime", on=[TOKEN], when=[*UNSPENT, code_is_over])
def code_of_ten_minutes_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A code lasts no longer than ten minutes (RFC 6749, 4.1.2)."""
    return expect_no_token(exchange, "no token after ten minutes")


@check("code-lifetime", on=[TOKEN], when=[*UNSPENT, code_is_nearly_over])
def code_lasts_ten_minutes(exchange: Exchange, history: History) -> CheckResult:
    """A code lasts nearly ten minutes, whatever was issued since."""
    newest = next((each for each in history.of(AUTHORIZE) if is_granted(each)), None)
    issued = (redirect_of(exchange, history), newest)
    return expect_token(exchange, "a token within ten minutes", *issued)


@probe(
    *("code-in-query", "state-echoed", "code-unguessable", "response-type"),
    *("scope-indexed-array", "authorize-client-known", "redirect-uri-registered"),
    *("code-exchange", "token-answer", "token-answer-scope", "token-not-cached"),
    *("token-grant-type", "code-token-no-expiry", "json-bodies", "token-client-credentials"),
    *("code-single-use", "token-error-shape", "code-replay-revokes"),
    *("error-shape", "error-members"),
    needs=GRANTED,
)
def code_redeemed_twice(client: ProbeClient) -> Parts:
    """Redeems a code, redeems it again, and uses the token."""
    redirect = decide(client, parameters(client.app))
    yield redirect
    form = form_of(client.app, code_in(redirect))
    exchange = post(client, form)
    yield exchange
    token = token_in(client, exchange, SCOPES[:2])
    yield post(client, form)
    yield client.get("/me/profile", token)


@probe(
    *("code-redirect-uri-repeated", "token-client-credentials", "code-exchange"),
    "profile-required-members",
    needs=GRANTED,
)
def code_redeemed_with_wrong_fields(client: ProbeClient) -> Parts:
    """Redeems a code with another redirect URI, none, another secret; then as it should be."""
    spare = spare_code(client)
    uri = client.app.redirect_uri or ""
    for other in (f"{uri}/", None, ""):
        yield post(client, form_of(client.app, spare, redirect_uri=other))
    yield post(client, form_of(client.app, spare, client_secret=f"{MADE_UP}-secret"))
    yield post(client, form_of(client.app, f"{MADE_UP}-code"))
    exchange = post(client, form_of(client.app, spare))
    yield exchange
    yield client.get("/me/profile", token_in(client, exchange, SCOPES[:2]))


@probe("code-lifetime", "code-time-limited", needs=(*GRANTED, "clock"))
def codes_that_grow_old(client: ProbeClient) -> None:
    """Redeems one code just within ten minutes, one at ten, and one a day later."""
    codes = [code(client) for _ in range(3)]
    client.advance(timedelta(minutes=9, seconds=50))
    post(client, form_of(client.app, codes[0]))
    client.advance(timedelta(seconds=10))
    post(client, form_of(client.app, codes[1]))
    client.advance(timedelta(days=1))
    post(client, form_of(client.app, codes[2]))
