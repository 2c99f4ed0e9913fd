"""Judges who is found by which identifier, and with what status (interface, Public operations)."""

from typing import Final

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import ASSOCIATED_EMAIL, LOOKUP, PROFILES
from understudy.verify.causes import read_by_other
from understudy.verify.checks import (
    CheckResult,
    check,
    credentials_are_certain,
    document_allows,
    expect,
    expect_equal,
    expect_status,
    holds_profile,
    is_public_profile,
    is_unknown_identifier,
    proven,
    was_refused,
)
from understudy.verify.history import MADE_UP, History, made_up_hash, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import fault
from understudy.verify.target import email_hash
from understudy.verify.value_texts import as_pairs, differing_pairs

OK = 200
STATED: Final = frozenset({200, 404, 429, 500})  # interface, Endpoints
ALSO: Final = frozenset({400, 401, 403})
OF_HTTP: Final = frozenset({406, 414, 431})
"""Statuses that refuse a request which is wrong as HTTP."""

_OF_PICTURES: Final = frozenset({"avatar_url", "avatar_alt_text", "header_image"})
"""Members that may differ by the address looked up, or be signed for each response."""


def _spelled(mail: str) -> str:
    return mail.strip().lower()


def is_hash_of_unusual_spelling(exchange: Exchange, history: History) -> bool:
    """Tells whether the hash is of a known address that has another spelling than usual."""
    known = history.known
    unusual = [mail for mail in (*known.emails, *known.other_emails) if mail != _spelled(mail)]
    identifier = exchange.value or exchange.request.query.get("email_hash", "")
    return identifier in {email_hash(mail) for mail in unusual}


def is_own_address(exchange: Exchange, history: History) -> bool:
    """Tells whether an account names an address of its own."""
    owns = {"own": history.is_own, "other": history.is_others}.get(exchange.identity.account or "")
    return owns is not None and owns(exchange.request.query.get("email_hash", ""))


def sends_no_invalid_credentials(exchange: Exchange, _history: History) -> bool:
    """Tells whether the Authorization header, if any, is a valid token."""
    return not (exchange.request.header("authorization") and exchange.identity.kind == "none")


def _account_of(exchange: Exchange, history: History) -> str | None:
    """Returns which test account a profile must be of."""
    if exchange.operation != LOOKUP:
        return exchange.identity.account
    if history.is_own(exchange.value):
        return "own"
    return "other" if history.is_others(exchange.value) else None


def _hashes_of(exchange: Exchange, history: History) -> tuple[str, ...]:
    hashes = {"own": history.known.own_hashes, "other": history.known.others_hashes}
    return tuple(hashes.get(_account_of(exchange, history) or "", ()))


def hashes_are_known(exchange: Exchange, history: History) -> bool:
    """Tells whether the profile is of a test account whose e-mail addresses the target names."""
    return bool(_hashes_of(exchange, history))


def found_by_other_name(exchange: Exchange, history: History) -> Exchange | None:
    """Returns a lookup of the same person by another identifier."""
    for owns in (history.is_own, history.is_others):
        if owns(exchange.value):
            for before in history.near(LOOKUP):
                if owns(before.value) and before.value != exchange.value and profile_in(before):
                    return before
    return None


def was_found_by_other_name(exchange: Exchange, history: History) -> bool:
    """Tells whether the same person was found by another identifier."""
    return found_by_other_name(exchange, history) is not None


