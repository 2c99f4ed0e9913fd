"""Draws realistic texts from short word lists: names, places, addresses on the network.

Not Faker: its pytest plugin takes 0.3 s of CPU in every test run of a project that has it, and its
texts differ between versions. Names of hosts and addresses are those reserved for documentation
(RFC 2606, RFC 5737, RFC 3849).
"""

from datetime import date, timedelta
from random import Random  # noqa: TID251 - seeded by the caller
from typing import Final
from uuid import UUID

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
