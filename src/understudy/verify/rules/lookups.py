"""Profile lookups: identifiers, statuses, and the URLs in responses (interface)."""

import re
from http import HTTPStatus
from typing import Any, Final

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import ASSOCIATED_EMAIL, AVATARS, LOOKUP, PROFILES, QR_CODE
from understudy.verify.account_history import account_of, own_hashes
from understudy.verify.causes import read_by_other
from understudy.verify.checks import (
    CheckResult,
    check,
    credentials_are_certain,
    demands,
    document_allows,
    expect,
    expect_equal,
    expect_refused,
    expect_status,
    found,
    holds_profile,
    is_anonymous,
    is_get,
    is_public_profile,
    is_unknown_identifier,
    proven,
    tells,
    was_refused,
)
from understudy.verify.history import MADE_UP, History, avatars_in, made_up_hash, profile_in
from understudy.verify.pictures import DEFAULT_SIZE, fitting, picture_of
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.equivalent_requests import MADE_UP_TAG
from understudy.verify.shapes import schema_error
from understudy.verify.switches import by_success, experiment, reading, status_of
from understudy.verify.target import email_hash, md5_of
from understudy.verify.value_texts import as_pairs, differing_pairs

STATED: Final = frozenset({200, 404, 429, 500})  # interface, Endpoints
ALSO: Final = frozenset({400, 401, 403})
OF_HTTP: Final = frozenset({406, 414, 431})
"""Statuses by which HTTP itself lets any server refuse a request."""

_KNOWN_TYPES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""Media types with one name each, whose formats a decoder tells apart with certainty."""

_OF_PICTURES: Final = frozenset({"avatar_url", "avatar_alt_text", "header_image"})
"""Members that may differ with the identifier, or hold a URL that is signed for each response."""


def _normalised(mail: str) -> str:
    return mail.strip().lower()


def is_hash_of_unusual_spelling(exchange: Exchange, history: History) -> bool:
    """Tells whether the hash is of a known address with capitals or spaces."""
    known = history.known
    unusual = [mail for mail in (*known.emails, *known.other_emails) if mail != _normalised(mail)]
    identifier = exchange.value or exchange.request.query.get("email_hash", "")
    return identifier in {email_hash(mail) for mail in unusual}


def is_own_address(exchange: Exchange, history: History) -> bool:
    """Tells whether the account asks about an address of its own."""
    return exchange.request.query.get("email_hash") in own_hashes(exchange, history)


sends_no_invalid_credentials = tells(
    "the Authorization header, if any, is a valid token",
    lambda it, _: not (it.request.header("authorization") and it.identity.kind == "none"),
)


def _hashes_of(exchange: Exchange, history: History) -> tuple[str, ...]:
    return history.hashes_of(account_of(exchange, history))


hashes_are_known = tells(
    "the profile is of a test account whose e-mail addresses the target names",
    lambda it, history: bool(_hashes_of(it, history)),
)


def found_by_other_name(exchange: Exchange, history: History) -> Exchange | None:
    """Returns a lookup of the same person by another identifier."""
    for owns in (history.is_own, history.is_others):
        if owns(exchange.value):
            for before in history.near(LOOKUP):
                if owns(before.value) and before.value != exchange.value and profile_in(before):
                    return before
    return None


was_found_by_other_name = found(
    found_by_other_name, "the same person was found by another identifier"
)


def found_by_same_client(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the same client's lookup by another identifier, if nothing was written since."""
    before = found_by_other_name(exchange, history)
    if before is None or before.identity != exchange.identity or not history.still(before):
        return None
    return before


same_client_found_by_other_name = found(
    found_by_same_client,
    "the same client found the person by another identifier, with no write since",
)


def is_part_of_a_name(exchange: Exchange, history: History) -> bool:
    """Tells whether the identifier is a part of the account's slug or hash, or a pattern for it."""
    known, text = history.known, exchange.value
    names = {name for name in (known.slug, *known.own_hashes) if name}
    part = text.removesuffix("_").removesuffix(".json")
    return text not in names and any(name.startswith(part) for name in names if part)


is_private_profile = tells(
    "the identifier is of the private profile that the target names",
    lambda it, history: it.value == history.known.private_slug,
)
is_of_api = tells(
    "the status is one that the API itself chooses", lambda it, _: it.status not in ALSO | OF_HTTP
)
has_unstated_status = tells(
    "the status is one that the interface does not name",
    lambda it, _: it.status not in STATED | OF_HTTP,
)


_BY_KNOWN_NAME = (is_public_profile, credentials_are_certain, sends_no_invalid_credentials)


