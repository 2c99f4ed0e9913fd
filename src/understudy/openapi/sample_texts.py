"""Texts as a person would expect them: by format, by the name of the member, or by pattern."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from random import Random  # noqa: TID251 - seeded by whoever asks
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


def text_for(name: str, form: str, seed: str) -> str:
    """Returns a text.

    Args:
        name: Of the member that it is for.
        form: The ``format``, or nothing.
        seed: Same seed, same text.
    """
    fake = _faker()
    fake.seed_instance(seed)
    make = _BY_FORMAT.get(form) or _BY_NAME.get(name.lower())
    text: str = make(fake) if make else fake.word()
    return text


def matching(pattern: str, seed: str) -> str:
    """Returns a text that matches a pattern, unless it looks around itself.

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
    """Chooses out of sets too, whose order is another in every process."""

    def choice(self, seq: Any) -> Any:
        """Returns one of them."""
        return super().choice(sorted(seq) if isinstance(seq[0], str) else seq)


def _day(fake: Any) -> date:
    """Returns a day that does not depend on today's."""
    day: date = fake.date_between_dates(date(2020, 1, 1), date(2025, 12, 31))
    return day


@cache
def _faker() -> SampleWords:
    return SampleWords()
