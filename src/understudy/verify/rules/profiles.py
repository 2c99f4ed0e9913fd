"""What a profile holds, of what type and form, and who sees it (interface, Profile)."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, Final

from understudy.exchange.messages import Exchange, split
from understudy.interface.operations import AVATARS, LOOKUP, OWN_PROFILE, PROFILES
from understudy.verify.checks import (
    TOKENS,
    CheckResult,
    Condition,
    check,
    expect,
    has_token,
    holds_avatars,
    holds_profile,
    is_anonymous,
    is_get,
    is_public_profile,
    named,
    profile_has,
    proven,
    sends_no_credentials,
    succeeded,
)
from understudy.verify.history import History, avatars_in, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import AUTHENTICATED_ONLY, OPTIONAL, REQUIRED, REQUIRED_TEXTS, fault
from understudy.verify.value_texts import as_json, as_pairs, differing_pairs

MAY_BE_NULL: Final = frozenset({"last_profile_edit", "registration_date"})
EMPTY: Final[tuple[object, ...]] = (None, "", [], {})

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_UTC: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]00:00)")
_TO_THE_SECOND: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

_CONTAINERS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("languages", "links", "interests", "gallery"), list),
    **dict.fromkeys(("payments", "contact_info"), dict),
}


def has_optional_member(exchange: Exchange, _history: History) -> bool:
    """Tells whether the profile has an optional member."""
    return any(name in profile_in(exchange) for name in OPTIONAL)


def lacks_a_value(exchange: Exchange, _history: History) -> bool:
    """Tells whether a required text of the profile is not set."""
    profile = profile_in(exchange)
    return bool(profile) and not all(
        isinstance(profile.get(name), str) and profile[name] for name in REQUIRED_TEXTS
    )


@check("hash-lower-case-hex", on=PROFILES, when=[profile_has("hash")], is_shape=True)
def hash_is_lower_case_hex(exchange: Exchange, _history: History) -> CheckResult:
    """The hash of a profile is 64 hexadecimal digits in lower case."""
    value = profile_in(exchange)["hash"]
    return expect(_HASH.fullmatch(str(value)), "64 hexadecimal digits in lower case", value)


@check("optional-fields-omitted", on=PROFILES, when=[has_optional_member])
def optional_members_are_omitted(exchange: Exchange, _history: History) -> CheckResult:
    """An optional member that does not apply is left out; two dates may be null (interface)."""
    profile = profile_in(exchange)
    empty = [
        name
        for name in OPTIONAL
        if name in profile and profile[name] in EMPTY and profile[name] is not False
    ]
    empty = [name for name in empty if not (name in MAY_BE_NULL and profile[name] is None)]
    images = profile.get("gallery") or []
    texts = [image.get("alt_text", "-") for image in images if isinstance(image, dict)]
    empty += ["gallery.alt_text" for text in texts if not text]
    return expect(
        not empty, "a member that does not apply is left out", f"empty or null: {as_json(empty)}"
    )


@check("profile-required-members", on=PROFILES, when=[succeeded], is_shape=True)
def required_members_are_there(exchange: Exchange, _history: History) -> CheckResult:
    """A profile has all twelve required members, each of its type."""
    lacking = [name for name in REQUIRED if name not in exchange.json_object]
    errors = {
        name: fault(exchange.json_object[name], "Profile", "properties", name)
        for name in REQUIRED
        if name not in lacking
    }
    wrong = {name: text for name, text in errors.items() if text}
    return expect(
        not lacking and not wrong,
        "all twelve members",
        f"lacking {as_json(lacking)}, wrong {as_json(wrong)}",
    )


@check("unset-required-strings-empty", on=PROFILES, when=[lacks_a_value], is_shape=True)
def unset_texts_are_empty(exchange: Exchange, _history: History) -> CheckResult:
    """A required text that is not set is an empty text."""
    wrong = [name for name in REQUIRED_TEXTS if not isinstance(profile_in(exchange).get(name), str)]
    return expect(not wrong, "an empty text where nothing is set", f"no text: {as_json(wrong)}")


@check("profile-url-full", on=PROFILES, when=[profile_has("profile_url")])
def profile_url_is_absolute(exchange: Exchange, _history: History) -> CheckResult:
    """The profile's URL is absolute."""
    url = profile_in(exchange)["profile_url"]
    parts = split(str(url))
    is_absolute = parts.scheme in {"http", "https"} and bool(parts.netloc)
    return expect(is_absolute, "an absolute URL", url)


