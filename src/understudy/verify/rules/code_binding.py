"""Judges what a code is bound to: one use, one client, one redirect URI, one verifier.

(interface, Code grant; RFC 6749, 4.1.2 and 4.1.3; RFC 7636, 4.6)
"""

import base64
import hashlib

from understudy.exchange.messages import Exchange, is_masked
from understudy.interface.operations import OWN_PROFILE, TOKEN
from understudy.verify.browsing import code, form_of, post
from understudy.verify.checks import CheckResult, check, expect, proven
from understudy.verify.grant_history import (
    FITTING,
    client_is_proven,
    code_is_clients,
    code_is_fresh,
    code_is_known,
    code_is_spent,
    code_is_unspent,
    expect_no_token,
    expect_token,
    fits,
    has_challenge,
    is_clean,
    is_code_grant,
    issue_of,
    redemptions,
    redirect_is_repeated,
    redirect_of,
    requested,
    shown_error,
)
from understudy.verify.history import History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe

GRANTED = ("auth_url", "app", "tokens", "approval")
VERIFIER = "understudy-verifier-understudy-verifier-0123456"


def challenge_of(verifier: str, method: str) -> str:
    """Returns the code challenge of a verifier (RFC 7636, 4.2)."""
    if method == "plain":
        return verifier
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def replay_of(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the second exchange of the code that a token was issued for."""
    issued = issue_of(exchange, history)
    spent = issued.request.form.get("code") if issued else None
    if issued is None or spent is None:
        return None
    for before in history.of(TOKEN):
        is_replay = before.request.form.get("code") == spent and before.number > issued.number
        if is_replay and fits(before, history):
            return before
    return None


def code_was_replayed(exchange: Exchange, history: History) -> bool:
    """Tells whether the code that the token was issued for was redeemed again."""
    return replay_of(exchange, history) is not None


def code_is_of_other_client(exchange: Exchange, history: History) -> bool:
    """Tells whether the code was given to another client."""
    return not code_is_clients(exchange, history)


def attempt_of_other(exchange: Exchange, history: History) -> Exchange | None:
    """Returns an earlier attempt of another client to redeem the code."""
    form = exchange.request.form
    for before in history.of(TOKEN):
        other = before.request.form
        if other.get("code") == form.get("code") and other.get("client_id") != form.get(
            "client_id"
        ):
            return before
    return None


def other_client_tried(exchange: Exchange, history: History) -> bool:
    """Tells whether another client tried to redeem the code."""
    return attempt_of_other(exchange, history) is not None


def redirect_differs(exchange: Exchange, history: History) -> bool:
    """Tells whether the redirect URI is not that of the authorization request."""
    return not redirect_is_repeated(exchange, history)


def has_no_verifier(exchange: Exchange, _history: History) -> bool:
    """Tells whether no code verifier was sent."""
    return not exchange.request.form.get("code_verifier")


def has_verifier(exchange: Exchange, _history: History) -> bool:
    """Tells whether a code verifier was sent."""
    return bool(exchange.request.form.get("code_verifier"))


def verifier_is_readable(exchange: Exchange, _history: History) -> bool:
    """Tells whether the code verifier, if any, is not masked."""
    return not is_masked(exchange.request.form.get("code_verifier", ""))


def has_no_challenge(exchange: Exchange, history: History) -> bool:
    """Tells whether the authorization request had no code challenge."""
    return not has_challenge(exchange, history)


def verifier_matches(exchange: Exchange, history: History) -> bool:
    """Tells whether the code verifier is the one of the code challenge."""
    verifier = exchange.request.form.get("code_verifier")
    method = requested(exchange, history, "code_challenge_method") or "plain"
    challenge = requested(exchange, history, "code_challenge")
    return verifier is not None and challenge_of(verifier, method) == challenge


def verifier_differs(exchange: Exchange, history: History) -> bool:
    """Tells whether the code verifier is missing, or not the one of the code challenge."""
    return not verifier_matches(exchange, history)


_UNSPENT = (*FITTING, code_is_unspent, code_is_fresh, verifier_is_readable)


@check("code-single-use", on=[TOKEN], when=[code_is_spent, is_clean])
def spent_code_is_refused(exchange: Exchange, history: History) -> CheckResult:
    """A code is redeemed once (RFC 6749, 4.1.2)."""
    error = exchange.json_object.get("error")
    is_right = error == "invalid_grant" and exchange.response.is_refusal
    spent = redemptions(exchange, history)[0]
    return expect(is_right, "invalid_grant the second time", shown_error(exchange), spent)


@check("code-replay-revokes", on=[OWN_PROFILE], when=[code_was_replayed])
def replay_revokes_token(exchange: Exchange, history: History) -> CheckResult:
    """Redeeming a code again revokes the token that it gave (RFC 6749, 4.1.2)."""
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
    """A code that another client tried still gives a token to its own client."""
    before = proven(attempt_of_other(exchange, history))
    return expect_token(exchange, "still good for its own", before)


@check(
    "code-redirect-uri-repeated",
    on=[TOKEN],
    when=[client_is_proven, code_is_known, has_no_verifier, redirect_differs, code_is_unspent],
)
def other_redirect_uri_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """The redirect URI must be that of the authorization request (interface; RFC 6749, 4.1.3)."""
    return expect_no_token(exchange, "the redirect URI of the authorization request")


@check(
    "pkce-honoured",
    on=[TOKEN],
    when=[*_UNSPENT, has_no_challenge, has_verifier],
    is_choice=True,
)
def verifier_without_challenge_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A verifier is refused where there was no challenge."""
    return expect_no_token(exchange, "no verifier without a challenge")


@check("pkce-honoured", on=[TOKEN], when=[*_UNSPENT, has_challenge, verifier_differs])
def wrong_verifier_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A wrong verifier, or none, is refused where there was a challenge (RFC 7636, 4.6)."""
    return expect_no_token(exchange, "the verifier of the challenge")


@check("pkce-honoured", on=[TOKEN], when=[*_UNSPENT, has_challenge, verifier_matches])
def right_verifier_gives_token(exchange: Exchange, _history: History) -> CheckResult:
    """The verifier of the challenge gives a token."""
    return expect_token(exchange, "a token for the verifier")


@probe("code-bound-to-client", needs=(*GRANTED, "other_app"))
def code_redeemed_by_another_client(client: ProbeClient) -> Parts:
    """Lets another application redeem a code, and then its own."""
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


@probe("pkce-honoured", needs=GRANTED)
def codes_redeemed_with_verifiers(client: ProbeClient) -> Parts:
    """Redeems codes with no verifier, a wrong one, the right one, and one without a challenge.

    The code without a challenge is the last that was issued, when the others are redeemed.
    """
    plain = None
    for method in ("S256", "plain"):
        challenge = challenge_of(VERIFIER, method)
        issued = code(client, code_challenge=challenge, code_challenge_method=method)
        plain = plain or code(client, state="kept for the end")
        yield post(client, form_of(client.app, issued))
        yield post(client, form_of(client.app, issued, code_verifier=VERIFIER[::-1]))
        yield post(client, form_of(client.app, issued, code_verifier=VERIFIER))
    yield post(client, form_of(client.app, plain or code(client), code_verifier=VERIFIER))
