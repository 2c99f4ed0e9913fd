"""Looks profiles up for anyone (interface, Public and optionally authenticated)."""

from understudy.errors import Forbidden, NotFound
from understudy.interface.rules import upholds
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.service import representations
from understudy.mock.service.person_lookup import find_person, takes_md5
from understudy.mock.store.hashing import is_md5


@upholds("profile-unknown-404")
def get_profile(call: Call, profile_identifier: str) -> HandlerResponse:
    """Returns a profile, complete with a token (``GET /profiles/{profileIdentifier}``).

    Raises:
        NotFound: There is no such profile, or it is disabled.
        Forbidden: The profile is private.
    """
    person = find_person(call, profile_identifier)
    if person is None or person.visibility == "disabled":
        raise _not_found(call, profile_identifier)
    principal = call.principal
    # an API key authenticates no user, not even the one who created it
    is_owner = (
        principal is not None and principal.kind == "oauth" and principal.person == person.slug
    )
    if person.visibility == "private" and not is_owner:
        raise _private(call, profile_identifier)
    return HandlerResponse(
        representations.shared_profile(
            person, call.site_url, is_public=principal is None, is_owner=is_owner
        )
    )


def _not_found(call: Call, identifier: str) -> NotFound:
    msg = f"There is no profile for {identifier!r}; give the SHA-256 hash of an e-mail, or a slug."
    if is_md5(identifier.lower()) and not takes_md5(call):
        msg = f"{msg} An MD5 hash counts only with --choose email-hashes=md5-too."
    return NotFound(msg, code="profile_not_found")


@upholds("profile-private")
def _private(call: Call, identifier: str) -> Forbidden | NotFound:
    if call.choices.get("private-profile-lookup") == "404":
        return _not_found(call, identifier)
    msg = f"The profile of {identifier!r} is private."
    return Forbidden(msg, code="private_profile")