@check("email-hash-normalised", on=[LOOKUP], when=[is_hash_of_unusual_spelling])
def unusual_spelling_is_found(exchange: Exchange, _history: History) -> CheckResult:
    """An address with capitals or spaces is found by the hash of its normalised form."""
    return expect(exchange.status == HTTPStatus.OK, "the address is found", exchange.status)


@check(
    "email-hash-normalised",
    on=[ASSOCIATED_EMAIL],
    when=[is_hash_of_unusual_spelling, is_own_address],
)
def unusual_spelling_is_associated(exchange: Exchange, _history: History) -> CheckResult:
    """An own address with capitals or spaces is associated by the hash of its normalised form."""
    return expect_equal(exchange.json_object.get("associated"), expected=True, what="associated")


@check("profile-by-hash-or-slug", on=[LOOKUP], when=_BY_KNOWN_NAME)
def known_profile_is_found(exchange: Exchange, _history: History) -> CheckResult:
    """Each hash and the slug of a public profile find it."""
    return expect(exchange.status == HTTPStatus.OK, "200", f"status {exchange.status}")


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
    """A client gets the same profile by each hash and by the slug, apart from the picture.

    Pictures may differ, since an avatar can be selected for each e-mail address.
    """
    before = proven(found_by_same_client(exchange, history))
    earlier, now = profile_in(before), profile_in(exchange)
    names = sorted({*earlier, *now} - _OF_PICTURES)
    differing = as_pairs(differing_pairs(earlier, now, names), before.value, exchange.value)
    return expect(not differing, "one profile by every name", differing, before)


@check("profile-hash-is-primary", on=PROFILES, when=[holds_profile, hashes_are_known])
def hash_is_of_primary_address(exchange: Exchange, history: History) -> CheckResult:
    """The hash of a profile is that of the primary address, the first that the target names."""
    primary, hash_ = _hashes_of(exchange, history)[0], profile_in(exchange).get("hash")
    other = read_by_other(exchange, history) if hash_ != primary else None
    is_others = other is not None and profile_in(other).get("hash") == hash_
    return expect_equal(hash_, primary, "hash", other if is_others else None)


@check("profile-by-hash-or-slug", on=[LOOKUP], when=[is_part_of_a_name, credentials_are_certain])
def part_of_a_name_finds_nobody(exchange: Exchange, history: History) -> CheckResult:
    """A profile is found by its whole hash or slug only, not by a part or a pattern."""
    profile, primary = profile_in(exchange), history.known.own_hashes[:1]
    is_own = bool(profile) and profile.get("hash") in primary
    return expect(not is_own, "no profile for what is nearly its slug or hash", profile.get("hash"))


@check("profile-private", on=[LOOKUP], when=[is_private_profile, credentials_are_certain])
def private_profile_is_its_owners(exchange: Exchange, _history: History) -> CheckResult:
    """A private profile is returned to its owner, and refused to everybody else."""
    is_owner = exchange.identity.account == "private"
    return expect_status(exchange, 200) if is_owner else expect_status(exchange, 403)


@check("profile-lookup-statuses", on=[LOOKUP], when=[is_of_api])
def status_is_stated(exchange: Exchange, _history: History) -> CheckResult:
    """A lookup has one of the four statuses that the interface names."""
    return expect(exchange.status in STATED, "200, 404, 429 or 500", f"status {exchange.status}")


@check("profile-lookup-other-refusals", on=[LOOKUP], when=[was_refused, has_unstated_status])
def other_refusal_has_error_body(exchange: Exchange, _history: History) -> CheckResult:
    """A refusal that the interface does not name is 400, 401 or 403, with an Error."""
    error = schema_error(exchange.body, "Error") if exchange.body is not NO_JSON else "no JSON"
    actual = f"status {exchange.status} {error}"
    return expect(exchange.status in ALSO and not error, "400, 401 or 403 with an Error", actual)


@probe("profile-by-hash-or-slug", "profile-hash-is-primary", needs=("slug", "hashes"))
def lookups_by_every_name(client: ProbeClient) -> Parts:
    """Looks the same person up by slug and by every hash."""
    client.recall(f"/profiles/{client.known.slug}")  # compared only if nothing was written since
    for identifier in client.known.own_hashes:
        yield client.get(f"/profiles/{identifier}")


@probe(
    "unset-required-strings-empty",
    "profile-hash-is-primary",
    "hidden-accounts-left-out",
    "profile-by-hash-or-slug",
    needs=("other_slug",),
)
def lookups_of_other_account(client: ProbeClient) -> Parts:
    """Looks the other account's profile up, anonymously and as its owner, by its last address."""
    yield client.get(f"/profiles/{client.known.other_slug}")
    if client.has("other"):
        identifier = (client.known.other_slug, *client.known.others_hashes)[-1]
        yield client.get(f"/profiles/{identifier}", "other")


