"""Makes sample texts: by format, by the name of a member, or for a regular expression."""

import re
import string
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import chain
from random import Random  # noqa: TID251 - seeded by the caller
from typing import Any, Final
from uuid import UUID

from understudy.limits import SAMPLE_CHARACTERS

# Draws realistic texts from short word lists: names, places, addresses on the network. Not Faker:
# its pytest plugin takes 0.3 s of CPU in every test run of a project that has it, and its texts
# differ between versions. Names of hosts and addresses are those reserved for documentation (RFC
# 2606, RFC 5737, RFC 3849).

_FIRST_NAMES: Final = (
    *("Ada", "Ben", "Carla", "Dmitri", "Esra", "Femi", "Greta", "Hana", "Ivo", "Jun"),
    *("Kenji", "Leila", "Mei", "Nora", "Olu", "Priya", "Rafael", "Sofia", "Tomas", "Vera"),
)
_LAST_NAMES: Final = (
    *("Adeyemi", "Brandt", "Castellan", "Dahl", "Ferreira", "Grunwald", "Harrow", "Ito"),
    *("Kowal", "Lindqvist", "Merrowdale", "Novak", "Okafor", "Quill", "Rao", "Tanner"),
)
_CITIES: Final = (
    *("Ashford", "Brackwater", "Cedar Falls", "Dunmore", "Eastvale", "Fairhaven"),
    *("Glenrock", "Port Lindry", "Kingsmere", "Larkhill", "Millbrook", "Northgate"),
)
_COUNTRIES: Final = ("Brazil", "Canada", "Egypt", "Germany", "Japan", "Kenya", "Norway", "Portugal")
_STREETS: Final = ("Harbour Road", "Mill Lane", "Station Street", "Elm Avenue", "Bridge Street")
_JOBS: Final = ("Baker", "Cartographer", "Editor", "Gardener", "Engineer", "Librarian", "Nurse")
_LANGUAGES: Final = ("Arabic", "English", "French", "German", "Japanese", "Portuguese", "Swahili")
_TIME_ZONES: Final = ("Africa/Cairo", "America/Sao_Paulo", "Asia/Tokyo", "Europe/Lisbon", "UTC")
_WORDS: Final = (
    *("amber", "bridge", "cedar", "drift", "ember", "field", "garden", "harbour", "island"),
    *("journey", "kettle", "lantern", "meadow", "north", "orchard", "paper", "quiet", "river"),
    *("stone", "thread", "umbrella", "valley", "willow", "yellow"),
)


class SampleWords:
    """Draws texts; the same seed gives the same texts."""

    def __init__(self) -> None:
        self._chance = Random(0)

    def seed_instance(self, seed: str) -> None:
        """Begins anew with a seed."""
        self._chance = Random(seed)

    def whole_number(self, below: int) -> int:
        """Returns a number from 1 to less than another."""
        return self._chance.randrange(1, below)

    def word(self) -> str:
        """Returns a word in lower case."""
        return self._chance.choice(_WORDS)

    def sentence(self, nb_words: int = 6) -> str:
        """Returns a sentence of so many words."""
        words = " ".join(self._chance.choices(_WORDS, k=nb_words))
        return f"{words.capitalize()}."

    def slug(self) -> str:
        """Returns two words as a part of a URL."""
        return f"{self.word()}-{self.word()}"

    def first_name(self) -> str:
        """Returns a given name."""
        return self._chance.choice(_FIRST_NAMES)

    def last_name(self) -> str:
        """Returns a family name."""
        return self._chance.choice(_LAST_NAMES)

    def name(self) -> str:
        """Returns a full name."""
        return f"{self.first_name()} {self.last_name()}"

    def user_name(self) -> str:
        """Returns a name for signing in."""
        return f"{self.first_name().lower()}{self._chance.randrange(10, 100)}"

    def safe_email(self) -> str:
        """Returns an e-mail address that no mail reaches (RFC 2606)."""
        return f"{self.user_name()}@example.{self._chance.choice(('com', 'net', 'org'))}"

    def company(self) -> str:
        """Returns the name of a company."""
        return f"{self.last_name()} & {self.last_name()}"

    def job(self) -> str:
        """Returns an occupation."""
        return self._chance.choice(_JOBS)

    def city(self) -> str:
        """Returns the name of a town."""
        return self._chance.choice(_CITIES)

    def country(self) -> str:
        """Returns the name of a country."""
        return self._chance.choice(_COUNTRIES)

    def address(self) -> str:
        """Returns a postal address in one line."""
        street = self._chance.choice(_STREETS)
        return f"{self._chance.randrange(1, 200)} {street}, {self.city()}"

    def phone_number(self) -> str:
        """Returns a telephone number in international form (E.164), reserved for fiction."""
        return f"+1202555{self._chance.randrange(100, 200):04}"

    def language_name(self) -> str:
        """Returns the English name of a language."""
        return self._chance.choice(_LANGUAGES)

    def timezone(self) -> str:
        """Returns the name of a time zone."""
        return self._chance.choice(_TIME_ZONES)

    def hostname(self) -> str:
        """Returns a host name that no host has (RFC 2606)."""
        return f"{self.word()}.example.com"

    def ipv4(self) -> str:
        """Returns an IPv4 address for documentation (RFC 5737)."""
        return f"192.0.2.{self._chance.randrange(1, 255)}"

    def ipv6(self) -> str:
        """Returns an IPv6 address for documentation (RFC 3849)."""
        return f"2001:db8::{self._chance.randrange(1, 2**16):x}"

    def uuid4(self) -> str:
        """Returns a random UUID (RFC 9562, 5.4)."""
        return str(UUID(int=self._chance.getrandbits(128), version=4))

    def date_between_dates(self, first: date, last: date) -> date:
        """Returns a day between two, both included."""
        return first + timedelta(days=self._chance.randrange((last - first).days + 1))


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


