"""Probes of the profile lookup, of bearer tokens and of the published definition."""

from collections.abc import Sequence

from understudy.deployments.exchange import Exchange
from understudy.deployments.target import email_hash
from understudy.verify.history import MADE_UP, made_up_hash, profile_in
from understudy.verify.probe_client import Visit
from understudy.verify.probing import Parts, part, probe
from understudy.verify.rules.fields import addresses_in

UNFIT = ("wrong", "api_key", "expired")
"""Credentials that do not open an account."""


def _as_each(visit: Visit, identifier: str, several: Sequence[str]) -> list[Exchange]:
    return [visit.get(f"/profiles/{identifier}", who) for who in several if visit.has(who)]


@probe(
    "semantic-version",
    "base-address-major",
    "published-document",
    "unknown-response-members",
    "json-bodies",
)
def definition(visit: Visit) -> None:
    """Reads the published definition."""
    visit.recall("/openapi")


@probe(
    *("profile-lookup-open", "authenticated-only-fields", "profile-required-members"),
    *("hash-lower-case-hex", "profile-hash-is-primary", "profile-url-full"),
    *("optional-fields-omitted", "profile-optional-types", "verified-account-members"),
    *("hidden-accounts-left-out", "profile-lookup-statuses", "json-bodies"),
    *("rate-limit-headers", "rate-limit-anonymous"),
    needs=("slug",),
    then=[
        part(
            *("profile-lookup-open", "authenticated-only-fields", "hidden-accounts-left-out"),
            *("last-edit-utc", "registration-date-shapes", "contact-info-strings"),
            *("link-members", "interest-members", "language-members", "gallery-image-members"),
            *("payments-members", "crypto-wallet-members", "rate-limit-authenticated"),
            *("rate-limit-headers", "number-verified-accounts-counts-hidden"),
            cost=2,
        ),
        part("authenticated-only-fields", cost=2),
    ],
)
def same_profile_as_everyone(visit: Visit) -> Parts:
    """Looks one profile up as nobody, with an API key and as its owner, as another and read-only."""
    for several in (("nobody",), ("api_key", "owner"), ("other", "reader")):
        yield _as_each(visit, visit.known.slug or "", several)


@probe(
    *("verified-accounts-at-most-four", "unset-required-strings-empty"),
    needs=("people",),
    cost=2,
    then=[
        part("registration-date-shapes", "optional-fields-omitted", cost=2),
        part("optional-fields-omitted", cost=2),
    ],
)
def known_people(visit: Visit) -> Parts:
    """Looks at each further known person with a token and without."""
    tellers = [who for who in ("api_key", "other", "owner") if visit.has(who)]
    for slug in visit.known.people:
        yield _as_each(visit, slug, (*tellers[:1], "nobody"))


@probe(
    *("profile-by-hash-or-slug", "profile-hash-is-primary"),
    needs=("slug", "hashes"),
    then=[part("profile-by-hash-or-slug", "profile-hash-is-primary")],
)
def every_name_of_a_profile(visit: Visit) -> Parts:
    """Looks the same person up by slug and by every hash."""
    visit.recall(f"/profiles/{visit.known.slug}", is_lasting=True)
    for identifier in visit.known.own_hashes:
        yield visit.get(f"/profiles/{identifier}")


@probe(
    *("unset-required-strings-empty", "profile-hash-is-primary"),
    needs=("other_slug",),
    then=[part("unset-required-strings-empty", "hidden-accounts-left-out")],
)
def the_other_profile(visit: Visit) -> Parts:
    """Looks the other account's person up, and lets it look."""
    yield visit.get(f"/profiles/{visit.known.other_slug}")
    if visit.has("other"):
        yield visit.get(f"/profiles/{visit.known.other_slug}", "other")


@probe("email-hash-normalised", needs=("other_emails",))
def unusual_spelling(visit: Visit) -> Parts:
    """Looks up by the hash of an address that is written in capitals."""
    for email in (*visit.known.emails, *visit.known.other_emails):
        if email != email.strip().lower():
            yield visit.get(f"/profiles/{email_hash(email)}")


@probe(
    *("profile-unknown-404", "error-members", "error-shape", "profile-lookup-statuses"),
    *("rate-limit-headers", "rate-limit-counted-operations", "rate-limit-window"),
    then=[part("profile-unknown-404", "error-shape")],
)
def unknown_profiles(visit: Visit) -> Parts:
    """Looks up a slug and a hash that nobody has."""
    yield visit.get(f"/profiles/{MADE_UP}-slug")
    yield visit.get(f"/profiles/{made_up_hash(0)}")


@probe(
    "profile-private",
    needs=("private_slug",),
    then=[part("profile-private", by="other"), part("profile-private", by="private")],
)
def a_private_profile(visit: Visit) -> Parts:
    """Looks a private profile up as nobody, as another and as its owner."""
    for who in ("nobody", "other", "private"):
        if visit.has(who):
            yield visit.get(f"/profiles/{visit.known.private_slug}", who)


@probe(
    "contact-info-only-when-public",
    needs=("hidden_contact_slug", "api_key"),
    then=[part("contact-info-only-when-public")],
)
def contact_details_that_are_not_public(visit: Visit) -> Parts:
    """Looks for them with tokens, as nobody may see any."""
    for who in ("api_key", "owner"):
        if visit.has(who):
            yield visit.get(f"/profiles/{visit.known.hidden_contact_slug}", who)


