"""Finds people by e-mail hash, by slug, or by the token of a call."""

from understudy.errors import Unauthorized
from understudy.interface.rules import upholds
from understudy.mock.engine.call import Call
from understudy.mock.engine.worlds import World
from understudy.mock.store.hashing import email_hash, is_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Person


@upholds("profile-by-hash-or-slug", "email-hash-normalised")
def find_person(world: World, identifier: str) -> Person | None:
    """Returns the person with this e-mail hash or slug, ignoring case, or None."""
    name = identifier.lower()
    slug = world.get(SLUGS_BY_HASH, name) if is_hash(name) else name
    return None if slug is None else world.get(PEOPLE, slug)


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


def own_email_index(person: Person, hash_: str) -> int | None:
    """Returns the index of the person's e-mail address with this hash, ignoring case, or None."""
    wanted = hash_.strip().lower()
    matches = (n for n, email in enumerate(person.emails) if email_hash(email.email) == wanted)
    return next(matches, None)
