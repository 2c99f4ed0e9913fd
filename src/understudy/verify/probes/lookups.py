"""Probes of the profile lookup, of bearer tokens and of the published definition."""

from collections.abc import Sequence

from understudy.deployments.exchange import Exchange
from understudy.deployments.target import email_hash
from understudy.verify.history import MADE_UP, made_up_hash, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, part, probe
from understudy.verify.rules.fields import addresses_in

UNFIT = ("wrong", "api_key", "expired")
"""Credentials that do not open an account."""


def _as_each(probe_client: ProbeClient, identifier: str, several: Sequence[str]) -> list[Exchange]:
    return [
        probe_client.get(f"/profiles/{identifier}", who) for who in several if probe_client.has(who)
    ]


@probe(
    "semantic-version",
    "base-address-major",
    "published-document",
    "unknown-response-members",
    "json-bodies",
)
def definition(probe_client: ProbeClient) -> None:
    """Reads the published definition."""
    probe_client.recall("/openapi")


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
def same_profile_as_everyone(probe_client: ProbeClient) -> Parts:
    """Looks one profile up as nobody, with an API key and as its owner, as another and read-only."""
    for several in (("anonymous",), ("api_key", "owner"), ("other", "reader")):
        yield _as_each(probe_client, probe_client.known.slug or "", several)


@probe(
    *("verified-accounts-at-most-four", "unset-required-strings-empty"),
    needs=("people",),
    cost=2,
    then=[
        part("registration-date-shapes", "optional-fields-omitted", cost=2),
        part("optional-fields-omitted", cost=2),
    ],
)
def known_people(probe_client: ProbeClient) -> Parts:
    """Looks at each further known person with a token and without."""
    tellers = [who for who in ("api_key", "other", "owner") if probe_client.has(who)]
    for slug in probe_client.known.people:
        yield _as_each(probe_client, slug, (*tellers[:1], "anonymous"))


@probe(
    *("profile-by-hash-or-slug", "profile-hash-is-primary"),
    needs=("slug", "hashes"),
    then=[part("profile-by-hash-or-slug", "profile-hash-is-primary")],
)
def every_name_of_a_profile(probe_client: ProbeClient) -> Parts:
    """Looks the same person up by slug and by every hash."""
    probe_client.recall(f"/profiles/{probe_client.known.slug}", is_lasting=True)
    for identifier in probe_client.known.own_hashes:
        yield probe_client.get(f"/profiles/{identifier}")


@probe(
    *("unset-required-strings-empty", "profile-hash-is-primary"),
    needs=("other_slug",),
    then=[part("unset-required-strings-empty", "hidden-accounts-left-out")],
)
def the_other_profile(probe_client: ProbeClient) -> Parts:
    """Looks the other account's person up, and lets it look."""
    yield probe_client.get(f"/profiles/{probe_client.known.other_slug}")
    if probe_client.has("other"):
        yield probe_client.get(f"/profiles/{probe_client.known.other_slug}", "other")


@probe("email-hash-normalised", needs=("other_emails",))
def unusual_spelling(probe_client: ProbeClient) -> Parts:
    """Looks up by the hash of an address that is written in capitals."""
    for email in (*probe_client.known.emails, *probe_client.known.other_emails):
        if email != email.strip().lower():
            yield probe_client.get(f"/profiles/{email_hash(email)}")


@probe(
    *("profile-unknown-404", "error-members", "error-shape", "profile-lookup-statuses"),
    *("rate-limit-headers", "rate-limit-counted-operations", "rate-limit-window"),
    then=[part("profile-unknown-404", "error-shape")],
)
def unknown_profiles(probe_client: ProbeClient) -> Parts:
    """Looks up a slug and a hash that nobody has."""
    yield probe_client.get(f"/profiles/{MADE_UP}-slug")
    yield probe_client.get(f"/profiles/{made_up_hash(0)}")


@probe(
    "profile-private",
    needs=("private_slug",),
    then=[part("profile-private", by="other"), part("profile-private", by="private")],
)
def a_private_profile(probe_client: ProbeClient) -> Parts:
    """Looks a private profile up as nobody, as another and as its owner."""
    for who in ("anonymous", "other", "private"):
        if probe_client.has(who):
            yield probe_client.get(f"/profiles/{probe_client.known.private_slug}", who)


@probe(
    "contact-info-only-when-public",
    needs=("hidden_contact_slug", "api_key"),
    then=[part("contact-info-only-when-public")],
)
def contact_details_that_are_not_public(probe_client: ProbeClient) -> Parts:
    """Looks for them with tokens, as nobody may see any."""
    for who in ("api_key", "owner"):
        if probe_client.has(who):
            yield probe_client.get(f"/profiles/{probe_client.known.hidden_contact_slug}", who)


@probe("unknown-query-parameters-accepted", needs=("slug",), cost=2)
def a_parameter_that_nobody_knows(probe_client: ProbeClient) -> None:
    """Sends what an official client adds to every lookup."""
    probe_client.recall(f"/profiles/{probe_client.known.slug}")
    probe_client.get(f"/profiles/{probe_client.known.slug}", query={"source": "understudy"})


