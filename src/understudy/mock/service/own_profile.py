"""Handles the caller's own profile (interface, Authenticated own-profile operations)."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from understudy.errors import BadRequest, NotFound
from understudy.interface.rules import upholds
from understudy.mock.server.call import Call, HandlerResponse
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
        BadRequest: A text is longer than its switch allows.
        NotFound: The profile is disabled.
    """
    person = _enabled_caller(call)
    changes = body or {}
    _expect_lengths(call, changes)
    declared = _taken(call.body_members)
    if not declared.issuperset(changes):
        ignored = [name for name in changes if name not in declared]
        call.notes.append(f"ignored, as the document does not declare them: {', '.join(ignored)}")
        changes = {name: value for name, value in changes.items() if name in declared}
    if changes:
        person = _edit(call, person, changes)
    return HandlerResponse(representations.shared_profile(person, call.site_url, is_owner=True))


@lru_cache(maxsize=8)
def _taken(declared: frozenset[str]) -> frozenset[str]:
    """Returns the members that are taken: what a document declares, and what the interface has."""
    return declared.union(EDITABLE)


@upholds(
    "display-name-length",
    "description-length",
    "pronunciation-length",
    "pronouns-length",
    "location-length",
    "job-title-length",
    "company-length",
)
def _expect_lengths(call: Call, members: Mapping[str, Any]) -> None:
    """Accepts texts of the profile (interface, Limits, 4: their bounds are not shown).

    Raises:
        BadRequest: One is longer than its switch allows.
    """
    for name, value in members.items():
        if isinstance(value, str) and len(value) > ALWAYS_ALLOWED and name in _LONGEST:
            longest = _LONGEST[name](call.choices)
            if len(value) > longest:
                msg = (
                    f"{name}: the text has {len(value):,} characters; "
                    f"at most {longest:,} are allowed."
                )
                raise BadRequest(msg, code="invalid_parameter")


ALWAYS_ALLOWED: Final = 100
"""Characters that a text may have whatever is chosen: no such switch takes a smaller number."""

_LONGEST: Final[Mapping[str, Callable[[Mapping[str, str]], int]]] = {
    "display_name": lambda choices: int(choices.get("display-name-longest", "10000")),
    "description": lambda choices: int(choices.get("description-longest", "10000")),
    "pronunciation": lambda choices: int(choices.get("pronunciation-longest", "10000")),
    "pronouns": lambda choices: int(choices.get("pronouns-longest", "10000")),
    "location": lambda choices: int(choices.get("location-longest", "10000")),
    "job_title": lambda choices: int(choices.get("job-title-longest", "10000")),
    "company": lambda choices: int(choices.get("company-longest", "10000")),
}
"""Member to what reads how many characters its text may have from the options in force."""


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
