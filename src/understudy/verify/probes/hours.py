"""Probes of limits and of the passing of time, which come last: others need both."""

from datetime import timedelta

from understudy.interface.scopes import SCOPES
from understudy.verify.granting import (
    code,
    decide,
    form_of,
    info,
    parameters,
    password_form,
    post,
    token_in,
)
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probes.uploads import picture, upload
from understudy.verify.probing import Parts, part, probe
from understudy.verify.rules.limits import count_in

GRANTED = ("auth_url", "app", "tokens", "approval")
AN_HOUR = timedelta(hours=1, seconds=1)
MOST = 2000
"""Requests after which nobody waits for a 429 any more."""


@probe(
    *("rate-limit-counted-operations", "rate-limit-window", "rate-limit-headers"),
    needs=("owner", "slug"),
    cost=3,
    then=[part("rate-limit-counted-operations", "rate-limit-window", cost=3)],
)
def counts_of_successive_answers(client: ProbeClient) -> Parts:
    """Sends each counted operation and compares what is left."""
    path = client.known.slug
    client.get(f"/profiles/{path}")
    client.get(f"/qr-code/{path}")
    yield client.get(f"/profiles/{path}")
    client.get(f"/profiles/{path}", "owner")
    client.get("/me/profile", "owner")
    yield client.get(f"/profiles/{path}", "owner")


@probe("avatar-operations-uncounted", needs=("owner", "slug"), cost=3)
def avatar_operations_between_two_lookups(client: ProbeClient) -> None:
    """Lists avatars between two counted requests."""
    client.get(f"/profiles/{client.known.slug}", "owner")
    client.get("/me/avatars", "owner")
    client.get(f"/profiles/{client.known.slug}", "owner")


@probe("avatar-operations-uncounted", needs=("owner", "slug", "writes", "uploads"), cost=7)
def avatar_changes_between_two_lookups(client: ProbeClient) -> None:
    """Uploads and deletes an avatar between two counted requests."""
    client.get(f"/profiles/{client.known.slug}", "owner")
    image = str(upload(client, picture(), select_avatar="false").json_object.get("image_id"))
    client.get(f"/profiles/{client.known.slug}", "owner")
    client.send("PATCH", f"/me/avatars/{image}", "owner", json={"rating": "PG"})
    client.get(f"/profiles/{client.known.slug}", "owner")
    client.send("DELETE", f"/me/avatars/{image}", "owner")
    client.get(f"/profiles/{client.known.slug}", "owner")


@probe("rate-limit-counted-operations", needs=("owner", "slug", "writes"), cost=3)
def an_update_is_counted(client: ProbeClient) -> None:
    """Updates the own profile between two lookups."""
    client.get(f"/profiles/{client.known.slug}", "owner")
    client.send("PATCH", "/me/profile", "owner", json={})
    client.get(f"/profiles/{client.known.slug}", "owner")


def _use_up(client: ProbeClient, who: str) -> bool:
    """Looks up until the limit says no; tells whether it did."""
    for _ in range(MOST):
        exchange = client.get(f"/profiles/{client.known.slug}", who, is_exhausting=True)
        count = count_in(exchange)
        if exchange.status == 429:  # noqa: PLR2004 - limits
            return True
        if count is None:
            return False
        if count.remaining == 0:
            last = client.get(f"/profiles/{client.known.slug}", who, is_exhausting=True)
            return last.status == 429  # noqa: PLR2004 - limits
    return False


@probe(
    "rate-limit-anonymous",
    "rate-limit-answer-429",
    "rate-limit-window",
    needs=("slug", "exhaust"),
    cost=101,
)
def the_limit_without_a_token(client: ProbeClient) -> None:
    """Uses the hour up without a token, and waits for the next one where time can be moved."""
    _use_up(client, "anonymous")
    if client.gateway.time.advance is not None:
        client.advance(AN_HOUR)
        client.get(f"/profiles/{client.known.slug}")


@probe(
    "rate-limit-authenticated",
    "rate-limit-answer-429",
    "rate-limit-window",
    "avatar-operations-uncounted",
    needs=("owner", "slug", "exhaust", "writes"),
    cost=1010,
)
def the_limit_with_a_token(client: ProbeClient) -> None:
    """Uses the hour up with a token; an update is refused then, and avatars still are listed."""
    client.send(
        "PATCH", "/me/profile", "owner", json={}
    )  # so that the gateway knows what to put back
    client.get("/me/profile", "owner")
    if _use_up(client, "owner"):
        update = {"location": "over the limit"}
        client.send("PATCH", "/me/profile", "owner", json=update, is_exhausting=True)
        client.get("/me/avatars", "owner")
    if client.gateway.time.advance is not None:
        client.advance(AN_HOUR)
        client.get("/me/profile", "owner")


@probe("code-lifetime", "code-time-limited", needs=(*GRANTED, "clock"), cost=6)
def codes_that_grow_old(client: ProbeClient) -> None:
    """Exchanges one code just within ten minutes, one at ten, and one a day later."""
    codes = [code(client) for _ in range(3)]
    client.advance(timedelta(minutes=9, seconds=50))
    post(client, form_of(client.app, codes[0]))
    client.advance(timedelta(seconds=10))
    post(client, form_of(client.app, codes[1]))
    client.advance(timedelta(days=1))
    post(client, form_of(client.app, codes[2]))


@probe(
    *("implicit-token-two-weeks", "code-token-no-expiry", "password-grant-token-no-expiry"),
    "token-info-unspecific",
    needs=(*GRANTED, "password", "clock"),
    cost=13,
)
def tokens_that_grow_old(client: ProbeClient) -> None:
    """Gets a token by each grant, and uses them shortly before two weeks, after, and a year on."""
    scopes = SCOPES[:2]
    redirect = decide(client, parameters(client.app, response_type="token"))
    implicit = token_in(client, redirect, scopes)
    by_code = token_in(client, post(client, form_of(client.app, code(client))), scopes)
    by_password = token_in(client, post(client, password_form(client.app)))
    client.advance(timedelta(days=13, hours=23))
    for token in (implicit, by_code):
        client.get("/me/profile", token)
    info(client, implicit)
    client.advance(timedelta(hours=1, minutes=2))
    client.get("/me/profile", implicit)
    info(client, implicit)
    for span in (timedelta(weeks=2), timedelta(days=365)):
        client.advance(span)
        for token in (by_code, by_password):
            client.get("/me/profile", token)
