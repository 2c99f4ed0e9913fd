"""Keeps many people as the JSON that their file has: it takes less than half of the memory.

A person is decoded when a request needs it, and kept for the next one. All were decoded and checked
once while the file was loaded.
"""

from collections.abc import ItemsView, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import force_setattr, replace

from understudy.mock.server.recent import Recent, Recurring
from understudy.mock.store.people import Person

_DECODED = 700
"""People that are kept decoded: about 3 MB."""

DECODER = msgspec.json.Decoder(Person)


def with_password(person: Person) -> Person:
    """Gives a person without a password the one that can be guessed from the slug."""
    return person if person.password else replace(person, password=guessable_password(person.slug))


def guessable_password(slug: str) -> str:
    """Returns the password of a person who has none."""
    return f"{slug}-password"


def _decoded(slug: str, line: bytes) -> Person:
    person = DECODER.decode(line)
    if not person.password:
        force_setattr(person, "password", guessable_password(slug))  # nobody else has it yet
    return person


class PeopleLines(Mapping[str, Person]):
    """Slug to person.

    Args:
        people: Slug to person, or to the JSON of one; it stays as it is.
    """

    def __init__(self, people: Mapping[str, Person | bytes]) -> None:
        self._people = people
        self._recent: Recent[str, Person] = Recurring(_DECODED)

    def __getitem__(self, slug: str) -> Person:
        """Returns a person; the same object while it is one of those that are kept decoded.

        Raises:
            KeyError: There is none of this slug.
        """
        person: Person | None = self.get(slug)
        if person is None:
            raise KeyError(slug)
        return person

    def get(self, slug: str, default: Any = None) -> Any:
        """Returns the same person, or the default."""
        recent = self._recent.get(slug)
        if recent is not None:
            return recent
        person = self._people.get(slug)
        if not isinstance(person, bytes):
            return default if person is None else person
        return self._recent.put(slug, _decoded(slug, person))

    def read(self, slug: str) -> Person:
        """Returns a person who is not kept for the next request."""
        person = self._people[slug]
        return _decoded(slug, person) if isinstance(person, bytes) else person

    def __contains__(self, slug: object) -> bool:
        """Tells whether there is a person of this slug."""
        return slug in self._people

    def __iter__(self) -> Iterator[str]:
        """Yields the slugs."""
        return iter(self._people)

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self._people)

    def items(self) -> ItemsView[str, Person]:
        """Yields everyone, and keeps none of them decoded."""
        return _Items(self)


class _Items(ItemsView[str, Person]):
    """The items of people's lines."""

    _mapping: PeopleLines

    def __iter__(self) -> Iterator[tuple[str, Person]]:
        return ((slug, self._mapping.read(slug)) for slug in self._mapping)
