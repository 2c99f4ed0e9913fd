"""Maps the operations of the resource API to handlers, scopes and quotas (interface, Endpoints)."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from understudy.interface.scopes import AUTH, MANAGE_PROFILE, READ_PROFILE
from understudy.interface.vocabulary import OWN_WORDS, Vocabulary
from understudy.mock.server.api import Precondition
from understudy.mock.server.call import Handlers, Principal
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.service import (
    avatars,
    linked_pictures,
    own_profile,
    profiles,
    qr_codes,
)

LOOKUP = ("GET", "/profiles/{profileIdentifier}")
QR_CODE = ("GET", "/qr-code/{sha256_hash}")
LIST_AVATARS = ("GET", "/me/avatars")
UPLOAD_AVATAR = ("POST", "/me/avatars")
DELETE_AVATAR = ("DELETE", "/me/avatars/{imageHash}")
UPDATE_AVATAR = ("PATCH", "/me/avatars/{imageHash}")
SET_AVATAR = ("POST", "/me/avatars/{imageId}/email")
OWN_PROFILE = ("GET", "/me/profile")
UPDATE_PROFILE = ("PATCH", "/me/profile")
ASSOCIATED_EMAIL = ("GET", "/me/associated-email")

HANDLERS: Handlers = {
    LOOKUP: profiles.get_profile,
    QR_CODE: qr_codes.get_qr_code,
    LIST_AVATARS: avatars.list_avatars,
    UPLOAD_AVATAR: avatars.upload_avatar,
    DELETE_AVATAR: avatars.delete_avatar,
    UPDATE_AVATAR: avatars.update_avatar,
    SET_AVATAR: avatars.set_avatar_for_email,
    OWN_PROFILE: own_profile.get_own_profile,
    UPDATE_PROFILE: own_profile.update_own_profile,
    ASSOCIATED_EMAIL: own_profile.is_email_associated,
    # of newer definitions of the service
    ("GET", "/profiles/search/by-verified-account"): profiles.search_profiles,
    ("GET", "/verified-accounts/services"): profiles.list_services,
}

PRECONDITIONS: Mapping[Any, Precondition] = {
    avatars.update_avatar: avatars.expect_avatar_first,
}
"""Handler to the check that may report an unknown avatar before an invalid body."""

WEB_HANDLERS: Handlers = {
    ("GET", "/avatar/{identifier}"): linked_pictures.get_avatar,
    ("GET", "/image/{name}"): linked_pictures.get_image,
    ("GET", "/icons/{service_type}"): linked_pictures.get_icon,
}

READ = frozenset({AUTH, READ_PROFILE})
MANAGE = frozenset({AUTH, MANAGE_PROFILE})

# The interface does not name each endpoint's scope (Bearer tokens, 6): see rule scope-per-operation.
_SCOPES = {
    LIST_AVATARS: READ,
    UPLOAD_AVATAR: MANAGE,
    DELETE_AVATAR: MANAGE,
    UPDATE_AVATAR: MANAGE,
    SET_AVATAR: MANAGE,
    OWN_PROFILE: READ,
    UPDATE_PROFILE: MANAGE,
    ASSOCIATED_EMAIL: READ,
}

LIMITED = frozenset({LOOKUP, QR_CODE, OWN_PROFILE, UPDATE_PROFILE})
"""Operations that the rate limit counts; avatar operations are not limited (interface, Limits, 2)."""

NUMERIC_BOOLEANS = frozenset({UPLOAD_AVATAR})
"""Operations whose boolean parameter may also be sent as 1 or 0, even against the document in force."""

JSON_AS_FORM = frozenset({SET_AVATAR})
"""Operations that read JSON under a form's content type, since a mobile client sends it so."""


def scopes(vocabulary: Vocabulary) -> dict[tuple[str, str], frozenset[str]]:
    """Returns the scopes that each operation requires, under the deployment's names."""
    words = vocabulary.words
    return {
        operation: frozenset(words[scope] for scope in needed)
        for operation, needed in _SCOPES.items()
    }


def upload_names(vocabulary: Vocabulary) -> dict[tuple[str, str], tuple[str, ...]]:
    """Returns the names that the file field of an upload may have, the deployment's name first."""
    names = (vocabulary.upload_field, *avatars.UPLOAD_NAMES)
    return {UPLOAD_AVATAR: tuple(dict.fromkeys(names))}


def header_names(vocabulary: Vocabulary) -> dict[str, str]:
    """Returns the interface's rate-limit headers to the deployment's names, if those differ."""
    own, other = OWN_WORDS.rate_limit_headers.lower(), vocabulary.rate_limit_headers.lower()
    if own == other:
        return {}
    return {f"{own}-{part}": f"{other}-{part}" for part in ("limit", "remaining", "reset")}


def uncovered_names(endpoints: Sequence[Endpoint], vocabulary: Vocabulary) -> list[str]:
    """Returns the declared names that the mock does not know, each with its first operation."""
    known_types = set(to_builtins(vocabulary.qr_types).values())
    names: dict[str, list[str]] = {}
    for endpoint in endpoints:
        operation = endpoint.operation
        if endpoint.binding.handler is None:
            continue
        where = f"{operation.method} {operation.path}"
        for header in endpoint.headers.unknown(_HEADERS):
            names.setdefault(f"the header {header}", []).append(where)
        for alternative in operation.security:
            for scope in set().union(*alternative.values()) - set(vocabulary.scope_names):
                names.setdefault(f"the scope {scope}", []).append(where)
        if endpoint.binding.handler is qr_codes.get_qr_code:
            for word in endpoint.listed_values("type") - known_types:
                names.setdefault(f"the type {word}", []).append(where)
    return [
        f"{name} of {found[0]}" + f" and {len(found) - 1} more" * (len(found) > 1)
        for name, found in names.items()
    ]


_HEADERS = ("profile-status", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")
"""Suffixes of the names of the headers that handlers send."""

ANONYMOUS_QUOTA = 100  # an hour; interface, Limits
AUTHENTICATED_QUOTA = 1000  # an hour; interface, Limits


def quota(principal: Principal | None) -> int:
    """Returns the requests that a principal, or an anonymous client (None), may send per hour."""
    return ANONYMOUS_QUOTA if principal is None else AUTHENTICATED_QUOTA
