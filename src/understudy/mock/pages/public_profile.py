"""Selects the parts of a profile that its page shows to anonymous visitors.

Visibility is as in the API: disabled profiles are not found, private ones are refused.
"""

import re
from typing import Final
from urllib.parse import quote

from understudy.mock.server.worlds import World
from understudy.mock.service.representations import PUBLIC_ACCOUNTS, alt_text
from understudy.mock.store.hashing import is_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Person, Profile, VerifiedAccount

_COLOUR: Final = re.compile(
    r"#[0-9a-f]{3,8}|[a-z]+|(?:rgba?|hsla?|linear-gradient)\([a-z0-9#%.,()\s-]*\)", re.IGNORECASE
)
"""A colour or a gradient in CSS; it has no slash, so that no URL matches."""

_PLACEMENT: Final = re.compile(r"[a-z0-9%.\s/-]*", re.IGNORECASE)
"""A position and size of a background in CSS; it has no parentheses, so that ``url()`` does not match."""


def find_visible(world: World, slug: str) -> Person | None:
    """Returns the person with this slug, or None if nobody has it or the profile is disabled."""
    person = world.get(PEOPLE, slug)
    return None if person is None or person.visibility == "disabled" else person


OWN: Final = "profile"
"""Path under which clients open the profile of the user who is signed in."""

QR_ENDING: Final = ".qr"
"""Suffix that turns the path of a profile into that of its QR code."""


def slug_of(world: World, identifier: str) -> str | None:
    """Returns the slug for a slug or an e-mail hash; None if there is no such visible profile."""
    name = identifier.lower()
    slug = world.get(SLUGS_BY_HASH, name) if is_hash(name) else name
    return slug if slug is not None and find_visible(world, slug) is not None else None


def is_profile_address(world: World, name: str) -> bool:
    """Tells whether a path leads to a profile or to its QR code."""
    return name == OWN or slug_of(world, name.removesuffix(QR_ENDING)) is not None


def shown_accounts(profile: Profile) -> list[VerifiedAccount]:
    """Returns the verified accounts that anonymous visitors see."""
    public = [account for account in profile.verified_accounts if not account.is_hidden]
    return public[:PUBLIC_ACCOUNTS]


def is_web_address(text: str) -> bool:
    """Tells whether a text may become a link; ``javascript:`` URLs must not."""
    return text.lower().startswith(("https://", "http://"))


def backdrop(profile: Profile, images_url: str) -> str:
    """Returns the backdrop of the card as a value of CSS ``background``; empty without one.

    A value that is not a plain colour, gradient or placement is left out, so that a profile cannot
    style the rest of the page or load resources of other sites.

    Args:
        profile: The person's profile.
        images_url: URL of the fixture images, without a trailing slash.
    """
    layers = []
    header = profile.header_image
    if header and _PLACEMENT.fullmatch(header.style):
        layers.append(f"url('{images_url}/{quote(header.image)}') {header.style}")
    colour = profile.background_color
    if colour and _COLOUR.fullmatch(colour):
        layers.append(colour)
    return ", ".join(layers)


def language(profile: Profile) -> str:
    """Returns the code of the person's primary language; empty if none is set."""
    languages = profile.languages or ()
    return next((language.code for language in languages if language.is_primary), "")


def avatar_alt(person: Person) -> str:
    """Returns the alt text of the primary e-mail address's avatar, or a default."""
    return alt_text(person) or f"Avatar of {person.profile.display_name or person.slug}"
