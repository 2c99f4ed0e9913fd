"""Says what an identifier that leads to nobody was probably meant to be.

Clients that hash addresses make the same few mistakes. The body of a response must not tell them apart,
so what was probably meant is a note of the mock: in the journal, the log, reports, the header
``X-Mock-Hint`` and the console, which sends again what the note quotes last.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final

from understudy.errors import Headers, nearest
from understudy.mock.server.call import Call
from understudy.mock.server.declared_headers import field_value
from understudy.mock.server.worlds import World
from understudy.mock.service.person_lookup import OfPeople
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import PEOPLE, Person

_MOST_PEOPLE: Final = 500
"""People whose wrong hashes are computed, once for a set of fixtures, in some 10 ms."""

_NEARLY_HASH: Final = re.compile("[0-9a-f]{60,68}")
_DIGITS: Final = re.compile("[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")


def _capitalised(address: str) -> str:
    return re.sub(r"(?:^|(?<=[.@_-]))[a-z]", lambda letter: letter[0].upper(), address)


def _capitalised_name(address: str) -> str:
    name, at, host = address.partition("@")
    return _capitalised(name) + at + host


_MISTAKES: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("was in upper case", str.upper),
    ("kept its capital first letter", lambda it: it[:1].upper() + it[1:]),
    ("kept its capital letters", _capitalised),
    ("kept its capital letters", _capitalised_name),
    ("ended with a line break, which `echo` adds and `printf` does not,", "{}\n".format),
    ("ended with a space", "{} ".format),
    ("began with a space", " {}".format),
    ("stood in quotes", '"{}"'.format),
    ("began with mailto:", "mailto:{}".format),
)


def note_misread(call: Call, identifier: str) -> Headers:
    """Notes what an identifier that leads to nobody was probably meant to be, if that is known.

    Returns:
        The header that says the same to the client; none if nothing is known.
    """
    hint = _misread(call.world, identifier)
    if hint is None:
        return ()
    call.notes.append(hint)
    return (("x-mock-hint", field_value(hint).decode("latin-1")),)


def _misread(world: World, identifier: str) -> str | None:
    word = identifier.lower()
    if "@" in word:
        return f"This is an e-mail address; send its SHA-256 {email_hash(word)!r}."
    if _DIGITS.fullmatch(word):
        known = _mistaken(world).get(word)
        return known or _hashes(_added(world)).get(word)
    if _NEARLY_HASH.fullmatch(word):
        return f"This has {len(word)} hexadecimal digits; a SHA-256 hash has 64."
    slug = nearest(word, list(islice(world.keys(PEOPLE), _MOST_PEOPLE)))
    return f"No person has the slug {identifier!r}{slug}" if slug else None


def _added(world: World) -> Mapping[str, Person]:
    return {
        key: record
        for name, key, record in world.changes()
        if name == PEOPLE.name and record is not None
    }


def _hashes(people: Mapping[str, Person]) -> Mapping[str, str]:
    """Returns wrong hashes of the addresses of people to whose they are, and what went wrong."""
    hashes: dict[str, str] = {}
    for slug, person in islice(people.items(), _MOST_PEOPLE):
        for email in person.emails:
            address = email.email.strip().lower()
            whose = f"{address}, an address of {slug}"
            right = f"send its SHA-256 {email_hash(address)!r}"
            for mistake, spoil in _MISTAKES:
                wrong = hashlib.sha256(spoil(address).encode()).hexdigest()
                message = (
                    f"This is the hash of {whose}, which {mistake} before it was hashed. "
                    f"Trim the address, put it in lower case, and {right}."
                )
                hashes.setdefault(wrong, message)
            for name, kind in (("md5", "MD5"), ("sha1", "SHA-1")):
                wrong = hashlib.new(name, address.encode(), usedforsecurity=False).hexdigest()
                hashes.setdefault(wrong, f"This is the {kind} of {whose}; {right}.")
    return hashes


_mistaken: Final = OfPeople(_hashes)
