"""The caller's own profile (interface, Authenticated own-profile operations)."""

from collections.abc import Mapping

from msgspec.structs import replace

from understudy.errors import NotFound
from understudy.interface.rules import upholds
from understudy.mock.engine.call import Call, HandlerResponse
from understudy.mock.service import representations
from understudy.mock.service.people import caller, own_hash
from understudy.mock.store.people import PEOPLE, Person

EDITABLE = (  # interface, Rules for PATCH /me/profile, 3
    "display_name",
    "description",
    "pronunciation",
    "pronouns",
    "location",
    "job_title",
    "company",
)


@upholds("own-profile-is-full")
def get_own_profile(call: Call) -> HandlerResponse:
    """Answers ``GET /me/profile``.

    Raises:
        NotFound: The profile is switched off.
    """
    person = _enabled(call)
    return HandlerResponse(representations.full_profile(person, call.site_url, is_owner=True))


@upholds("profile-patch-partial", "profile-patch-empty-unsets", "profile-patch-seven-fields")
def update_own_profile(call: Call, *, body: Mapping[str, str] | None = None) -> HandlerResponse:
    """Answers ``PATCH /me/profile``: an empty string unsets a field, as unset ones are empty.

    Raises:
        NotFound: The profile is switched off.
    """
    person = _enabled(call)
    given = body or {}
    changes = {name: text for name, text in given.items() if name in EDITABLE}
    unchanged = [name for name in given if name not in EDITABLE]
    if unchanged:
        call.notes.append(f"not among the seven fields, so not changed: {', '.join(unchanged)}")
    if changes:
        person = _edited(call, person, changes)
    return HandlerResponse(representations.full_profile(person, call.site_url, is_owner=True))


@upholds("associated-email")
def is_email_associated(call: Call, *, email_hash: str) -> HandlerResponse:
    """Answers ``GET /me/associated-email``."""
    return HandlerResponse({"associated": own_hash(caller(call), email_hash) is not None})


@upholds("own-profile-disabled-404")
def _enabled(call: Call) -> Person:
    person = caller(call)
    if person.visibility == "disabled":
        msg = "Your profile is disabled."
        raise NotFound(msg, code="disabled")
    return person


@upholds("profile-patch-updates-last-edit")
def _edited(call: Call, person: Person, changes: Mapping[str, str]) -> Person:
    now = representations.timestamp(call.world.clock.now())
    profile = replace(person.profile, last_profile_edit=now, **changes)
    edited = replace(person, profile=profile)
    call.world.put(PEOPLE, person.slug, edited)
    return edited
