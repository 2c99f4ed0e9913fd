"""Connects the engine's mechanisms with this service: with its switches and its rules.

The engine serves any document and knows no rule; only this module connects the two.
"""

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Final

from understudy.errors import ContentTooLarge, Problem, Unauthorized
from understudy.interface.rules import upholds
from understudy.interface.scopes import AUTH, MANAGE_PROFILE
from understudy.interface.vocabulary import Vocabulary
from understudy.mock.authserver.authorization_request import (
    INVALID_REQUEST,
    NEEDS_2FA,
    OAuthError,
    TokenRefused,
)
from understudy.mock.server import (
    parameters,
    request_validation,
    response_sending,
    security,
    windows,
)
from understudy.mock.server.api import (
    STRICT_QUERY,
    Choices,
    Policies,
    Policy,
    QueryReading,
    ScopePolicy,
)
from understudy.mock.server.bodies import form_members
from understudy.mock.server.guards import Cors
from understudy.mock.service import avatars, own_profile

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
"""Default code of a refusal to the switch that changes its status and code."""

NO_TOKEN: Final = "missing-token-error"
TOO_LARGE: Final = "upload-size-error"
UNKNOWN_MEMBER: Final = "unknown-member-error"


def chosen_refusal(choices: Choices, problem: Problem) -> Problem:
    """Returns a refusal of the resource API with the status and the code that its switch chooses."""
    chosen = choices.get(_switch_of(problem))
    if chosen is None:
        return problem
    status, _, code = chosen.partition(" ")
    refusal = copy(problem)
    refusal.status = int(status)  # type: ignore[misc]  # a class has one status, a choice its own
    refusal.code = code or None
    return refusal


def chosen_oauth_refusal(choices: Choices, problem: Problem) -> Problem:
    """Returns a refusal of the authorization server with the status and code that its switch chooses."""
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
    """Returns the name of the switch for a refusal; empty if it has none."""
    if isinstance(problem, ContentTooLarge):
        return TOO_LARGE
    if isinstance(problem, Unauthorized) and problem.code is None:
        return NO_TOKEN
    if problem.breach and problem.breach.document.endswith("/additionalProperties"):
        return UNKNOWN_MEMBER
    return SWITCHES_OF_CODES.get(problem.code or "", "")


RULES_OF_MECHANISMS: Final[Mapping[Callable[..., Any], tuple[str, ...]]] = {
    security.missing_token: ("bearer-header", "unauthorized-challenge"),
    security.bearer_token: ("bearer-scheme-any-case", "equivalent-headers"),
    security.expect_scopes: ("me-needs-oauth-token", "scope-per-operation"),
    security.enforce_quota: (
        "rate-limit-anonymous",
        "rate-limit-authenticated",
        "avatar-operations-uncounted",
    ),
    security.count_request: ("rate-limit-answer-429", "rate-limit-headers"),
    windows.count: ("rate-limit-window",),
    request_validation.note_unknown_query: ("unknown-query-parameters-accepted",),
    parameters.once: ("query-parameter-repeated", "equivalent-address"),
    parameters.ParameterReader.read: ("query-parameter-empty",),
    security.invalid_token: ("bearer-header", "unauthorized-challenge"),
    security.refuse_optional_token: ("invalid-token-refused", "invalid-token-unknown-profile"),
    form_members: ("token-repeated-field", "equivalent-content"),
    response_sending.method_not_allowed: ("token-post-only", "method-not-allowed-allow"),
    Cors.is_closed: ("token-no-cors",),
    chosen_refusal: tuple(
        (
            "error-no-token error-invalid-token error-missing-scope error-unknown-profile"
            " error-private-profile error-unknown-avatar error-unknown-address error-picture-type"
            " error-picture-shape error-upload-size error-invalid-member error-invalid-parameter"
            " error-unknown-member error-rate-limit"
        ).split()
    ),
}
"""Function of the engine to the rules of ``rules.yaml`` that it implements for this service."""


def mark_mechanisms() -> None:
    """Marks the engine's functions with the rules that they implement, which `explain` names."""
    for mechanism, rules in RULES_OF_MECHANISMS.items():
        upholds(*rules)(mechanism)


def _when(switch: str, option: str) -> Policy:
    """Returns the policy that applies where an option of a switch is in force."""
    return lambda choices: choices.get(switch) == option


SWITCHES_OF_SCOPES: Final[Mapping[object, str]] = {
    own_profile.get_own_profile: "own-profile-scope",
    avatars.list_avatars: "avatar-list-scope",
    own_profile.is_email_associated: "associated-email-scope",
}
"""Handler of each reading operation to the switch that chooses its sufficient scopes."""


def opening(vocabulary: Vocabulary) -> ScopePolicy:
    """Returns the policy for scopes of reading operations, with the deployment's names of scopes."""
    auth, manage = vocabulary.words[AUTH], vocabulary.words[MANAGE_PROFILE]

    def opens(choices: Choices, handler: object, granted: frozenset[str]) -> bool:
        option = choices.get(SWITCHES_OF_SCOPES.get(handler, ""))
        is_enough = option == "auth" or (option == "any" and manage in granted)
        return is_enough and auth in granted

    return opens


def _drops_unknown_members(choices: Choices, handler: object) -> bool:
    is_chosen = choices.get("unknown-profile-members") == "ignore"
    return is_chosen and handler is own_profile.update_own_profile


_REPEATED: Final[Mapping[str | None, QueryReading]] = {
    "first": QueryReading(repeated="first"),
    "last": QueryReading(repeated="last"),
}


def _query_reading(choices: Choices) -> QueryReading:
    reading = _REPEATED.get(choices.get("repeated-query-parameter"), STRICT_QUERY)
    if choices.get("empty-query-parameter") == "ignore":
        return reading._replace(drops_empty=True)
    return reading


POLICIES: Final = Policies(
    lifts_quota=_when("rate-limits", "off"),
    warns_of_quota=_when("rate-limits", "warn"),
    aligns_windows=_when("rate-limit-window", "clock-hour"),
    limit_headers=lambda choices: choices.get("rate-limit-header-names", "").lower(),
    ignores_scopes=_when("scopes", "ignored"),
    ignores_invalid_token=_when("invalid-optional-token", "anonymous"),
    defers_missing_scope=_when("scope-body-precedence", "body"),
    defers_invalid_token=_when("invalid-token-precedence", "profile"),
    drops_unknown_members=_drops_unknown_members,
    query_reading=_query_reading,
    refusal=chosen_refusal,
    quota_advice="start the mock with --choose rate-limits=warn",
)
"""Policies of the resource API, by the switches of ``rules.yaml``."""

OAUTH_POLICIES: Final = Policies(refusal=chosen_oauth_refusal)
"""Policies of the authorization server, by the switches of ``rules.yaml``."""
