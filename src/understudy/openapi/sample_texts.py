"""Makes sample texts: by format, by the name of a member, or by pattern."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from random import Random  # noqa: TID251 - seeded by the caller
from typing import Any

from understudy.openapi.sample_words import SampleWords

_Make = Callable[[Any], str]

_BY_FORMAT: Mapping[str, _Make] = {
    "byte": lambda _: "bm90ZQ==",
    "date": lambda fake: str(_day(fake)),
    "date-time": lambda fake: f"{_day(fake)}T09:30:00Z",
    "email": lambda fake: fake.safe_email(),
    "hostname": lambda fake: fake.hostname(),
    "ipv4": lambda fake: fake.ipv4(),
    "ipv6": lambda fake: fake.ipv6(),
    "time": lambda _: "09:30:00Z",
    "uri": lambda fake: f"https://example.com/{fake.slug()}",
    "uri-reference": lambda fake: f"/{fake.slug()}",
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
    "byte": "bm90ZQ==",
    "date": "2026-03-14",
    "date-time": "2026-03-14T09:26:53Z",
    "email": "ada@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "time": "09:26:53Z",
    "uri": "https://example.com/a",
    "uri-reference": "/a",
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


def matching(pattern: str, seed: str) -> str:
    """Returns a text that matches a pattern, unless the pattern looks around itself.

    Raises:
        ValueError: Python does not read the pattern as JavaScript does.
    """
    from rstr import Rstr  # noqa: PLC0415 - only where a pattern is

    try:
        text: str = Rstr(_Ordered(seed)).xeger(pattern)
    except (re.error, KeyError) as error:
        msg = f"no text can be made up for {pattern!r}"
        raise ValueError(msg) from error
    return text


class _Ordered(Random):
    """Chooses from sets too, whose order differs between processes."""

    def choice(self, seq: Any) -> Any:
        """Returns one item."""
        return super().choice(sorted(seq) if isinstance(seq[0], str) else seq)


def _day(fake: Any) -> date:
    """Returns a day that does not depend on today's date."""
    day: date = fake.date_between_dates(date(2020, 1, 1), date(2025, 12, 31))
    return day


@cache
def _faker() -> SampleWords:
    return SampleWords()