@check("profile-optional-types", on=PROFILES, when=[has_optional_member], is_shape=True)
def optional_members_have_their_types(exchange: Exchange, _history: History) -> CheckResult:
    """Optional members have the interface's types."""
    profile = profile_in(exchange)
    errors = {name: _type_error(name, profile[name]) for name in OPTIONAL if name in profile}
    wrong = {name: text for name, text in errors.items() if text}
    return expect(not wrong, "the interface's types", wrong)


def _type_error(name: str, value: Any) -> str:
    container = _CONTAINERS.get(name)
    if container is not None:  # its content is judged by the rules of its parts
        is_right = isinstance(value, container)
        return "" if is_right else f"{as_json(value):.60} is not a {container.__name__}"
    if value is None and name in MAY_BE_NULL:
        return ""
    return fault(value, "Profile", "properties", name)


@check("last-edit-utc", on=PROFILES, when=[profile_has("last_profile_edit")], is_shape=True)
def last_edit_is_in_utc(exchange: Exchange, _history: History) -> CheckResult:
    """The time of the last edit is a date and time in UTC (ISO 8601)."""
    value = profile_in(exchange)["last_profile_edit"]
    is_right = isinstance(value, str) and _UTC.fullmatch(value) and _is_instant(value)
    return expect(is_right, "a date and time in UTC", value)


@check(
    "registration-date-shapes", on=PROFILES, when=[profile_has("registration_date")], is_shape=True
)
def registration_date_is_a_date(exchange: Exchange, _history: History) -> CheckResult:
    """The registration date is a date, or a date and time; the interface has both."""
    value = profile_in(exchange)["registration_date"]
    error = fault(value, "Profile", "properties", "registration_date")
    is_right = not error and (_is_date(value) or _is_instant(value))
    return expect(is_right, "a date, or a date and time", value)


@check("updated-date-utc", on=AVATARS, when=[holds_avatars])
def updated_date_is_in_utc(exchange: Exchange, _history: History) -> CheckResult:
    """An avatar's date of update is UTC to the second."""
    texts = [str(avatar.get("updated_date")) for avatar in avatars_in(exchange)]
    wrong = [text for text in texts if not (_TO_THE_SECOND.fullmatch(text) and _is_instant(text))]
    return expect(not wrong, "UTC to the second, with Z", wrong)