# Makes texts that match a regular expression within bounds of length. ``rstr`` walks the
# expression and asks a random number generator for each choice; that generator decides here how
# often something is repeated. Candidates are tried by whoever has the whole schema, so a
# candidate may be wrong: expressions can look around themselves, and may be several at once.

_TRIES: Final = 6
_USUAL_REPEATS: Final = 4
"""Repeats beyond the fewest, where no length asks for more."""

_PROPERTIES: Final = {
    "L": string.ascii_letters,
    "Letter": string.ascii_letters,
    "Ll": string.ascii_lowercase,
    "Lu": string.ascii_uppercase,
    "N": string.digits,
    "Nd": string.digits,
    "Number": string.digits,
    "P": "!,.:;?",
    "Punctuation": "!,.:;?",
    "S": "+<=>",
    "Z": " ",
    "Zs": " ",
}
"""Unicode property to characters that have it."""

_TOKEN = re.compile(
    r"\\(?P<negation>[pP])\{(?P<property>[^}]*)\}|\(\?<(?P<name>[A-Za-z_]\w*)>|\\k<(?P<back>\w+)>"
    r"|\\(?P<identity>[^\WdDwWsSbBtrnvfxuaAzZ0-9_])|\\.|(?P<open>\[\^?)|(?P<close>\])|(?P<pair>&&|--|\|\||~~)",
    re.DOTALL,
)


def matching(
    pattern: str, seed: str, shortest: int = 0, longest: int | None = None
) -> Iterator[str]:
    """Yields texts that should match a pattern, those of a length within the bounds first.

    Args:
        pattern: A regular expression of ECMA-262.
        seed: The same seed gives the same texts.
        shortest: Fewest characters.
        longest: Most characters; None for no such bound.

    Raises:
        LimitExceeded: The pattern requires more characters than a response may hold.
    """
    readable = _in_python(pattern)
    others: list[str] = []
    for text in chain(_texts(readable, seed, shortest), _without_looking(readable, seed, shortest)):
        if text and shortest <= len(text) and (longest is None or len(text) <= longest):
            yield text
        else:
            others.append(text)
    for text in dict.fromkeys(others):
        # an expression without anchors lets anything stand beside the match
        yield from (text, text.ljust(shortest, "a"), text.rjust(shortest, "a"), text[:longest])


