"""Gives refusals the status and the error code that a switch chooses, as the interface leaves them open."""

from collections.abc import Mapping
from copy import copy
from typing import Final

from understudy.errors import ContentTooLarge, Problem, Unauthorized
from understudy.mock.authserver.oauth_errors import (
    INVALID_REQUEST,
    NEEDS_2FA,
    OAuthError,
    TokenRefused,
)
from understudy.mock.server.api import Choices

SWITCHES_OF_CODES: Final[Mapping[str, str]] = {
    "invalid_token": "invalid-token-error",
    "insufficient_scope": "missing-scope-error",
    "profile_not_found": "unknown-profile-error",
    "private_profile": "private-profile-error",
    "disabled": "disabled-profile-error",
    "avatar_not_found": "unknown-avatar-error",
    "unknown_email": "unknown-address-error",
    "unsupported_image": "picture-type-error",
    "uncropped_image": "picture-shape-error",
    "invalid_body": "invalid-member-error",
    "invalid_parameter": "invalid-parameter-error",
    "rate_limit_exceeded": "rate-limit-error",
}
"""The switch of each refusal, by the code that it has unless another is chosen."""

NO_TOKEN: Final = "missing-token-error"
TOO_LARGE: Final = "upload-size-error"
UNKNOWN_MEMBER: Final = "unknown-member-error"


def chosen_refusal(choices: Choices, problem: Problem) -> Problem:
    """Returns a refusal of the resource API with the status and the code that were chosen for it."""
    chosen = choices.get(_switch_of(problem))
    if chosen is None:
        return problem
    status, _, code = chosen.partition(" ")
    refusal = copy(problem)
    refusal.status = int(status)  # type: ignore[misc]  # a class has one status, a choice its own
    refusal.code = code or None
    return refusal


def chosen_oauth_refusal(choices: Choices, problem: Problem) -> Problem:
    """Returns a refusal of the authorization server with the status and the code that were chosen."""
    if isinstance(problem, TokenRefused):
        chosen = choices.get("token-info-error")
    else:
        chosen = choices.get("two-step-error") if problem.code == NEEDS_2FA else None
    if chosen is None:
        return problem
    status, _, code = chosen.partition(" ")
    refusal = OAuthError(code or INVALID_REQUEST, problem.message, headers=problem.headers)
    refusal.status = int(status)  # type: ignore[misc]  # as above
    return refusal


def _switch_of(problem: Problem) -> str:
    """Returns the name of the switch that is about a refusal; empty if none is."""
    if isinstance(problem, ContentTooLarge):
        return TOO_LARGE
    if isinstance(problem, Unauthorized) and problem.code is None:
        return NO_TOKEN
    if problem.breach and problem.breach.document.endswith("/additionalProperties"):
        return UNKNOWN_MEMBER
    return SWITCHES_OF_CODES.get(problem.code or "", "")
