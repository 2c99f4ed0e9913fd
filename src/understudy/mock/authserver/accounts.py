"""Looks accounts up by user name, checks their passwords, and limits failed attempts.

Attempts are limited at secrets, codes and passwords (RFC 6749, 10.10; RFC 9700, 4).
"""

import hmac
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from understudy.errors import TooManyRequests
from understudy.interface.rules import upholds
from understudy.mock.server.worlds import Collection, World
from understudy.mock.store.applications import FAILED_SIGN_INS, FailedAttempts
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Person

FAILURES = 10
"""Failed attempts allowed per minute and name."""

PAUSE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Attempts:
    """The attempts at one secret.

    Attributes:
        world: The world, whose clock is used.
        collection: Where failed attempts of this kind are counted.
        name: Owner of the secret, the key in the collection.
    """

    world: World
    collection: Collection[FailedAttempts]
    name: str

    def failed(self) -> None:
        """Counts a failed attempt."""
        now = self.world.clock.now()
        failed = self.world.get(self.collection, self.name)
        if failed is None or now >= failed.since + PAUSE:
            failed = FailedAttempts(now, 0)
        counted = FailedAttempts(failed.since, failed.count + 1)
        self.world.put(self.collection, self.name, counted)


@upholds("guessing-slowed")
def hold_off(world: World, collection: Collection[FailedAttempts], name: str) -> Attempts:
    """Returns the attempts at a secret, unless there were too many.

    Raises:
        TooManyRequests: There were too many failed attempts within a minute.
    """
    failed = world.get(collection, name)
    now = world.clock.now()
    if failed is not None and failed.count >= FAILURES and now < failed.since + PAUSE:
        seconds = int((failed.since + PAUSE - now).total_seconds()) + 1
        msg = f"Too many failed attempts; wait {seconds} seconds."
        raise TooManyRequests(msg, code="slow_down", headers=(("retry-after", str(seconds)),))
    return Attempts(world, collection, name)


PasswordCheck = Literal["wrong", "password", "application_password"]

UNKNOWN_ACCOUNT = ""
"""Key of the failed attempts at all accounts that do not exist."""


def find_account(world: World, username: str) -> Person | None:
    """Returns the person with this user name (the slug) or e-mail address, or None."""
    slug = world.get(SLUGS_BY_HASH, email_hash(username)) or username.strip().lower()
    return world.get(PEOPLE, slug)


def check_password(
    world: World, username: str, password: str
) -> tuple[Person | None, PasswordCheck]:
    """Returns an account and which of its passwords this is; after too many wrong ones none is compared.

    Raises:
        TooManyRequests: There were too many failed attempts.
    """
    person = find_account(world, username)
    # counted by account and not by typed name: an account has several, and typed names no end
    attempts = hold_off(world, FAILED_SIGN_INS, person.slug if person else UNKNOWN_ACCOUNT)
    check = compared(person, password)
    if check == "wrong":
        attempts.failed()
    return person, check


def compared(person: Person | None, password: str) -> PasswordCheck:
    """Tells which of a person's passwords this is; None for an account that does not exist."""
    expected = person.password if person else ""
    of_application = (person.application_password if person else None) or ""
    # both are compared for unknown accounts too, so that the time reveals nothing
    is_password = hmac.compare_digest(expected.encode(), password.encode())
    is_of_application = hmac.compare_digest(of_application.encode(), password.encode())
    if expected and is_password:
        return "password"
    if of_application and is_of_application:
        return "application_password"
    return "wrong"
