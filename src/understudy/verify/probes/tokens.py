"""Probes of codes and tokens: what each is worth, and to whom."""

import base64
import hashlib

from understudy.interface.scopes import SCOPES
from understudy.verify.granting import (
    code,
    code_in,
    decide,
    form_of,
    info,
    parameters,
    password_form,
    post,
    spare_code,
    token_in,
)
from understudy.verify.history import MADE_UP
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, part, probe

GRANTED = ("auth_url", "app", "tokens", "approval")
VERIFIER = "understudy-verifier-understudy-verifier-0123456"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)


@probe(
    *("code-in-query", "state-echoed", "code-unguessable", "response-type"),
    *("scope-indexed-array", "authorize-client-known", "redirect-uri-registered"),
    needs=GRANTED,
    then=[
        part(
            *("code-exchange", "token-answer", "token-answer-scope", "token-not-cached"),
            *("token-grant-type", "code-token-no-expiry", "code-unguessable", "json-bodies"),
            *("token-client-credentials",),
        ),
        part("code-single-use", "token-error-shape"),
        part("code-replay-revokes", "error-shape", "error-members"),
    ],
)
def a_code_and_its_token(probe_client: ProbeClient) -> Parts:
    """Exchanges a code, exchanges it again, and uses the token."""
    redirect = decide(probe_client, parameters(probe_client.app))
    yield redirect
    form = form_of(probe_client.app, code_in(redirect))
    answer = post(probe_client, form)
    yield answer
    token = token_in(probe_client, answer, SCOPES[:2])
    yield post(probe_client, form)
    yield probe_client.get("/me/profile", token)


@probe(
    "code-redirect-uri-repeated",
    needs=GRANTED,
    then=[
        *2 * [part("code-redirect-uri-repeated")],
        part("token-client-credentials"),
        *2 * [part("code-exchange")],
        part("profile-required-members"),
    ],
)
def exchanges_that_do_not_fit(probe_client: ProbeClient) -> Parts:
    """Exchanges a code with another redirect address, none, another secret; then as it was."""
    given = spare_code(probe_client)
    uri = probe_client.app.redirect_uri or ""
    for other in (f"{uri}/", None, ""):
        yield post(probe_client, form_of(probe_client.app, given, redirect_uri=other))
    yield post(probe_client, form_of(probe_client.app, given, client_secret=f"{MADE_UP}-secret"))
    yield post(probe_client, form_of(probe_client.app, f"{MADE_UP}-code"))
    answer = post(probe_client, form_of(probe_client.app, given))
    yield answer
    yield probe_client.get("/me/profile", token_in(probe_client, answer, SCOPES[:2]))


@probe(
    "code-bound-to-client",
    needs=(*GRANTED, "other_app"),
    cost=2,
    then=2 * [part("code-bound-to-client")],
)
def a_code_in_strange_hands(probe_client: ProbeClient) -> Parts:
    """Lets another application exchange a code, and then its own."""
    given = code(probe_client)
    other = probe_client.target.other_application
    yield post(probe_client, form_of(other, given))
    yield post(probe_client, form_of(other, given, redirect_uri=probe_client.app.redirect_uri))
    yield post(probe_client, form_of(probe_client.app, given))


def _an_implicit_token(probe_client: ProbeClient) -> str:
    """Returns a token of a browser that this run was given; where there is none, a new one."""
    given = (each for each in probe_client.earlier if "access_token" in each.redirect_parameters)
    redirect = next(given, None) or decide(
        probe_client, parameters(probe_client.app, response_type="token")
    )
    return token_in(probe_client, redirect, SCOPES[:2])


_PROOF = part("pkce-honoured")


@probe(
    "pkce-honoured",
    needs=GRANTED,
    cost=2,
    then=[_PROOF, _PROOF, *2 * (part("pkce-honoured", cost=2), _PROOF, _PROOF)][:6],
)
def proofs_of_possession(probe_client: ProbeClient) -> Parts:
    """Exchanges codes with the right verifier, a wrong one, none, and one that nobody asked for."""
    for method, challenge in (("S256", CHALLENGE), ("plain", VERIFIER)):
        changes = {"code_challenge": challenge, "code_challenge_method": method}
        given = code(probe_client, **changes)
        yield post(probe_client, form_of(probe_client.app, given))
        yield post(probe_client, form_of(probe_client.app, given, code_verifier=VERIFIER[::-1]))
        yield post(probe_client, form_of(probe_client.app, given, code_verifier=VERIFIER))
    yield post(probe_client, form_of(probe_client.app, code(probe_client), code_verifier=VERIFIER))


