"""People whose every field is an edge case, as fixtures to build a page against.

One a text of the catalogue, in every field that takes any; then those whose lists, dates, numbers,
slugs or addresses lie at an edge. All are valid: what they break is a page, and not the mock.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256

from msgspec.structs import replace

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
    VerifiedAccount,
)

MANY = 200
"""Entries of a list: more than any page shows, and nothing forbids them."""

LONG = 10_000

_MOMENT = "2026-02-14T08:30:00Z"


def people(texts: Mapping[str, str]) -> Iterator[Person]:
    """Yields the people.

    Args:
        texts: What it is to each text that fills the fields of a person.
    """
    for number, (what, text) in enumerate(texts.items(), start=1):
        yield _person(f"nasty-text-{number}", f"Every text is one: {what}.", _filled(text))
    yield _person(
        "nasty-long", f"Every text has {LONG:,} characters.", _filled("long " * (LONG // 5))
    )
    yield _person("nasty-word", f"Every text is one word of {LONG:,} letters.", _filled("w" * LONG))
    yield _person("nasty-empty", "Every text is empty, and every list too.", _filled(""))
    yield _person("nasty-nothing", "Nothing is set that need not be.", Profile())
    yield _person("nasty-many", f"Every list has {MANY} entries.", _many())
    yield from _dates()
    yield from _addresses()
    yield from _slugs()


def _person(slug: str, about: str, profile: Profile, *emails: str) -> Person:
    avatar = Avatar(_digits(slug), "portrait-amber.png", _MOMENT, "X", profile.description)
    found = emails or (f"{slug}@example.com",)
    return Person(
        slug,
        about=about,
        emails=tuple(Email(email, avatar.image_id) for email in found),
        profile=profile,
        avatars=(avatar,),
    )


def _filled(text: str) -> Profile:
    """Returns a profile with one text wherever any text will do; addresses stay addresses."""
    links = (Link(text, "https://example.com/a"),) if text else ()
    accounts = VerifiedAccount("blog", text, "https://blog.example.com/a", is_hidden=False)
    return Profile(
        display_name=text,
        location=text,
        description=text,
        job_title=text,
        company=text,
        pronunciation=text,
        pronouns=text,
        verified_accounts=(accounts,) if text else (),
        timezone="Pacific/Kiritimati",
        languages=(Language("mul", text, is_primary=True, order=0),) if text else (),
        first_name=text,
        last_name=text,
        is_organization=True,
        header_image=HeaderImage("header-waves.jpg"),
        hide_default_header_image=True,
        background_color="linear-gradient(135deg, rgb(0, 0, 0), rgb(255, 255, 255))",
        links=links,
        interests=(Interest(2**31, text),) if text else (),
        payments=Payments(links, (CryptoWalletAddress(text, text),) if text else ()),
        contact_info=ContactInfo(text, text, text, text),
        gallery=(GalleryImage("gallery-trail.jpg", text),) if text else (),
        last_profile_edit=None,
        registration_date=None,
    )


def _many() -> Profile:
    numbers = range(1, MANY + 1)
    links = tuple(Link(f"Link {n}", f"https://example.com/{n}") for n in numbers)
    return replace(
        _filled("many"),
        verified_accounts=tuple(
            VerifiedAccount(
                f"service-{n}", f"Service {n}", f"https://s{n}.example.com/", is_hidden=n % 2 == 0
            )
            for n in numbers
        ),
        languages=tuple(Language("en", "English", is_primary=True, order=1) for _ in numbers),
        links=links,
        interests=tuple(Interest(1, f"Interest {n}") for n in numbers),
        payments=Payments(
            links, tuple(CryptoWalletAddress(f"Coin {n}", f"tc1q{n}") for n in numbers)
        ),
        gallery=tuple(GalleryImage("gallery-trail.jpg") for _ in numbers),
    )


def _dates() -> Iterator[Person]:
    for number, (what, edited, registered) in enumerate(
        (
            ("a leap day", "2024-02-29T00:00:00Z", "2024-02-29"),
            ("before the epoch", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
            ("behind 32 bits of seconds", "2038-01-19T03:14:08Z", "2038-01-19"),
            ("far ahead", "9999-12-31T23:59:59Z", "9999-12-31"),
            ("the first year", "0001-01-01T00:00:00Z", "0001-01-01"),
        ),
        start=1,
    ):
        profile = replace(_filled("Dates"), last_profile_edit=edited, registration_date=registered)
        yield _person(f"nasty-date-{number}", f"Dates are {what}.", profile)


def _addresses() -> Iterator[Person]:
    for number, (what, email) in enumerate(
        (
            ("a plus", "nasty+tag@example.com"),
            ("capitals", "Nasty.Capitals@Example.COM"),
            ("an apostrophe", "o'nasty@example.com"),
            ("254 characters", "n" * 64 + "@" + ".".join(["d" * 61] * 3) + ".com"),
            ("letters outside ASCII", "n\u00e4sty@example.com"),
            ("a domain outside ASCII", "nasty@ex\u00e4mple.com"),
            ("a long suffix", "nasty@example.photography"),
            ("a percent sign", "nasty%example@example.org"),
        ),
        start=1,
    ):
        yield _person(f"nasty-email-{number}", f"The e-mail has {what}.", _filled("E-mail"), email)


def _slugs() -> Iterator[Person]:
    for slug, what in {
        "0": "one digit",
        "123456": "digits alone",
        "null": "the word null",
        "undefined": "the word undefined",
        "true": "the word true",
        "deadbeefdeadbeefdeadbeefdeadbeef": "what looks like an MD5",
        "s" * 63: "as long as can be",
        "a--b-": "hyphens in a row and at its end",
    }.items():
        yield _person(
            slug, f"The slug is {what}.", _filled("Slug"), f"slug-{_digits(slug)[:8]}@example.com"
        )


def _digits(slug: str) -> str:
    return sha256(slug.encode()).hexdigest()[:32]
