"""User names and passwords of the world's people."""

import hmac
from typing import Literal

from understudy.mock.authserver.throttling import hold_off
from understudy.mock.engine.worlds import World
from understudy.mock.store.attempts import FAILED_SIGN_INS
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Person

Proof = Literal["wrong", "password", "application_password"]


def find(world: World, username: str) -> Person | None:
    """Returns the person of a user name, which is the slug, or of any of their e-mails."""
    slug = world.get(SLUGS_BY_HASH, email_hash(username)) or username.strip().lower()
    return world.get(PEOPLE, slug)


def prove(world: World, username: str, password: str) -> Proof:
    """Says what a password proves.

    Raises:
        TooManyRequests: Too many were tried for this name.
    """
    attempts = hold_off(world, FAILED_SIGN_INS, username.strip().lower())
    person = find(world, username)
    expected = person.password if person else ""
    of_application = (person.application_password if person else None) or ""
    # both are compared, found or not, so that the time tells nothing
    is_password = hmac.compare_digest(expected.encode(), password.encode())
    is_of_application = hmac.compare_digest(of_application.encode(), password.encode())
    if person is not None and expected and is_password:
        return "password"
    if person is not None and of_application and is_of_application:
        return "application_password"
    attempts.failed()
    return "wrong"
