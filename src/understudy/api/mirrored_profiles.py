"""Makes the profile of a fixture from a profile as a deployment responds with it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from understudy.api.account_reading import HEADER
from understudy.mock.fixtures.record_checks import (
    DATE_TIME,
    REGISTRATION,
    is_date,
    is_time_zone,
    is_url,
)
from understudy.mock.store.people import (
    GalleryImage,
    HeaderImage,
    Language,
    Link,
    Profile,
    VerifiedAccount,
)

_LONG_AGO: Final = "2020-01-01T00:00:00Z"
_URL: Final = "https://example.com/"
_HIDDEN: Final = VerifiedAccount("hidden", "Hidden", "https://example.com/hidden", is_hidden=True)
_ELSEWHERE: Final = frozenset({"header_image", "gallery", "verified_accounts"})
"""Members whose fixture has another form than the response."""

_EMPTY: Final[tuple[object, ...]] = ("", [], {})
"""Values of members that a deployment has to leave out, and the mock does."""


def mirrored_profile(members: Mapping[str, Any], key: Callable[[str], str]) -> Profile:
    """Returns a profile with every member that is as the interface has it; others are left out.

    A value that has the right type and breaks a rule is replaced: a mock that served it would break
    the rule too, and nothing would differ.

    Args:
        members: The profile as it was read.
        key: Returns the key of the picture at a place of the profile.
    """
    profile = Profile(verified_accounts=tuple(_accounts(members)))
    for name in Profile.__struct_fields__:
        if name in _ELSEWHERE or members.get(name, "") in _EMPTY:
            continue
        if name != "timezone" or is_time_zone(str(members[name])):
            profile = _with_member(profile, name, members[name])
    header = members.get("header_image")
    if isinstance(header, str):
        style = header.rpartition(")")[2].strip()
        header_image = HeaderImage(key(HEADER), style or "no-repeat")
        profile = replace(profile, header_image=header_image)
    gallery = members.get("gallery")
    if isinstance(gallery, list):
        pictures = [
            _gallery_image(key(str(place)), item)
            for place, item in enumerate(gallery)
            if isinstance(item, dict)
        ]
        profile = replace(profile, gallery=tuple(pictures))
    return _as_ruled(profile)


def _as_ruled(profile: Profile) -> Profile:
    """Returns a profile whose dates, URLs and places of languages keep their rules."""
    changed: dict[str, Any] = {}
    edited, registered = profile.last_profile_edit, profile.registration_date
    if isinstance(edited, str) and not is_date(edited, DATE_TIME):
        changed["last_profile_edit"] = _LONG_AGO
    if isinstance(registered, str) and not is_date(registered, REGISTRATION):
        changed["registration_date"] = _LONG_AGO
    if profile.languages:
        changed["languages"] = tuple(_placed(profile.languages))
    if profile.links:
        changed["links"] = tuple(map(_linked, profile.links))
    if profile.payments:
        links = tuple(map(_linked, profile.payments.links))
        changed["payments"] = replace(profile.payments, links=links)
    return replace(profile, **changed)


def _placed(languages: Sequence[Language]) -> Iterator[Language]:
    """Yields languages of which one at most is the primary one, each in its own place."""
    orders = [it.order for it in languages]
    is_repeated = len(set(orders)) < len(orders)
    has_primary = False
    for place, language in enumerate(languages):
        yield replace(
            language,
            order=place if is_repeated else language.order,
            is_primary=language.is_primary and not has_primary,
        )
        has_primary |= language.is_primary


def _linked(link: Link) -> Link:
    return link if is_url(link.url) else replace(link, url=_URL)


def _gallery_image(key: str, members: Mapping[str, Any]) -> GalleryImage:
    text = members.get("alt_text")
    return GalleryImage(key, text) if isinstance(text, str) else GalleryImage(key)


def _with_member(profile: Profile, name: str, value: Any) -> Profile:
    """Returns a profile with one member set; as it was if the value is not of its type."""
    whole = msgspec.to_builtins(profile)
    try:
        return msgspec.convert({**whole, name: value}, Profile)
    except msgspec.ValidationError:
        return profile


def _accounts(members: Mapping[str, Any]) -> Iterator[VerifiedAccount]:
    """Yields the verified accounts, and as many hidden ones as the profile only counts."""
    listed = members.get("verified_accounts")
    shown = [it for it in listed if isinstance(it, dict)] if isinstance(listed, list) else []
    for item in shown:
        yield VerifiedAccount(
            service_type=str(item.get("service_type", "")),
            service_label=str(item.get("service_label", "")),
            url=str(item.get("url")) if is_url(item.get("url")) else _URL,
            is_hidden=item.get("is_hidden") is True,
        )
    count = members.get("number_verified_accounts")
    if isinstance(count, int):
        yield from [_HIDDEN] * max(0, min(count, 100) - len(shown))
