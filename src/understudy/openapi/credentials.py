"""Reads where requests of an operation carry their credentials, from its security schemes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from understudy.openapi.operations import Operation

BEARER_TYPES: Final = ("oauth2", "openIdConnect")
"""Types of security schemes whose credential is sent as a bearer token."""


class Credential(NamedTuple):
    """One credential of a request, as a security scheme of a document describes it.

    Attributes:
        location: ``header``, ``query`` or ``cookie``.
        name: Name of the header, parameter or cookie.
        scheme: The word before the credential in ``Authorization``, in lower case; empty for an API
            key.
    """

    location: str
    name: str
    scheme: str = ""

    @property
    def described(self) -> str:
        """The place of the credential in a request, in words for a message."""
        if self.scheme:
            return f"header Authorization with {self.scheme.capitalize()} credentials"
        return f"{self.location} {self.name}"


BEARER = Credential("header", "authorization", "bearer")


def credentials_of(schemes: Iterable[Mapping[str, Any]]) -> Iterator[Credential]:
    """Yields the credentials that requests send for Security Scheme Objects (OpenAPI 3.1.0).

    A mutual TLS scheme yields none, since the mock requests no client certificate; nor does a type
    that OpenAPI does not define.
    """
    for scheme in schemes:
        kind = scheme.get("type")
        if kind in BEARER_TYPES:
            yield BEARER
        elif kind in {"http", "basic"}:  # "basic" is a type of Swagger 2.0
            words = ["basic"] if kind == "basic" else str(scheme.get("scheme", "")).lower().split()
            yield Credential("header", "authorization", words[0] if words else "bearer")
        elif kind == "apiKey":
            place = scheme.get("in", "header"), scheme.get("name", "authorization")
            yield Credential(*map(str, place))


def first_of(operation: Operation, schemes: Mapping[str, Any]) -> tuple[Credential, ...]:
    """Returns the credentials of the first security requirement with a bearer token, or of the first.

    Returns:
        The credentials that must be sent together; empty if none is required.
    """
    alternatives = [
        tuple(credentials_of(schemes[name] for name in alternative if name in schemes))
        for alternative in operation.security
    ]
    with_token = (each for each in alternatives if BEARER in each)
    return next(with_token, next(filter(None, alternatives), ()))
