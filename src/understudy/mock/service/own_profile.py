"""Handles the caller's own profile (interface, Authenticated own-profile operations)."""

from collections.abc import Mapping
from typing import Any

from understudy.errors import NotFound
from understudy.interface.rules import upholds
from understudy.mock.engine.call import Call, HandlerResponse
from understudy.mock.service import profile_edits, representations
from understudy.mock.service.person_lookup import caller, own_email_index
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
    """Returns the caller's full profile (``GET /me/profile``).

    Raises:
        NotFound: The profile is disabled.
    """
    person = _enabled_caller(call)
    return HandlerResponse(representations.shared_profile(person, call.site_url, is_owner=True))


@upholds("profile-patch-partial", "profile-patch-empty-unsets", "profile-patch-seven-fields")
def update_own_profile(call: Call, *, body: Mapping[str, Any] | None = None) -> HandlerResponse:
    """Changes the supplied fields of the caller's profile (``PATCH /me/profile``).

    An empty string unsets a field: required fields that are unset are empty strings.

    Raises:
        NotFound: The profile is disabled.
    """
    person = _enabled_caller(call)
    members = body or {}
    declared = call.body_members.union(EDITABLE)
    changes = {name: value for name, value in members.items() if name in declared}
    ignored = [name for name in members if name not in declared]
    if ignored:
        call.notes.append(f"ignored, as the document does not declare them: {', '.join(ignored)}")
    if changes:
        person = _edit(call, person, changes)
    return HandlerResponse(representations.shared_profile(person, call.site_url, is_owner=True))


@upholds("associated-email")
def is_email_associated(call: Call, *, email_hash: str) -> HandlerResponse:
    """Tells whether an e-mail hash is one of the caller's (``GET /me/associated-email``)."""
    index = own_email_index(call, caller(call), email_hash)
    return HandlerResponse({"associated": index is not None})


@upholds("own-profile-disabled-404")
def _enabled_caller(call: Call) -> Person:
    person = caller(call)
    if person.visibility == "disabled":
        msg = "Your profile is disabled."
        raise NotFound(msg, code="disabled")
    return person


@upholds("profile-patch-updates-last-edit")
def _edit(call: Call, person: Person, changes: Mapping[str, Any]) -> Person:
    now = representations.timestamp(call.world.clock.now())
    edited = profile_edits.edited(person, {**changes, "last_profile_edit": now})
    call.world.put(PEOPLE, person.slug, edited)
    return edited
