"""Looks accounts up by user name, and checks their passwords."""

import hmac
from typing import Literal

from understudy.mock.authserver.throttling import hold_off
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import FAILED_SIGN_INS
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Person

PasswordCheck = Literal["wrong", "password", "application_password"]

UNKNOWN_ACCOUNT = ""
"""Key of the failed attempts at all accounts that do not exist."""


def find_account(world: World, username: str) -> Person | None:
    """Returns the person with this user name (the slug) or e-mail address, or None."""
    slug = world.get(SLUGS_BY_HASH, email_hash(username)) or username.strip().lower()
    return world.get(PEOPLE, slug)


def check_password(world: World, username: str, password: str) -> PasswordCheck:
    """Tells which of an account's passwords this is.

    Raises:
        TooManyRequests: There were too many failed attempts.
    """
    person = find_account(world, username)
    # counted by account and not by typed name: an account has several, and typed names no end
    attempts = hold_off(world, FAILED_SIGN_INS, person.slug if person else UNKNOWN_ACCOUNT)
    expected = person.password if person else ""
    of_application = (person.application_password if person else None) or ""
    # both are compared for unknown accounts too, so that the time reveals nothing
    is_password = hmac.compare_digest(expected.encode(), password.encode())
    is_of_application = hmac.compare_digest(of_application.encode(), password.encode())
    if person is not None and expected and is_password:
        return "password"
    if person is not None and of_application and is_of_application:
        return "application_password"
    attempts.failed()
    return "wrong"