@probe("unknown-query-parameters-accepted", needs=("slug",), cost=2)
def a_parameter_that_nobody_knows(visit: Visit) -> None:
    """Sends what an official client adds to every lookup."""
    visit.recall(f"/profiles/{visit.known.slug}")
    visit.get(f"/profiles/{visit.known.slug}", query={"source": "understudy"})


@probe(
    *("invalid-token-refused", "profile-lookup-other-refusals"),
    needs=("slug",),
    then=[part("invalid-token-refused", "profile-lookup-other-refusals")],
)
def a_wrong_token_where_none_is_needed(visit: Visit) -> Parts:
    """Sends a token that nobody issued, and one that has ended."""
    for who in ("wrong", "expired"):
        if visit.has(who):
            yield visit.get(f"/profiles/{visit.known.slug}", who)


@probe("avatar-urls-resolve", needs=("slug",), then=4 * [part("avatar-urls-resolve")])
def addresses_in_a_profile(visit: Visit) -> Parts:
    """Follows the addresses in a profile that the service itself answers at."""
    who = next((who for who in ("owner", "api_key", "nobody") if visit.has(who)), "nobody")
    profile = profile_in(visit.recall(f"/profiles/{visit.known.slug}", who, is_lasting=True))
    followed = dict(addresses_in(profile))  # one of each kind
    for url in followed.values():
        yield visit.get(url)


@probe(
    *("own-profile-is-full", "bearer-header", "scope-per-operation", "json-bodies"),
    "avatar-operations-uncounted",
    needs=("owner", "slug"),
)
def own_profile_beside_the_lookup(visit: Visit) -> None:
    """Reads the own profile in both ways."""
    visit.recall(f"/profiles/{visit.known.slug}", "owner")
    visit.recall("/me/profile", "owner")


@probe(
    *("bearer-header", "me-needs-oauth-token", "error-shape"),
    needs=("owner",),
    then=2 * [part("bearer-header")],
)
def tokens_elsewhere(visit: Visit) -> Parts:
    """Sends a good token in every way that does not count."""
    token = visit.token("owner") or ""
    yield visit.get("/me/profile", headers={"authorization": f"Token {token}"})
    yield visit.get("/me/profile", headers={"authorization": token})
    yield visit.get("/me/profile", query={"access_token": token})


@probe(
    *("me-needs-oauth-token", "error-shape", "error-members"),
    then=[
        *(part("me-needs-oauth-token", by=who) for who in UNFIT),
        *(part("me-needs-oauth-token", by=who) for who in UNFIT),
        part("me-needs-oauth-token"),
    ],
)
def me_without_a_token(visit: Visit) -> Parts:
    """Reads the account without a token that opens it."""
    yield visit.get("/me/profile")
    for path in ("/me/profile", "/me/avatars"):
        for who in UNFIT:
            if visit.has(who):
                yield visit.get(path, who)
    yield visit.get("/me/associated-email", query={"email_hash": made_up_hash(1)})


@probe(
    "me-needs-oauth-token",
    needs=("writes",),
    by="nobody, to write",
    then=[
        *3 * [part("me-needs-oauth-token", by="nobody, to write")],
        *4 * [part("me-needs-oauth-token", by="api_key, to write")],
    ],
)
def writing_without_a_token(visit: Visit) -> Parts:
    """Tries to write without a token, and with an API key."""
    for who in ("nobody", "api_key"):
        if visit.has(who):
            yield from _every_change(visit, who)


@probe(
    *("scope-per-operation", "error-members"),
    needs=("auth_only",),
    by="auth_only",
    then=2 * [part("scope-per-operation", by="auth_only")],
)
def reading_without_the_scope(visit: Visit) -> Parts:
    """Reads with a token that lets its owner sign in and no more."""
    yield visit.get("/me/profile", "auth_only")
    yield visit.get("/me/avatars", "auth_only")
    yield visit.get("/me/associated-email", "auth_only", query={"email_hash": made_up_hash(1)})


@probe(
    "scope-per-operation",
    needs=("reader",),
    by="reader",
    then=[part("scope-per-operation", by="reader")],
)
def reading_with_the_scope(visit: Visit) -> Parts:
    """Reads with a token that may do just that."""
    yield visit.get("/me/profile", "reader")
    yield visit.get("/me/avatars", "reader")


@probe(
    "scope-per-operation",
    needs=("reader", "writes"),
    by="reader, to write",
    then=3 * [part("scope-per-operation", by="reader, to write")],
)
def writing_without_the_scope(visit: Visit) -> Parts:
    """Tries every change with a token that only reads."""
    yield from _every_change(visit, "reader")


def _every_change(visit: Visit, who: str) -> Parts:
    yield visit.send("PATCH", "/me/profile", who, json={"location": "nowhere"})
    yield visit.send("PATCH", f"/me/avatars/{MADE_UP}", who, json={"rating": "G"})
    yield visit.send("DELETE", f"/me/avatars/{MADE_UP}", who)
    body = {"email_hash": made_up_hash(1)}
    yield visit.send("POST", f"/me/avatars/{MADE_UP}/email", who, json=body)
