"""Tells a client who signed in (OpenID Connect Core 1.0, 5.3), with ``serve --user-info``.

The interface has no such operation; generic OAuth libraries ask for one after the sign-in.
"""

from typing import Any, Final

from understudy.interface.scopes import AUTH
from understudy.interface.vocabulary import Vocabulary
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers
from understudy.mock.service import addresses
from understudy.mock.service.person_lookup import caller
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import account_number

_CLAIMS: Final = {
    "given_name": "first_name",
    "family_name": "last_name",
    "zoneinfo": "timezone",
}
"""Claim to the member of a profile that it repeats, where the person has set it."""


def get_user_info(call: Call) -> HandlerResponse:
    """Describes the account of an access token (``GET`` and ``POST /oauth2/userinfo``)."""
    person = caller(call)
    primary = person.emails[0]
    claims: dict[str, Any] = {
        "sub": account_number(person.slug),
        "name": person.profile.display_name,
        "preferred_username": person.slug,
        "profile": addresses.profile_url(call.site_url, person.slug),
        "email": primary.email,
        "email_verified": True,
    }
    if primary.avatar is not None:
        claims["picture"] = addresses.avatar_url(call.site_url, email_hash(primary.email))
    members = {claim: getattr(person.profile, name) for claim, name in _CLAIMS.items()}
    claims |= {claim: value for claim, value in members.items() if value}
    return HandlerResponse(claims, headers=(("cache-control", "no-store"),))


HANDLERS: Handlers = {
    ("GET", "/oauth2/userinfo"): get_user_info,
    ("POST", "/oauth2/userinfo"): get_user_info,
}


def scopes(vocabulary: Vocabulary) -> dict[tuple[str, str], frozenset[str]]:
    """Returns what both operations need, in the words of a deployment."""
    return dict.fromkeys(HANDLERS, frozenset({vocabulary.words[AUTH]}))
