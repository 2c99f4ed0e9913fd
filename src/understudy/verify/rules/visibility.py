"""Visibility of profile members to the public, tokens and the owner (interface, Profile)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from understudy.exchange.messages import Exchange
from understudy.interface.operations import LOOKUP, OWN_PROFILE, PROFILES
from understudy.verify.causes import read_before_update
from understudy.verify.checks import (
    TOKENS,
    CheckResult,
    check,
    declares,
    expect,
    found,
    has_token,
    holds_profile,
    is_anonymous,
    is_get,
    is_public_profile,
    proven,
    sends_no_credentials,
    tells,
)
from understudy.verify.history import History, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import AUTHENTICATED_ONLY, OPTIONAL
from understudy.verify.value_texts import as_json, as_pairs, differing_pairs

AT_MOST = 4  # interface, Limits: verified accounts in a profile
PUBLIC = frozenset({"none"})


def lookup_by(exchange: Exchange, history: History, kinds: frozenset[str]) -> Exchange | None:
    """Returns an earlier lookup of the identifier by these kinds of clients, if still current."""
    if exchange.operation != LOOKUP:
        return None
    for before in history.near(LOOKUP):
        if not history.still(before):
            return None
        is_wanted = before.value == exchange.value and before.identity.kind in kinds
        if is_wanted and before.identity != exchange.identity and profile_in(before):
            return before
    return None


def other_side(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the anonymous lookup that matches one with a token, or the reverse."""
    kind = exchange.identity.kind
    if kind not in {*PUBLIC, *TOKENS}:
        return None
    return lookup_by(exchange, history, PUBLIC if kind in TOKENS else TOKENS)


was_seen_with_token = tells(
    "the profile was looked up with another token, and nothing changed since",
    lambda it, history: lookup_by(it, history, TOKENS) is not None,
)


was_seen_from_other_side = found(
    other_side, "the profile was looked up both with a token and without"
)


def has_more_than_four_accounts(exchange: Exchange, history: History) -> bool:
    """Tells whether the profile is known to have more than four verified accounts."""
    shown = len(_accounts(exchange))
    with_token = lookup_by(exchange, history, TOKENS)
    return shown > AT_MOST or len(_accounts(with_token)) > AT_MOST


def number_needs_checking(exchange: Exchange, history: History) -> bool:
    """Tells whether hidden accounts are listed, or two responses or list and number disagree."""
    profile = profile_in(exchange)
    number, listed = profile.get("number_verified_accounts"), profile.get("verified_accounts")
    if not isinstance(number, int) or not isinstance(listed, list):
        return False
    return (
        _lists_hidden(listed)
        or number < len(listed)
        or _number_elsewhere(exchange, history) != number
    )


def is_of_owner(exchange: Exchange, history: History) -> bool:
    """Tells whether the profile was returned to its owner."""
    account = exchange.identity.account
    if exchange.identity.kind != "oauth":
        return False
    if exchange.operation != LOOKUP:
        return True
    is_own = account == "own" and history.is_own(exchange.value)
    return is_own or (account == "other" and history.is_others(exchange.value))


def is_of_somebody_else(exchange: Exchange, history: History) -> bool:
    """Tells whether the profile was returned to a caller who is known not to be its owner."""
    is_known = exchange.operation == LOOKUP and exchange.identity.kind != "unknown"
    return is_known and not is_of_owner(exchange, history)


hides_contact_details = tells(
    "the profile is the one that the target names as hiding its contact details",
    lambda it, history: it.value == history.known.hidden_contact_slug,
)


