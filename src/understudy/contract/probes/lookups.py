"""Probes of the profile lookup, of bearer tokens and of the published definition."""

from understudy.contract.checks.fields import addresses_in
from understudy.contract.history import MADE_UP, made_up_hash, profile_in
from understudy.contract.probing import probe
from understudy.contract.target import email_hash
from understudy.contract.visit import Visit

EVERYONE = ("nobody", "api_key", "owner", "other", "reader")


@probe(
    "semantic-version",
    "base-address-major",
    "published-document",
    "unknown-response-members",
    "json-bodies",
)
def definition(visit: Visit) -> None:
    """Reads the published definition."""
    visit.get("/openapi")


@probe(
    *("profile-lookup-open", "authenticated-only-fields", "profile-required-members"),
    *(
        "hash-lower-case-hex",
        "profile-hash-is-primary",
        "profile-url-full",
        "optional-fields-omitted",
    ),
    *("profile-optional-types", "last-edit-utc", "registration-date-shapes"),
    *("verified-account-members", "link-members", "interest-members", "language-members"),
    *("gallery-image-members", "payments-members", "crypto-wallet-members", "contact-info-strings"),
    *("number-verified-accounts-counts-hidden", "hidden-accounts-left-out"),
    *("rate-limit-headers", "rate-limit-anonymous", "rate-limit-authenticated"),
    *("profile-lookup-statuses", "json-bodies"),
    needs=("slug",),
    cost=5,
)
def same_profile_as_everyone(visit: Visit) -> None:
    """Looks one profile up as nobody, with an API key, as its owner, as another, read-only."""
    for who in EVERYONE:
        if visit.has(who):
            visit.get(f"/profiles/{visit.known.slug}", who)


@probe(
    "verified-accounts-at-most-four",
    "unset-required-strings-empty",
    "registration-date-shapes",
    "contact-info-only-when-public",
    "optional-fields-omitted",
    needs=("people",),
    cost=6,
)
def known_people(visit: Visit) -> None:
    """Looks at each further known person with a token and without."""
    teller = next((who for who in ("api_key", "other", "owner") if visit.has(who)), None)
    for slug in visit.known.people:
        for who in (teller, "nobody"):
            if who is not None:
                visit.get(f"/profiles/{slug}", who)


@probe("profile-by-hash-or-slug", "profile-hash-is-primary", needs=("slug", "hashes"), cost=3)
def every_name_of_a_profile(visit: Visit) -> None:
    """Looks the same person up by slug and by every hash."""
    visit.get(f"/profiles/{visit.known.slug}")
    for identifier in visit.known.own_hashes:
        visit.get(f"/profiles/{identifier}")


@probe("unset-required-strings-empty", "profile-hash-is-primary", needs=("other_slug",), cost=2)
def the_other_profile(visit: Visit) -> None:
    """Looks the other account's person up, and lets it look."""
    visit.get(f"/profiles/{visit.known.other_slug}")
    if visit.has("other"):
        visit.get(f"/profiles/{visit.known.other_slug}", "other")


@probe("email-hash-normalised", needs=("other_emails",), cost=1)
def unusual_spelling(visit: Visit) -> None:
    """Looks up by the hash of an address that is written in capitals."""
    for email in (*visit.known.emails, *visit.known.other_emails):
        if email != email.strip().lower():
            visit.get(f"/profiles/{email_hash(email)}")


@probe(
    *("profile-unknown-404", "error-members", "error-shape", "profile-lookup-statuses"),
    "rate-limit-headers",
    cost=2,
)
def unknown_profiles(visit: Visit) -> None:
    """Looks up a slug and a hash that nobody has."""
    visit.get(f"/profiles/{MADE_UP}-slug")
    visit.get(f"/profiles/{made_up_hash(0)}")


@probe("profile-private", needs=("private_slug",), cost=2)
def a_private_profile(visit: Visit) -> None:
    """Looks a private profile up as nobody, as another and as its owner."""
    visit.get(f"/profiles/{visit.known.private_slug}")
    for who in ("other", "private"):
        if visit.has(who):
            visit.get(f"/profiles/{visit.known.private_slug}", who)


@probe("contact-info-only-when-public", needs=("hidden_contact_slug", "api_key"), cost=2)
def contact_details_that_are_not_public(visit: Visit) -> None:
    """Looks for them with tokens, as nobody may see any."""
    for who in ("api_key", "owner"):
        if visit.has(who):
            visit.get(f"/profiles/{visit.known.hidden_contact_slug}", who)


