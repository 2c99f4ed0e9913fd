"""Finds people by e-mail hash, by slug, or by the token of a call."""

from collections.abc import Callable, Mapping
from typing import Final, Generic, NamedTuple, TypeVar

from understudy.errors import Unauthorized
from understudy.interface.rules import upholds
from understudy.mock.server.call import Call
from understudy.mock.server.recent import Recent
from understudy.mock.server.worlds import World
from understudy.mock.store.hashing import email_hash, is_hash, is_md5, md5_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Person, VerifiedAccount


class Indexes(NamedTuple):
    """Indexes of the people of a baseline, by which they are found.

    Attributes:
        by_md5: MD5 hash of an address to a slug; nobody's addresses change.
        by_account: User name of a verified account to slugs.
        services: Types of services that accounts are verified at, to their labels.
    """

    by_md5: dict[str, str]
    by_account: dict[str, list[str]]
    services: dict[str, str]


Made = TypeVar("Made")


class OfPeople(Generic[Made]):
    """Makes something of the people that a world begins with, once for each baseline.

    It is made at the first request that needs it, as decoding all people takes a second. A baseline never
    changes; what a world changes is looked at apart.

    Args:
        make: Makes it of slugs and people.
    """

    def __init__(self, make: Callable[[Mapping[str, Person]], Made]) -> None:
        self._make = make
        # by the identity of the people, which they keep for as long as they are kept here
        self._made: Recent[int, tuple[Mapping[str, Person], Made]] = Recent(2)

    def __call__(self, world: World) -> Made:
        """Returns what is made of the people of a world's baseline."""
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
    """Returns the person with this MD5 hash of an e-mail address, where such hashes are taken.

    Args:
        call: The call.
        digits: Hexadecimal digits in lower case.
    """
    if not (is_md5(digits) and takes_md5(call)):
        return None
    slug = indexes(call.world).by_md5.get(digits)
    return None if slug is None else call.world.get(PEOPLE, slug)


def takes_md5(call: Call) -> bool:
    """Tells whether MD5 hashes of e-mail addresses are taken beside the interface's SHA-256."""
    return call.choices.get("email-hashes") == "md5-too"


def caller(call: Call) -> Person:
    """Returns the person that the call is authenticated as.

    Raises:
        Unauthorized: The call is anonymous; security refuses such calls before they get here.
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
