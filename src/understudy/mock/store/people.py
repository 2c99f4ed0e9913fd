"""Defines people as a world holds them: frozen, and in the shape of their fixture files.

Only what someone decided is a field. What follows from it (hashes, addresses, counts, who may see
what) is worked out in answers, so a fixture cannot contradict itself. UNSET is "not given" and is
left out of an answer; None is an explicit null.

``gc=False``: frozen records hold no cycles, and a collector that walked 100,000 people again and
again would take half the time of loading them.
"""

import hashlib
from collections.abc import ItemsView, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import force_setattr, replace

from understudy.errors import BadRequest, NotFound, nearest
from understudy.limits import PICTURE_BYTES, Integer
from understudy.mock.server.journal import ABSENT
from understudy.mock.server.recent import Recent, Recurring
from understudy.mock.server.worlds import Collection, World

Rating = Literal["G", "PG", "R", "X"]  # interface, Rating


class VerifiedAccount(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """An account elsewhere that the person has proved to own; the icon follows from the type."""

    service_type: str
    service_label: str
    url: str
    is_hidden: bool = False


class Link(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A labelled address."""

    label: str
    url: str


class Interest(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Something the person cares for."""

    id: Integer
    name: str


class Language(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A language the person speaks."""

    code: str
    name: str
    is_primary: bool
    order: Integer


class GalleryImage(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A picture on the profile: the name of a fixture image, not an address."""

    image: str
    alt_text: str | UnsetType = UNSET


class CryptoWalletAddress(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A wallet that takes payments."""

    label: str
    address: str


class Payments(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The ways to pay the person."""

    links: tuple[Link, ...] = ()
    crypto_wallets: tuple[CryptoWalletAddress, ...] = ()


class ContactInfo(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The ways to reach the person."""

    home_phone: str | UnsetType = UNSET
    work_phone: str | UnsetType = UNSET
    cell_phone: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    contact_form: str | UnsetType = UNSET
    calendar: str | UnsetType = UNSET


class HeaderImage(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The picture behind the profile card: a fixture image and how it lies there."""

    image: str
    style: str = "no-repeat 50% 50% / cover"


class Profile(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The person's description of themselves (interface, Profile)."""

    display_name: str = ""
    location: str = ""
    description: str = ""
    job_title: str = ""
    company: str = ""
    pronunciation: str = ""
    pronouns: str = ""
    verified_accounts: tuple[VerifiedAccount, ...] = ()
    timezone: str | UnsetType = UNSET
    languages: tuple[Language, ...] | UnsetType = UNSET
    first_name: str | UnsetType = UNSET
    last_name: str | UnsetType = UNSET
    is_organization: bool | UnsetType = UNSET
    header_image: HeaderImage | UnsetType = UNSET
    hide_default_header_image: bool | UnsetType = UNSET
    background_color: str | UnsetType = UNSET
    links: tuple[Link, ...] | UnsetType = UNSET
    interests: tuple[Interest, ...] | UnsetType = UNSET
    payments: Payments | UnsetType = UNSET
    contact_info: ContactInfo | UnsetType = UNSET
    gallery: tuple[GalleryImage, ...] | UnsetType = UNSET
    last_profile_edit: str | UnsetType | None = UNSET
    registration_date: str | UnsetType | None = UNSET


class Email(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One address of the account, and the avatar selected for it."""

    email: str
    avatar: str | None = None  # an image_id of this person


class Avatar(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A picture in the account."""

    image_id: str  # 32 hexadecimal digits
    image: str  # the key of its bytes in IMAGES
    updated_date: str  # YYYY-MM-DDTHH:MM:SSZ
    rating: Rating = "G"
    alt_text: str = ""


class Person(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One account with its profile, addresses and avatars.

    Attributes:
        slug: Names the profile in its address.
        about: Why this person is among the fixtures.
        emails: The first is the primary one.
        profile: What the person says of themselves.
        avatars: The pictures in the account, in the order they were added.
        visibility: Whether lookup finds the profile; the owner's view of a disabled one is an error.
        contact_public: Whether contact_info may be shown (interface, Profile).
        password: Signs in at the authorization server, with the slug or any e-mail as user name;
            seeding gives who has none ``<slug>-password``.
        extra: Profile members that only the document in force declares, shown as they are: where it
            declares them to everybody, else to authenticated callers.
        application_password: Makes two-step authentication on (interface, Password grant).
    """

    slug: str
    about: str
    emails: tuple[Email, ...]
    profile: Profile = Profile()
    avatars: tuple[Avatar, ...] = ()
    visibility: Literal["public", "private", "disabled"] = "public"
    contact_public: bool = True
    password: str = ""
    application_password: str | None = None
    extra: dict[str, Any] = {}


class Image(Struct, frozen=True, gc=False):
    """The bytes of a picture and what they were found to be."""

    content: bytes
    media_type: str  # image/png, image/jpeg, image/gif


PEOPLE: Collection[Person] = Collection("people", Person)
"""Slug to person."""

SLUGS_BY_HASH: Collection[str] = Collection("slugs_by_hash", str)
"""SHA-256 of any of a person's addresses, lower-case hexadecimal, to the person's slug."""

IMAGE_ID_BYTES = 16
"""Bytes that an image_id writes as hexadecimal digits."""

SLUGS_BY_IMAGE_ID: Collection[str] = Collection("slugs_by_image_id", str)
"""image_id of an avatar to the slug of the person whose account it is in."""


def is_changed(world: World, slug: str) -> bool:
    """Tells whether a person differs from the fixtures."""
    over = world.overlaid(PEOPLE.name, slug)
    return over is not ABSENT and over is not world.baseline[PEOPLE.name].get(slug)


def named_person(world: World, slug: str) -> Person:
    """Returns a person whom a request names.

    Raises:
        NotFound: There is no such person.
    """
    person = world.get(PEOPLE, slug)
    if person is None:
        hint = nearest(slug, list(world.keys(PEOPLE))) or "."
        msg = f"There is no person {slug!r} in this world{hint} GET /__admin/people lists them."
        raise NotFound(msg)
    return person


def expect_person(world: World, slug: str) -> None:
    """Accepts a person whom the body of a request names.

    Raises:
        BadRequest: There is no such person.
    """
    if world.get(PEOPLE, slug) is None:
        hint = nearest(slug, list(world.keys(PEOPLE))) or "."
        msg = f"person: there is no {slug!r} in this world{hint}"
        raise BadRequest(msg)


def account_number(slug: str) -> str:
    """Returns the number of an account and of its site (``user_id``, ``blog_id``)."""
    return str(int(hashlib.sha256(slug.encode()).hexdigest()[:8], 16) % 90_000_000 + 10_000_000)


MEDIA_TYPES: Final = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
}
"""Suffix of a picture's file to its media type."""

SIGNATURES: Final = {
    "image/gif": b"GIF8",
    "image/jpeg": b"\xff\xd8\xff",
    "image/png": b"\x89PNG\r\n\x1a\n",
}
"""Media types of pictures, each with the first bytes of its files."""

IMAGES: Collection[Image] = Collection("images", Image)
"""Name of a fixture image, or image_id of an uploaded one, to its bytes."""


def expect_room_for_picture(world: World, content: bytes) -> None:
    """Accepts a picture that a world is to keep.

    Raises:
        LimitExceeded: The world's pictures would be too large together.
    """
    kept = world.weight(IMAGES, lambda image: len(image.content))
    PICTURE_BYTES.check(kept + len(content))


# Keeps many people as the JSON that their file has: it takes less than half of the memory. A
# person is decoded when a request needs it, and kept for the next one. All were decoded and
# checked once while the file was loaded.

_DECODED = 700
"""People that are kept decoded: about 3 MB."""

DECODER = msgspec.json.Decoder(Person)


def with_password(person: Person) -> Person:
    """Gives a person without a password the one that can be guessed from the slug."""
    return person if person.password else replace(person, password=guessable_password(person.slug))


def guessable_password(slug: str) -> str:
    """Returns the password of a person who has none."""
    return f"{slug}-password"


def _decoded(slug: str, line: bytes) -> Person:
    person = DECODER.decode(line)
    if not person.password:
        force_setattr(person, "password", guessable_password(slug))  # nobody else has it yet
    return person


class PeopleLines(Mapping[str, Person]):
    """Slug to person.

    Args:
        people: Slug to person, or to the JSON of one; it stays as it is.
    """

    def __init__(self, people: Mapping[str, Person | bytes]) -> None:
        self._people = people
        self._recent: Recent[str, Person] = Recurring(_DECODED)

    def __getitem__(self, slug: str) -> Person:
        """Returns a person; the same object while it is one of those that are kept decoded.

        Raises:
            KeyError: There is none of this slug.
        """
        person: Person | None = self.get(slug)
        if person is None:
            raise KeyError(slug)
        return person

    def get(self, slug: str, default: Any = None) -> Any:
        """Returns the same person, or the default."""
        recent = self._recent.get(slug)
        if recent is not None:
            return recent
        person = self._people.get(slug)
        if not isinstance(person, bytes):
            return default if person is None else person
        return self._recent.put(slug, _decoded(slug, person))

    def read(self, slug: str) -> Person:
        """Returns a person who is not kept for the next request."""
        person = self._people[slug]
        return _decoded(slug, person) if isinstance(person, bytes) else person

    def __contains__(self, slug: object) -> bool:
        """Tells whether there is a person of this slug."""
        return slug in self._people

    def __iter__(self) -> Iterator[str]:
        """Yields the slugs."""
        return iter(self._people)

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self._people)

    def items(self) -> ItemsView[str, Person]:
        """Yields everyone, and keeps none of them decoded."""
        return _Items(self)


class _Items(ItemsView[str, Person]):
    """The items of people's lines."""

    _mapping: PeopleLines

    def __iter__(self) -> Iterator[tuple[str, Person]]:
        return ((slug, self._mapping.read(slug)) for slug in self._mapping)
