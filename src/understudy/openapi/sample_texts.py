"""Makes sample texts for a format, a member name, or a regular expression."""

import re
import string
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache, lru_cache, partial
from itertools import chain
from random import Random  # noqa: TID251 - seeded by the caller
from typing import Any, Final
from uuid import UUID

from understudy.limits import SAMPLE_CHARACTERS

# Realistic texts come from short word lists and not from Faker: its pytest plugin takes 0.3 s of CPU
# in every test run of a project that has it, and its texts differ between versions. Host names and
# addresses are those reserved for documentation (RFC 2606, RFC 5737, RFC 3849).

_FIRST_NAMES: Final = tuple(
    (
        "Ada Ben Carla Dmitri Esra Femi Greta Hana Ivo Jun Kenji Leila Mei Nora Olu Priya Rafael"
        " Sofia Tomas Vera"
    ).split()
)
_LAST_NAMES: Final = tuple(
    (
        "Adeyemi Brandt Castellan Dahl Ferreira Grunwald Harrow Ito Kowal Lindqvist Merrowdale Novak"
        " Okafor Quill Rao Tanner"
    ).split()
)
_CITIES: Final = (
    *("Ashford", "Brackwater", "Cedar Falls", "Dunmore", "Eastvale", "Fairhaven"),
    *("Glenrock", "Port Lindry", "Kingsmere", "Larkhill", "Millbrook", "Northgate"),
)
_COUNTRY_CODES: Final = ("BR", "CA", "DE", "EG", "JP", "KE", "NO", "PT")
_CURRENCIES: Final = ("BRL", "EUR", "JPY", "KES", "USD")
_LOCALES: Final = ("de-DE", "en-GB", "fr-FR", "ja-JP", "pt-BR")
_COUNTRIES: Final = ("Brazil", "Canada", "Egypt", "Germany", "Japan", "Kenya", "Norway", "Portugal")
_STREETS: Final = ("Harbour Road", "Mill Lane", "Station Street", "Elm Avenue", "Bridge Street")
_JOBS: Final = ("Baker", "Cartographer", "Editor", "Gardener", "Engineer", "Librarian", "Nurse")
_LANGUAGES: Final = ("Arabic", "English", "French", "German", "Japanese", "Portuguese", "Swahili")
_TIME_ZONES: Final = ("Africa/Cairo", "America/Sao_Paulo", "Asia/Tokyo", "Europe/Lisbon", "UTC")
_WORDS: Final = tuple(
    (
        "amber bridge cedar drift ember field garden harbour island journey kettle lantern meadow"
        " north orchard paper quiet river stone thread umbrella valley willow yellow"
    ).split()
)


_CAPITAL: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])")  # where camel case gets an underscore


def _word(chance: Random) -> str:
    return chance.choice(_WORDS)


def _sentence(chance: Random, words: int) -> str:
    return f"{' '.join(chance.choices(_WORDS, k=words)).capitalize()}."


def _slug(chance: Random) -> str:
    return f"{_word(chance)}-{_word(chance)}"


def _url(chance: Random) -> str:
    return f"https://example.com/{_slug(chance)}"


def _host(chance: Random) -> str:
    return f"{_word(chance)}.example.com"


def _name(chance: Random) -> str:
    return f"{chance.choice(_FIRST_NAMES)} {chance.choice(_LAST_NAMES)}"


def _user_name(chance: Random) -> str:
    return f"{chance.choice(_FIRST_NAMES).lower()}{chance.randrange(10, 100)}"


def _email(chance: Random) -> str:
    return f"{_user_name(chance)}@example.{chance.choice(('com', 'net', 'org'))}"


def _address(chance: Random) -> str:
    street = chance.choice(_STREETS)
    return f"{chance.randrange(1, 200)} {street}, {chance.choice(_CITIES)}"


def _phone(chance: Random) -> str:
    return f"+1202555{chance.randrange(100, 200):04}"  # E.164, reserved for fiction


def _day(chance: Random) -> date:
    """Returns a random day of 2020 to 2025, so that samples do not change with today's date."""
    return date(2020, 1, 1) + timedelta(days=chance.randrange(2192))


