"""What there is in a world, in the shape of ``understudy fixtures --list --json``."""

from datetime import datetime
from itertools import islice
from typing import Any

from understudy.engine.worlds import World
from understudy.records.applications import APPLICATIONS
from understudy.records.hashing import email_hash
from understudy.records.people import PEOPLE, Person
from understudy.records.tokens import TOKENS, is_valid


def listing(world: World, now: datetime, most: int | None = None) -> dict[str, Any]:
    """Returns people, tokens and applications.

    Args:
        world: Whose.
        now: Tells which tokens are expired.
        most: How many of each; all if left out.
    """
    return {
        "people": [_person(person) for _, person in islice(world.items(PEOPLE), most)],
        "tokens": [
            {
                "token": token.token,
                "person": token.person,
                "kind": token.kind,
                "scopes": list(token.scopes),
                "state": "valid" if is_valid(token, now) else "expired",
            }
            for _, token in islice(world.items(TOKENS), most)
        ],
        "applications": [
            {
                "client_id": application.client_id,
                "client_secret": application.client_secret,
                "redirect_uris": list(application.redirect_uris),
                "owner": application.owner,
                "about": application.about,
            }
            for _, application in islice(world.items(APPLICATIONS), most)
        ],
    }


def _person(person: Person) -> dict[str, Any]:
    said: dict[str, Any] = {
        "slug": person.slug,
        "display_name": person.profile.display_name,
        "emails": [
            {"email": email.email, "hash": email_hash(email.email), "primary": place == 0}
            for place, email in enumerate(person.emails)
        ],
        "about": person.about,
        "username": person.slug,
        "password": person.password,
    }
    if person.application_password is not None:
        said["application_password"] = person.application_password
    return said
