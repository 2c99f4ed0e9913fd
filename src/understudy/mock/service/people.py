"""Finds people: by hash or slug, or whom a call speaks for, and which e-mail of theirs is meant."""

from understudy.errors import Unauthorized
from understudy.interface.rules import upholds
from understudy.mock.engine.call import Call
from understudy.mock.engine.worlds import World
from understudy.mock.store.hashing import email_hash, is_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Person


@upholds("profile-by-hash-or-slug", "email-hash-normalised")
def find(world: World, identifier: str) -> Person | None:
    """Returns the person of an e-mail hash or a slug; letter case does not matter."""
    name = identifier.lower()
    slug = world.get(SLUGS_BY_HASH, name) if is_hash(name) else name
    return None if slug is None else world.get(PEOPLE, slug)


def caller(call: Call) -> Person:
    """Returns the person that a call speaks for.

    Raises:
        Unauthorized: It speaks for nobody; security lets no such call through.
    """
    person = call.world.get(PEOPLE, call.principal.person) if call.principal else None
    if person is None:
        msg = "Send an OAuth access token: this is about the caller's own account."
        raise Unauthorized(msg)
    return person


def own_hash(person: Person, given: str) -> int | None:
    """Returns which of a person's e-mails a hash is of, or None; letter case does not matter."""
    wanted = given.strip().lower()
    places = (n for n, email in enumerate(person.emails) if email_hash(email.email) == wanted)
    return next(places, None)
