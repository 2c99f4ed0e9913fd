"""Makes the profile of a person fixture from the members of a profile that a recording saw.

A value that is not of the type that a fixture has is left out: deployments break their documents too,
and one such value must not keep the mock from serving all others.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_TEXTS: Final = (
    *("display_name", "location", "description", "job_title", "company", "pronunciation"),
    *("pronouns", "timezone", "first_name", "last_name", "background_color"),
)
_FLAGS: Final = ("is_organization", "hide_default_header_image")
_DATES: Final = ("last_profile_edit", "registration_date")
_CONTACTS: Final = ("home_phone", "work_phone", "cell_phone", "email", "contact_form", "calendar")
_LINK: Final[Mapping[str, type]] = {"label": str, "url": str}
_WALLET: Final[Mapping[str, type]] = {"label": str, "address": str}
_ACCOUNT: Final[Mapping[str, type]] = {"service_type": str, "service_label": str, "url": str}
_LISTS: Final[Mapping[str, Mapping[str, type]]] = {
    "links": _LINK,
    "interests": {"id": int, "name": str},
    "languages": {"code": str, "name": str, "is_primary": bool, "order": int},
}
_MOST_HIDDEN: Final = 100
"""Hidden accounts that are made up beside those that were seen."""

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?", re.ASCII)
NO_DATE: Final = "2020-01-01T00:00:00Z"
"""The date of an avatar whose own was not seen."""


def recorded_profile(members: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """Returns the profile of a fixture, without its pictures.

    Args:
        members: The members of a profile, as a response has them.
        digest: Hexadecimal digits of the person's own.
    """
    profile = {name: members[name] for name in _TEXTS if isinstance(members.get(name), str)}
    profile |= {name: members[name] for name in _FLAGS if isinstance(members.get(name), bool)}
    dates = {name: members[name] for name in _DATES if name in members}
    profile |= {name: date for name, date in dates.items() if date is None or is_date(date)}
    profile["verified_accounts"] = _verified(members, digest)
    profile |= {
        name: list(items(members[name], types)) for name, types in _LISTS.items() if name in members
    }
    payments = members.get("payments")
    if isinstance(payments, dict):
        profile["payments"] = {
            "links": list(items(payments.get("links"), _LINK)),
            "crypto_wallets": list(items(payments.get("crypto_wallets"), _WALLET)),
        }
    contact = members.get("contact_info")
    if isinstance(contact, dict):
        profile["contact_info"] = {
            name: contact[name] for name in _CONTACTS if isinstance(contact.get(name), str)
        }
    return profile


def items(
    value: Any, types: Mapping[str, type], optional: Mapping[str, type] | None = None
) -> Iterator[dict[str, Any]]:
    """Yields the items of a list that have all members of these types, with those and optional ones."""
    known = {**types, **(optional or {})}
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict):
            continue
        kept = {name: item[name] for name, kind in known.items() if type(item.get(name)) is kind}
        if kept.keys() >= types.keys():
            yield kept


def is_date(value: object) -> bool:
    """Tells whether a value is a date or an instant as pseudonyms are written."""
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def _verified(members: Mapping[str, Any], digest: str) -> list[dict[str, Any]]:
    """Returns the verified accounts, and as many hidden ones as the profile counts beside them."""
    accounts = list(items(members.get("verified_accounts"), _ACCOUNT, {"is_hidden": bool}))
    number = members.get("number_verified_accounts")
    hidden = max(number - len(accounts), 0) if isinstance(number, int) else 0
    url = f"https://www.example.com/{digest[:16]}"
    unseen = {"service_type": "hidden", "service_label": "Hidden", "url": url, "is_hidden": True}
    return accounts + [{**unseen} for _ in range(min(hidden, _MOST_HIDDEN))]
