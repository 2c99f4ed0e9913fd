"""Invents people by the thousand, with Faker: realistic, and the same for the same seed.

Faker takes some 50 µs a text, so texts are drawn from pools that it filled once; names and slugs
are made of them, and a counter keeps them apart.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random  # noqa: TID251 - seeded, and never the world's own

from faker import Faker

from understudy.records.people import (
    Avatar,
    Email,
    GalleryImage,
    Interest,
    Language,
    Link,
    Person,
    Profile,
    Rating,
    VerifiedAccount,
)

LOCALES = ("en_GB", "de_DE", "ja_JP", "ar_AA", "pt_BR")
POOL = 400
"""Texts of each kind and locale."""

_EPOCH = datetime(2012, 1, 1, tzinfo=UTC)
_DAYS = 5000
_SERVICES = ("blog", "calendar", "code-forge", "microblog", "music", "photos", "video")
_RATINGS: tuple[Rating, ...] = ("G", "PG", "R", "X")
_IMAGES = (
    "portrait-amber.png",
    "portrait-birch.jpg",
    "portrait-coral.png",
    "portrait-dusk.jpg",
    "portrait-ember.png",
    "portrait-fern.jpg",
    "portrait-glass.png",
)
_LANGUAGES = {
    "en_GB": ("en", "English"),
    "de_DE": ("de", "German"),
    "ja_JP": ("ja", "Japanese"),
    "ar_AA": ("ar", "Arabic"),
    "pt_BR": ("pt", "Portuguese"),
}


@dataclass(frozen=True, slots=True)
class _Pool:
    """Texts of one locale."""

    locale: str
    names: Sequence[str]
    cities: Sequence[str]
    jobs: Sequence[str]
    companies: Sequence[str]
    sentences: Sequence[str]


def people(count: int, seed: int) -> Iterator[Person]:
    """Yields invented people; the same count and seed, the same people."""
    chance = Random(seed)
    pools = [_pool(locale, seed) for locale in LOCALES]
    for number in range(1, count + 1):
        yield _person(number, chance.choice(pools), chance)


def _pool(locale: str, seed: int) -> _Pool:
    fake = Faker(locale)
    fake.seed_instance(f"{seed} {locale}")
    return _Pool(
        locale,
        names=[fake.name() for _ in range(POOL)],
        cities=[fake.city() for _ in range(POOL)],
        jobs=[fake.job() for _ in range(POOL)],
        companies=[fake.company() for _ in range(POOL)],
        sentences=[fake.sentence() for _ in range(POOL)],
    )


def _person(number: int, pool: _Pool, chance: Random) -> Person:
    slug = f"{chance.choice(_SERVICES)}-{number:06d}"
    avatars = tuple(_avatar(slug, place, chance) for place in range(chance.choice((0, 1, 1, 2, 3))))
    addresses = [f"{slug}@example.com", f"{slug}@example.org"][: chance.choice((1, 1, 2))]
    emails = tuple(
        Email(address, avatars[0].image_id if avatars else None) for address in addresses
    )
    return Person(
        slug,
        about=f"Invented, locale {pool.locale}.",
        emails=emails,
        profile=_profile(slug, pool, chance),
        avatars=avatars,
        visibility=chance.choices(("public", "private", "disabled"), (96, 3, 1))[0],
        contact_public=chance.random() < 0.5,  # noqa: PLR2004 - one in two
    )


def _profile(slug: str, pool: _Pool, chance: Random) -> Profile:
    name = chance.choice(pool.names)
    return Profile(
        display_name=name,
        location=_sometimes(pool.cities, chance),
        description=_sometimes(pool.sentences, chance),
        job_title=_sometimes(pool.jobs, chance),
        company=_sometimes(pool.companies, chance),
        verified_accounts=tuple(
            VerifiedAccount(
                service,
                service.capitalize(),
                f"https://{service}.example.com/{slug}",
                is_hidden=chance.random() < 0.2,  # noqa: PLR2004 - one in five
            )
            for service in chance.sample(_SERVICES, chance.randrange(7))
        ),
        languages=(Language(*_LANGUAGES[pool.locale], is_primary=True, order=1),),
        links=(Link("Home page", f"https://{slug}.example.org/"),),
        interests=(Interest(chance.randrange(1, 500), chance.choice(_SERVICES)),),
        gallery=(GalleryImage("gallery-trail.jpg", "A path in the hills"),),
        registration_date=_instant(chance),
    )


def _avatar(slug: str, place: int, chance: Random) -> Avatar:
    image_id = hashlib.sha256(f"{slug} {place}".encode()).hexdigest()[:32]
    rating = chance.choices(_RATINGS, (90, 6, 3, 1))[0]
    return Avatar(image_id, chance.choice(_IMAGES), _instant(chance), rating, f"Avatar of {slug}")


def _instant(chance: Random) -> str:
    instant = _EPOCH + timedelta(days=chance.randrange(_DAYS), seconds=chance.randrange(86_400))
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def _sometimes(texts: Sequence[str], chance: Random) -> str:
    return chance.choice(texts) if chance.random() < 0.7 else ""  # noqa: PLR2004 - seven in ten
