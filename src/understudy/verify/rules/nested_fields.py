"""What the smaller things hold: accounts, links, languages, avatars, errors (interface, Resources)."""

from collections.abc import Iterable
from typing import Any

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    AVATARS,
    LIST_AVATARS,
    PROFILES,
    RESOURCE,
    UPDATE_AVATAR,
    UPLOAD_AVATAR,
)
from understudy.verify.checks import CheckResult, check, expect
from understudy.verify.history import History, avatars_in, profile_in
from understudy.verify.shapes import fault

RATINGS = ("G", "PG", "R", "X")


def _all_fit(values: Iterable[Any], schema: str) -> CheckResult | None:
    found = list(values)
    wrong = [text for text in (fault(value, schema) for value in found) if text]
    return expect(not wrong, f"as the interface has {schema}", wrong) if found else None


def _listed(holder: Any, name: str) -> list[Any]:
    """Returns a list's items; what should be a list and is none is an item that fits nothing."""
    value = holder.get(name, []) if isinstance(holder, dict) else []
    return value if isinstance(value, list) else [value]


@check("verified-account-members", on=PROFILES)
def _account(exchange: Exchange, _history: History) -> CheckResult | None:
    return _all_fit(_listed(profile_in(exchange), "verified_accounts"), "VerifiedAccount")


@check("link-members", on=PROFILES)
def _link(exchange: Exchange, _history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    links = _listed(profile, "links") + _listed(profile.get("payments"), "links")
    return _all_fit(links, "Link")


@check("interest-members", on=PROFILES)
def _interest(exchange: Exchange, _history: History) -> CheckResult | None:
    return _all_fit(_listed(profile_in(exchange), "interests"), "Interest")


@check("language-members", on=PROFILES)
def _language(exchange: Exchange, _history: History) -> CheckResult | None:
    return _all_fit(_listed(profile_in(exchange), "languages"), "Language")


@check("gallery-image-members", on=PROFILES)
def _gallery(exchange: Exchange, _history: History) -> CheckResult | None:
    return _all_fit(_listed(profile_in(exchange), "gallery"), "GalleryImage")


@check("payments-members", on=PROFILES)
def _payments(exchange: Exchange, _history: History) -> CheckResult | None:
    payments = profile_in(exchange).get("payments")
    if payments is None:
        return None
    wrong = fault(payments, "Payments")
    is_known = isinstance(payments, dict) and bool({"links", "crypto_wallets"} & set(payments))
    return expect(not wrong and is_known, "links and crypto_wallets", wrong or payments)


@check("crypto-wallet-members", on=PROFILES)
def _wallet(exchange: Exchange, _history: History) -> CheckResult | None:
    payments = profile_in(exchange).get("payments")
    return _all_fit(_listed(payments, "crypto_wallets"), "CryptoWalletAddress")


@check("contact-info-strings", on=PROFILES)
def _contact(exchange: Exchange, _history: History) -> CheckResult | None:
    contact = profile_in(exchange).get("contact_info")
    return None if contact is None else _all_fit([contact], "ContactInfo")


@check("avatar-members", on=AVATARS)
def _avatar(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.operation in {UPLOAD_AVATAR, UPDATE_AVATAR} and exchange.response.is_success:
        return _all_fit([exchange.body], "Avatar")
    if exchange.operation == LIST_AVATARS and exchange.response.is_success:
        items = exchange.body if isinstance(exchange.body, list) else [exchange.body]
        return _all_fit(items, "Avatar")
    return None


@check("rating-values", on=AVATARS)
def _rating(exchange: Exchange, _history: History) -> CheckResult | None:
    found = [avatar.get("rating") for avatar in avatars_in(exchange)]
    wrong = [rating for rating in found if rating not in RATINGS]
    asked = exchange.request.json
    if exchange.operation == UPDATE_AVATAR and isinstance(asked, dict) and "rating" in asked:
        is_known = asked["rating"] in RATINGS
        if not is_known:
            return expect(
                exchange.response.is_refusal, "a rating of another kind is refused", asked
            )
    return expect(not wrong, f"one of {', '.join(RATINGS)}", wrong) if found else None


@check("associated-response-members", on=[ASSOCIATED_EMAIL])
def _associated(exchange: Exchange, _history: History) -> CheckResult | None:
    if not exchange.response.is_success:
        return None
    wrong = fault(exchange.body, "AssociatedResponse")
    return expect(not wrong, "a boolean named associated", wrong)


@check("error-members", on=RESOURCE)
def _error(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.status < 400 or not exchange.json_object:  # noqa: PLR2004 - where errors begin
        return None
    wrong = fault(exchange.body, "Error")
    return expect(not wrong, "error as a text, and code as one", wrong)


@check("avatar-selected-for-email", on=[LIST_AVATARS])
def _selected(exchange: Exchange, _history: History) -> CheckResult | None:
    avatars = avatars_in(exchange)
    if not avatars or not exchange.request.query.get("selected_email_hash"):
        return None
    marks = [avatar.get("selected") for avatar in avatars]
    is_said = all(isinstance(mark, bool) for mark in marks) and marks.count(True) <= 1
    return expect(is_said, "each says whether it is selected, one at most", marks)
