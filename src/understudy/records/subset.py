"""Takes some of a baseline's people, with all that is theirs and nothing of the others'."""

from collections.abc import Sequence
from typing import Any

from understudy.engine.worlds import Baseline
from understudy.errors import BadRequest, nearest
from understudy.records.applications import APPLICATIONS
from understudy.records.hashing import email_hash
from understudy.records.people import PEOPLE, SLUGS_BY_HASH, SLUGS_BY_IMAGE_ID, Person
from understudy.records.tokens import TOKENS


def only(baseline: Baseline, slugs: Sequence[str]) -> Baseline:
    """Returns a baseline with these people only; what it holds of them is shared, not copied.

    Raises:
        BadRequest: There is no such person.
    """
    everybody = baseline[PEOPLE.name]
    people: dict[str, Person] = {}
    for slug in slugs:
        if slug not in everybody:
            hint = nearest(slug, list(everybody)) or "."
            msg = f"people: there is no person {slug!r} among the fixtures{hint}"
            raise BadRequest(msg)
        people[slug] = everybody[slug]
    chosen: dict[str, Any] = {
        PEOPLE.name: people,
        SLUGS_BY_HASH.name: {
            email_hash(e.email): p.slug for p in people.values() for e in p.emails
        },
        SLUGS_BY_IMAGE_ID.name: {a.image_id: p.slug for p in people.values() for a in p.avatars},
        TOKENS.name: {k: t for k, t in baseline[TOKENS.name].items() if t.person in people},
        APPLICATIONS.name: {
            k: a for k, a in baseline[APPLICATIONS.name].items() if a.owner in people
        },
    }
    return {**baseline, **chosen}
