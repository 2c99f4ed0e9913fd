"""The code grant: issuing a code, its bindings, and its redemption (interface, Code grant)."""

import base64
import hashlib
import math
from collections.abc import Mapping
from datetime import timedelta
from math import ceil
from typing import Final
from urllib.parse import parse_qsl

from understudy.exchange.masking import is_masked
from understudy.exchange.messages import Exchange
from understudy.interface.operations import AUTHORIZE, ME, TOKEN, TOKEN_INFO
from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import (
    code,
    code_in,
    decide,
    form_of,
    info,
    parameters,
    post,
    spare_code,
    token_in,
)
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    expect,
    found,
    proven,
    tells,
    unless,
)
from understudy.verify.grant_history import (
    CODE_LIFETIME,
    FITTING,
    FRESH,
    age_of_code,
    client_is_proven,
    code_is_clients,
    code_is_fresh,
    code_is_known,
    code_is_spent,
    code_is_unspent,
    expect_no_token,
    expect_token,
    fits,
    gives_token,
    has_challenge,
    has_neither_challenge_nor_verifier,
    is_clean,
    is_code_grant,
    is_granted,
    is_redirect,
    issue_of,
    redemptions,
    redirect_has,
    redirect_is_repeated,
    redirect_of,
    requested,
    shown_error,
)
from understudy.verify.history import MADE_UP, History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.switches import ISSUED, PUT_BACK, experiment, number_reading, range_of
from understudy.verify.value_texts import nearly_in_form

GRANTED = ("auth_url", "app", "tokens", "approval")
LONG: Final = timedelta(days=1)
"""An age at which a code has expired, whatever lifetime the deployment gives it."""

BITS: Final = 128  # RFC 6749, 10.10


def _issued(exchange: Exchange, history: History) -> list[str]:
    """Returns the codes and tokens that a response issues, without masked ones."""
    if exchange.site != "authorization":
        return []
    is_back = is_redirect(exchange, history)
    members = exchange.redirect_parameters if is_back else exchange.json_object
    names = ("code", "access_token") if is_back else ("access_token",)
    values = [str(members[name]) for name in names if members.get(name)]
    return [value for value in values if not is_masked(value)]


issues_something = tells(
    "a code or a token was issued", lambda it, history: bool(_issued(it, history))
)
request_was_seen = tells(
    "the authorization request was seen", lambda it, history: history.request_behind(it) is not None
)


def code_is_made_up(exchange: Exchange, history: History) -> bool:
    """Tells whether the code is made up, or an altered copy of an issued one."""
    code = exchange.request.form.get("code", "")
    return history.is_made_up(code) or history.issued_nearly(code) is not None


code_is_a_day_old = tells(
    "the code is older than a day", lambda it, history: age_of_code(it, history) >= LONG
)
code_is_over = tells(
    "the code is ten minutes old, or older",
    lambda it, history: age_of_code(it, history) >= CODE_LIFETIME,
)
code_is_nearly_over = tells(
    "the code is between one and ten minutes old",
    lambda it, history: FRESH <= age_of_code(it, history) < CODE_LIFETIME,
)


UNSPENT: Final = (*FITTING, has_neither_challenge_nor_verifier, code_is_unspent)
"""Conditions of a token request that only the age of its code can make fail."""


@check("code-in-query", when=[is_redirect, redirect_has("code"), request_was_seen])
def code_is_in_query(exchange: Exchange, _history: History) -> CheckResult:
    """The redirect has the code once, in the query, and not in the fragment, which scripts read."""
    in_query = "code" in dict(parse_qsl(exchange.location.query))
    count = [name for name, _ in exchange.redirect_pairs].count("code")
    actual = "it is there twice" if in_query else "it is in the fragment"
    return expect(in_query and count == 1, "the code once, in the query alone", actual)


@check("code-unguessable", when=[issues_something])
def secrets_are_unguessable(exchange: Exchange, history: History) -> CheckResult:
    """A code or token has so much entropy that it cannot be guessed."""
    weakest = min(_bits(text) for text in _issued(exchange, history))
    return expect(weakest >= BITS, f"{BITS} bits", f"{weakest:.0f} bits at most")


def _bits(text: str) -> float:
    """Estimates the entropy of a text from its length and alphabet; 0 if few letters recur."""
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