@probe(
    "scope-any-index",
    needs=GRANTED,
    cost=1,
    then=[
        part("scope-any-index", cost=2),
        part("scope-space-joined"),
        part("scope-space-joined", cost=2),
    ],
)
def scopes_that_were_granted(probe_client: ProbeClient) -> Parts:
    """Asks for scopes in each form, and what the tokens may do."""
    forms: tuple[dict[str, str | None], ...] = (
        {"scope[0]": None, "scope[1]": "auth", "scope[5]": "avatar-profile:manage"},
        {"scope[0]": None, "scope[1]": None, "scope": "auth avatar-profile:read"},
    )
    for changes in forms:
        asked = {text for name, text in changes.items() if text for text in text.split()}
        redirect = decide(probe_client, parameters(probe_client.app, **changes))
        yield redirect
        answer = post(probe_client, form_of(probe_client.app, code_in(redirect)))
        yield info(probe_client, token_in(probe_client, answer, sorted(asked)))


@probe(
    *("token-info-foreign", "token-info-unspecific", "token-error-shape"),
    needs=(*GRANTED, "other_app"),
    then=[
        part("token-info-unspecific"),
        *2 * [part("token-error-shape")],
    ],
)
def tokens_of_others(probe_client: ProbeClient) -> Parts:
    """Asks about a token as its own client, as another, as none that exists; and about none."""
    token = _an_implicit_token(probe_client)
    own = {"client_id": probe_client.app.client_id or "", "token": token}
    probe_client.recall(
        f"{probe_client.target.auth_url}/oauth2/token-info", query=own, is_lasting=True
    )
    yield info(probe_client, token, probe_client.target.other_application.client_id)
    yield info(probe_client, f"{MADE_UP}-token")
    yield info(probe_client, token, f"{MADE_UP}-client")
    yield probe_client.auth(
        "GET", "/oauth2/token-info", query={"client_id": probe_client.app.client_id}
    )


@probe(
    *("password-grant-owner-only", "password-grant-scopes", "password-grant-token-no-expiry"),
    *("token-answer", "token-answer-scope", "token-not-cached", "token-grant-type"),
    *("code-unguessable", "token-client-credentials"),
    needs=("auth_url", "app", "tokens", "password"),
    then=[
        part("password-grant-owner-only", "token-error-shape"),
        part("token-empty-field", "password-grant-scopes"),
        part("password-grant-scopes"),
        part("profile-required-members"),
    ],
)
def the_owners_password(probe_client: ProbeClient) -> Parts:
    """Uses the password grant as the owner, with scopes and without, and with a wrong password."""
    yield post(probe_client, password_form(probe_client.app))
    yield post(probe_client, password_form(probe_client.app, password=f"{MADE_UP}-password"))
    yield post(probe_client, password_form(probe_client.app, scope=""))
    scope = "auth avatar-profile:read"
    answer = post(probe_client, password_form(probe_client.app, scope=scope))
    yield answer
    yield probe_client.get("/me/profile", token_in(probe_client, answer, scope.split()))


@probe("password-grant-owner-only", needs=("auth_url", "app", "tokens", "other_person"), cost=1)
def anothers_password(probe_client: ProbeClient) -> None:
    """Uses the password grant as somebody who does not own the application."""
    other = probe_client.target.other_application
    post(
        probe_client,
        password_form(probe_client.app, username=other.username, password=other.password),
    )


@probe(
    *("password-grant-two-step", "password-grant-two-step-error", "token-error-shape"),
    needs=("auth_url", "tokens", "two_step"),
    then=[part("password-grant-two-step")],
)
def a_two_step_owner(probe_client: ProbeClient) -> Parts:
    """Uses both passwords of an owner with two-step authentication."""
    app = probe_client.target.two_step
    yield post(probe_client, password_form(app))
    yield post(probe_client, password_form(app, password=app.application_password))
