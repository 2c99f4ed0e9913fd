"""Probes of limits and of the passing of time, which come last: others need both."""

from datetime import timedelta

from understudy.verify.granting import (
    ALL_SCOPES,
    code,
    decide,
    form_of,
    info,
    parameters,
    password_form,
    post,
    token_in,
)
from understudy.verify.probe_client import Visit
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
def counts_of_successive_answers(visit: Visit) -> Parts:
    """Sends each counted operation and compares what is left."""
    path = visit.known.slug
    visit.get(f"/profiles/{path}")
    visit.get(f"/qr-code/{path}")
    yield visit.get(f"/profiles/{path}")
    visit.get(f"/profiles/{path}", "owner")
    visit.get("/me/profile", "owner")
    yield visit.get(f"/profiles/{path}", "owner")


@probe("avatar-operations-uncounted", needs=("owner", "slug"), cost=3)
def avatar_operations_between_two_lookups(visit: Visit) -> None:
    """Lists avatars between two counted requests."""
    visit.get(f"/profiles/{visit.known.slug}", "owner")
    visit.get("/me/avatars", "owner")
    visit.get(f"/profiles/{visit.known.slug}", "owner")


@probe("avatar-operations-uncounted", needs=("owner", "slug", "writes", "uploads"), cost=7)
def avatar_changes_between_two_lookups(visit: Visit) -> None:
    """Uploads and deletes an avatar between two counted requests."""
    visit.get(f"/profiles/{visit.known.slug}", "owner")
    image = str(upload(visit, picture(), select_avatar="false").said.get("image_id"))
    visit.get(f"/profiles/{visit.known.slug}", "owner")
    visit.send("PATCH", f"/me/avatars/{image}", "owner", json={"rating": "PG"})
    visit.get(f"/profiles/{visit.known.slug}", "owner")
    visit.send("DELETE", f"/me/avatars/{image}", "owner")
    visit.get(f"/profiles/{visit.known.slug}", "owner")


@probe("rate-limit-counted-operations", needs=("owner", "slug", "writes"), cost=3)
def an_update_is_counted(visit: Visit) -> None:
    """Updates the own profile between two lookups."""
    visit.get(f"/profiles/{visit.known.slug}", "owner")
    visit.send("PATCH", "/me/profile", "owner", json={})
    visit.get(f"/profiles/{visit.known.slug}", "owner")


def _use_up(visit: Visit, who: str) -> bool:
    """Looks up until the limit says no; tells whether it did."""
    for _ in range(MOST):
        exchange = visit.get(f"/profiles/{visit.known.slug}", who, is_exhausting=True)
        count = count_in(exchange)
        if exchange.status == 429:  # noqa: PLR2004 - limits
            return True
        if count is None:
            return False
        if count.remaining == 0:
            last = visit.get(f"/profiles/{visit.known.slug}", who, is_exhausting=True)
            return last.status == 429  # noqa: PLR2004 - limits
    return False


@probe(
    "rate-limit-anonymous",
    "rate-limit-answer-429",
    "rate-limit-window",
    needs=("slug", "exhaust"),
    cost=101,
)
def the_limit_without_a_token(visit: Visit) -> None:
    """Uses the hour up without a token, and waits for the next one where time can be moved."""
    _use_up(visit, "nobody")
    if visit.gateway.time.advance is not None:
        visit.advance(AN_HOUR)
        visit.get(f"/profiles/{visit.known.slug}")


@probe(
    "rate-limit-authenticated",
    "rate-limit-answer-429",
    "rate-limit-window",
    "avatar-operations-uncounted",
    needs=("owner", "slug", "exhaust", "writes"),
    cost=1010,
)
def the_limit_with_a_token(visit: Visit) -> None:
    """Uses the hour up with a token; an update is refused then, and avatars still are listed."""
    visit.send(
        "PATCH", "/me/profile", "owner", json={}
    )  # so that the gateway knows what to put back
    visit.get("/me/profile", "owner")
    if _use_up(visit, "owner"):
        update = {"location": "over the limit"}
        visit.send("PATCH", "/me/profile", "owner", json=update, is_exhausting=True)
        visit.get("/me/avatars", "owner")
    if visit.gateway.time.advance is not None:
        visit.advance(AN_HOUR)
        visit.get("/me/profile", "owner")


@probe("code-lifetime", "code-time-limited", needs=(*GRANTED, "clock"), cost=6)
def codes_that_grow_old(visit: Visit) -> None:
    """Exchanges one code just within ten minutes, one at ten, and one a day later."""
    codes = [code(visit) for _ in range(3)]
    visit.advance(timedelta(minutes=9, seconds=50))
    post(visit, form_of(visit.app, codes[0]))
    visit.advance(timedelta(seconds=10))
    post(visit, form_of(visit.app, codes[1]))
    visit.advance(timedelta(days=1))
    post(visit, form_of(visit.app, codes[2]))


@probe(
    *("implicit-token-two-weeks", "code-token-no-expiry", "password-grant-token-no-expiry"),
    "token-info-unspecific",
    needs=(*GRANTED, "password", "clock"),
    cost=13,
)
def tokens_that_grow_old(visit: Visit) -> None:
    """Gets a token by each grant, and uses them shortly before two weeks, after, and a year on."""
    scopes = ALL_SCOPES[:2]
    redirect = decide(visit, parameters(visit.app, response_type="token"))
    implicit = token_in(visit, redirect, scopes)
    by_code = token_in(visit, post(visit, form_of(visit.app, code(visit))), scopes)
    by_password = token_in(visit, post(visit, password_form(visit.app)))
    visit.advance(timedelta(days=13, hours=23))
    for token in (implicit, by_code):
        visit.get("/me/profile", token)
    info(visit, implicit)
    visit.advance(timedelta(hours=1, minutes=2))
    visit.get("/me/profile", implicit)
    info(visit, implicit)
    for span in (timedelta(weeks=2), timedelta(days=365)):
        visit.advance(span)
        for token in (by_code, by_password):
            visit.get("/me/profile", token)