def _is_instant(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


@probe(
    *("verified-accounts-at-most-four", "unset-required-strings-empty"),
    *("registration-date-shapes", "optional-fields-omitted"),
    needs=("people",),
)
def lookups_of_known_people(client: ProbeClient) -> Parts:
    """Looks each further known person up with a token and without."""
    with_token = [who for who in ("api_key", "other", "owner") if client.has(who)]
    for slug in client.known.people:
        yield [client.get(f"/profiles/{slug}", who) for who in (*with_token[:1], "anonymous")]


# Judges the parts of a profile: accounts, links, languages, wallets (interface, Resources).

_ZONE: Final = re.compile(
    r"[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+){1,2}|[A-Z][A-Za-z-]+|[A-Z]{3}\d[A-Z]{3}|GMT[+-]?0",
    re.ASCII,
)
"""Names of the IANA database: an area and a place, or one of its old names, such as UTC."""


def items_of(holder: Any, name: str) -> list[Any]:
    """Returns a list's items; what should be a list and is not is one item that fits nothing."""
    value = holder.get(name, []) if isinstance(holder, dict) else []
    return value if isinstance(value, list) else [value]


def lists(name: str) -> Condition:
    """Returns the condition that a profile lists at least one of something."""
    return named(
        lambda exchange, _history: bool(items_of(profile_in(exchange), name)),
        f"the profile lists {name}",
    )


def expect_fit(values: Iterable[Any], schema: str) -> CheckResult:
    """Returns the result that each value must fit a schema of the interface."""
    wrong = [text for text in (fault(value, schema) for value in values) if text]
    return expect(not wrong, f"as the interface has {schema}", wrong)


def _links(exchange: Exchange) -> list[Any]:
    profile = profile_in(exchange)
    return items_of(profile, "links") + items_of(profile.get("payments"), "links")


def _wallets(exchange: Exchange) -> list[Any]:
    return items_of(profile_in(exchange).get("payments"), "crypto_wallets")


def has_links(exchange: Exchange, _history: History) -> bool:
    """Tells whether the profile lists links, its own or those for payments."""
    return bool(_links(exchange))


def has_wallets(exchange: Exchange, _history: History) -> bool:
    """Tells whether the profile lists wallets."""
    return bool(_wallets(exchange))


@check("verified-account-members", on=PROFILES, when=[lists("verified_accounts")], is_shape=True)
def verified_accounts_are_whole(exchange: Exchange, _history: History) -> CheckResult:
    """A verified account has its five members, each of its type."""
    return expect_fit(items_of(profile_in(exchange), "verified_accounts"), "VerifiedAccount")


@check("link-members", on=PROFILES, when=[has_links], is_shape=True)
def links_are_whole(exchange: Exchange, _history: History) -> CheckResult:
    """A link has a label and a URL."""
    return expect_fit(_links(exchange), "Link")


@check("interest-members", on=PROFILES, when=[lists("interests")], is_shape=True)
def interests_are_whole(exchange: Exchange, _history: History) -> CheckResult:
    """An interest has an integer and a name."""
    return expect_fit(items_of(profile_in(exchange), "interests"), "Interest")


@check("language-members", on=PROFILES, when=[lists("languages")], is_shape=True)
def languages_are_whole(exchange: Exchange, _history: History) -> CheckResult:
    """A language has its four members, each of its type."""
    return expect_fit(items_of(profile_in(exchange), "languages"), "Language")


@check("language-positions", on=PROFILES, when=[lists("languages")])
def languages_have_places(exchange: Exchange, _history: History) -> CheckResult:
    """One language at most is the primary one, and no two have the same position."""
    items = items_of(profile_in(exchange), "languages")
    languages = [each for each in items if isinstance(each, dict)]
    primary = sum(each.get("is_primary") is True for each in languages)
    positions = [each["order"] for each in languages if isinstance(each.get("order"), int)]
    is_right = primary <= 1 and len(set(positions)) == len(positions)
    actual = f"{primary} primary languages, positions {as_json(positions)}"
    return expect(is_right, "one primary language at most, each in its own position", actual)


@check("timezone-name", on=PROFILES, when=[profile_has("timezone")], is_shape=True)
def timezone_is_named_in_iana_style(exchange: Exchange, _history: History) -> CheckResult:
    """A time zone is named as the IANA database does, and not as an offset from UTC."""
    name = profile_in(exchange)["timezone"]
    is_named = isinstance(name, str) and _ZONE.fullmatch(name)
    return expect(is_named, "a name such as Europe/Lisbon or UTC", name)


@check("gallery-image-members", on=PROFILES, when=[lists("gallery")], is_shape=True)
def gallery_images_are_whole(exchange: Exchange, _history: History) -> CheckResult:
    """An image of the gallery has a URL; its text alternative is a text."""
    return expect_fit(items_of(profile_in(exchange), "gallery"), "GalleryImage")


@check("payments-members", on=PROFILES, when=[profile_has("payments")], is_shape=True)
def payments_are_whole(exchange: Exchange, _history: History) -> CheckResult:
    """Payments hold links or wallets, in lists."""
    payments = profile_in(exchange)["payments"]
    error = fault(payments, "Payments")
    is_known = isinstance(payments, dict) and bool({"links", "crypto_wallets"} & set(payments))
    return expect(not error and is_known, "links and crypto_wallets", error or payments)


@check("crypto-wallet-members", on=PROFILES, when=[has_wallets], is_shape=True)
def wallets_are_whole(exchange: Exchange, _history: History) -> CheckResult:
    """A wallet has a label and an address."""
    return expect_fit(_wallets(exchange), "CryptoWalletAddress")


@check("contact-info-strings", on=PROFILES, when=[profile_has("contact_info")], is_shape=True)
def contact_details_are_texts(exchange: Exchange, _history: History) -> CheckResult:
    """Contact details are texts under the six names of the interface."""
    return expect_fit([profile_in(exchange)["contact_info"]], "ContactInfo")


# Judges who sees what of a profile: the public, a token, its owner, others (interface, Profile).

AT_MOST = 4  # interface, Limits: verified accounts in a profile
OK = 200
PUBLIC = frozenset({"none"})


def twin(exchange: Exchange, history: History, kinds: frozenset[str]) -> Exchange | None:
    """Returns a lookup of the same identifier by another kind of client, if it still holds."""
    if exchange.operation != LOOKUP:
        return None
    for before in history.near(LOOKUP):
        if not history.still(before):
            return None
        is_twin = before.value == exchange.value and before.identity.kind in kinds
        if is_twin and before.identity != exchange.identity and profile_in(before):
            return before
    return None


def other_side(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the public lookup beside one with a token, or the other way round."""
    kind = exchange.identity.kind
    if kind not in {*PUBLIC, *TOKENS}:
        return None
    return twin(exchange, history, PUBLIC if kind in TOKENS else TOKENS)


def was_seen_with_token(exchange: Exchange, history: History) -> bool:
    """Tells whether the profile was looked up with another token, and nothing changed since."""
    return twin(exchange, history, TOKENS) is not None


def was_seen_from_other_side(exchange: Exchange, history: History) -> bool:
    """Tells whether the profile was looked up both with a token and without."""
    return other_side(exchange, history) is not None


def has_more_than_four_accounts(exchange: Exchange, history: History) -> bool:
    """Tells whether the profile is known to have more than four verified accounts."""
    shown = len(_accounts(exchange))
    with_token = twin(exchange, history, TOKENS)
    return shown > AT_MOST or len(_accounts(with_token)) > AT_MOST


def counts_hidden_accounts(exchange: Exchange, history: History) -> bool:
    """Tells whether the number of verified accounts says more than the list, or differs."""
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


def hides_contact_details(exchange: Exchange, history: History) -> bool:
    """Tells whether the profile is the one that the target names as hiding its contact details."""
    return exchange.value == history.known.hidden_contact_slug


def read_both_ways(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the owner's lookup beside their own profile, or the other way round."""
    account = exchange.identity.account
    if account is None:
        return None
    elsewhere = LOOKUP if exchange.operation == OWN_PROFILE else OWN_PROFILE
    for before in history.near(elsewhere):
        is_same_person = profile_in(before).get("hash") == profile_in(exchange).get("hash")
        if is_same_person and history.still(before) and before.identity.account == account:
            return before
    return None


def was_read_both_ways(exchange: Exchange, history: History) -> bool:
    """Tells whether the owner read the profile both by lookup and as their own."""
    return read_both_ways(exchange, history) is not None


@check("profile-lookup-open", on=[LOOKUP], when=[is_get, is_public_profile, sends_no_credentials])
def lookup_needs_no_credentials(exchange: Exchange, _history: History) -> CheckResult:
    """A public profile is found without credentials."""
    return expect(exchange.status == OK, "200 without credentials", f"status {exchange.status}")


@check("authenticated-only-fields", on=PROFILES, when=[holds_profile, is_anonymous])
def public_sees_no_authenticated_field(exchange: Exchange, _history: History) -> CheckResult:
    """No field for authenticated clients is shown to the public."""
    shown = [name for name in AUTHENTICATED_ONLY if name in profile_in(exchange)]
    return expect(
        not shown, "no field for clients with a token", f"shown to the public: {as_json(shown)}"
    )


@check("authenticated-only-fields", on=PROFILES, when=[holds_profile, has_token])
def token_shows_number_of_accounts(exchange: Exchange, _history: History) -> CheckResult:
    """The one authenticated field that always applies is there: the number of accounts."""
    has_number = "number_verified_accounts" in profile_in(exchange)
    return expect(has_number, "number_verified_accounts with a token", sorted(profile_in(exchange)))


@check(
    "authenticated-only-fields", on=PROFILES, when=[holds_profile, has_token, was_seen_with_token]
)
def every_token_shows_the_same_fields(exchange: Exchange, history: History) -> CheckResult:
    """Every token shows the same fields of a profile."""
    before = proven(twin(exchange, history, TOKENS))
    differing = _names(profile_in(exchange)) ^ _names(profile_in(before))
    return expect(not differing, "the same fields with any token", differing, before)


@check(
    *("profile-lookup-open", "authenticated-only-fields"),
    on=[LOOKUP],
    when=[holds_profile, was_seen_from_other_side],
)
def public_part_is_contained(exchange: Exchange, history: History) -> CheckResult:
    """What the public sees is contained in what a token sees, and equal where both see it."""
    before = proven(other_side(exchange, history))
    profiles = (profile_in(before), profile_in(exchange))
    public, full = profiles if exchange.identity.kind in TOKENS else reversed(profiles)
    names = set(public) - {"verified_accounts"}
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
    """The public sees four verified accounts at most."""
    shown = len(_accounts(exchange))
    return expect(
        shown <= AT_MOST,
        "four at most",
        f"{shown} accounts",
        twin(exchange, history, TOKENS),
    )


@check("number-verified-accounts-counts-hidden", on=PROFILES, when=[counts_hidden_accounts])
def number_counts_all_accounts(exchange: Exchange, history: History) -> CheckResult:
    """The number counts all accounts, hidden ones too, and is the same for everybody.

    Who sees hidden accounts sees all of them.
    """
    number, listed = profile_in(exchange)["number_verified_accounts"], _accounts(exchange)
    elsewhere = _number_elsewhere(exchange, history)
    actual = f"{number} of {len(listed)} listed, {elsewhere} to another"
    is_enough = number == len(listed) if _lists_hidden(listed) else number >= len(listed)
    is_right = is_enough and elsewhere == number
    return expect(is_right, "one number that counts all", actual, twin(exchange, history, TOKENS))


@check("hidden-accounts-left-out", on=PROFILES, when=[holds_profile, is_of_somebody_else])
def hidden_accounts_are_left_out(exchange: Exchange, _history: History) -> CheckResult:
    """Hidden accounts are shown to their owner only."""
    hidden = [
        each for each in _accounts(exchange) if isinstance(each, dict) and each.get("is_hidden")
    ]
    return expect(not hidden, "hidden accounts for their owner only", f"{len(hidden)} are shown")


@check("hidden-accounts-left-out", on=PROFILES, when=[holds_profile, is_of_owner])
def owner_sees_all_accounts(exchange: Exchange, _history: History) -> CheckResult:
    """The owner sees as many accounts as are counted."""
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
    """The own profile is what a lookup gives its owner."""
    before = proven(read_both_ways(exchange, history))
    is_own = exchange.operation == OWN_PROFILE
    own, found = (exchange, before) if is_own else (before, exchange)
    one, other = profile_in(found), profile_in(own)
    differing = differing_pairs(one, other, sorted({*one, *other}))
    actual = as_pairs(differing, "looked up", "own")
    return expect(not differing, "all that a lookup gives its owner", actual, before)


def _accounts(exchange: Exchange | None) -> list[Any]:
    listed = profile_in(exchange).get("verified_accounts") if exchange else None
    return listed if isinstance(listed, list) else []


def _lists_hidden(accounts: list[Any]) -> bool:
    return any(isinstance(each, dict) and each.get("is_hidden") for each in accounts)


def _number_elsewhere(exchange: Exchange, history: History) -> Any:
    """Returns the number of accounts in another token's response, or else in this one."""
    number = profile_in(exchange).get("number_verified_accounts")
    before = twin(exchange, history, TOKENS)
    return profile_in(before).get("number_verified_accounts", number) if before else number


def _names(profile: Mapping[str, Any]) -> set[str]:
    return {name for name in OPTIONAL if name in profile}


@probe(
    *("profile-lookup-open", "authenticated-only-fields", "profile-required-members"),
    *("hash-lower-case-hex", "profile-hash-is-primary", "profile-url-full"),
    *("optional-fields-omitted", "profile-optional-types", "verified-account-members"),
    *("hidden-accounts-left-out", "profile-lookup-statuses", "json-bodies"),
    *("rate-limit-headers", "rate-limit-anonymous", "last-edit-utc", "registration-date-shapes"),
    *("contact-info-strings", "link-members", "interest-members", "language-members"),
    *("timezone-name", "language-positions"),
    *("gallery-image-members", "payments-members", "crypto-wallet-members"),
    *("rate-limit-authenticated", "number-verified-accounts-counts-hidden"),
    needs=("slug",),
)
def one_profile_seen_by_everyone(client: ProbeClient) -> Parts:
    """Looks one profile up anonymously, with an API key and as its owner, as another, read-only."""
    for several in (("anonymous",), ("api_key", "owner"), ("other", "reader")):
        path = f"/profiles/{client.known.slug}"
        yield [client.get(path, who) for who in several if client.has(who)]


@probe("contact-info-only-when-public", needs=("hidden_contact_slug", "api_key"))
def lookup_of_hidden_contact_details(client: ProbeClient) -> Parts:
    """Looks the profile up with tokens that may not see its contact details."""
    for who in ("api_key", "owner"):
        if client.has(who):
            yield client.get(f"/profiles/{client.known.hidden_contact_slug}", who)


@probe(
    *("own-profile-is-full", "bearer-header", "scope-per-operation", "json-bodies"),
    needs=("owner", "slug"),
)
def own_profile_beside_lookup(client: ProbeClient) -> None:
    """Reads the own profile in both ways."""
    client.recall(f"/profiles/{client.known.slug}", "owner")
    client.recall("/me/profile", "owner")
