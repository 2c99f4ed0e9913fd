"""Handles lookups of profiles (interface, Public and optionally authenticated) and of their accounts.

Only newer definitions of the service have the operations on verified accounts; the bundled document,
written from the interface, has not. These handlers are used if the document in force declares them.
"""

from itertools import islice
from typing import Any

from msgspec.structs import replace

from understudy.errors import Forbidden, Headers, NotFound, Problem
from understudy.interface.rules import upholds
from understudy.mock.server.call import Call, HandlerResponse, Handlers, Principal, SharedBody
from understudy.mock.service import person_lookup, representations
from understudy.mock.service.person_lookup import find_person, note_misread, takes_md5
from understudy.mock.store.hashing import is_md5
from understudy.mock.store.people import PEOPLE, Person, named_person
from understudy.mock.store.vocabulary import vocabulary_of


@upholds("profile-unknown-404")
def get_profile(call: Call, profile_identifier: str) -> HandlerResponse:
    """Returns a profile, the full one for a token (``GET /profiles/{profileIdentifier}``).

    Raises:
        NotFound: The profile does not exist, or is disabled.
        Forbidden: The profile is private.
    """
    person = find_person(call, profile_identifier)
    if person is None or person.visibility == "disabled":
        hint = note_misread(call, profile_identifier) if person is None else ()
        raise _not_found(call, profile_identifier, hint)
    principal = call.principal
    # an API key authenticates no user, not even the one who created it
    is_owner = (
        principal is not None and principal.kind == "oauth" and principal.person == person.slug
    )
    if person.visibility == "private" and not is_owner:
        raise _private(call, profile_identifier)
    return HandlerResponse(
        representations.shared_profile(
            person,
            call.site_url,
            call.declared.returned,
            is_public=principal is None,
            is_owner=is_owner,
        )
    )


def _not_found(call: Call, identifier: str, hint: Headers = ()) -> NotFound:
    msg = f"There is no profile for {identifier!r}; give the SHA-256 hash of an e-mail, or a slug."
    if is_md5(identifier.lower()) and not takes_md5(call):
        msg = f"{msg} An MD5 hash is accepted only with --choose email-hashes=md5-too."
    return NotFound(msg, code="profile_not_found", headers=hint)


@upholds("profile-private")
def _private(call: Call, identifier: str) -> Forbidden | NotFound:
    if call.choices.get("private-profile-lookup") == "404":
        return _not_found(call, identifier)
    msg = f"The profile of {identifier!r} is private."
    return Forbidden(msg, code="private_profile")


def get_person_views(call: Call, slug: str) -> HandlerResponse:
    """Responds to ``GET /people/{slug}/views`` with the lookup's responses, outside the rate limit.

    Raises:
        NotFound: The person does not exist.
    """
    world = call.world
    named_person(world, slug)
    scopes = frozenset(vocabulary_of(world).scope_names)
    public = _looked_up(call, slug, None)
    own = _looked_up(call, slug, Principal(slug, "oauth", scopes, ""))
    names = dict.fromkeys([*own["body"], *public["body"]])
    differing = [name for name in names if _differs(name, public["body"], own["body"])]
    return HandlerResponse({"public": public, "token": own, "differing": differing})


def _looked_up(call: Call, slug: str, principal: Principal | None) -> dict[str, Any]:
    """Returns the status and the body of a lookup by this principal, or an anonymous one."""
    try:
        response = get_profile(replace(call, principal=principal, notes=[]), slug)
    except Problem as problem:
        return {"status": problem.status, "body": representations.error_body(problem)}
    body = response.body.value if isinstance(response.body, SharedBody) else response.body
    return {"status": response.status, "body": body}


def _differs(name: str, public: dict[str, Any], own: dict[str, Any]) -> bool:
    return (name in public) != (name in own) or public.get(name) != own.get(name)


HANDLERS: Handlers = {("GET", "/people/{slug}/views"): get_person_views}


PAGE_LENGTH = 20


def search_profiles(
    call: Call, *, username: str, service: str = "", service_type: str = "", page: int = 1
) -> HandlerResponse:
    """Returns public profiles with a verified account of this user name.

    Raises:
        NotFound: No profile is found, and the document in force declares 404 for that.
    """
    world, wanted = call.world, username.lower().removeprefix("@")
    changed = (person.slug for person in world.added(PEOPLE))
    slugs = dict.fromkeys((*person_lookup.indexes(world).by_account.get(wanted, ()), *changed))
    matches = [
        person
        for person in (world.get(PEOPLE, slug) for slug in slugs)
        if person
        and person.visibility == "public"
        and _has_account(person, wanted, service or service_type)
    ]
    if not matches and "404" in call.declared.statuses:
        msg = f"Nobody has a verified account named {username!r}."
        raise NotFound(msg, code="profile_not_found")
    start = (max(int(page), 1) - 1) * PAGE_LENGTH
    shown = islice(matches, start, start + PAGE_LENGTH)
    represent = (
        representations.public_profile if call.principal is None else representations.full_profile
    )
    found = [represent(person, call.site_url) for person in shown]
    if "profiles" not in call.declared.returned:
        return HandlerResponse(found)
    return HandlerResponse({"profiles": found, "total_pages": -(-len(matches) // PAGE_LENGTH)})


def list_services(call: Call) -> HandlerResponse:
    """Returns the services with verified accounts of people in this world."""
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
    return HandlerResponse(services)


def _has_account(person: Person, username: str, service: str) -> bool:
    """Tells whether the URL of a shown account ends with this user name in lower case."""
    return any(
        person_lookup.username(account) == username
        for account in person.profile.verified_accounts
        if not account.is_hidden and service in {"", account.service_type}
    )
