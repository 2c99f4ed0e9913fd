"""Handles the caller's own profile (interface, Authenticated own-profile operations)."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, get_args, get_type_hints

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from understudy.errors import BadRequest, NotFound
from understudy.interface.rules import upholds
from understudy.interface.scopes import AUTH
from understudy.interface.vocabulary import Vocabulary
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.service import representations
from understudy.mock.service.person_lookup import caller, note_misread, own_email_index
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import PEOPLE, ContactInfo, Person, Profile, account_number
from understudy.mock.store.vocabulary import vocabulary_of

# A profile edit may have more members than the interface's seven, if the document in force declares more.
# A member that Profile or ContactInfo has is stored there, in its type; any other is stored in
# ``Person.extra``, and returned as it was sent.

_NO_MEMBER: Final = object()


def edited(person: Person, changes: Mapping[str, Any]) -> Person:
    """Returns a changed person; an empty string or null unsets a member."""
    if person.extra or not _are_texts(changes):
        return _with_members(person, changes)
    return replace(person, profile=replace(person.profile, **changes))


def _are_texts(changes: Mapping[str, Any]) -> bool:
    """Tells whether an edit only sets texts, as most do, so that the fast way is enough."""
    values = changes.values()
    return _texts(Profile).issuperset(changes) and all(values) and set(map(type, values)) == {str}


def _with_members(person: Person, changes: Mapping[str, Any]) -> Person:
    """Returns a changed person; members may have any type, and be unset."""
    profile, contact = dict[str, Any](), dict[str, Any]()
    extra = dict(person.extra)
    for name, value in changes.items():
        member = _stored(Profile, name, value)
        if member is not _NO_MEMBER:
            profile[name] = member
            extra.pop(name, None)
            continue
        contact_name = representations.CONTACT_ALIASES.get(name, name)
        member = _stored(ContactInfo, contact_name, value)
        if member is not _NO_MEMBER:
            contact[contact_name] = member
        extra[name] = value
    if contact:
        profile["contact_info"] = replace(person.profile.contact_info or ContactInfo(), **contact)
    if extra:
        extra = {name: value for name, value in extra.items() if value not in ("", None)}
    return replace(person, profile=replace(person.profile, **profile), extra=extra)


def _stored(record: type[msgspec.Struct], name: str, value: Any) -> Any:
    """Returns a value in the type of a record's member; _NO_MEMBER if no member can store it."""
    types = _types(record)
    if name not in types:
        return _NO_MEMBER
    if value in ("", None) and name in _optional(record):
        return UNSET
    if type(value) is str and name in _texts(record):
        return value
    try:
        return msgspec.convert(value, types[name])
    except msgspec.ValidationError:
        return _NO_MEMBER


@cache  # needed for every edit, slow to compute, and constant
def _types(record: type[msgspec.Struct]) -> Mapping[str, Any]:
    return get_type_hints(record)


@cache  # as above
def _texts(record: type[msgspec.Struct]) -> frozenset[str]:
    """Returns the names of the members that may be any text."""
    types = _types(record).items()
    return frozenset(name for name, kind in types if kind is str or str in get_args(kind))


@cache
def _optional(record: type[msgspec.Struct]) -> frozenset[str]:
    """Returns the names of the members that may be absent; other unset members are empty."""
    return frozenset(f.name for f in msgspec.structs.fields(record) if f.default is UNSET)


EDITABLE = (  # interface, Rules for PATCH /me/profile, 3
    "display_name",
    "description",
    "pronunciation",
    "pronouns",
    "location",
    "job_title",
    "company",
)


@upholds("own-profile-is-full", "scope-of-own-profile")
def get_own_profile(call: Call) -> HandlerResponse:
    """Returns the caller's full profile (``GET /me/profile``).

    Raises:
        NotFound: The profile is disabled.
    """
    return _full(call, _enabled_caller(call))


def _full(call: Call, person: Person) -> HandlerResponse:
    returned = call.declared.returned
    body = representations.shared_profile(person, call.site_url, returned, is_owner=True)
    return HandlerResponse(body)


