"""Looks accounts up by user name, checks their passwords, and throttles failed attempts.

Throttling protects client secrets, codes and passwords (RFC 6749, 10.10; RFC 9700, 4).
"""

import hmac
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


@upholds("guessing-slowed")
def hold_off(world: World, collection: Collection[FailedAttempts], name: str) -> None:
    """Refuses an attempt at a secret after too many failed ones; ``name`` is the secret's owner.

    Raises:
        TooManyRequests: Too many attempts failed within a minute.
    """
    failed = world.get(collection, name)
    now = world.clock.now()
    if failed is not None and failed.count >= FAILURES and now < failed.since + PAUSE:
        seconds = int((failed.since + PAUSE - now).total_seconds()) + 1
        msg = f"Too many failed attempts; wait {seconds} seconds."
        raise TooManyRequests(msg, code="slow_down", headers=(("retry-after", str(seconds)),))


def count_failure(world: World, collection: Collection[FailedAttempts], name: str) -> None:
    """Counts a failed attempt at a secret."""
    now = world.clock.now()
    failed = world.get(collection, name)
    if failed is None or now >= failed.since + PAUSE:
        failed = FailedAttempts(now, 0)
    world.put(collection, name, FailedAttempts(failed.since, failed.count + 1))


PasswordCheck = Literal["wrong", "password", "application_password"]

UNKNOWN_ACCOUNT = ""
"""Key of failed attempts at accounts that do not exist, which share one count."""


def find_account(world: World, username: str) -> Person | None:
    """Returns the person with this user name (the slug) or e-mail address, or None."""
    slug = world.get(SLUGS_BY_HASH, email_hash(username)) or username.strip().lower()
    return world.get(PEOPLE, slug)


def check_password(
    world: World, username: str, password: str
) -> tuple[Person | None, PasswordCheck]:
    """Returns the account of a user name, if any, and which of its passwords this is.

    Raises:
        TooManyRequests: Too many attempts failed; the password was not compared.
    """
    person = find_account(world, username)
    # counted per account: it has several user names, and unknown names would fill the store
    name = person.slug if person else UNKNOWN_ACCOUNT
    hold_off(world, FAILED_SIGN_INS, name)
    check = compared(person, password)
    if check == "wrong":
        count_failure(world, FAILED_SIGN_INS, name)
    return person, check


def compared(person: Person | None, password: str) -> PasswordCheck:
    """Returns which of a person's passwords this is; an unknown account (None) has none."""
    expected = person.password if person else ""
    of_application = (person.application_password if person else None) or ""
    # compares both even for unknown accounts, so that the time of the response reveals nothing
    is_password = hmac.compare_digest(expected.encode(), password.encode())
    is_of_application = hmac.compare_digest(of_application.encode(), password.encode())
    if person and is_password:
        return "password"
    if of_application and is_of_application:
        return "application_password"
    return "wrong"