@check("code-exchange", on=[TOKEN], when=[*UNSPENT, code_is_fresh])
def fresh_code_gives_token(exchange: Exchange, history: History) -> CheckResult:
    """A fresh code gives its client a token."""
    return expect_token(exchange, "a token", redirect_of(exchange, history))


@check("code-lifetime", on=[TOKEN], when=[*UNSPENT, code_is_nearly_over])
def code_lasts_ten_minutes(exchange: Exchange, history: History) -> CheckResult:
    """A code is accepted for nearly ten minutes, even if newer ones were issued."""
    newest = next((each for each in history.of(AUTHORIZE) if is_granted(each)), None)
    issued = (redirect_of(exchange, history), newest)
    return expect_token(exchange, "a token within ten minutes", *issued)


@probe(
    "code-in-query",
    "state-echoed",
    "code-unguessable",
    "response-type",
    "scope-indexed-array",
    "authorize-client-known",
    "redirect-uri-registered",
    "code-exchange",
    "token-answer",
    "token-answer-scope",
    "token-not-cached",
    "token-grant-type",
    "code-token-no-expiry",
    "json-bodies",
    "token-client-credentials",
    "code-single-use",
    "token-error-shape",
    "code-replay-revokes",
    "error-shape",
    "error-members",
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
    info(client, token)
    yield post(client, form)
    yield client.get("/me/profile", token)
    yield info(client, token)
    yield client.get("/me/avatars", token)
    yield client.send("PATCH", "/me/profile", token, json={})


@probe(
    "code-redirect-uri-repeated",
    "token-client-credentials",
    "code-exchange",
    "profile-required-members",
    needs=GRANTED,
)
def code_redeemed_with_wrong_fields(client: ProbeClient) -> Parts:
    """Redeems a code with wrong redirect URIs, with a wrong secret, altered, and then correctly.

    The seed draws whether one of the URIs has a query or other case.
    """
    spare = spare_code(client)
    uri = client.app.redirect_uri or ""
    for other in (f"{uri}/", (f"{uri}?understudy=1", uri.swapcase())[client.seed % 2], None):
        yield post(client, form_of(client.app, spare, redirect_uri=other))
    yield post(client, form_of(client.app, spare, client_secret=f"{client.app.client_secret} "))
    for wrong in (f"{MADE_UP}-code", f"{spare} ", *nearly_in_form(spare)):
        yield post(client, form_of(client.app, wrong))
    exchange = post(client, form_of(client.app, spare))
    yield exchange
    yield client.get("/me/profile", token_in(client, exchange, SCOPES[:2]))


@probe("code-lifetime", "code-time-limited", needs=(*GRANTED, "clock"))
def codes_that_grow_old(client: ProbeClient) -> None:
    """Redeems one code just within ten minutes, one after exactly ten, and one a day later."""
    codes = [code(client) for _ in range(3)]
    client.advance(timedelta(minutes=9, seconds=50))
    post(client, form_of(client.app, codes[0]))
    client.advance(timedelta(seconds=10))
    post(client, form_of(client.app, codes[1]))
    client.advance(timedelta(days=1))
    post(client, form_of(client.app, codes[2]))


# A code is bound to one use, one client, one redirect URI and one verifier (interface, Code grant;
# RFC 6749, 4.1.2 and 4.1.3; RFC 7636, 4.6).

_LIBRARY_HEADERS: Final = {
    "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
    "accept": "application/json, text/plain, */*",
}
"""Headers that HTTP libraries in browsers send with a form."""

VERIFIER = "understudy-verifier-understudy-verifier-0123456"


def challenge_of(verifier: str, method: str) -> str:
    """Returns the code challenge of a verifier (RFC 7636, 4.2)."""
    if method == "plain":
        return verifier
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def resent_code_of(exchange: Exchange, history: History) -> list[Exchange]:
    """Returns the later requests with the code that this exchange's token was issued for."""
    issued = issue_of(exchange, history)
    spent = issued.request.form.get("code") if issued else None
    if issued is None or spent is None:
        return []
    return [
        later
        for later in history.of(TOKEN)
        if later.number > issued.number and later.request.form.get("code") == spent
    ]


def replay_of(exchange: Exchange, history: History) -> Exchange | None:
    """Returns a later redemption of the token's code that had all else right."""
    return next((it for it in resent_code_of(exchange, history) if fits(it, history)), None)


code_was_replayed = found(replay_of, "the code that the token was issued for was redeemed again")
code_was_sent_once = unless(resent_code_of, "the code of the token was not redeemed again")


code_is_of_other_client = unless(code_is_clients, "the code was given to another client")


def attempt_of_other(exchange: Exchange, history: History) -> Exchange | None:
    """Returns an earlier attempt by another client to redeem the code."""
    form = exchange.request.form
    for before in history.of(TOKEN):
        tried = before.request.form
        is_same_code = tried.get("code") == form.get("code")
        if is_same_code and tried.get("client_id") != form.get("client_id"):
            return before
    return None


other_client_tried = found(attempt_of_other, "another client tried to redeem the code")


redirect_differs = unless(
    redirect_is_repeated, "the redirect URI is not that of the authorization request"
)
has_no_verifier = tells(
    "no code verifier was sent", lambda it, _: not it.request.form.get("code_verifier")
)
has_verifier = tells(
    "a code verifier was sent", lambda it, _: bool(it.request.form.get("code_verifier"))
)
verifier_is_readable = tells(
    "the code verifier, if any, is not masked",
    lambda it, _: not is_masked(it.request.form.get("code_verifier", "")),
)
has_no_challenge = unless(has_challenge, "the authorization request had no code challenge")


def verifier_matches(exchange: Exchange, history: History) -> bool:
    """Tells whether the code verifier is the one of the code challenge."""
    verifier = exchange.request.form.get("code_verifier")
    method = requested(exchange, history, "code_challenge_method") or "plain"
    challenge = requested(exchange, history, "code_challenge")
    return verifier is not None and challenge_of(verifier, method) == challenge


verifier_differs = unless(
    verifier_matches, "the code verifier is missing, or not the one of the code challenge"
)


_UNSPENT = (*FITTING, code_is_unspent, code_is_fresh, verifier_is_readable)


@check("code-single-use", on=[TOKEN], when=[code_is_spent, is_clean])
def spent_code_is_refused(exchange: Exchange, history: History) -> CheckResult:
    """A code can be redeemed only once (RFC 6749, 4.1.2)."""
    error = exchange.json_object.get("error")
    is_right = error == "invalid_grant" and exchange.response.is_refusal
    spent = redemptions(exchange, history)[0]
    return expect(is_right, "invalid_grant the second time", shown_error(exchange), spent)


@check("code-replay-revokes", on=[*ME, TOKEN_INFO], when=[code_was_replayed])
def replay_revokes_token(exchange: Exchange, history: History) -> CheckResult:
    """Redeeming a code again revokes its token, at every endpoint (RFC 6749, 4.1.2)."""
    issued, replay = issue_of(exchange, history), replay_of(exchange, history)
    is_revoked = exchange.response.is_refusal
    return expect(is_revoked, "a refusal after a replay", exchange.status, issued, replay)


@check(
    "code-bound-to-client",
    on=[TOKEN],
    when=[is_code_grant, client_is_proven, is_clean, code_is_known, code_is_of_other_client],
)
def code_of_other_client_is_refused(exchange: Exchange, history: History) -> CheckResult:
    """A code is refused to every client but its own (RFC 6749, 4.1.3)."""
    error = exchange.json_object.get("error")
    expected = "invalid_grant for another client"
    return expect(error == "invalid_grant", expected, error, redirect_of(exchange, history))


@check(
    "code-bound-to-client",
    on=[TOKEN],
    when=[*FITTING, other_client_tried, code_is_unspent, code_is_fresh],
    is_choice=True,
)
def attempt_of_other_client_spends_nothing(exchange: Exchange, history: History) -> CheckResult:
    """A code that another client tried to redeem still gives a token to its own client."""
    before = proven(attempt_of_other(exchange, history))
    return expect_token(exchange, "a token for its own client", before)


@probe("code-bound-to-client", needs=(*GRANTED, "other_app"))
def code_redeemed_by_another_client(client: ProbeClient) -> Parts:
    """Redeems a code as another application, and then as the application that it was issued to."""
    issued = code(client)
    other = client.target.other_application
    yield post(client, form_of(other, issued))
    yield post(client, form_of(other, issued, redirect_uri=client.app.redirect_uri))
    yield post(client, form_of(client.app, issued))


@probe("code-single-use", needs=GRANTED)
def code_redeemed_twice_at_once(client: ProbeClient) -> None:
    """Redeems a code twice at the same moment, as a client does that repeats a slow request."""
    form = form_of(client.app, code(client))
    url = f"{(client.target.auth_url or '').rstrip('/')}/oauth2/token"
    client.send_together("POST", url, "anonymous", {"form": form}, {"form": form})


_WRONG_PROOFS: Final[Mapping[str, tuple[Mapping[str, str | None], ...]]] = {
    "S256": (
        {"code_verifier": VERIFIER.replace("-v", "-V")},  # keeps the prefix of made-up values
        {"code_verifier": VERIFIER, "client_secret": None},
    ),
    "plain": ({}, {"code_verifier": f"{VERIFIER} "}, {"code_verifier": VERIFIER[:-1]}),
}
"""Challenge method to form fields that must not suffice; a verifier does not replace the secret."""


@probe("pkce-honoured", "token-client-credentials", needs=GRANTED)
def codes_redeemed_with_verifiers(client: ProbeClient) -> Parts:
    """Redeems codes with wrong verifiers and the right one, and a code that has no challenge.

    The latter is issued second, so that a server that keeps only the newest challenge is found.
    """
    plain = None
    for method, wrong in _WRONG_PROOFS.items():
        challenge = challenge_of(VERIFIER, method)
        issued = code(client, code_challenge=challenge, code_challenge_method=method)
        plain = plain or code(client, state="kept for the end")
        for changes in wrong:
            yield post(client, form_of(client.app, issued, **changes))
        form = form_of(client.app, issued, code_verifier=VERIFIER)
        yield post(client, form, headers=_LIBRARY_HEADERS)
    yield post(client, form_of(client.app, plain or code(client), code_verifier=VERIFIER))


_LIFETIME: Final = "code-lifetime"
_CLOSE: Final = 2.0
"""Seconds around a code's expiry in which network delay decides whether it is still valid."""


def _lifetime_tried(exchange: Exchange, history: History) -> int | None:
    """Returns the shortest lifetime with which a code of this age is valid; None if too close."""
    age, step = age_of_code(exchange, history).total_seconds(), range_of(_LIFETIME).step
    is_close = abs(age - round(age / step) * step) < _CLOSE
    return None if is_close else ceil(age / step) * step


number_reading(
    _LIFETIME,
    TOKEN,
    when=[client_is_proven, *UNSPENT],
    number=_lifetime_tried,
    is_accepted=gives_token,
)


@experiment(
    _LIFETIME,
    needs=(*GRANTED, "clock"),
    likely=(60, 120, 180, 300, 600, 900, 1800, 3600),
    requests=5,
    undo=f"{PUT_BACK}; {ISSUED}",
)
def code_of_age(client: ProbeClient, lifetime: int) -> None:
    """Redeems a code at an age that is valid with this lifetime, but not with a step less."""
    granted = code(client)
    client.advance(timedelta(seconds=lifetime - range_of(_LIFETIME).step / 2))
    post(client, form_of(client.app, granted))


# Rules that demand one outcome wherever their conditions hold.

of_token = demands(TOKEN)
of_token(
    "code-exchange",
    [is_code_grant, client_is_proven, code_is_made_up],
    expect_no_token,
    "no token for a code that was never issued",
)
of_token(
    "code-time-limited",
    [*FITTING, code_is_a_day_old],
    expect_no_token,
    "no token for a code that has ended",
)
of_token("code-lifetime", [*UNSPENT, code_is_over], expect_no_token, "no token after ten minutes")
of_token(
    "code-redirect-uri-repeated",
    [client_is_proven, code_is_known, has_no_verifier, redirect_differs, code_is_unspent],
    expect_no_token,
    "the redirect URI of the authorization request",
)
of_token(
    "pkce-honoured",
    [*_UNSPENT, has_no_challenge, has_verifier],
    expect_no_token,
    "no verifier without a challenge",
    is_choice=True,
)
of_token(
    "pkce-honoured",
    [*_UNSPENT, has_challenge, verifier_differs],
    expect_no_token,
    "the verifier of the challenge",
)
of_token(
    "pkce-honoured",
    [*_UNSPENT, has_challenge, verifier_matches],
    expect_token,
    "a token for the verifier",
)