@probe("unknown-query-parameters-accepted", needs=("slug",), cost=2)
def a_parameter_that_nobody_knows(visit: Visit) -> None:
    """Sends what an official client adds to every lookup."""
    visit.get(f"/profiles/{visit.known.slug}")
    visit.get(f"/profiles/{visit.known.slug}", query={"source": "understudy"})


@probe("invalid-token-refused", "profile-lookup-other-refusals", needs=("slug",), cost=1)
def a_wrong_token_where_none_is_needed(visit: Visit) -> None:
    """Sends a token that nobody issued, and one that has ended."""
    for who in ("wrong", "expired"):
        if visit.has(who):
            visit.get(f"/profiles/{visit.known.slug}", who)


@probe("avatar-urls-resolve", needs=("slug",), cost=8)
def addresses_in_a_profile(visit: Visit) -> None:
    """Follows the addresses in a profile that the service itself answers at."""
    who = next((who for who in ("owner", "api_key", "nobody") if visit.has(who)), "nobody")
    profile = profile_in(visit.get(f"/profiles/{visit.known.slug}", who))
    followed = dict(addresses_in(profile))  # one of each kind
    for url in followed.values():
        visit.get(url)


@probe(
    "own-profile-is-full",
    "bearer-header",
    "me-needs-oauth-token",
    "json-bodies",
    needs=("owner", "slug"),
    cost=2,
)
def own_profile_beside_the_lookup(visit: Visit) -> None:
    """Reads the own profile in both ways."""
    visit.get("/me/profile", "owner")
    visit.get(f"/profiles/{visit.known.slug}", "owner")


@probe("bearer-header", needs=("owner",), cost=3)
def tokens_elsewhere(visit: Visit) -> None:
    """Sends a good token in every way that does not count."""
    token = visit.token("owner") or ""
    visit.get("/me/profile", headers={"authorization": f"Token {token}"})
    visit.get("/me/profile", headers={"authorization": token})
    visit.get("/me/profile", query={"access_token": token})


@probe("me-needs-oauth-token", "error-shape", cost=8)
def me_without_a_token(visit: Visit) -> None:
    """Reads the account without a token that opens it; then tries to write there."""
    visit.get("/me/profile")
    for who in ("wrong", "api_key", "expired"):
        if visit.has(who):
            visit.get("/me/profile", who)
            visit.get("/me/avatars", who)
    visit.get("/me/associated-email", query={"email_hash": made_up_hash(1)})


@probe("me-needs-oauth-token", needs=("writes",), cost=5)
def writing_without_a_token(visit: Visit) -> None:
    """Tries to write without a token, and with an API key."""
    for who in ("nobody", "api_key"):
        if visit.has(who):
            visit.send("PATCH", "/me/profile", who, json={"location": "nowhere"})
            visit.send("PATCH", f"/me/avatars/{MADE_UP}", who, json={"rating": "G"})
            visit.send("DELETE", f"/me/avatars/{MADE_UP}", who)
            body = {"email_hash": made_up_hash(1)}
            visit.send("POST", f"/me/avatars/{MADE_UP}/email", who, json=body)


@probe("scope-per-operation", needs=("auth_only",), cost=3)
def reading_without_the_scope(visit: Visit) -> None:
    """Reads with a token that lets its owner sign in and no more."""
    visit.get("/me/profile", "auth_only")
    visit.get("/me/avatars", "auth_only")
    visit.get("/me/associated-email", "auth_only", query={"email_hash": made_up_hash(1)})


@probe("scope-per-operation", needs=("reader",), cost=3)
def reading_with_the_scope(visit: Visit) -> None:
    """Reads with a token that may do just that."""
    visit.get("/me/profile", "reader")
    visit.get("/me/avatars", "reader")


@probe("scope-per-operation", needs=("reader", "writes"), cost=4)
def writing_without_the_scope(visit: Visit) -> None:
    """Tries every change with a token that only reads."""
    visit.send("PATCH", "/me/profile", "reader", json={"location": "nowhere"})
    visit.send("PATCH", f"/me/avatars/{MADE_UP}", "reader", json={"rating": "G"})
    visit.send("DELETE", f"/me/avatars/{MADE_UP}", "reader")
    body = {"email_hash": made_up_hash(1)}
    visit.send("POST", f"/me/avatars/{MADE_UP}/email", "reader", json=body)