@upholds(
    "profile-patch-partial",
    "profile-patch-empty-unsets",
    "profile-patch-seven-fields",
    "scope-body-both-wrong",
)
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
    declared = call.declared.sent
    if not declared.issuperset(changes):
        taken = {
            name: value
            for name, value in changes.items()
            if name in declared or (name in EDITABLE and isinstance(value, str))
        }
        if ignored := [name for name in changes if name not in taken]:
            call.notes.append(
                f"ignored, as the document does not declare them: {', '.join(ignored)}"
            )
        changes = taken
    if changes:
        person = _edit(call, person, changes)
    return _full(call, person)


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
    """Checks the lengths of the profile's texts (interface, Limits, 4: their bounds are not known).

    Raises:
        BadRequest: A text is longer than its switch allows.
    """
    for name, value in members.items():
        if isinstance(value, str) and len(value) > ALWAYS_ALLOWED and name in EDITABLE:
            longest = int(call.choices.get(LONGEST[name], "10000"))
            if len(value) > longest:
                msg = (
                    f"{name}: the text has {len(value):,} characters; "
                    f"at most {longest:,} are allowed."
                )
                raise BadRequest(msg, code="invalid_parameter")


ALWAYS_ALLOWED: Final = 100
"""Characters that every option of these switches allows, so that shorter texts need no look-up."""

LONGEST: Final = {name: f"{name.replace('_', '-')}-longest" for name in EDITABLE}
"""Member to the switch that limits the characters of its text."""


@upholds("associated-email", "scope-of-associated-email")
def is_email_associated(call: Call, *, email_hash: str) -> HandlerResponse:
    """Returns whether an e-mail hash is one of the caller's (``GET /me/associated-email``)."""
    is_own = own_email_index(call, caller(call), email_hash) is not None
    hint = () if is_own else note_misread(call, email_hash)
    return HandlerResponse({"associated": is_own}, headers=hint)


@upholds("own-profile-disabled-404")
def _enabled_caller(call: Call) -> Person:
    person = caller(call)
    if person.visibility == "disabled":
        msg = "Your profile is disabled."
        raise NotFound(msg, code="disabled")
    return person


@upholds("profile-patch-updates-last-edit")
def _edit(call: Call, person: Person, changes: Mapping[str, Any]) -> Person:
    now = representations.timestamp(call.now())
    after = edited(person, {**changes, "last_profile_edit": now})
    call.world.put(PEOPLE, person.slug, after)
    return after


# ``serve --user-info`` adds a UserInfo endpoint (OpenID Connect Core 1.0, 5.3). The interface has none,
# but generic OAuth libraries call one after the sign-in.

_CLAIMS: Final = {
    "given_name": "first_name",
    "family_name": "last_name",
    "zoneinfo": "timezone",
}
"""Claim to the profile's member with its value, if the person has set it."""


def get_user_info(call: Call) -> HandlerResponse:
    """Describes the account of an access token (``GET`` and ``POST`` at the UserInfo endpoint)."""
    person = caller(call)
    primary = person.emails[0]
    claims: dict[str, Any] = {
        "sub": account_number(person.slug),
        "name": person.profile.display_name,
        "preferred_username": person.slug,
        "profile": representations.profile_url(call.site_url, person.slug),
        "email": primary.email,
        "email_verified": True,
    }
    if primary.avatar is not None:
        claims["picture"] = representations.avatar_url(call.site_url, email_hash(primary.email))
    members = {claim: getattr(person.profile, name) for claim, name in _CLAIMS.items()}
    claims |= {claim: value for claim, value in members.items() if value}
    words = vocabulary_of(call.world).user_info.members
    if words:
        claims = {name: claims[claim] for name, claim in words.items() if claim in claims}
    return HandlerResponse(claims, headers=(("cache-control", "no-store"),))


def user_info_handlers(vocabulary: Vocabulary) -> Handlers:
    """Returns the handlers of the UserInfo endpoint, at the deployment's path."""
    path = vocabulary.user_info.path
    return {("GET", path): get_user_info, ("POST", path): get_user_info}


def user_info_scopes(vocabulary: Vocabulary) -> dict[tuple[str, str], frozenset[str]]:
    """Returns the scopes that the UserInfo endpoint requires, under the deployment's names."""
    return dict.fromkeys(user_info_handlers(vocabulary), frozenset({vocabulary.words[AUTH]}))