@probe(
    *("invalid-token-refused", "profile-lookup-other-refusals"),
    needs=("slug",),
    then=[part("invalid-token-refused", "profile-lookup-other-refusals")],
)
def a_wrong_token_where_none_is_needed(probe_client: ProbeClient) -> Parts:
    """Sends a token that nobody issued, and one that has ended."""
    for who in ("wrong", "expired"):
        if probe_client.has(who):
            yield probe_client.get(f"/profiles/{probe_client.known.slug}", who)


@probe("avatar-urls-resolve", needs=("slug",), then=4 * [part("avatar-urls-resolve")])
def addresses_in_a_profile(probe_client: ProbeClient) -> Parts:
    """Follows the addresses in a profile that the service itself answers at."""
    who = next(
        (who for who in ("owner", "api_key", "anonymous") if probe_client.has(who)), "anonymous"
    )
    profile = profile_in(
        probe_client.recall(f"/profiles/{probe_client.known.slug}", who, is_lasting=True)
    )
    followed = dict(addresses_in(profile))  # one of each kind
    for url in followed.values():
        yield probe_client.get(url)


@probe(
    *("own-profile-is-full", "bearer-header", "scope-per-operation", "json-bodies"),
    "avatar-operations-uncounted",
    needs=("owner", "slug"),
)
def own_profile_beside_the_lookup(probe_client: ProbeClient) -> None:
    """Reads the own profile in both ways."""
    probe_client.recall(f"/profiles/{probe_client.known.slug}", "owner")
    probe_client.recall("/me/profile", "owner")


@probe(
    *("bearer-header", "me-needs-oauth-token", "error-shape"),
    needs=("owner",),
    then=2 * [part("bearer-header")],
)
def tokens_elsewhere(probe_client: ProbeClient) -> Parts:
    """Sends a good token in every way that does not count."""
    token = probe_client.token("owner") or ""
    yield probe_client.get("/me/profile", headers={"authorization": f"Token {token}"})
    yield probe_client.get("/me/profile", headers={"authorization": token})
    yield probe_client.get("/me/profile", query={"access_token": token})


@probe(
    *("me-needs-oauth-token", "error-shape", "error-members"),
    then=[
        *(part("me-needs-oauth-token", by=who) for who in UNFIT),
        *(part("me-needs-oauth-token", by=who) for who in UNFIT),
        part("me-needs-oauth-token"),
    ],
)
def me_without_a_token(probe_client: ProbeClient) -> Parts:
    """Reads the account without a token that opens it."""
    yield probe_client.get("/me/profile")
    for path in ("/me/profile", "/me/avatars"):
        for who in UNFIT:
            if probe_client.has(who):
                yield probe_client.get(path, who)
    yield probe_client.get("/me/associated-email", query={"email_hash": made_up_hash(1)})


@probe(
    "me-needs-oauth-token",
    needs=("writes",),
    by="nobody, to write",
    then=[
        *3 * [part("me-needs-oauth-token", by="nobody, to write")],
        *4 * [part("me-needs-oauth-token", by="api_key, to write")],
    ],
)
def writing_without_a_token(probe_client: ProbeClient) -> Parts:
    """Tries to write without a token, and with an API key."""
    for who in ("anonymous", "api_key"):
        if probe_client.has(who):
            yield from _every_change(probe_client, who)


@probe(
    *("scope-per-operation", "error-members"),
    needs=("auth_only",),
    by="auth_only",
    then=2 * [part("scope-per-operation", by="auth_only")],
)
def reading_without_the_scope(probe_client: ProbeClient) -> Parts:
    """Reads with a token that lets its owner sign in and no more."""
    yield probe_client.get("/me/profile", "auth_only")
    yield probe_client.get("/me/avatars", "auth_only")
    yield probe_client.get(
        "/me/associated-email", "auth_only", query={"email_hash": made_up_hash(1)}
    )


@probe(
    "scope-per-operation",
    needs=("reader",),
    by="reader",
    then=[part("scope-per-operation", by="reader")],
)
def reading_with_the_scope(probe_client: ProbeClient) -> Parts:
    """Reads with a token that may do just that."""
    yield probe_client.get("/me/profile", "reader")
    yield probe_client.get("/me/avatars", "reader")


@probe(
    "scope-per-operation",
    needs=("reader", "writes"),
    by="reader, to write",
    then=3 * [part("scope-per-operation", by="reader, to write")],
)
def writing_without_the_scope(probe_client: ProbeClient) -> Parts:
    """Tries every change with a token that only reads."""
    yield from _every_change(probe_client, "reader")


def _every_change(probe_client: ProbeClient, who: str) -> Parts:
    yield probe_client.send("PATCH", "/me/profile", who, json={"location": "nowhere"})
    yield probe_client.send("PATCH", f"/me/avatars/{MADE_UP}", who, json={"rating": "G"})
    yield probe_client.send("DELETE", f"/me/avatars/{MADE_UP}", who)
    body = {"email_hash": made_up_hash(1)}
    yield probe_client.send("POST", f"/me/avatars/{MADE_UP}/email", who, json=body)
