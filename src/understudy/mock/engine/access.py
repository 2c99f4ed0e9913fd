"""Determines at start who may call an operation, from the document and the handlers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from understudy.openapi.operations import Operation

_BEARER_TYPES = ("oauth2", "openIdConnect")


@dataclass(frozen=True, slots=True)
class Access:
    """The credentials that an operation requires.

    Attributes:
        token: Whether a bearer token is ``required``, ``optional``, or ``unread``.
        scopes: What an OAuth token must have been granted; None where API keys serve as well.
        credentials: Further credentials of which one must be there: location (``header``,
            ``query``, ``cookie``) and name. The mock knows no values for them.
    """

    token: Literal["required", "optional", "unread"]
    scopes: frozenset[str] | None = None
    credentials: tuple[tuple[str, str], ...] = ()


def access(
    operation: Operation,
    schemes: Mapping[str, Any],
    scopes: frozenset[str] | None,
    *,
    is_implemented: bool,
) -> Access:
    """Determines who may call an operation.

    Args:
        operation: What the document says of it.
        schemes: The document's security schemes.
        scopes: The scopes that the handler requires of an OAuth token; None: it requires none.
        is_implemented: Whether there is a handler. Then the interface decides and not the document, as
            one published document requires the token that the interface makes optional.
    """
    if scopes is not None:
        return Access("required", scopes)
    if not operation.security:
        return Access("unread")
    if is_implemented or {} in operation.security:
        return Access("optional")
    named = [schemes.get(name, {}) for alternative in operation.security for name in alternative]
    if any(_is_bearer(scheme) for scheme in named):
        return Access("required")
    return Access(
        "unread",
        credentials=tuple(
            (scheme.get("in", "header"), scheme.get("name", "authorization")) for scheme in named
        ),
    )


def _is_bearer(scheme: Mapping[str, Any]) -> bool:
    is_http = scheme.get("type") == "http" and str(scheme.get("scheme")).lower() == "bearer"
    return is_http or scheme.get("type") in _BEARER_TYPES
