"""Public profile lookup (interface, Public and optionally authenticated)."""

from understudy.errors import Forbidden, NotFound
from understudy.interface.rules import upholds
from understudy.mock.engine.call import Call, HandlerResponse
from understudy.mock.service import representations
from understudy.mock.service.people import find


@upholds("profile-unknown-404")
def get_profile(call: Call, profile_identifier: str) -> HandlerResponse:
    """Answers ``GET /profiles/{profileIdentifier}``.

    Raises:
        NotFound: There is no such profile, or its owner switched it off.
        Forbidden: The profile is private.
    """
    person = find(call.world, profile_identifier)
    if person is None or person.visibility == "disabled":
        raise _unknown(profile_identifier)
    principal = call.principal
    # an API key speaks for no user, not even for the one who made it
    is_owner = (
        principal is not None and principal.kind == "oauth" and principal.person == person.slug
    )
    if person.visibility == "private" and not is_owner:
        raise _private(call, profile_identifier)
    if principal is None:
        return HandlerResponse(representations.public_profile(person, call.site_url))
    return HandlerResponse(representations.full_profile(person, call.site_url, is_owner=is_owner))


def _unknown(identifier: str) -> NotFound:
    msg = f"There is no profile for {identifier!r}; give the SHA-256 hash of an e-mail, or a slug."
    return NotFound(msg, code="profile_not_found")


@upholds("profile-private")
def _private(call: Call, identifier: str) -> Forbidden | NotFound:
    if call.choices.get("private-profile-lookup") == "404":
        return _unknown(identifier)
    msg = f"The profile of {identifier!r} is private."
    return Forbidden(msg, code="private_profile")
