"""Invents people by the thousand, with Faker: realistic, and the same for the same seed.

Faker takes some 50 µs a text, so texts are drawn from pools that it filled once. A slug ends with
the seed and a number, which keeps people apart, even those of two seeds in one directory.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random  # noqa: TID251 - seeded, and never the world's own
from typing import TypeVar

from faker import Faker
from msgspec import UNSET, UnsetType

from understudy.records.people import (
    Avatar,
    ContactInfo,
    CryptoWalletAddress,
    Email,
    GalleryImage,
    HeaderImage,
    Interest,
    Language,
    Link,
    Payments,
    Person,
    Profile,
    Rating,
    VerifiedAccount,
)

POOL = 400
"""Texts of each kind and locale."""

LOCALES = {
    "en_GB": ("en", "English", "Europe/London"),
    "de_DE": ("de", "German", "Europe/Berlin"),
    "ja_JP": ("ja", "Japanese", "Asia/Tokyo"),
    "ar_AA": ("ar", "Arabic", "Africa/Cairo"),
    "pt_BR": ("pt", "Portuguese", "America/Sao_Paulo"),
}
"""Faker's name of a locale to the language spoken there, its name, and a timezone."""

_EPOCH = datetime(2012, 1, 1, tzinfo=UTC)
_DAYS = 5000
_SERVICES = {
    "blog": "Blog",
    "calendar": "Calendar",
    "code-forge": "Code Forge",
    "microblog": "Microblog",
    "music": "Music",
    "photos": "Photos",
    "video": "Video",
}
_INTERESTS = ("Baking", "Chess", "Choirs", "Cycling", "Gardens", "Kites", "Maps", "Pottery", "Sea")
_RATINGS: dict[Rating, int] = {"G": 90, "PG": 6, "R": 3, "X": 1}
_COLOURS = ("rgb(235, 244, 240)", "rgb(20, 30, 60)", "linear-gradient(135deg, #fed, #9cf)")
_PICTURES = ("gallery-harbour.jpg", "gallery-kitchen.jpg", "gallery-trail.jpg")
_PORTRAITS = (
    "portrait-amber.png",
    "portrait-birch.jpg",
    "portrait-coral.png",
    "portrait-dusk.jpg",
    "portrait-ember.png",
    "portrait-fern.jpg",
    "portrait-glass.png",
)

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Pool:
    """Texts of one locale."""

    locale: str
    first_names: Sequence[str]
    last_names: Sequence[str]
    handles: Sequence[str]
    cities: Sequence[str]
    jobs: Sequence[str]
    companies: Sequence[str]
    sentences: Sequence[str]


def people(count: int, seed: int) -> Iterator[Person]:
    """Yields invented people; the same seed, the same people, however many are asked for.

    Their pictures are those of the bundled fixtures.
    """
    chance = Random(seed)
    pools = [_pool(locale, seed) for locale in LOCALES]
    for number in range(1, count + 1):
        yield _person(f"{seed}-{number}", chance.choice(pools), chance)


def _pool(locale: str, seed: int) -> _Pool:
    fake = Faker(locale)
    fake.seed_instance(f"{seed} {locale}")
    return _Pool(
        locale,
        first_names=[fake.first_name() for _ in range(POOL)],
        last_names=[fake.last_name() for _ in range(POOL)],
        handles=[fake.user_name() for _ in range(POOL)],
        cities=[fake.city() for _ in range(POOL)],
        jobs=[fake.job() for _ in range(POOL)],
        companies=[fake.company() for _ in range(POOL)],
        sentences=[fake.sentence() for _ in range(POOL)],
    )


def _person(number: str, pool: _Pool, chance: Random) -> Person:
    first, last = chance.choice(pool.first_names), chance.choice(pool.last_names)
    handle = _ascii(f"{first} {last}") or _ascii(chance.choice(pool.handles))
    slug = f"{handle[:40].rstrip('-')}-{number}"
    avatars = tuple(_avatar(slug, first, place, chance) for place in range(chance.randrange(4)))
    selected: list[str | None] = [avatar.image_id for avatar in avatars] or [None]
    domains = ("example.com", "example.org", "example.net")[: chance.choice((1, 1, 2, 3))]
    return Person(
        slug,
        about=f"Invented, locale {pool.locale}.",
        emails=tuple(Email(f"{slug}@{domain}", chance.choice(selected)) for domain in domains),
        profile=_profile(slug, (first, last), pool, chance),
        avatars=avatars,
        visibility=chance.choices(("public", "private", "disabled"), (96, 3, 1))[0],
        contact_public=_happens(0.5, chance),
    )


