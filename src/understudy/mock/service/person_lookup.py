"""Finds people by e-mail hash, by slug, or by the token of a call."""

from collections.abc import Mapping
from functools import lru_cache

from understudy.errors import Unauthorized
from understudy.interface.rules import upholds
from understudy.mock.server.call import Call
from understudy.mock.server.worlds import World
from understudy.mock.store.hashing import email_hash, is_hash, is_md5, md5_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Person, VerifiedAccount

# Indexes the people of a baseline, at the first request that needs it: decoding all takes a
# second. A baseline never changes; what a world changes is looked at apart.


def slugs_by_md5(world: World) -> Mapping[str, str]:
    """Returns MD5 hash to slug; nobody's addresses change."""
    return _slugs_by_md5(People(world.baseline.get(PEOPLE.name, {})))


def slugs_by_account(world: World) -> Mapping[str, list[str]]:
    """Returns the user name of a verified account to the slugs of the baseline's people."""
    return _slugs_by_account(People(world.baseline.get(PEOPLE.name, {})))


def service_labels(world: World) -> Mapping[str, str]:
    """Returns the types of services that the baseline's people have accounts at, to their labels."""
    return _service_labels(People(world.baseline.get(PEOPLE.name, {})))


def username(account: VerifiedAccount) -> str:
    """Returns the user name that ends an account's URL, in lower case."""
    return account.url.rstrip("/").rpartition("/")[2].lower().removeprefix("@")


class People:
    """The people of a baseline, compared by identity.

    Args:
        records: Slug to person.
    """

    def __init__(self, records: Mapping[str, Person]) -> None:
        self.records = records

    def __hash__(self) -> int:
        return id(self.records)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, People) and self.records is other.records


@lru_cache(maxsize=2)
def _slugs_by_md5(people: People) -> Mapping[str, str]:
    return {
        md5_hash(email.email): slug
        for slug, person in people.records.items()
        for email in person.emails
    }


@lru_cache(maxsize=2)
def _slugs_by_account(people: People) -> Mapping[str, list[str]]:
    slugs: dict[str, list[str]] = {}
    for slug, person in people.records.items():
        for name in {username(account) for account in person.profile.verified_accounts}:
            slugs.setdefault(name, []).append(slug)
    return slugs


@lru_cache(maxsize=2)
def _service_labels(people: People) -> Mapping[str, str]:
    return {
        account.service_type: account.service_label
        for _, person in people.records.items()
        for account in person.profile.verified_accounts
    }


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
    slug = slugs_by_md5(call.world).get(digits)
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