_BY_FORMAT: Final[Mapping[str, Callable[[Random], str]]] = {
    "date": lambda chance: str(_day(chance)),
    "date-time": lambda chance: f"{_day(chance)}T09:30:00Z",
    "decimal": lambda chance: f"{chance.randrange(1, 100)}.50",
    "double": lambda chance: f"{chance.randrange(1, 100)}.5",
    "duration": lambda chance: f"P{chance.randrange(1, 28)}D",
    "email": _email,
    "float": lambda chance: f"{chance.randrange(1, 100)}.5",
    "hostname": _host,
    "idn-email": _email,
    "idn-hostname": _host,
    "int32": lambda chance: str(chance.randrange(1, 1000)),
    "int64": lambda chance: str(chance.randrange(1, 1000)),
    "ipv4": lambda chance: f"192.0.2.{chance.randrange(1, 255)}",
    "ipv6": lambda chance: f"2001:db8::{chance.randrange(1, 2**16):x}",
    "iri": _url,
    "iri-reference": lambda chance: f"/{_slug(chance)}",
    "json-pointer": lambda chance: f"/{_word(chance)}",
    "phone": _phone,
    "regex": lambda chance: f"^{_word(chance)}$",
    "relative-json-pointer": lambda chance: f"1/{_word(chance)}",
    "semver": lambda chance: f"1.{chance.randrange(1, 20)}.0",
    "slug": _slug,
    "uri": _url,
    "uri-reference": lambda chance: f"/{_slug(chance)}",
    "uri-template": lambda chance: f"https://example.com/{_word(chance)}/{{id}}",
    "url": _url,
    "uuid": lambda chance: str(UUID(int=chance.getrandbits(128), version=4)),
}
"""Format to a function that makes a random text of it; other formats have a fixed text."""

_BY_NAMES: Final[Mapping[str, Callable[[Random], str]]] = {
    "address streetaddress": _address,
    "avatar icon image logo photo picture thumbnail": lambda it: (
        f"https://example.com/{_word(it)}.png"
    ),
    "bio comment content description detail message note notes summary text": partial(
        _sentence, words=6
    ),
    "city location town": lambda chance: chance.choice(_CITIES),
    "color colour": lambda chance: f"#{chance.randrange(16**6):06x}",
    "company companyname": lambda it: f"{it.choice(_LAST_NAMES)} & {it.choice(_LAST_NAMES)}",
    "country countryname": lambda chance: chance.choice(_COUNTRIES),
    "countrycode": lambda chance: chance.choice(_COUNTRY_CODES),
    "currency currencycode": lambda chance: chance.choice(_CURRENCIES),
    "displayname fullname name": _name,
    "email emailaddress": _email,
    "familyname lastname surname": lambda chance: chance.choice(_LAST_NAMES),
    "filename": lambda chance: f"{_word(chance)}.txt",
    "firstname givenname": lambda chance: chance.choice(_FIRST_NAMES),
    "host hostname": _host,
    "href homepage link uri url website": _url,
    "ip ipaddress": _BY_FORMAT["ipv4"],
    "jobtitle": lambda chance: chance.choice(_JOBS),
    "language": lambda chance: chance.choice(_LANGUAGES),
    "locale": lambda chance: chance.choice(_LOCALES),
    "login nickname username": _user_name,
    "mobile phone phonenumber telephone": _phone,
    "postalcode postcode zip zipcode": lambda chance: f"{chance.randrange(10_000, 100_000)}",
    "rating": lambda chance: chance.choice("GR"),  # of films, and of the service's avatars
    "slug": _slug,
    "addressline1 street": lambda it: f"{it.randrange(1, 200)} {it.choice(_STREETS)}",
    "subject title": partial(_sentence, words=3),
    "timezone": lambda chance: chance.choice(_TIME_ZONES),
    "version": _BY_FORMAT["semver"],
}
_BY_NAME: Final = {name: make for names, make in _BY_NAMES.items() for name in names.split()}
"""Letters of a member's name to a function that makes a random text for it."""

