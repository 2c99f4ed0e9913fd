"""Probes of the token endpoint's door: methods, bodies, headers and fields that are refused."""

import base64

from understudy.verify.granting import form_of, password_form, post
from understudy.verify.history import MADE_UP
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, part, probe

CLIENT = ("auth_url", "app", "tokens")
CODE = f"{MADE_UP}-code"


@probe("token-post-only", needs=("auth_url",))
def another_method(probe_client: ProbeClient) -> None:
    """Asks the token endpoint by GET."""
    probe_client.auth("GET", "/oauth2/token")


@probe("token-form-encoded", needs=CLIENT, then=[part("token-form-encoded")])
def another_body(probe_client: ProbeClient) -> Parts:
    """Sends the fields as JSON."""
    yield probe_client.auth("POST", "/oauth2/token", json=dict(form_of(probe_client.app, CODE)))
    if probe_client.app.username is not None:
        yield probe_client.auth("POST", "/oauth2/token", json=dict(password_form(probe_client.app)))


@probe(
    *("token-empty-field", "token-grant-type", "token-error-shape"),
    needs=CLIENT,
    then=[part("token-client-credentials"), *3 * [part("token-grant-type")]],
)
def clients_and_grants_that_there_are_not(probe_client: ProbeClient) -> Parts:
    """Sends no grant type that exists, and a client that does not."""
    yield post(probe_client, form_of(probe_client.app, CODE, grant_type=""))
    yield post(probe_client, form_of(probe_client.app, CODE, client_id=f"{MADE_UP}-client"))
    for grant_type in (None, "client_credentials", "refresh_token"):
        yield post(probe_client, form_of(probe_client.app, CODE, grant_type=grant_type))


@probe("token-credentials-in-form", needs=CLIENT, cost=1)
def credentials_in_a_header(probe_client: ProbeClient) -> None:
    """Sends client credentials by HTTP Basic alone."""
    app = probe_client.app
    basic = base64.b64encode(f"{app.client_id}:{app.client_secret}".encode()).decode()
    form = form_of(app, CODE, client_id=None, client_secret=None)
    post(probe_client, form, headers={"authorization": f"Basic {basic}"})


@probe(
    "token-secrets-not-in-query",
    needs=(*CLIENT, "password"),
    then=2 * [part("token-secrets-not-in-query")],
)
def secrets_in_the_query(probe_client: ProbeClient) -> Parts:
    """Sends a secret in the query, where logs keep it."""
    for name in ("client_secret", "password"):
        form = password_form(probe_client.app, **{name: None})
        given = dict(password_form(probe_client.app))
        yield post(probe_client, form, query={name: given[name]})
    yield post(
        probe_client,
        password_form(probe_client.app),
        query={"client_secret": probe_client.app.client_secret},
    )


@probe("token-repeated-field", needs=(*CLIENT, "password"), then=[part("token-repeated-field")])
def fields_given_twice(probe_client: ProbeClient) -> Parts:
    """Gives a field twice."""
    form = password_form(probe_client.app)
    for name in ("grant_type", "username"):
        yield post(probe_client, [*form, (name, dict(form)[name])])


@probe(
    *("token-no-cors", "token-client-credentials", "token-error-shape", "token-not-cached"),
    needs=CLIENT,
    then=2 * [part("token-no-cors")],
)
def a_browsers_script(probe_client: ProbeClient) -> Parts:
    """Guesses a secret as a page of another origin could, sends its preflight, and asks for good."""
    origin = {"origin": "https://understudy.invalid"}
    guess = form_of(probe_client.app, CODE, client_secret=f"{MADE_UP}-secret")
    yield post(probe_client, guess, headers=origin)
    headers = {**origin, "access-control-request-method": "POST"}
    yield probe_client.auth("OPTIONS", "/oauth2/token", headers=headers)
    if probe_client.app.username is not None:
        yield post(probe_client, password_form(probe_client.app), headers=origin)


@probe("guessing-slowed", needs=(*CLIENT, "exhaust"), cost=11)
def many_wrong_guesses(probe_client: ProbeClient) -> None:
    """Guesses at the secret of a client that does not exist."""
    for _ in range(11):
        post(probe_client, form_of(probe_client.app, CODE, client_id=f"{MADE_UP}-guessed"))
