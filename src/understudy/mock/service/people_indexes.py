"""Indexes the people of a baseline, at the first request that needs it: decoding all takes a second.

A baseline never changes; what a world changes is looked at apart.
"""

from collections.abc import Mapping
from functools import lru_cache

from understudy.mock.server.worlds import World
from understudy.mock.store.hashing import md5_hash
from understudy.mock.store.people import PEOPLE, Person, VerifiedAccount


def slugs_by_md5(world: World) -> Mapping[str, str]:
    """Returns MD5 hash to slug; nobody's addresses change."""
    return _slugs_by_md5(_People(world.baseline.get(PEOPLE.name, {})))


def slugs_by_account(world: World) -> Mapping[str, list[str]]:
    """Returns the user name of a verified account to the slugs of the baseline's people."""
    return _slugs_by_account(_People(world.baseline.get(PEOPLE.name, {})))


def service_labels(world: World) -> Mapping[str, str]:
    """Returns the types of services that the baseline's people have accounts at, to their labels."""
    return _service_labels(_People(world.baseline.get(PEOPLE.name, {})))


def username(account: VerifiedAccount) -> str:
    """Returns the user name that ends an account's URL, in lower case."""
    return account.url.rstrip("/").rpartition("/")[2].lower().removeprefix("@")


class _People:
    """The people of a baseline, compared by identity.

    Args:
        records: Slug to person.
    """

    def __init__(self, records: Mapping[str, Person]) -> None:
        self.records = records

    def __hash__(self) -> int:
        return id(self.records)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _People) and self.records is other.records


@lru_cache(maxsize=2)
def _slugs_by_md5(people: _People) -> Mapping[str, str]:
    return {
        md5_hash(email.email): slug
        for slug, person in people.records.items()
        for email in person.emails
    }


@lru_cache(maxsize=2)
def _slugs_by_account(people: _People) -> Mapping[str, list[str]]:
    slugs: dict[str, list[str]] = {}
    for slug, person in people.records.items():
        for name in {username(account) for account in person.profile.verified_accounts}:
            slugs.setdefault(name, []).append(slug)
    return slugs


@lru_cache(maxsize=2)
def _service_labels(people: _People) -> Mapping[str, str]:
    return {
        account.service_type: account.service_label
        for _, person in people.records.items()
        for account in person.profile.verified_accounts
    }
