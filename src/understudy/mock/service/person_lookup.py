"""Finds people by e-mail hash, by slug, or by the token of a call.

Also explains unknown identifiers: clients that hash addresses make the same few mistakes. The body of a
response must be the same for all of them, so the explanation is a note in the journal, the log, reports,
the header ``X-Mock-Hint`` and the console, which offers to send the note's last quoted value.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

from understudy.errors import Headers, Unauthorized, nearest
from understudy.interface.rules import upholds
from understudy.mock.server.call import Call
from understudy.mock.server.declared_responses import field_value
from understudy.mock.server.recent import Recent
from understudy.mock.server.worlds import World
from understudy.mock.store.hashing import email_hash, is_hash, is_md5, md5_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Person, VerifiedAccount


class Indexes(NamedTuple):
    """Indexes of the people of a baseline.

    Attributes:
        by_md5: MD5 hash of an e-mail address to a slug; no operation changes addresses.
        by_account: User name of a verified account to slugs.
        services: Type of each service with verified accounts to its label.
    """

    by_md5: dict[str, str]
    by_account: dict[str, list[str]]
    services: dict[str, str]


Made = TypeVar("Made")


class OfPeople(Generic[Made]):
    """Computes a value from the people of a baseline, and caches it for each baseline.

    The first request that needs the value computes it, as decoding all people takes a second. A baseline
    never changes; callers look up changed people in the world.

    Args:
        make: Computes the value from people by their slugs.
    """

    def __init__(self, make: Callable[[Mapping[str, Person]], Made]) -> None:
        self._make = make
        # by the id of the mapping, which the cached entry keeps alive, so that no other gets the id
        self._made: Recent[int, tuple[Mapping[str, Person], Made]] = Recent(2)

    def __call__(self, world: World) -> Made:
        """Returns the value for the people of a world's baseline."""
        people: Mapping[str, Person] = world.baseline.get(PEOPLE.name, {})
        made = self._made.get(id(people))
        if made is None:
            made = self._made.put(id(people), (people, self._make(people)))
        return made[1]


def _indexed(people: Mapping[str, Person]) -> Indexes:
    found = Indexes({}, {}, {})
    for slug, person in people.items():
        found.by_md5.update((md5_hash(email.email), slug) for email in person.emails)
        accounts = person.profile.verified_accounts
        for name in {username(account) for account in accounts}:
            found.by_account.setdefault(name, []).append(slug)
        found.services.update((it.service_type, it.service_label) for it in accounts)
    return found


indexes: Final = OfPeople(_indexed)
"""Returns the indexes of the people that a world begins with."""


def username(account: VerifiedAccount) -> str:
    """Returns the user name that ends an account's URL, in lower case."""
    return account.url.rstrip("/").rpartition("/")[2].lower().removeprefix("@")


@upholds("profile-by-hash-or-slug", "email-hash-normalised")
def find_person(call: Call, identifier: str) -> Person | None:
    """Returns the person with this e-mail hash or slug, ignoring case, or None."""
    world, name = call.world, identifier.lower()
    slug = world.get(SLUGS_BY_HASH, name) if is_hash(name) else name
    person = None if slug is None else world.get(PEOPLE, slug)
    return person or find_by_md5(call, name)


@upholds("email-hash-normalised")
def find_by_md5(call: Call, digits: str) -> Person | None:
    """Returns the person with this MD5 hash of an address, in lower case, if such are accepted."""
    if not (is_md5(digits) and takes_md5(call)):
        return None
    slug = indexes(call.world).by_md5.get(digits)
    return None if slug is None else call.world.get(PEOPLE, slug)


def takes_md5(call: Call) -> bool:
    """Tells whether MD5 hashes of e-mail addresses are accepted besides the interface's SHA-256."""
    return call.choices.get("email-hashes") == "md5-too"


def caller(call: Call) -> Person:
    """Returns the authenticated person of a call.

    Raises:
        Unauthorized: The call is anonymous, or the person was deleted; security refuses most such
            calls earlier.
    """
    person = call.world.get(PEOPLE, call.principal.person) if call.principal else None
    if person is None:
        msg = "Send an OAuth access token: this operation is about the caller's own account."
        raise Unauthorized(msg)
    return person


def own_email_index(call: Call, person: Person, hash_: str) -> int | None:
    """Returns the index of the person's e-mail address with this hash, ignoring case, or None."""
    wanted = hash_.strip().lower()
    hashed = md5_hash if is_md5(wanted) and takes_md5(call) else email_hash
    matches = (n for n, email in enumerate(person.emails) if hashed(email.email) == wanted)
    return next(matches, None)


_MOST_PEOPLE: Final = 500
"""People at most whose wrong hashes are computed, in some 10 ms, once for each set of fixtures."""

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
    """Notes the probable mistake in an unknown identifier, if one is recognised.

    Returns:
        The header with the same hint for the client; empty if no mistake is recognised.
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
        changed = {person.slug: person for person in world.added(PEOPLE)}
        return _mistaken(world).get(word) or _hashes(changed).get(word)
    if _NEARLY_HASH.fullmatch(word):
        return f"This has {len(word)} hexadecimal digits; a SHA-256 hash has 64."
    slug = nearest(word, list(islice(world.keys(PEOPLE), _MOST_PEOPLE)))
    return f"No person has the slug {identifier!r}{slug}" if slug else None


def _hashes(people: Mapping[str, Person]) -> Mapping[str, str]:
    """Returns wrongly computed hashes of people's addresses, each with a hint at the mistake."""
    hashes: dict[str, str] = {}
    for slug, person in islice(people.items(), _MOST_PEOPLE):
        for email in person.emails:
            address = email.email.strip().lower()
            whose = f"{address}, an address of {slug}"
            right = f"send its SHA-256 {email_hash(address)!r}"
            for mistake, spoil in _MISTAKES:
                if (spoilt := spoil(address)) == address:  # digits have no capital letters
                    continue
                wrong = hashlib.sha256(spoilt.encode()).hexdigest()
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
