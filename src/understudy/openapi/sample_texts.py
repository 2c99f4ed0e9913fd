"""Makes sample texts: by format, or by the name of a member."""

from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from typing import Any

from understudy.openapi.sample_words import SampleWords

_Make = Callable[[Any], str]

_BY_FORMAT: Mapping[str, _Make] = {
    "base64": lambda _: "bm90ZQ==",
    "base64url": lambda _: "bm90ZQ",
    "byte": lambda _: "bm90ZQ==",
    "color": lambda _: "#26547c",
    "date": lambda fake: str(_day(fake)),
    "date-time": lambda fake: f"{_day(fake)}T09:30:00Z",
    "decimal": lambda fake: f"{fake.whole_number(100)}.50",
    "double": lambda fake: f"{fake.whole_number(100)}.5",
    "duration": lambda fake: f"P{fake.whole_number(28)}D",
    "email": lambda fake: fake.safe_email(),
    "float": lambda fake: f"{fake.whole_number(100)}.5",
    "hostname": lambda fake: fake.hostname(),
    "http-date": lambda _: "Sat, 14 Mar 2026 09:26:53 GMT",
    "idn-email": lambda fake: fake.safe_email(),
    "idn-hostname": lambda fake: fake.hostname(),
    "int32": lambda fake: str(fake.whole_number(1000)),
    "int64": lambda fake: str(fake.whole_number(1000)),
    "ipv4": lambda fake: fake.ipv4(),
    "ipv4-cidr": lambda _: "192.0.2.0/24",
    "ipv6": lambda fake: fake.ipv6(),
    "ipv6-cidr": lambda _: "2001:db8::/32",
    "iri": lambda fake: f"https://example.com/{fake.slug()}",
    "iri-reference": lambda fake: f"/{fake.slug()}",
    "json-pointer": lambda fake: f"/{fake.word()}",
    "mac": lambda _: "02:00:5e:10:00:01",
    "phone": lambda fake: fake.phone_number(),
    "regex": lambda fake: f"^{fake.word()}$",
    "relative-json-pointer": lambda fake: f"1/{fake.word()}",
    "semver": lambda fake: f"1.{fake.whole_number(20)}.0",
    "slug": lambda fake: fake.slug(),
    "time": lambda _: "09:30:00Z",
    "ulid": lambda _: "01HRXN3Z5V6K8M2Q4T7W9Y0A1B",
    "uri": lambda fake: f"https://example.com/{fake.slug()}",
    "uri-reference": lambda fake: f"/{fake.slug()}",
    "uri-template": lambda fake: f"https://example.com/{fake.word()}/{{id}}",
    "url": lambda fake: f"https://example.com/{fake.slug()}",
    "uuid": lambda fake: fake.uuid4(),
}

_BY_NAME: Mapping[str, _Make] = {
    "address": lambda fake: fake.address(),
    "city": lambda fake: fake.city(),
    "company": lambda fake: fake.company(),
    "country": lambda fake: fake.country(),
    "description": lambda fake: fake.sentence(),
    "email": lambda fake: fake.safe_email(),
    "first_name": lambda fake: fake.first_name(),
    "job_title": lambda fake: fake.job(),
    "language": lambda fake: fake.language_name(),
    "last_name": lambda fake: fake.last_name(),
    "location": lambda fake: fake.city(),
    "name": lambda fake: fake.name(),
    "phone": lambda fake: fake.phone_number(),
    "slug": lambda fake: fake.slug(),
    "timezone": lambda fake: fake.timezone(),
    "title": lambda fake: fake.sentence(nb_words=3),
    "url": lambda fake: f"https://example.com/{fake.slug()}",
    "username": lambda fake: fake.user_name(),
}


PLAIN_FORMATS: Mapping[str, str] = {
    "base64": "bm90ZQ==",
    "base64url": "bm90ZQ",
    "byte": "bm90ZQ==",
    "color": "#26547c",
    "date": "2026-03-14",
    "date-time": "2026-03-14T09:26:53Z",
    "decimal": "1.5",
    "double": "1.5",
    "duration": "P1D",
    "email": "ada@example.com",
    "float": "1.5",
    "hostname": "example.com",
    "http-date": "Sat, 14 Mar 2026 09:26:53 GMT",
    "idn-email": "ada@example.com",
    "idn-hostname": "example.com",
    "int32": "1",
    "int64": "1",
    "ipv4": "192.0.2.1",
    "ipv4-cidr": "192.0.2.0/24",
    "ipv6": "2001:db8::1",
    "ipv6-cidr": "2001:db8::/32",
    "iri": "https://example.com/a",
    "iri-reference": "/a",
    "json-pointer": "/a",
    "mac": "02:00:5e:10:00:01",
    "phone": "+12025550100",
    "regex": "^a$",
    "relative-json-pointer": "1/a",
    "semver": "1.0.0",
    "slug": "a-b",
    "time": "09:26:53Z",
    "ulid": "01HRXN3Z5V6K8M2Q4T7W9Y0A1B",
    "uri": "https://example.com/a",
    "uri-reference": "/a",
    "uri-template": "https://example.com/{id}",
    "url": "https://example.com/a",
    "uuid": "3f2b6c1e-8d4a-4c7b-9e10-5a6b7c8d9e0f",
}
"""Format to one text of it."""

PLAIN_TEXT = "Lindry"
"""One word, which is still one if a maximum length cuts it."""


def text_for(name: str, form: str, seed: str) -> str:
    """Returns a text that a person might expect.

    Args:
        name: Name of the member.
        form: The ``format``, or an empty string.
        seed: The same seed gives the same text.
    """
    fake = _faker()
    fake.seed_instance(seed)
    make = _BY_FORMAT.get(form) or _BY_NAME.get(name.lower())
    text: str = make(fake) if make else fake.word()
    return text


def plain_text_for(_name: str, form: str, _seed: str) -> str:
    """Returns the plain text of a format, or the same text for all others."""
    return PLAIN_FORMATS.get(form, PLAIN_TEXT)


def _day(fake: Any) -> date:
    """Returns a day that does not depend on today's date."""
    day: date = fake.date_between_dates(date(2020, 1, 1), date(2025, 12, 31))
    return day


@cache
def _faker() -> SampleWords:
    return SampleWords()