@probe("email-hash-normalised", needs=("other_emails",))
def lookups_of_unusual_spellings(client: ProbeClient) -> Parts:
    """Looks up by the hash of each known address that has capitals or spaces."""
    for email in (*client.known.emails, *client.known.other_emails):
        if email != _normalised(email):
            yield client.get(f"/profiles/{email_hash(email)}")


@probe(
    "profile-unknown-404",
    "error-members",
    "error-shape",
    "profile-lookup-statuses",
    "rate-limit-headers",
    "rate-limit-counted-operations",
    "rate-limit-window",
    "error-unknown-profile",
    "head-like-get",
)
def lookups_of_unknown_identifiers(client: ProbeClient) -> Parts:
    """Looks up a slug, a hash and an identifier beyond ASCII that do not exist."""
    path = f"/profiles/{MADE_UP}-slug"
    yield [client.send(method, path) for method in ("GET", "HEAD")]
    yield client.get(f"/profiles/{made_up_hash(0)}")
    yield client.get(f"/profiles/{MADE_UP}-é-名前")


@probe("profile-by-hash-or-slug", needs=("slug", "hashes"))
def lookups_by_parts_of_a_name(client: ProbeClient) -> Parts:
    """Looks up by parts of the slug and of a hash, a pattern for the slug, and slug.json."""
    part = (client.known.slug or "")[:-1]
    nearly = (part or MADE_UP, f"{part}_", f"{client.known.slug}.json")
    yield [client.get(f"/profiles/{identifier}") for identifier in nearly]
    yield client.get(f"/profiles/{client.known.own_hashes[0][:32]}")


@probe("profile-private", "error-private-profile", needs=("private_slug",))
def lookups_of_private_profile(client: ProbeClient) -> Parts:
    """Looks a private profile up anonymously, as another account and as its owner."""
    for who in filter(client.has, ("anonymous", "other", "private")):
        yield client.get(f"/profiles/{client.known.private_slug}", who)


# Every URL in a response leads to what it names (interface, What the service does).


def addresses_in(profile: Any) -> list[tuple[str, str]]:
    """Returns the URLs in a profile that the service itself serves, each with its member's name."""
    addresses = [(name, str(profile.get(name) or "")) for name in ("avatar_url", "profile_url")]
    header = re.search(r"url\(['\"]?([^'\")]+)", str(profile.get("header_image", "")))
    addresses += [("header_image", header[1])] if header else []
    for name, key in (("gallery", "url"), ("verified_accounts", "service_icon")):
        items = [item for item in profile.get(name) or () if isinstance(item, dict)]
        addresses += [(name, str(item.get(key, ""))) for item in items]
    return [(name, url) for name, url in addresses if url]


def _name_in(exchange: Exchange, url: str) -> str:
    """Returns the name of the member of a response that holds a URL; empty if none does."""
    if any(avatar.get("image_url") == url for avatar in avatars_in(exchange)):
        return "image_url"
    addresses = addresses_in(profile_in(exchange))
    return next((name for name, address in addresses if address == url), "")


