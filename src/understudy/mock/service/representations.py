"""Builds the response bodies of profiles and avatars (interface, Resources and their fields).

The fields are written out in the order of the interface, since a dict display is the fastest way to
build a body.
"""

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote

from msgspec import UNSET, to_builtins

from understudy.errors import Problem
from understudy.interface.rules import upholds
from understudy.mock.server.api import Complete
from understudy.mock.server.call import SharedBody
from understudy.mock.server.recent import Recent, Recurring
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import Avatar, ContactInfo, Person, Profile, account_number


def profile_url(site_url: str, slug: str) -> str:
    """Returns the URL of a person's profile page."""
    return f"{site_url}/{slug}"


def avatar_url(site_url: str, identifier: str) -> str:
    """Returns the URL of an avatar picture, by e-mail hash or by image_id."""
    return f"{site_url}/avatar/{identifier}"


@lru_cache(maxsize=4096)  # the same images recur on most pages
def image_url(site_url: str, name: str) -> str:
    """Returns the URL of a fixture image."""
    return f"{site_url}/image/{quote(name)}"


@lru_cache(maxsize=4096)  # as above
def icon_url(site_url: str, service_type: str) -> str:
    """Returns the URL of the icon of a service."""
    return f"{site_url}/icons/{quote(service_type)}.svg"


_BODIES: Final[Recent[tuple[str, str, str], SharedBody]] = Recurring(700)
"""Cache of profiles and lists of avatars by slug, base of URLs and kind: about 3 MB. An entry is valid for
its record only, as a change of a person makes a new record."""

CONTACT_ALIASES: Final = {"contact_email": "email", "phone": "cell_phone"}
"""Names in profile edits of newer documents to the members of ContactInfo."""

_CONTACT_NAMES: Final = frozenset((*ContactInfo.__struct_fields__, *CONTACT_ALIASES))
_OWN_NAMES: Final = _CONTACT_NAMES.union(Profile.__struct_fields__)
"""Members of the interface, which also rules who may see them."""

PUBLIC_ACCOUNTS = 4  # interface, Limits: verified accounts on unauthenticated profile requests


_TO_SECONDS = len("2026-11-22T17:30:00")


@upholds("last-edit-utc", "updated-date-utc")
def timestamp(instant: datetime) -> str:
    """Returns an instant in the format of responses: UTC, whole seconds, ``Z``."""
    return f"{instant.isoformat()[:_TO_SECONDS]}Z"


def shared_profile(
    person: Person,
    site_url: str,
    returned: Collection[str] = (),
    *,
    is_public: bool = False,
    is_owner: bool = False,
) -> SharedBody:
    """Returns the cached result of ``public_profile`` or ``full_profile`` for a person."""
    kind = "public" if is_public else "owner" if is_owner else "full"
    if person.extra:  # the operation determines which extra members are shown
        kind = " ".join((kind, *sorted(returned)))
    place = (person.slug, site_url, kind)
    body = _BODIES.get(place)
    if body is not None and body.record is person:
        return body
    if is_public:
        profile = public_profile(person, site_url, returned)
    else:
        profile = full_profile(person, site_url, returned, is_owner=is_owner)
    return _BODIES.put(place, SharedBody(profile, person))


def public_profile(person: Person, site_url: str, returned: Collection[str] = ()) -> dict[str, Any]:
    """Returns the profile as anonymous callers see it.

    Args:
        person: Owner of the profile.
        site_url: Base of the URLs in the profile.
        returned: Names of the members that the document in force declares.
    """
    body = _base(person, site_url, _first_four(_accounts(person.profile, site_url)))
    for name, value in person.extra.items():
        if name in returned and name not in _OWN_NAMES:
            body[name] = value
    return body


@upholds("authenticated-only-fields", "hidden-accounts-left-out")
def full_profile(
    person: Person, site_url: str, returned: Collection[str] = (), *, is_owner: bool = False
) -> dict[str, Any]:
    """Returns the profile as callers with a token see it.

    Args:
        person: Owner of the profile.
        site_url: Base of the URLs in the profile.
        returned: Names of the members that the document in force declares.
        is_owner: Whether the caller owns the profile, and sees hidden accounts too.
    """
    profile = person.profile
    body = _base(person, site_url, _accounts(profile, site_url, shows_hidden=is_owner))
    _add_personal(body, profile)
    if isinstance(profile.gallery, tuple):
        body["gallery"] = [
            {
                "url": image_url(site_url, image.image),
                **({} if image.alt_text is UNSET else {"alt_text": image.alt_text}),
            }
            for image in profile.gallery
        ]
    _add_contact(body, person)
    body["number_verified_accounts"] = _number(profile)
    for name, value in person.extra.items():
        # contact_info already shows its members, unless the document declares them here, too
        if name in returned or name not in _CONTACT_NAMES:
            body[name] = value
    return body