_BY_LAST_WORD: Final[Mapping[str, Callable[[Random], str]]] = {
    **{it: _BY_NAME[it] for it in ("city", "description", "email", "phone", "uri", "url")},
    "at": _BY_FORMAT["date-time"],
    "date": _BY_FORMAT["date"],
}
"""Last of several words of a member's name, as in ``createdAt``, to such a function."""


@lru_cache(maxsize=4096)  # few names are in most texts
def _by_name(name: str) -> Callable[[Random], str] | None:
    """Returns the function for a member's name, in any style of writing; None if none is known."""
    first, *others = re.findall("[a-z0-9]+", _CAPITAL.sub("_", name).lower()) or [""]
    known = _BY_NAME.get("".join((first, *others)))
    return known or (_BY_LAST_WORD.get(others[-1]) if others else None)


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
"""Format to a fixed text."""

PLAIN_TEXT = "Lindry"
"""Fixed text without a format: a single word, so that cutting it to a maximum length is harmless."""


def text_for(name: str, form: str, seed: str) -> str:
    """Returns a plausible text for a member.

    Args:
        name: Name of the member.
        form: The ``format``, or an empty string.
        seed: The same seed gives the same text.
    """
    make = _BY_FORMAT.get(form)
    if make is None and form in PLAIN_FORMATS:
        return PLAIN_FORMATS[form]
    return (make or _by_name(name) or _word)(Random(seed))


FAKER_HINT: Final = "x-faker"
"""The keyword by which schemas name a provider of Faker, as ``person.firstName`` or ``first_name``."""

_PROVIDERS: Final = {
    "full_name": "name",
    "number": "random_int",
    "paragraphs": "paragraph",
    "street": "street_name",
    "url": "uri",
    "uuid": "uuid4",
    "zip_code": "postcode",
}
"""Provider names of faker.js to those of Faker, where they differ by more than snake case."""


def provided(hint: str, seed: str) -> Any:
    """Returns a value of the Faker provider that a hint names; None if Faker or it is missing."""
    name = _CAPITAL.sub("_", hint.rpartition(".")[2]).lower()
    name = _PROVIDERS.get(name, name)
    fake = _faker()
    if fake is None or not any(name in vars(kind) for kind in _kinds(fake)) or name[:1] == "_":
        return None
    fake.seed_instance(seed)
    try:
        value = getattr(fake, name)()
    except (TypeError, ValueError):  # it needs arguments
        return None
    return value if isinstance(value, str | int | float | bool) else str(value)


def _kinds(fake: Any) -> Iterator[type]:
    return (kind for it in fake.providers for kind in type(it).__mro__ if kind is not object)


@cache  # making one loads its word lists
def _faker() -> Any:
    try:
        from faker import Faker  # noqa: PLC0415 - takes 0.2 s, and is an extra
    except ImportError:
        return None
    return Faker("en_US")


def drawn(seed: str) -> int:
    """Returns the random whole number of a seed."""
    return Random(seed).getrandbits(48)


def dynamic_text_for(name: str, form: str, seed: str) -> str:
    """Returns a text as ``text_for`` does; if Faker is installed, it knows more member names."""
    is_known = form in PLAIN_FORMATS or _by_name(name) is not None
    text = provided(name, seed) if name and not is_known else None
    return text if isinstance(text, str) else text_for(name, form, seed)


def plain_text_for(_name: str, form: str, _seed: str) -> str:
    """Returns the fixed text of a format, or the fixed word."""
    return PLAIN_FORMATS.get(form, PLAIN_TEXT)


# Texts for a regular expression within bounds of length: ``rstr`` walks the expression and asks a
# random number generator for each choice, and the generator here steers the number of repeats. A
# text may fail to match, as for lookarounds or several patterns; the caller validates it.

_TRIES: Final = 6  # seeds per pattern
_USUAL_REPEATS: Final = 4
"""Repeats above the minimum, unless a minimum length requires more."""

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
"""Unicode property to some characters that have it."""

_TOKEN = re.compile(
    r"\\(?P<negation>[pP])\{(?P<property>[^}]*)\}"
    r"|\\(?P<identity>[^\WdDwWsSbBtrnvfxuaAzZ0-9_])|\\.|(?P<open>\[\^?)|(?P<close>\])|(?P<pair>&&|--|\|\||~~)",
    re.DOTALL,
)


