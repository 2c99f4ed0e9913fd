"""The code grant: what a code is worth, to whom and how long (interface, Code grant)."""

import base64
import hashlib
import math
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl

from understudy.deployments.exchange import Exchange, is_masked
from understudy.interface.operations import OWN_PROFILE, TOKEN
from understudy.verify.checks import CheckResult, check, expect
from understudy.verify.history import REDIRECTS, History
from understudy.verify.rules.token_endpoint import client_of, gives_token, is_clean, no_token

CODE_LIFETIME: Final = timedelta(minutes=10)
LONG: Final = timedelta(days=1)
"""What is limited at all has ended by then."""

FOREVER: Final = timedelta(weeks=3)
"""Longer than the implicit flow's tokens count."""

BITS: Final = 128  # RFC 6749, 10.10


def _redirect(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the redirect that gave the code of an exchange."""
    return history.redirect_with(exchange.request.form.get("code"))


def _client_behind(redirect: Exchange, history: History) -> str:
    asked = history.request_behind(redirect)
    return asked.request.query.get("client_id", "") if asked else ""


def _uri_behind(redirect: Exchange, history: History) -> str:
    asked = history.request_behind(redirect)
    return asked.request.query.get("redirect_uri", "") if asked else ""


def _uses(exchange: Exchange, history: History) -> list[Exchange]:
    """Returns the earlier successful exchanges of the same code."""
    code = exchange.request.form.get("code")
    if not code:
        return []
    return [
        before
        for before in history.of(TOKEN)
        if before.request.form.get("code") == code and gives_token(before)
    ]


def _fits(exchange: Exchange, history: History) -> bool:
    """Tells whether client, redirect and form are right, so that only the code decides."""
    app, redirect = client_of(exchange, history), _redirect(exchange, history)
    form = exchange.request.form
    if app is None or redirect is None or form.get("grant_type") != "authorization_code":
        return False
    is_own = _client_behind(redirect, history) == app.client_id
    is_same = form.get("redirect_uri") == _uri_behind(redirect, history)
    return is_own and is_same and is_clean(exchange)


def _has_challenge(redirect: Exchange, history: History) -> bool:
    asked = history.request_behind(redirect)
    return asked is not None and "code_challenge" in asked.request.query


def _is_plain(exchange: Exchange, history: History) -> bool:
    redirect = _redirect(exchange, history)
    is_plain = redirect is not None and not _has_challenge(redirect, history)
    return is_plain and "code_verifier" not in exchange.request.form


@check("code-in-query", on=[])
def _in_query(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.site != "authorization" or exchange.status not in REDIRECTS:
        return None
    asked = history.request_behind(exchange)
    if asked is None or "code" not in exchange.redirect_parameters:
        return None
    query = dict(parse_qsl(exchange.location.query))
    return expect("code" in query, "the code in the query", "it stands in the fragment")


@check("code-time-limited", on=[TOKEN])
def _time_limited(exchange: Exchange, history: History) -> CheckResult | None:
    redirect = _redirect(exchange, history)
    if redirect is None or exchange.at - redirect.at < LONG or not _fits(exchange, history):
        return None
    return no_token(exchange, "a code that has ended")


@check("code-lifetime", on=[TOKEN])
def _lifetime(exchange: Exchange, history: History) -> CheckResult | None:
    redirect = _redirect(exchange, history)
    if redirect is None or not (_fits(exchange, history) and _is_plain(exchange, history)):
        return None
    if _uses(exchange, history):
        return None
    age = exchange.at - redirect.at
    if age >= CODE_LIFETIME:
        return no_token(exchange, "no token after ten minutes")
    if age < CODE_LIFETIME / 2:
        return None
    return expect(
        gives_token(exchange), "a token within ten minutes", exchange.json_object.get("error")
    )


@check("code-unguessable", on=[])
def _unguessable(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.site != "authorization":
        return None
    told = exchange.redirect_parameters if exchange.status in REDIRECTS else exchange.json_object
    names = ("code", "access_token") if exchange.status in REDIRECTS else ("access_token",)
    given = [str(told[name]) for name in names if told.get(name)]
    found = [text for text in given if not is_masked(text)]
    if not found:
        return None
    weakest = min(_bits(text) for text in found)
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
    varied = len(set(text)) >= min(8, len(text) / 2)
    return len(text) * math.log2(size) if varied else 0.0


@check("code-exchange", on=[TOKEN])
def _exchange(exchange: Exchange, history: History) -> CheckResult | None:
    form = exchange.request.form
    if form.get("grant_type") != "authorization_code" or client_of(exchange, history) is None:
        return None
    if history.is_made_up(form.get("code", "")):
        return no_token(exchange, "no token for a code that nobody received")
    redirect = _redirect(exchange, history)
    if redirect is None or not (_fits(exchange, history) and _is_plain(exchange, history)):
        return None
    is_fresh = exchange.at - redirect.at < CODE_LIFETIME / 2
    if not is_fresh or _uses(exchange, history):
        return None
    return expect(gives_token(exchange), "a token", exchange.json_object.get("error"), redirect)


@check("code-single-use", on=[TOKEN])
def _single_use(exchange: Exchange, history: History) -> CheckResult | None:
    uses = _uses(exchange, history)
    if not uses or not is_clean(exchange):
        return None
    is_right = exchange.json_object.get("error") == "invalid_grant" and exchange.response.is_refusal
    actual = f"status {exchange.status}, {exchange.json_object.get('error')!r}"
    return expect(is_right, "invalid_grant the second time", actual, uses[0])


@check("code-replay-revokes", on=[OWN_PROFILE])
def _replay(exchange: Exchange, history: History) -> CheckResult | None:
    issued = history.issued_by(exchange.request.token)
    code = issued.request.form.get("code") if issued else None
    if issued is None or code is None:
        return None
    for before in history.of(TOKEN):
        is_replay = before.request.form.get("code") == code and before.number > issued.number
        if is_replay and _fits(before, history):
            return expect(
                exchange.response.is_refusal,
                "a refusal after a replay",
                exchange.status,
                issued,
                before,
            )
    return None


@check("code-bound-to-client", on=[TOKEN])
def _bound(exchange: Exchange, history: History) -> CheckResult | None:
    app, redirect = client_of(exchange, history), _redirect(exchange, history)
    if app is None or redirect is None or not is_clean(exchange):
        return None
    if exchange.request.form.get("grant_type") != "authorization_code":
        return None
    if _client_behind(redirect, history) != app.client_id:
        is_right = exchange.json_object.get("error") == "invalid_grant"
        return expect(
            is_right,
            "invalid_grant for another client",
            exchange.json_object.get("error"),
            redirect,
        )
    tried = [
        before
        for before in history.of(TOKEN)
        if before.request.form.get("code") == exchange.request.form.get("code")
        and before.request.form.get("client_id") != app.client_id
    ]
    is_first = tried and not _uses(exchange, history) and _fits(exchange, history)
    if not is_first or exchange.at - redirect.at > CODE_LIFETIME / 2:
        return None
    return expect(
        gives_token(exchange), "still good for its own", exchange.json_object.get("error"), tried[0]
    )


@check("code-redirect-uri-repeated", on=[TOKEN])
def _redirect_repeated(exchange: Exchange, history: History) -> CheckResult | None:
    app, redirect = client_of(exchange, history), _redirect(exchange, history)
    if app is None or redirect is None or exchange.request.form.get("code_verifier"):
        return None
    is_right = exchange.request.form.get("redirect_uri") == _uri_behind(redirect, history)
    if is_right or _uses(exchange, history):
        return None
    return no_token(exchange, "the redirect address of the authorization request")


@check("pkce-honoured", on=[TOKEN])
def _pkce(exchange: Exchange, history: History) -> CheckResult | None:
    redirect = _redirect(exchange, history)
    if redirect is None or not _fits(exchange, history) or _uses(exchange, history):
        return None
    if exchange.at - redirect.at > CODE_LIFETIME / 2:
        return None
    verifier = exchange.request.form.get("code_verifier")
    if verifier is not None and is_masked(verifier):
        return None
    if not _has_challenge(redirect, history):
        return no_token(exchange, "no verifier without a challenge") if verifier else None
    asked = history.request_behind(redirect)
    if asked is None or _challenge_of(verifier, asked) != asked.request.query["code_challenge"]:
        return no_token(exchange, "the verifier of the challenge")
    return expect(
        gives_token(exchange), "a token for the verifier", exchange.json_object.get("error")
    )


def _challenge_of(verifier: str | None, asked: Exchange) -> str | None:
    if verifier is None or asked.request.query.get("code_challenge_method", "plain") == "plain":
        return verifier
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@check("code-token-no-expiry", on=[OWN_PROFILE, TOKEN])
def _no_expiry(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.operation == TOKEN:
        is_code = exchange.request.form.get("grant_type") == "authorization_code"
        if not is_code or not gives_token(exchange):
            return None
        return expect(
            "expires_in" not in exchange.json_object,
            "no end",
            exchange.json_object.get("expires_in"),
        )
    return lasts(exchange, history, "authorization_code")


def lasts(exchange: Exchange, history: History, grant_type: str) -> CheckResult | None:
    """Returns the verdict that a token of a grant counts after a long time."""
    issued = history.issued_by(exchange.request.token)
    if issued is None or issued.request.form.get("grant_type") != grant_type:
        return None
    if exchange.at - issued.at < FOREVER:
        return None
    actual = f"status {exchange.status} after {(exchange.at - issued.at).days} days"
    return expect(exchange.status == 200, "a token that counts still", actual, issued)  # noqa: PLR2004 - OK
