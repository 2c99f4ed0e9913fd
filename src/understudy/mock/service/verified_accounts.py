"""Searches profiles by verified account, and lists the services that accounts can be verified at.

Newer definitions of the service have these operations; the bundled document, written from the
interface, has not. They are bound where the document in force has them.
"""

from itertools import islice

from understudy.errors import NotFound
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.service import person_lookup, representations
from understudy.mock.store.people import PEOPLE, Person

PAGE_LENGTH = 20


def search_profiles(
    call: Call, *, username: str, service: str = "", page: int = 1
) -> HandlerResponse:
    """Returns public profiles with a verified account of this user name.

    Raises:
        NotFound: There is none, and the document in force declares that.
    """
    world, wanted = call.world, username.lower().removeprefix("@")
    changed = (person.slug for person in world.added(PEOPLE))
    slugs = dict.fromkeys((*person_lookup.indexes(world).by_account.get(wanted, ()), *changed))
    matches = [
        person
        for person in (world.get(PEOPLE, slug) for slug in slugs)
        if person and person.visibility == "public" and _has_account(person, wanted, service)
    ]
    if not matches and "404" in call.declared.statuses:
        msg = f"Nobody has a verified account named {username!r}."
        raise NotFound(msg, code="profile_not_found")
    start = (max(int(page), 1) - 1) * PAGE_LENGTH
    shown = islice(matches, start, start + PAGE_LENGTH)
    represent = (
        representations.public_profile if call.principal is None else representations.full_profile
    )
    return HandlerResponse(
        {
            "profiles": [represent(person, call.site_url) for person in shown],
            "total_pages": -(-len(matches) // PAGE_LENGTH),
        }
    )


def list_services(call: Call) -> HandlerResponse:
    """Returns the services that people of this world have verified accounts at."""
    changed = {
        account.service_type: account.service_label
        for person in call.world.added(PEOPLE)
        for account in person.profile.verified_accounts
    }
    labels = {**person_lookup.indexes(call.world).services, **changed}
    services = [
        {
            "service_type": service_type,
            "service_label": label,
            "service_icon": representations.icon_url(call.site_url, service_type),
        }
        for service_type, label in sorted(labels.items())
    ]
    return HandlerResponse(services if call.declared.is_list else {"services": services})


def _has_account(person: Person, username: str, service: str) -> bool:
    """Tells whether a shown account's URL ends with the user name, which is in lower case."""
    return any(
        person_lookup.username(account) == username
        for account in person.profile.verified_accounts
        if not account.is_hidden and service in {"", account.service_type}
    )