def named_in(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest response that contains the requested URL."""
    url = exchange.request.url
    return next((each for each in history.of(*PROFILES, *AVATARS) if _name_in(each, url)), None)


is_of_no_operation = tells(
    "an anonymous client requests a URL that is no operation",
    lambda it, _: not it.operation and it.identity.kind == "none",
)


was_named = found(named_in, "an earlier response holds the URL")


@check("avatar-urls-resolve", when=[is_of_no_operation, is_get, was_named])
def address_leads_to_what_it_names(exchange: Exchange, history: History) -> CheckResult:
    """The profile's URL leads to its page, and every other URL in a response to a picture."""
    before = proven(named_in(exchange, history))
    is_success = exchange.response.is_success
    if _name_in(before, exchange.request.url) == "profile_url":
        return expect(is_success, "the profile's page", exchange.status, before)
    stated, actual_type = exchange.response.media_type, picture_of(exchange).media_type
    is_picture = stated.startswith("image/") and _is_declared(exchange)
    part = exchange.response.header("content-range")
    actual = f"status {exchange.status}, {stated} {part}".rstrip()
    if stated != actual_type and {stated, actual_type} <= _KNOWN_TYPES:
        is_picture, actual = False, f"{actual}, whose content is {actual_type}"
    return expect(is_success and is_picture, "a picture", actual, before)


def _is_declared(exchange: Exchange) -> bool:
    """Returns whether the status is not 206, or a range was requested and is stated."""
    last = len(exchange.response.body) - 1
    part = re.fullmatch(rf"bytes 0-{last}/(\d+|\*)", exchange.response.header("content-range"))
    return exchange.status != HTTPStatus.PARTIAL_CONTENT or bool(
        part and exchange.request.header("range")
    )


@probe("avatar-urls-resolve", needs=("slug",))
def addresses_of_profile(client: ProbeClient) -> Parts:
    """Fetches the URLs in a profile that the service itself serves, one of each kind."""
    able = (who for who in ("owner", "api_key") if client.has(who))
    who = next(able, "anonymous")
    profile = profile_in(client.recall(f"/profiles/{client.known.slug}", who, is_lasting=True))
    for url in dict(addresses_in(profile)).values():
        yield client.get(url)


@probe("avatar-urls-resolve", "conditional-reads", needs=("owner",))
def address_of_avatar(client: ProbeClient) -> None:
    """Fetches the URL of the first avatar, with a made-up entity tag."""
    for avatar in avatars_in(client.recall("/me/avatars", "owner", is_lasting=True))[:1]:
        client.get(str(avatar.get("image_url")), headers={"if-none-match": MADE_UP_TAG})


# Query parameters that are repeated or empty.

SIZES: Final = (96, 120)
"""The two sizes, in pixels, of a request that repeats the parameter."""


def repeats_a_size(exchange: Exchange, _history: History) -> bool:
    """Tells whether the query has two sizes that differ, and no more."""
    sizes = {text for name, text in exchange.request.pairs if name == "size"}
    is_repeated = len(exchange.request.pairs) == len(sizes) == len(SIZES)
    return is_repeated and all(size.isdecimal() for size in sizes)


has_empty_size = tells(
    "the query has an empty size, and no more", lambda it, _: it.request.pairs == (("size", ""),)
)


@probe("query-parameter-repeated", needs=("slug",))
def code_with_two_sizes(client: ProbeClient) -> None:
    """Requests a QR code with the parameter ``size`` sent twice."""
    first, last = (fitting(client, size) for size in SIZES)
    client.get(f"/qr-code/{client.known.slug}", query=[("size", first), ("size", last)])


@probe("query-parameter-empty", needs=("slug",))
def code_with_an_empty_size(client: ProbeClient) -> None:
    """Requests a QR code with an empty ``size``."""
    client.get(f"/qr-code/{client.known.slug}", query=[("size", "")])


def is_by_md5(exchange: Exchange, history: History) -> bool:
    """Tells whether the identifier is the MD5 hash of a known e-mail address."""
    emails = (*history.known.emails, *history.known.other_emails)
    return exchange.value in {md5_of(email) for email in emails}


def _width(exchange: Exchange) -> str:
    size = picture_of(exchange).size
    return "" if size is None else str(size[0])


def _of_repeated(exchange: Exchange) -> str:
    if not exchange.response.is_success:
        return "refuse"
    first, last = (size for _, size in exchange.request.pairs)
    width = _width(exchange)
    return {first: "first", last: "last"}.get(width, f"a code {width} pixels wide")


def _of_empty(exchange: Exchange) -> str:
    if not exchange.response.is_success:
        return "refuse"
    width = _width(exchange)
    return "ignore" if width == str(DEFAULT_SIZE) else f"a code {width} pixels wide"


reading(
    "email-hash-normalised", on=[LOOKUP], when=[is_by_md5], read=by_success("md5-too", "sha256")
)
reading("profile-private", on=[LOOKUP], when=[is_private_profile, is_anonymous], read=status_of)
reading(
    "query-parameter-repeated",
    on=[QR_CODE],
    when=[is_get, is_public_profile, repeats_a_size],
    read=_of_repeated,
)
reading(
    "query-parameter-empty",
    on=[QR_CODE],
    when=[is_get, is_public_profile, has_empty_size],
    read=_of_empty,
)


@experiment("email-hash-normalised", needs=("emails",))
def lookup_by_md5(client: ProbeClient) -> None:
    """Looks the test account up by the MD5 hash of its primary address."""
    client.get(f"/profiles/{md5_of(client.known.emails[0])}")


# Rules that demand one outcome wherever their conditions hold.

demands(LOOKUP)(
    "profile-unknown-404",
    [is_unknown_identifier, credentials_are_certain, document_allows],
    expect_status,
    404,
)
of_qr_code = demands(QR_CODE)
of_qr_code("query-parameter-repeated", [is_get, repeats_a_size], expect_refused)
of_qr_code("query-parameter-empty", [is_get, has_empty_size], expect_refused)
