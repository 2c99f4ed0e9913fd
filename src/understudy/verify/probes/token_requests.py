"""Probes of the token endpoint's door: methods, bodies, headers and fields that are refused."""

import base64

from understudy.verify.granting import form_of, password_form, post
from understudy.verify.history import MADE_UP
from understudy.verify.probe_client import Visit
from understudy.verify.probing import Parts, part, probe

CLIENT = ("auth_url", "app", "tokens")
CODE = f"{MADE_UP}-code"


@probe("token-post-only", needs=("auth_url",))
def another_method(visit: Visit) -> None:
    """Asks the token endpoint by GET."""
    visit.auth("GET", "/oauth2/token")


@probe("token-form-encoded", needs=CLIENT, then=[part("token-form-encoded")])
def another_body(visit: Visit) -> Parts:
    """Sends the fields as JSON."""
    yield visit.auth("POST", "/oauth2/token", json=dict(form_of(visit.app, CODE)))
    if visit.app.username is not None:
        yield visit.auth("POST", "/oauth2/token", json=dict(password_form(visit.app)))


@probe(
    *("token-empty-field", "token-grant-type", "token-error-shape"),
    needs=CLIENT,
    then=[part("token-client-credentials"), *3 * [part("token-grant-type")]],
)
def clients_and_grants_that_there_are_not(visit: Visit) -> Parts:
    """Sends no grant type that exists, and a client that does not."""
    yield post(visit, form_of(visit.app, CODE, grant_type=""))
    yield post(visit, form_of(visit.app, CODE, client_id=f"{MADE_UP}-client"))
    for grant_type in (None, "client_credentials", "refresh_token"):
        yield post(visit, form_of(visit.app, CODE, grant_type=grant_type))


@probe("token-credentials-in-form", needs=CLIENT, cost=1)
def credentials_in_a_header(visit: Visit) -> None:
    """Sends client credentials by HTTP Basic alone."""
    app = visit.app
    basic = base64.b64encode(f"{app.client_id}:{app.client_secret}".encode()).decode()
    form = form_of(app, CODE, client_id=None, client_secret=None)
    post(visit, form, headers={"authorization": f"Basic {basic}"})


@probe(
    "token-secrets-not-in-query",
    needs=(*CLIENT, "password"),
    then=2 * [part("token-secrets-not-in-query")],
)
def secrets_in_the_query(visit: Visit) -> Parts:
    """Sends a secret in the query, where logs keep it."""
    for name in ("client_secret", "password"):
        form = password_form(visit.app, **{name: None})
        given = dict(password_form(visit.app))
        yield post(visit, form, query={name: given[name]})
    yield post(visit, password_form(visit.app), query={"client_secret": visit.app.client_secret})


@probe("token-repeated-field", needs=(*CLIENT, "password"), then=[part("token-repeated-field")])
def fields_given_twice(visit: Visit) -> Parts:
    """Gives a field twice."""
    form = password_form(visit.app)
    for name in ("grant_type", "username"):
        yield post(visit, [*form, (name, dict(form)[name])])


@probe(
    *("token-no-cors", "token-client-credentials", "token-error-shape", "token-not-cached"),
    needs=CLIENT,
    then=2 * [part("token-no-cors")],
)
def a_browsers_script(visit: Visit) -> Parts:
    """Guesses a secret as a page of another origin could, sends its preflight, and asks for good."""
    origin = {"origin": "https://understudy.invalid"}
    guess = form_of(visit.app, CODE, client_secret=f"{MADE_UP}-secret")
    yield post(visit, guess, headers=origin)
    headers = {**origin, "access-control-request-method": "POST"}
    yield visit.auth("OPTIONS", "/oauth2/token", headers=headers)
    if visit.app.username is not None:
        yield post(visit, password_form(visit.app), headers=origin)


@probe("guessing-slowed", needs=(*CLIENT, "exhaust"), cost=11)
def many_wrong_guesses(visit: Visit) -> None:
    """Guesses at the secret of a client that does not exist."""
    for _ in range(11):
        post(visit, form_of(visit.app, CODE, client_id=f"{MADE_UP}-guessed"))
