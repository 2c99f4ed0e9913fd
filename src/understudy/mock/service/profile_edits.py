"""Applies the members of a profile edit to a person, whatever the document in force declares.

The interface lists seven editable fields; newer documents declare more of them. A member that the
person's records have is stored there, with its type; any other is stored beside them, and returned
as it was sent.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, get_args, get_type_hints

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from understudy.mock.store.people import ContactInfo, Person, Profile

_NO_MEMBER: Final = object()

_CONTACT_ALIASES = {"contact_email": "email", "phone": "cell_phone"}


def edited(person: Person, changes: Mapping[str, Any]) -> Person:
    """Returns the person with these members changed; an empty string or null unsets a member."""
    if person.extra or not _are_texts(changes):
        return _with_members(person, changes)
    return replace(person, profile=replace(person.profile, **changes))


def _are_texts(changes: Mapping[str, Any]) -> bool:
    """Tells whether only texts are changed, and none is unset, as in most edits."""
    values = changes.values()
    return _texts(Profile).issuperset(changes) and all(values) and set(map(type, values)) == {str}


def _with_members(person: Person, changes: Mapping[str, Any]) -> Person:
    """Returns a person with members changed that may have any type."""
    profile, contact = dict[str, Any](), dict[str, Any]()
    extra = dict(person.extra)
    for name, value in changes.items():
        member = _stored(Profile, name, value)
        if member is not _NO_MEMBER:
            profile[name] = member
            continue
        contact_name = _CONTACT_ALIASES.get(name, name)
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
    """Returns a value as a record holds it; _NO_MEMBER if the record has no place for it."""
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


@cache
def _types(record: type[msgspec.Struct]) -> Mapping[str, Any]:
    return get_type_hints(record)


@cache
def _texts(record: type[msgspec.Struct]) -> frozenset[str]:
    """Returns the members that take any text."""
    types = _types(record).items()
    return frozenset(name for name, kind in types if kind is str or str in get_args(kind))


@cache
def _optional(record: type[msgspec.Struct]) -> frozenset[str]:
    """Returns the members that may be unset; the others are empty instead."""
    return frozenset(f.name for f in msgspec.structs.fields(record) if f.default is UNSET)