@upholds("verified-accounts-at-most-four")
def _first_four(accounts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return accounts[:PUBLIC_ACCOUNTS]


@upholds("profile-hash-is-primary", "unset-required-strings-empty", "avatar-urls-resolve")
def _base(person: Person, site_url: str, accounts: list[dict[str, Any]]) -> dict[str, Any]:
    profile, primary = person.profile, person.emails[0]
    hash_ = email_hash(primary.email)
    body: dict[str, Any] = {
        "hash": hash_,
        "display_name": profile.display_name,
        "profile_url": profile_url(site_url, person.slug),
        "avatar_url": avatar_url(site_url, hash_) if primary.avatar else "",
        "avatar_alt_text": alt_text(person),
        "location": profile.location,
        "description": profile.description,
        "job_title": profile.job_title,
        "company": profile.company,
        "verified_accounts": accounts,
        "pronunciation": profile.pronunciation,
        "pronouns": profile.pronouns,
    }
    if profile.header_image is not UNSET:
        image = image_url(site_url, profile.header_image.image)
        body["header_image"] = f"url('{image}') {profile.header_image.style}"
    if profile.hide_default_header_image is not UNSET:
        body["hide_default_header_image"] = profile.hide_default_header_image
    if profile.background_color is not UNSET:
        body["background_color"] = profile.background_color
    return body


def alt_text(person: Person) -> str:
    """Returns the alt text of the primary e-mail address's avatar; empty without one."""
    selected = person.emails[0].avatar
    if selected is not None:
        for avatar in person.avatars:
            if avatar.image_id == selected:
                return avatar.alt_text
    return ""


def _accounts(
    profile: Profile, site_url: str, *, shows_hidden: bool = False
) -> list[dict[str, Any]]:
    return [
        {
            "service_type": account.service_type,
            "service_label": account.service_label,
            "service_icon": icon_url(site_url, account.service_type),
            "url": account.url,
            "is_hidden": account.is_hidden,
        }
        for account in profile.verified_accounts
        if shows_hidden or not account.is_hidden
    ]


_PERSONAL = (
    "timezone",
    "languages",
    "first_name",
    "last_name",
    "is_organization",
    "links",
    "interests",
    "payments",
    "last_profile_edit",
    "registration_date",
)


@upholds("optional-fields-omitted")
def _add_personal(body: dict[str, Any], profile: Profile) -> None:
    members = to_builtins(profile)
    for name in _PERSONAL:
        if name in members:
            body[name] = members[name]


@upholds("contact-info-only-when-public")
def _add_contact(body: dict[str, Any], person: Person) -> None:
    if person.contact_public and person.profile.contact_info is not UNSET:
        body["contact_info"] = to_builtins(person.profile.contact_info)


@upholds("number-verified-accounts-counts-hidden")
def _number(profile: Profile) -> int:
    return len(profile.verified_accounts)


def avatar(record: Avatar, site_url: str, *, selected: bool) -> dict[str, Any]:
    """Returns an avatar; ``selected`` tells whether the e-mail address in question uses it."""
    return {
        "image_id": record.image_id,
        "image_url": avatar_url(site_url, record.image_id),
        "rating": record.rating,
        "alt_text": record.alt_text,
        "selected": selected,
        "updated_date": record.updated_date,
    }


_FEW: Final = 16
"""Avatars of the longest list that is cached."""


@upholds("avatar-selected-for-email")
def shared_avatars(person: Person, site_url: str, index: int) -> SharedBody:
    """Returns the avatars of a person; a short list is cached.

    Args:
        person: Owner of the avatars.
        site_url: Base of the URLs of the pictures.
        index: Index of the e-mail address that ``selected`` refers to.
    """
    selected = person.emails[index].avatar
    place = (person.slug, site_url, f"avatars, {selected} selected")
    body = _BODIES.get(place)
    if body is not None and body.record is person.avatars:
        return body
    avatars = [avatar(it, site_url, selected=it.image_id == selected) for it in person.avatars]
    body = SharedBody(avatars, person.avatars)
    return _BODIES.put(place, body) if len(avatars) <= _FEW else body


def _slug(beside: Mapping[str, Any]) -> str | None:
    """Returns a slug from the sibling ``name``; newer documents require one of interests."""
    return re.sub("[^a-z0-9]+", "-", str(beside.get("name", "")).lower()).strip("-") or None


def _placeholder_url(beside: Mapping[str, Any]) -> str | None:
    """Returns the URL of the placeholder picture of a person without an avatar."""
    site_url = str(beside.get("profile_url", "")).rpartition("/")[0]
    return avatar_url(site_url, beside["hash"]) if site_url and "hash" in beside else None


def _identifier(beside: Mapping[str, Any]) -> str | int | None:
    """Returns the service type of a verified account, or the account number of a profile."""
    return beside.get("service_type") or _account(beside)


def _account(beside: Mapping[str, Any]) -> int | None:
    """Returns the number of the account that a profile belongs to."""
    slug = str(beside.get("profile_url", "")).rpartition("/")[2]
    return int(account_number(slug)) if slug else None


COMPLETIONS: Final[Mapping[str, Complete]] = {
    "slug": _slug,
    "avatar_url": _placeholder_url,
    "id": _identifier,
    "name": lambda beside: beside.get("service_label"),
    "user_id": _account,
}
"""Members that newer documents require of profiles, to the functions that compute them."""


@upholds("error-shape")
def error_body(problem: Problem) -> dict[str, Any]:
    """Returns a problem in the interface's Error shape."""
    if problem.code is None:
        return {"error": problem.message}
    return {"error": problem.message, "code": problem.code}
