"""Reads where the operations of a document take their credentials."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from understudy.openapi.operations import Operation

BEARER_TYPES: Final = ("oauth2", "openIdConnect")
"""The types of security schemes that are a bearer token on the wire."""


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
        """Says where to send it, for a message."""
        if self.scheme:
            return f"header Authorization with {self.scheme.capitalize()} credentials"
        return f"{self.location} {self.name}"


BEARER = Credential("header", "authorization", "bearer")


def credentials_of(schemes: Iterable[Mapping[str, Any]]) -> Iterator[Credential]:
    """Yields what requests send for Security Scheme Objects (OpenAPI 3.1.0).

    Nothing is sent for a certificate, as the mock's own is for itself and asks for none, and for a
    type that OpenAPI does not have.
    """
    for scheme in schemes:
        kind = scheme.get("type")
        if kind in BEARER_TYPES:
            yield BEARER
        elif kind in {"http", "basic"}:  # the second as in Swagger 2.0
            words = ["basic"] if kind == "basic" else str(scheme.get("scheme", "")).lower().split()
            yield Credential("header", "authorization", words[0] if words else "bearer")
        elif kind == "apiKey":
            place = scheme.get("in", "header"), scheme.get("name", "authorization")
            yield Credential(*map(str, place))


def first_of(operation: Operation, schemes: Mapping[str, Any]) -> tuple[Credential, ...]:
    """Returns the credentials of the first alternative with a bearer token, or else of the first.

    Args:
        operation: The operation.
        schemes: The document's security schemes.

    Returns:
        What must be sent together; empty where nothing has to be sent.
    """
    alternatives = [
        tuple(credentials_of(schemes[name] for name in alternative if name in schemes))
        for alternative in operation.security
    ]
    with_token = (each for each in alternatives if BEARER in each)
    return next(with_token, next(filter(None, alternatives), ()))