def _profile(slug: str, names: tuple[str, str], pool: _Pool, chance: Random) -> Profile:
    first, last = names
    code, language, timezone = LOCALES[pool.locale]
    registered, edited = sorted((_instant(chance), _instant(chance)))
    home = f"https://{slug}.example.org/"
    return Profile(
        display_name=f"{last} {first}" if code == "ja" else f"{first} {last}",
        location=_text(pool.cities, chance),
        description=" ".join(chance.sample(pool.sentences, chance.randrange(4))),
        job_title=_text(pool.jobs, chance),
        company=_text(pool.companies, chance),
        pronouns=chance.choice(("", "she/her", "he/him", "they/them")),
        verified_accounts=_verified_accounts(slug, chance),
        timezone=_perhaps(timezone, chance),
        languages=_perhaps((Language(code, language, is_primary=True, order=1),), chance),
        first_name=_perhaps(first, chance),
        last_name=_perhaps(last, chance),
        is_organization=_perhaps(False, chance),  # noqa: FBT003 - the value itself
        header_image=_perhaps(HeaderImage("header-waves.jpg"), chance),
        hide_default_header_image=_perhaps(_happens(0.5, chance), chance),
        background_color=_perhaps(chance.choice(_COLOURS), chance),
        links=_perhaps((Link("Home page", home),), chance),
        interests=_perhaps(_interests(chance), chance),
        payments=_perhaps(_payments(slug, home), chance),
        contact_info=_perhaps(_contact_info(slug, home, chance), chance),
        gallery=_perhaps((GalleryImage(chance.choice(_PICTURES), f"Seen by {first}"),), chance),
        last_profile_edit=_perhaps(edited, chance),
        registration_date=_perhaps(chance.choice((registered, registered[:10])), chance),
    )


def _verified_accounts(slug: str, chance: Random) -> tuple[VerifiedAccount, ...]:
    services = chance.sample(tuple(_SERVICES), chance.randrange(len(_SERVICES) + 1))
    return tuple(
        VerifiedAccount(
            service,
            _SERVICES[service],
            f"https://{service}.example.com/{slug}",
            is_hidden=_happens(0.2, chance),
        )
        for service in services
    )


def _interests(chance: Random) -> tuple[Interest, ...]:
    ids = chance.sample(range(len(_INTERESTS)), chance.randrange(1, 5))
    return tuple(Interest(id_ + 1, _INTERESTS[id_]) for id_ in ids)


def _payments(slug: str, home: str) -> Payments:
    wallet = CryptoWalletAddress("Testcoin", f"tc1q{_digits(slug, 36)}")
    return Payments((Link("Tip jar", f"{home}tips"),), (wallet,))


def _contact_info(slug: str, home: str, chance: Random) -> ContactInfo:
    phone = f"+1 555 01{chance.randrange(100):02d}"  # numbers that are kept for fiction
    return ContactInfo(
        cell_phone=_perhaps(phone, chance),
        email=f"{slug}@example.net",
        contact_form=_perhaps(f"{home}contact", chance),
    )


def _avatar(slug: str, name: str, place: int, chance: Random) -> Avatar:
    return Avatar(
        _digits(f"{slug} {place}", 32),
        chance.choice(_PORTRAITS),
        _instant(chance),
        chance.choices(tuple(_RATINGS), tuple(_RATINGS.values()))[0],
        _text((f"Portrait of {name}",), chance),
    )


def _ascii(text: str) -> str:
    """Returns what a slug can keep of a text: ``José da Luz`` is ``jose-da-luz``."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def _digits(text: str, count: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:count]


def _instant(chance: Random) -> str:
    instant = _EPOCH + timedelta(days=chance.randrange(_DAYS), seconds=chance.randrange(86_400))
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def _happens(share: float, chance: Random) -> bool:
    return chance.random() < share


def _text(texts: Sequence[str], chance: Random) -> str:
    return chance.choice(texts) if _happens(0.7, chance) else ""


def _perhaps(value: Value, chance: Random) -> Value | UnsetType:
    return value if _happens(0.5, chance) else UNSET
