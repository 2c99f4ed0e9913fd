"""What a stranger may see of a person on their profile page.

The same people decide here as in the API: who is disabled is not there, who is private says so.
"""

import re
from typing import Final
from urllib.parse import quote

from understudy.mock.engine.worlds import World
from understudy.mock.store.people import PEOPLE, Person, Profile, VerifiedAccount

ACCOUNTS_FOR_STRANGERS = 4  # interface, Limits

_COLOUR: Final = re.compile(
    r"#[0-9a-f]{3,8}|[a-z]+|(?:rgba?|hsla?|linear-gradient)\([a-z0-9#%.,()\s-]*\)", re.IGNORECASE
)  # without a slash, so that no address fits
_PLACEMENT: Final = re.compile(r"[a-z0-9%.\s/-]*", re.IGNORECASE)


def find(world: World, slug: str) -> Person | None:
    """Returns the person whose page this is, or None where there is no page to be seen."""
    person = world.get(PEOPLE, slug)
    return None if person is None or person.visibility == "disabled" else person


def shown_accounts(profile: Profile) -> list[VerifiedAccount]:
    """Returns the verified accounts that strangers see."""
    public = [account for account in profile.verified_accounts if not account.is_hidden]
    return public[:ACCOUNTS_FOR_STRANGERS]


def is_web_address(text: str) -> bool:
    """Tells whether a text may become a link: ``javascript:`` and its kin may not."""
    return text.lower().startswith(("https://", "http://"))


def backdrop(profile: Profile, images_url: str) -> str:
    """Returns what lies behind the card as the value of CSS's ``background``; empty for nothing.

    A value that is no plain colour, gradient or placement is left out, so that a profile cannot
    style the page around it or fetch from elsewhere.

    Args:
        profile: What the person says of themselves.
        images_url: Where fixture images lie, without a slash at the end.
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
    """Returns the code of the language that the person writes in; empty where nobody knows."""
    languages = profile.languages or ()
    return next((language.code for language in languages if language.is_primary), "")


def avatar_alt(person: Person) -> str:
    """Returns what the avatar of the primary address shows, in words."""
    selected = person.emails[0].avatar
    told = (avatar.alt_text for avatar in person.avatars if avatar.image_id == selected)
    return next(told, "") or f"Avatar of {person.profile.display_name or person.slug}"