def _texts(pattern: str, seed: str, shortest: int) -> Iterator[str]:
    if shortest == 0:
        yield _drawn(pattern, _Repeats(seed, _USUAL_REPEATS))
    fewest = len(_drawn(pattern, _Repeats(seed, 0)))
    growth = len(_drawn(pattern, _Repeats(seed, 1, is_exact=True))) - fewest
    missing = max(shortest - fewest, 0)
    SAMPLE_CHARACTERS.check(missing)
    repeats = -(-missing // growth) if growth > 0 else 0
    for attempt in range(_TRIES):
        for more in (repeats + attempt, max(repeats - attempt, 0)):
            yield _drawn(pattern, _Repeats(f"{seed} {attempt}", more, is_exact=True))
        yield _drawn(pattern, _Repeats(f"{seed} {attempt}", 2 * repeats + attempt))


def _without_looking(pattern: str, seed: str, shortest: int) -> Iterator[str]:
    """Yields texts for what an expression takes apart from where it looks around itself."""
    around = _LOOKAROUND.findall(pattern)
    if around:
        counts = [int(number) for number in re.findall(r"\{([0-9]{1,4})", "".join(around))]
        yield from _texts(_LOOKAROUND.sub("", pattern), seed, max([shortest, *counts]))


_LOOKAROUND = re.compile(r"\(\?<?[=!](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)", re.DOTALL)
"""Matches a group that looks around, with one level of groups in it."""


def matches(pattern: str, text: str) -> bool:
    """Tells whether a pattern occurs in a text; an unreadable pattern occurs nowhere."""
    compiled = _compiled(pattern)
    return compiled is not None and compiled.search(text) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(_in_python(pattern))
    except (re.error, OverflowError):
        return None


def _drawn(pattern: str, repeats: "_Repeats") -> str:
    """Returns a text for a pattern; an empty one if Python does not read it as JavaScript does."""
    from rstr import Rstr  # noqa: PLC0415 - only where a pattern is

    try:
        text: str = Rstr(repeats).xeger(pattern)
    except (re.error, KeyError, IndexError, OverflowError):
        return ""
    return text


class _Repeats(Random):
    """Decides how often something is repeated, and prefers letters and digits among characters.

    Args:
        seed: The same seed gives the same choices.
        more: Repeats beyond the fewest.
        is_exact: Whether so many always, and not up to so many.
    """

    def __init__(self, seed: str, more: int, *, is_exact: bool = False) -> None:
        super().__init__(seed)
        self._more = more
        self._is_exact = is_exact
        self._choices = 0

    def __new__(cls, *_: Any, **__: Any) -> "_Repeats":
        """Makes the generator; ``Random`` would take the arguments for a seed of its own."""
        return super().__new__(cls)

    def randint(self, a: int, b: int) -> int:
        """Returns a number of repeats between two, both included."""
        most = max(a, min(b, a + self._more))
        SAMPLE_CHARACTERS.check(a)
        return most if self._is_exact else super().randint(a, most)

    def choice(self, seq: Any) -> Any:
        """Returns one item; of characters one that can be read, in an order that never differs."""
        self._choices += 1
        SAMPLE_CHARACTERS.check(self._choices)
        if not isinstance(seq[0], str):
            return super().choice(seq)
        return super().choice(_readable("".join(seq)))


@lru_cache(maxsize=256)
def _readable(characters: str) -> list[str]:
    """Returns the letters and digits among characters, or else what can be seen, in their order."""
    readable = [it for it in characters if it.isascii() and it.isalnum()]
    visible = readable or [it for it in characters if it.isprintable()]
    return sorted(visible or characters)


@lru_cache(maxsize=1024)
def _in_python(pattern: str) -> str:
    """Returns a pattern with what ECMA-262 alone has in Python's notation."""
    in_class = False

    def rewritten(match: re.Match[str]) -> str:
        nonlocal in_class
        if match["negation"]:
            return _property(match["property"], in_class=in_class, is_negated=match[1] == "P")
        if match["open"]:
            text = match[0] if not in_class else "\\["
            in_class = True
            return text
        if match["pair"] and in_class:
            return f"{match[0][0]}\\{match[0][0]}"  # Python keeps pairs for sets of its own
        if match["close"]:
            in_class = False
        if match["name"] and not in_class:
            return f"(?P<{match['name']}>"
        if match["back"] and not in_class:
            return f"(?P={match['back']})"
        return match["identity"] or match[0]

    return _TOKEN.sub(rewritten, pattern)


def _property(name: str, *, in_class: bool, is_negated: bool) -> str:
    key = name.rpartition("=")[2]
    members = re.escape(_PROPERTIES.get(key, string.ascii_letters))
    if in_class:
        return "-" if is_negated else members
    return f"[^{members}]" if is_negated else f"[{members}]"