def found_by_same_client(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the same client's lookup by another identifier, if nothing was written since."""
    before = found_by_other_name(exchange, history)
    if before is None or before.identity != exchange.identity or not history.still(before):
        return None
    return before


def same_client_found_by_other_name(exchange: Exchange, history: History) -> bool:
    """Tells whether the same client found the person by another identifier, with no write since."""
    return found_by_same_client(exchange, history) is not None


def is_part_of_a_name(exchange: Exchange, history: History) -> bool:
    """Tells whether the identifier is the beginning of the account's slug or of a hash of it."""
    known = history.known
    names = {known.slug, *known.own_hashes}
    return exchange.value not in names and any(
        name is not None and name.startswith(exchange.value) for name in names if exchange.value
    )


def is_private_profile(exchange: Exchange, history: History) -> bool:
    """Tells whether the identifier is of the private profile that the target names."""
    return exchange.value == history.known.private_slug


def is_of_api(exchange: Exchange, _history: History) -> bool:
    """Tells whether the status is one that the API itself chooses."""
    return exchange.status not in ALSO | OF_HTTP


def has_unstated_status(exchange: Exchange, _history: History) -> bool:
    """Tells whether the status is one that the interface does not name."""
    return exchange.status not in STATED | OF_HTTP


_BY_KNOWN_NAME = (is_public_profile, credentials_are_certain, sends_no_invalid_credentials)


@check("email-hash-normalised", on=[LOOKUP], when=[is_hash_of_unusual_spelling])
def unusual_spelling_is_found(exchange: Exchange, _history: History) -> CheckResult:
    """An address in another spelling is found by the hash of its usual one."""
    return expect(exchange.status == OK, "the address is found", exchange.status)


@check(
    "email-hash-normalised",
    on=[ASSOCIATED_EMAIL],
    when=[is_hash_of_unusual_spelling, is_own_address],
)
def unusual_spelling_is_associated(exchange: Exchange, _history: History) -> CheckResult:
    """An own address in another spelling is associated by the hash of its usual one."""
    return expect_equal(exchange.json_object.get("associated"), expected=True, what="associated")


@check("profile-by-hash-or-slug", on=[LOOKUP], when=_BY_KNOWN_NAME)
def known_profile_is_found(exchange: Exchange, _history: History) -> CheckResult:
    """Each hash and the slug of a public profile find it."""
    return expect(exchange.status == OK, "200", f"status {exchange.status}")


@check("profile-by-hash-or-slug", on=[LOOKUP], when=[*_BY_KNOWN_NAME, was_found_by_other_name])
def every_name_finds_one_person(exchange: Exchange, history: History) -> CheckResult:
    """Each hash and the slug of a person find the same profile."""
    before = proven(found_by_other_name(exchange, history))
    wanted = profile_in(before).get("hash")
    return expect_equal(profile_in(exchange).get("hash"), wanted, "hash", before)


@check(
    "profile-by-hash-or-slug",
    on=[LOOKUP],
    when=[*_BY_KNOWN_NAME, holds_profile, same_client_found_by_other_name],
)
def every_name_finds_one_profile(exchange: Exchange, history: History) -> CheckResult:
    """A client is given the same profile by each hash and by the slug, apart from the picture.

    Each e-mail address may have an avatar of its own.
    """
    before = proven(found_by_same_client(exchange, history))
    one, other = profile_in(before), profile_in(exchange)
    names = sorted({*one, *other} - _OF_PICTURES)
    differing = as_pairs(differing_pairs(one, other, names), before.value, exchange.value)
    return expect(not differing, "one profile by every name", differing, before)


@check("profile-hash-is-primary", on=PROFILES, when=[holds_profile, hashes_are_known])
def hash_is_of_primary_address(exchange: Exchange, history: History) -> CheckResult:
    """The hash of a profile is that of the primary address, the first that the target names."""
    primary, hash_ = _hashes_of(exchange, history)[0], profile_in(exchange).get("hash")
    other = read_by_other(exchange, history) if hash_ != primary else None
    is_others = other is not None and profile_in(other).get("hash") == hash_
    return expect_equal(hash_, primary, "hash", other if is_others else None)


@check(
    "profile-unknown-404",
    on=[LOOKUP],
    when=[is_unknown_identifier, credentials_are_certain, document_allows],
)
def unknown_identifier_is_not_found(exchange: Exchange, _history: History) -> CheckResult:
    """An identifier of no profile is not found."""
    return expect_status(exchange, 404)


@check("profile-by-hash-or-slug", on=[LOOKUP], when=[is_part_of_a_name, credentials_are_certain])
def part_of_a_name_finds_nobody(exchange: Exchange, history: History) -> CheckResult:
    """A profile is found by a whole hash or slug, not by the beginning of one."""
    profile, primary = profile_in(exchange), history.known.own_hashes[:1]
    is_own = bool(profile) and profile.get("hash") in primary
    return expect(not is_own, "no profile for a part of its slug or hash", profile.get("hash"))


@check("profile-private", on=[LOOKUP], when=[is_private_profile, credentials_are_certain])
def private_profile_is_its_owners(exchange: Exchange, _history: History) -> CheckResult:
    """A private profile is given to its owner, and refused to everybody else."""
    is_owner = exchange.identity.account == "private"
    return expect_status(exchange, 200) if is_owner else expect_status(exchange, 403)


@check("profile-lookup-statuses", on=[LOOKUP], when=[is_of_api])
def status_is_stated(exchange: Exchange, _history: History) -> CheckResult:
    """A lookup has one of the four statuses that the interface names."""
    return expect(exchange.status in STATED, "200, 404, 429 or 500", f"status {exchange.status}")


@check("profile-lookup-other-refusals", on=[LOOKUP], when=[was_refused, has_unstated_status])
def other_refusal_has_error_body(exchange: Exchange, _history: History) -> CheckResult:
    """A refusal that the interface does not name is 400, 401 or 403, with an Error."""
    error = fault(exchange.body, "Error") if exchange.body is not NO_JSON else "no JSON"
    actual = f"status {exchange.status} {error}"
    return expect(exchange.status in ALSO and not error, "400, 401 or 403 with an Error", actual)


@probe("profile-by-hash-or-slug", "profile-hash-is-primary", needs=("slug", "hashes"))
def lookups_by_every_name(client: ProbeClient) -> Parts:
    """Looks the same person up by slug and by every hash."""
    client.recall(f"/profiles/{client.known.slug}")  # compared only if nothing was written since
    for identifier in client.known.own_hashes:
        yield client.get(f"/profiles/{identifier}")


@probe(
    *("unset-required-strings-empty", "profile-hash-is-primary", "hidden-accounts-left-out"),
    needs=("other_slug",),
)
def lookups_of_other_account(client: ProbeClient) -> Parts:
    """Looks the other account's profile up, anonymously and as its owner."""
    yield client.get(f"/profiles/{client.known.other_slug}")
    if client.has("other"):
        yield client.get(f"/profiles/{client.known.other_slug}", "other")


@probe("email-hash-normalised", needs=("other_emails",))
def lookups_of_unusual_spellings(client: ProbeClient) -> Parts:
    """Looks up by the hash of each address that is written in capitals."""
    for email in (*client.known.emails, *client.known.other_emails):
        if email != _spelled(email):
            yield client.get(f"/profiles/{email_hash(email)}")


@probe(
    *("profile-unknown-404", "error-members", "error-shape", "profile-lookup-statuses"),
    *("rate-limit-headers", "rate-limit-counted-operations", "rate-limit-window"),
    "error-unknown-profile",
)
def lookups_of_unknown_identifiers(client: ProbeClient) -> Parts:
    """Looks up a slug, a hash and an identifier beyond ASCII that do not exist."""
    yield client.get(f"/profiles/{MADE_UP}-slug")
    yield client.get(f"/profiles/{made_up_hash(0)}")
    yield client.get(f"/profiles/{MADE_UP}-é-名前")


@probe("profile-by-hash-or-slug", needs=("slug", "hashes"))
def lookups_by_parts_of_a_name(client: ProbeClient) -> Parts:
    """Looks up by the beginning of the slug and of a hash."""
    yield client.get(f"/profiles/{(client.known.slug or '')[:-1] or MADE_UP}")
    yield client.get(f"/profiles/{client.known.own_hashes[0][:32]}")


@probe("profile-private", "error-private-profile", needs=("private_slug",))
def lookups_of_private_profile(client: ProbeClient) -> Parts:
    """Looks a private profile up anonymously, as another account and as its owner."""
    for who in ("anonymous", "other", "private"):
        if client.has(who):
            yield client.get(f"/profiles/{client.known.private_slug}", who)