def read_both_ways(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the owner's lookup that matches their own profile, or the reverse."""
    account = exchange.identity.account
    if account is None:
        return None
    elsewhere = LOOKUP if exchange.operation == OWN_PROFILE else OWN_PROFILE
    for before in history.near(elsewhere):
        is_same_person = profile_in(before).get("hash") == profile_in(exchange).get("hash")
        if is_same_person and history.still(before) and before.identity.account == account:
            return before
    return None


was_read_both_ways = found(
    read_both_ways, "the owner read the profile both by lookup and as their own"
)


@check("profile-lookup-open", on=[LOOKUP], when=[is_get, is_public_profile, sends_no_credentials])
def lookup_needs_no_credentials(exchange: Exchange, _history: History) -> CheckResult:
    """A public profile is found without credentials."""
    return expect(
        exchange.status == HTTPStatus.OK, "200 without credentials", f"status {exchange.status}"
    )


has_no_valid_token = tells(
    "no credentials were sent, or none that are valid",
    lambda it, _: it.identity.kind in {"none", "invalid"},
)


@check("authenticated-only-fields", on=PROFILES, when=[holds_profile, has_no_valid_token])
def public_sees_no_authenticated_field(exchange: Exchange, history: History) -> CheckResult:
    """Anonymous clients see no field for authenticated ones, unless the document requires it."""
    hidden = [name for name in AUTHENTICATED_ONLY if name not in history.inputs.always_shown]
    shown = [name for name in hidden if name in profile_in(exchange)]
    return expect(
        not shown,
        "none of the fields for clients with a token",
        f"shown to the public: {as_json(shown)}",
    )


@check("authenticated-only-fields", on=PROFILES, when=[holds_profile, has_token])
def fields_are_kept_from_shared_caches(exchange: Exchange, _history: History) -> CheckResult:
    """Shared caches cannot serve to the public a response that a token received (RFC 9111, 3.5)."""
    header = exchange.response.header
    directives = {part.strip().partition("=")[0] for part in header("cache-control").split(",")}
    is_shared = bool(directives & {"public", "s-maxage"}) and not directives & set(
        "private no-store no-cache".split()
    )
    varies = {name.strip().lower() for name in header("vary").split(",")}
    is_right = not is_shared or bool(varies & {"authorization", "*"})
    return expect(is_right, "private, or Vary: Authorization", header("cache-control"))


declares_number = declares("number_verified_accounts")


@check("authenticated-only-fields", on=PROFILES, when=[holds_profile, has_token, declares_number])
def token_shows_number_of_accounts(exchange: Exchange, _history: History) -> CheckResult:
    """A token sees the number of accounts, the one authenticated field that always applies."""
    has_number = "number_verified_accounts" in profile_in(exchange)
    return expect(has_number, "number_verified_accounts with a token", sorted(profile_in(exchange)))


@check(
    "authenticated-only-fields", on=PROFILES, when=[holds_profile, has_token, was_seen_with_token]
)
def every_token_shows_the_same_fields(exchange: Exchange, history: History) -> CheckResult:
    """Every token shows the same fields of a profile."""
    before = proven(lookup_by(exchange, history, TOKENS))
    differing = _names(profile_in(exchange)) ^ _names(profile_in(before))
    return expect(not differing, "the same fields with any token", differing, before)


@check(
    "profile-lookup-open",
    "authenticated-only-fields",
    on=[LOOKUP],
    when=[holds_profile, was_seen_from_other_side],
)
def public_part_is_contained(exchange: Exchange, history: History) -> CheckResult:
    """A token sees every member that the public sees, with the same value."""
    before = proven(other_side(exchange, history))
    profiles = (profile_in(before), profile_in(exchange))
    public, full = profiles if exchange.identity.kind in TOKENS else reversed(profiles)
    required = history.inputs.always_shown.intersection(AUTHENTICATED_ONLY)
    names = set(public) - {"verified_accounts"} - required
    differing = differing_pairs(public, full, sorted(names))
    shown = public.get("verified_accounts") or []
    beyond = [account for account in shown if account not in (full.get("verified_accounts") or [])]
    texts = as_pairs(differing, "without a token", "with one")
    actual = f"{texts or 'no member differs'}; accounts that only the public sees: {len(beyond)}"
    return expect(not differing and not beyond, "the public part is contained", actual, before)


@check(
    "verified-accounts-at-most-four",
    on=[LOOKUP],
    when=[holds_profile, is_anonymous, has_more_than_four_accounts],
)
def public_sees_four_accounts(exchange: Exchange, history: History) -> CheckResult:
    """The public sees at most four verified accounts."""
    shown = len(_accounts(exchange))
    return expect(
        shown <= AT_MOST,
        "four at most",
        f"{shown} accounts",
        lookup_by(exchange, history, TOKENS),
    )


@check(
    "verified-accounts-at-most-four",
    on=PROFILES,
    when=[holds_profile, has_token],
    is_choice=True,
)
def token_sees_more_than_four_accounts(exchange: Exchange, _history: History) -> CheckResult:
    """A token sees more than four accounts; a choice, since the others can be hidden ones."""
    number = profile_in(exchange).get("number_verified_accounts")
    is_cut = isinstance(number, int) and number > AT_MOST == len(_accounts(exchange))
    return expect(not is_cut, "more than four with a token", f"{AT_MOST} of {number}")


@check("number-verified-accounts-counts-hidden", on=PROFILES, when=[number_needs_checking])
def number_counts_all_accounts(exchange: Exchange, history: History) -> CheckResult:
    """The number includes hidden accounts, and is the same for everybody.

    A list that shows hidden accounts is complete, so its length must be the number.
    """
    number, listed = profile_in(exchange)["number_verified_accounts"], _accounts(exchange)
    elsewhere = _number_elsewhere(exchange, history)
    actual = f"{number} of {len(listed)} listed, {elsewhere} to another"
    is_enough = number == len(listed) if _lists_hidden(listed) else number >= len(listed)
    is_right = is_enough and elsewhere == number
    return expect(
        is_right, "one number that counts all", actual, lookup_by(exchange, history, TOKENS)
    )


@check("hidden-accounts-left-out", on=PROFILES, when=[holds_profile, is_of_somebody_else])
def hidden_accounts_are_left_out(exchange: Exchange, _history: History) -> CheckResult:
    """Only the owner sees hidden accounts."""
    hidden = [
        each for each in _accounts(exchange) if isinstance(each, dict) and each.get("is_hidden")
    ]
    return expect(not hidden, "hidden accounts for their owner only", f"{len(hidden)} are shown")


@check("hidden-accounts-left-out", on=PROFILES, when=[holds_profile, is_of_owner, declares_number])
def owner_sees_all_accounts(exchange: Exchange, _history: History) -> CheckResult:
    """The owner sees all accounts: as many as their number states."""
    number = profile_in(exchange).get("number_verified_accounts")
    accounts = [each for each in _accounts(exchange) if isinstance(each, dict)]
    return expect(number == len(accounts), "the owner sees all", f"{len(accounts)} of {number}")


@check(
    "contact-info-only-when-public",
    on=[LOOKUP],
    when=[hides_contact_details, holds_profile, has_token],
)
def hidden_contact_details_are_left_out(exchange: Exchange, _history: History) -> CheckResult:
    """Contact details that are not public are never shown."""
    contact = profile_in(exchange).get("contact_info")
    return expect("contact_info" not in profile_in(exchange), "no contact details", contact)


@check("own-profile-is-full", on=[OWN_PROFILE, LOOKUP], when=[holds_profile, was_read_both_ways])
def own_profile_is_the_full_profile(exchange: Exchange, history: History) -> CheckResult:
    """The own profile is the same as a lookup by its owner."""
    before = proven(read_both_ways(exchange, history))
    is_own = exchange.operation == OWN_PROFILE
    own, found = (exchange, before) if is_own else (before, exchange)
    by_lookup, as_own = profile_in(found), profile_in(own)
    differing = differing_pairs(by_lookup, as_own, sorted({*by_lookup, *as_own}))
    actual = as_pairs(differing, "looked up", "own")
    causes = read_before_update(exchange, history, differing)
    return expect(not differing, "all that a lookup gives its owner", actual, before, *causes)


def _accounts(exchange: Exchange | None) -> list[Any]:
    listed = profile_in(exchange).get("verified_accounts") if exchange else None
    return listed if isinstance(listed, list) else []


def _lists_hidden(accounts: list[Any]) -> bool:
    return any(isinstance(each, dict) and each.get("is_hidden") for each in accounts)


def _number_elsewhere(exchange: Exchange, history: History) -> Any:
    """Returns the number of accounts in another token's response, or else in this one."""
    number = profile_in(exchange).get("number_verified_accounts")
    before = lookup_by(exchange, history, TOKENS)
    return profile_in(before).get("number_verified_accounts", number) if before else number


def _names(profile: Mapping[str, Any]) -> set[str]:
    return {name for name in OPTIONAL if name in profile}


@probe(
    "profile-lookup-open",
    "authenticated-only-fields",
    "profile-required-members",
    "hash-lower-case-hex",
    "profile-hash-is-primary",
    "profile-url-full",
    "optional-fields-omitted",
    "profile-optional-types",
    "verified-account-members",
    "hidden-accounts-left-out",
    "profile-lookup-statuses",
    "json-bodies",
    "rate-limit-headers",
    "rate-limit-anonymous",
    "last-edit-utc",
    "registration-date-shapes",
    "contact-info-strings",
    "link-members",
    "interest-members",
    "language-members",
    "timezone-name",
    "language-positions",
    "gallery-image-members",
    "payments-members",
    "crypto-wallet-members",
    "rate-limit-authenticated",
    "number-verified-accounts-counts-hidden",
    needs=("slug",),
)
def one_profile_seen_by_everyone(client: ProbeClient) -> Parts:
    """Looks one profile up with each kind of credential, and anonymously."""
    for several in (("anonymous",), ("api_key", "owner"), ("other", "reader")):
        path = f"/profiles/{client.known.slug}"
        yield [client.get(path, who) for who in several if client.has(who)]


@probe("contact-info-only-when-public", needs=("hidden_contact_slug", "api_key"))
def lookup_of_hidden_contact_details(client: ProbeClient) -> Parts:
    """Looks a profile with hidden contact details up, with an API key and as the test account."""
    for who in filter(client.has, ("api_key", "owner")):
        yield client.get(f"/profiles/{client.known.hidden_contact_slug}", who)


@probe(
    "own-profile-is-full",
    "bearer-header",
    "scope-per-operation",
    "json-bodies",
    needs=("owner", "slug"),
)
def own_profile_beside_lookup(client: ProbeClient) -> None:
    """Reads the own profile by lookup and by the account's operation."""
    client.recall(f"/profiles/{client.known.slug}", "owner")
    client.recall("/me/profile", "owner")
