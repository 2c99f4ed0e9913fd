"""Judges the parts of a profile: accounts, links, languages, wallets (interface, Resources)."""

import re
from collections.abc import Iterable
from typing import Any, Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import PROFILES
from understudy.verify.checks import CheckResult, Condition, check, expect, named, profile_has
from understudy.verify.history import History, profile_in
from understudy.verify.shapes import fault
from understudy.verify.value_texts import as_json

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
