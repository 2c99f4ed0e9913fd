"""Probes of codes and tokens: what each is worth, and to whom."""

import base64
import hashlib

from understudy.contract.granting import (
    ALL_SCOPES,
    code,
    decide,
    form_of,
    parameters,
    password_form,
    post,
    token_in,
)
from understudy.contract.history import MADE_UP
from understudy.contract.probing import probe
from understudy.contract.visit import Visit

GRANTED = ("auth_url", "app", "tokens", "approval")
VERIFIER = "understudy-verifier-understudy-verifier-0123456"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)


def info(visit: Visit, token: str, client_id: str | None = None) -> None:
    """Asks whom a token speaks for."""
    asked = client_id or visit.app.client_id or ""
    visit.auth("GET", "/oauth2/token-info", query={"client_id": asked, "token": token})


@probe(
    *(
        "code-exchange",
        "token-answer",
        "token-answer-scope",
        "token-not-cached",
        "token-grant-type",
    ),
    *("code-token-no-expiry", "code-unguessable", "token-info", "token-info-ids-strings"),
    *("token-client-credentials", "scope-indexed-array", "code-single-use", "code-replay-revokes"),
    *("token-error-shape", "json-bodies"),
    needs=GRANTED,
    cost=6,
)
def a_code_and_its_token(visit: Visit) -> None:
    """Exchanges a code, uses the token, exchanges the code again, and uses the token again."""
    given = code(visit)
    form = form_of(visit.app, given)
    token = token_in(visit, post(visit, form), ALL_SCOPES[:2])
    visit.get("/me/profile", token)
    info(visit, token)
    post(visit, form)
    visit.get("/me/profile", token)


@probe(
    "code-redirect-uri-repeated",
    "code-exchange",
    "token-client-credentials",
    needs=GRANTED,
    cost=6,
)
def exchanges_that_do_not_fit(visit: Visit) -> None:
    """Exchanges a code with another redirect address, none, and another secret."""
    given = code(visit)
    uri = visit.app.redirect_uri or ""
    for other in (f"{uri}/", None, ""):
        post(visit, form_of(visit.app, given, redirect_uri=other))
    post(visit, form_of(visit.app, given, client_secret=f"{MADE_UP}-secret"))
    post(visit, form_of(visit.app, f"{MADE_UP}-code"))
    post(visit, form_of(visit.app, given))


@probe("code-bound-to-client", needs=(*GRANTED, "other_app"), cost=3)
def a_code_in_strange_hands(visit: Visit) -> None:
    """Lets another application exchange a code, and then its own."""
    given = code(visit)
    other = visit.target.other_application
    post(visit, form_of(other, given))
    post(visit, form_of(other, given, redirect_uri=visit.app.redirect_uri))
    post(visit, form_of(visit.app, given))


@probe("pkce-honoured", needs=GRANTED, cost=9)
def proofs_of_possession(visit: Visit) -> None:
    """Exchanges codes with the right verifier, a wrong one, none, and one that nobody asked for."""
    for method, challenge in (("S256", CHALLENGE), ("plain", VERIFIER)):
        changes = {"code_challenge": challenge, "code_challenge_method": method}
        given = code(visit, **changes)
        post(visit, form_of(visit.app, given))
        post(visit, form_of(visit.app, given, code_verifier=VERIFIER[::-1]))
        post(visit, form_of(visit.app, given, code_verifier=VERIFIER))
    post(visit, form_of(visit.app, code(visit), code_verifier=VERIFIER))


@probe("scope-any-index", "scope-space-joined", needs=GRANTED, cost=6)
def scopes_that_were_granted(visit: Visit) -> None:
    """Asks for scopes in each form, and what the tokens may do."""
    forms: tuple[dict[str, str | None], ...] = (
        {"scope[0]": None, "scope[1]": "auth", "scope[5]": "avatar-profile:manage"},
        {"scope[0]": None, "scope[1]": None, "scope": "auth avatar-profile:read"},
    )
    for changes in forms:
        asked = {text for name, text in changes.items() if text for text in text.split()}
        given = code(visit, **changes)
        token = token_in(visit, post(visit, form_of(visit.app, given)), sorted(asked))
        info(visit, token)


@probe(
    *("token-info", "token-info-foreign", "token-info-unspecific", "token-error-shape"),
    needs=(*GRANTED, "other_app"),
    cost=5,
)
def tokens_of_others(visit: Visit) -> None:
    """Asks about a token as its own client, as another, as none that exists; and about none."""
    redirect = decide(visit, parameters(visit.app, response_type="token"))
    token = token_in(visit, redirect, ALL_SCOPES[:2])
    info(visit, token)
    info(visit, token, visit.target.other_application.client_id)
    info(visit, token, f"{MADE_UP}-client")
    info(visit, f"{MADE_UP}-token")
    visit.auth("GET", "/oauth2/token-info", query={"client_id": visit.app.client_id})


@probe(
    *("password-grant-owner-only", "password-grant-scopes", "password-grant-token-no-expiry"),
    *("token-answer", "token-empty-field", "token-grant-type"),
    needs=("auth_url", "app", "tokens", "password"),
    cost=6,
)
def the_owners_password(visit: Visit) -> None:
    """Uses the password grant as the owner, with scopes and without, and with a wrong password."""
    token_in(visit, post(visit, password_form(visit.app)))
    scope = "auth avatar-profile:read"
    token = token_in(visit, post(visit, password_form(visit.app, scope=scope)), scope.split())
    visit.get("/me/profile", token)
    post(visit, password_form(visit.app, scope=""))
    post(visit, password_form(visit.app, password=f"{MADE_UP}-password"))


@probe("password-grant-owner-only", needs=("auth_url", "app", "tokens", "other_person"), cost=1)
def anothers_password(visit: Visit) -> None:
    """Uses the password grant as somebody who does not own the application."""
    other = visit.target.other_application
    post(visit, password_form(visit.app, username=other.username, password=other.password))


@probe(
    "password-grant-two-step",
    "password-grant-two-step-error",
    needs=("auth_url", "tokens", "two_step"),
    cost=2,
)
def a_two_step_owner(visit: Visit) -> None:
    """Uses both passwords of an owner with two-step authentication."""
    app = visit.target.two_step
    post(visit, password_form(app))
    post(visit, password_form(app, password=app.application_password))