def matching(
    pattern: str, seed: str, shortest: int = 0, longest: int | None = None
) -> Iterator[str]:
    """Yields texts that should match a pattern, those with a length within the bounds first.

    Args:
        pattern: A regular expression of ECMA-262.
        seed: The same seed gives the same texts.
        shortest: Fewest characters.
        longest: Most characters; None: unlimited.

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
        # a pattern without anchors still matches when the text is padded
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
    """Yields texts for a pattern with its lookarounds removed, long enough for their counts."""
    around = _LOOKAROUND.findall(pattern)
    if around:
        counts = [int(number) for number in re.findall(r"\{([0-9]{1,4})", "".join(around))]
        yield from _texts(_LOOKAROUND.sub("", pattern), seed, max([shortest, *counts]))


_LOOKAROUND = re.compile(r"\(\?<?[=!](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)", re.DOTALL)
"""A lookahead or lookbehind that contains at most one level of groups."""


def matches(pattern: str, text: str) -> bool:
    """Tells whether a pattern matches somewhere in a text; an invalid pattern matches nowhere."""
    compiled = _compiled(pattern)
    return compiled is not None and compiled.search(text) is not None


@lru_cache(maxsize=1024)  # a pattern is used for many texts
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(_in_python(pattern))
    except (re.error, OverflowError):
        return None


def _drawn(pattern: str, repeats: "_Repeats") -> str:
    """Returns a text for a pattern; an empty text if Python or rstr cannot read the pattern."""
    from rstr import Rstr  # noqa: PLC0415 - only documents with patterns need it

    try:
        text: str = Rstr(repeats).xeger(pattern)
    except (re.error, KeyError, IndexError, OverflowError):
        return ""
    return text


class _Repeats(Random):
    """The random generator for rstr: limits repeats, and prefers letters and digits.

    Args:
        seed: The same seed gives the same choices.
        more: Repeats above the minimum.
        is_exact: Whether ``more`` is the exact number, not the largest.
    """

    def __init__(self, seed: str, more: int, *, is_exact: bool = False) -> None:
        super().__init__(seed)
        self._more = more
        self._is_exact = is_exact
        self._choices = 0

    def __new__(cls, *_: Any, **__: Any) -> "_Repeats":
        """Makes the generator without arguments, which ``Random`` would take for a seed."""
        return super().__new__(cls)

    def randint(self, a: int, b: int) -> int:
        """Returns a number of repeats from a to b, limited by ``more``."""
        most = max(a, min(b, a + self._more))
        SAMPLE_CHARACTERS.check(a)
        return most if self._is_exact else super().randint(a, most)

    def choice(self, seq: Any) -> Any:
        """Returns one item; of characters a readable one, chosen from a sorted list."""
        self._choices += 1
        SAMPLE_CHARACTERS.check(self._choices)
        if not isinstance(seq[0], str):
            return super().choice(seq)
        return super().choice(_readable("".join(seq)))


@lru_cache(maxsize=256)  # called for every repetition of a set of characters
def _readable(characters: str) -> list[str]:
    """Returns the ASCII letters and digits of some characters, or else the printable ones, sorted."""
    readable = [it for it in characters if it.isascii() and it.isalnum()]
    visible = readable or [it for it in characters if it.isprintable()]
    return sorted(visible or characters)


@lru_cache(maxsize=1024)  # a pattern is used for many texts
def _in_python(pattern: str) -> str:
    """Returns a portable pattern (``patterns.portable``) in Python's notation."""
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
            return f"{match[0][0]}\\{match[0][0]}"  # Python reserves such pairs for set operations
        if match["close"]:
            in_class = False
        return match["identity"] or match[0]

    return _TOKEN.sub(rewritten, pattern)


def _property(name: str, *, in_class: bool, is_negated: bool) -> str:
    key = name.rpartition("=")[2]
    members = re.escape(_PROPERTIES.get(key, string.ascii_letters))
    if in_class:
        return "-" if is_negated else members
    return f"[^{members}]" if is_negated else f"[{members}]"
