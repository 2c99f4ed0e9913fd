"""Records for people: immutable, and with the members of their fixture files.

Derived values (hashes, URLs, counts, visibility of members) are not fields but computed for each
response, so a fixture cannot contradict itself. UNSET means "not given" and is left out of
responses; None is an explicit null.

``gc=False``: frozen records have no reference cycles, and the garbage collector would take half of
the time of loading 100,000 people.
"""

import hashlib
from collections.abc import ItemsView, Iterator, Mapping
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import force_setattr, replace

from understudy.errors import BadRequest, NotFound, nearest
from understudy.limits import PICTURE_BYTES, Integer
from understudy.mock.server.journal import ABSENT
from understudy.mock.server.recent import Recent, Recurring
from understudy.mock.server.worlds import Collection, World

Rating = Literal["G", "PG", "R", "X"]  # interface, Rating
RATINGS: Final[tuple[Rating, ...]] = get_args(Rating)


class VerifiedAccount(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """An account at another service that the person has proved to own."""

    service_type: str
    service_label: str
    url: str
    is_hidden: bool = False


class Link(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A URL with a label."""

    label: str
    url: str


class Interest(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """An interest of the person."""

    id: Integer
    name: str


class Language(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A language the person speaks."""

    code: str
    name: str
    is_primary: bool
    order: Integer


class GalleryImage(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A picture on the profile: the name of a fixture image, not a URL."""

    image: str
    alt_text: str | UnsetType = UNSET


class CryptoWalletAddress(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A wallet that accepts payments."""

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
    """The picture behind the profile card: a fixture image, and its position as CSS."""

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
    """A picture of the account, which can be selected for its addresses."""

    image_id: str  # 32 hexadecimal digits
    image: str  # the key of its bytes in IMAGES
    updated_date: str  # YYYY-MM-DDTHH:MM:SSZ
    rating: Rating = "G"
    alt_text: str = ""


class Person(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One account with its profile, addresses and avatars.

    Attributes:
        slug: Name of the profile in its URL.
        about: Purpose of the fixture.
        emails: The e-mail addresses, the primary one first.
        profile: The public description of the person.
        avatars: The pictures of the account, in the order in which they were added.
        visibility: Whether lookup finds the profile; a disabled one is an error even for its owner.
        contact_public: Whether contact_info may be shown (interface, Profile).
        password: Password at the authorization server, where the slug or any e-mail address is the
            user name; ``<slug>-password`` if none is given.
        extra: Profile members that only the document in force declares: those that it declares for
            everybody are shown to everybody, others to authenticated callers.
        application_password: Turns two-step authentication on (interface, Password grant).
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
    """The bytes of a picture, and the media type that was detected."""

    content: bytes
    media_type: str  # image/png, image/jpeg, image/gif


PEOPLE: Collection[Person] = Collection("people", Person)
"""People by slug."""

SLUGS_BY_HASH: Collection[str] = Collection("slugs_by_hash", str)
"""Slugs of people by the SHA-256 of each of their addresses, in lower-case hexadecimal."""

SLUGS_BY_IMAGE_ID: Collection[str] = Collection("slugs_by_image_id", str)
"""Slugs of people by the image_id of each of their avatars."""


def is_changed(world: World, slug: str) -> bool:
    """Tells whether a person differs from the fixtures."""
    overlaid = world.overlaid(PEOPLE.name, slug)
    return overlaid is not ABSENT and overlaid is not world.baseline[PEOPLE.name].get(slug)


def named_person(world: World, slug: str) -> Person:
    """Returns the person whom the path of a request names.

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
    """Checks that the person whom the body of a request names exists.

    Raises:
        BadRequest: There is no such person.
    """
    if world.get(PEOPLE, slug) is None:
        hint = nearest(slug, list(world.keys(PEOPLE))) or "."
        msg = f"person: there is no {slug!r} in this world{hint}"
        raise BadRequest(msg)


def account_number(slug: str) -> str:
    """Returns the number of an account and of its site (``user_id``, ``blog_id``): 8 digits."""
    return str(int(hashlib.sha256(slug.encode()).hexdigest()[:8], 16) % 90_000_000 + 10_000_000)


MEDIA_TYPES: Final = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
}
"""Media types of pictures by file suffix."""

SIGNATURES: Final = {
    "image/gif": b"GIF8",
    "image/jpeg": b"\xff\xd8\xff",
    "image/png": b"\x89PNG\r\n\x1a\n",
}
"""The first bytes of a picture's file, by media type."""

IMAGES: Collection[Image] = Collection("images", Image)
"""Pictures by the name of the fixture image, or by the image_id of the upload."""


def expect_room_for_picture(world: World, content: bytes) -> None:
    """Checks that a world may store one more picture.

    Raises:
        LimitExceeded: The world's pictures would have too many bytes together.
    """
    kept = world.weight(IMAGES, lambda image: len(image.content))
    PICTURE_BYTES.check(kept + len(content))


_DECODED = 700
"""Number of people whose decoded record is cached: about 3 MB."""

DECODER = msgspec.json.Decoder(Person)


def with_password(person: Person) -> Person:
    """Returns a person with a password: the default one if the fixture has none."""
    return person if person.password else replace(person, password=default_password(person.slug))


def default_password(slug: str) -> str:
    """Returns the password of a person whose fixture has none."""
    return f"{slug}-password"


def _decoded(slug: str, line: bytes) -> Person:
    person = DECODER.decode(line)
    if not person.password:
        # changes the frozen record in place, as nothing else refers to it yet
        force_setattr(person, "password", default_password(slug))
    return person


class PeopleLines(Mapping[str, Person]):
    """People by slug, kept as the JSON of their file, which takes less than half of the memory.

    A person is decoded when a request needs it; a cache holds the most recent ones.

    Args:
        people: Slug to a person, or to a person's JSON, which was validated while it was loaded.
    """

    def __init__(self, people: Mapping[str, Person | bytes]) -> None:
        self._people = people
        self._recent: Recent[str, Person] = Recurring(_DECODED)

    def __getitem__(self, slug: str) -> Person:
        """Returns a person; the same object as long as it is in the cache.

        Raises:
            KeyError: There is no person with this slug.
        """
        person: Person | None = self.get(slug)
        if person is None:
            raise KeyError(slug)
        return person

    def get(self, slug: str, default: Any = None) -> Any:
        """Returns a person like ``[]``, or the default."""
        recent = self._recent.get(slug)
        if recent is not None:
            return recent
        person = self._people.get(slug)
        if not isinstance(person, bytes):
            return default if person is None else person
        return self._recent.put(slug, _decoded(slug, person))

    def read(self, slug: str) -> Person:
        """Returns a person without adding it to the cache."""
        person = self._people[slug]
        return _decoded(slug, person) if isinstance(person, bytes) else person

    def __contains__(self, slug: object) -> bool:
        """Tells whether there is a person with this slug."""
        return slug in self._people

    def __iter__(self) -> Iterator[str]:
        """Yields the slugs."""
        return iter(self._people)

    def __len__(self) -> int:
        """Returns the number of people."""
        return len(self._people)

    def items(self) -> ItemsView[str, Person]:
        """Yields all people, and adds none of them to the cache."""
        return _Items(self)


class _Items(ItemsView[str, Person]):
    """The items of ``PeopleLines``, which bypass its cache."""

    _mapping: PeopleLines

    def __iter__(self) -> Iterator[tuple[str, Person]]:
        return ((slug, self._mapping.read(slug)) for slug in self._mapping)
