"""Reads an authorization request, and says where its refusal may go.

While the application or its redirect address is in doubt nobody is sent there: the person reads
about it instead (RFC 6749, 4.1.2.1). From then on every answer is a redirect.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from tests.proofs.reference.grants import Grants
from tests.proofs.reference.records import AuthorizationRequest, Scope
from tests.proofs.reference.refusals import refuse
from werkzeug.datastructures import MultiDict

SCOPE = re.compile(r"scope\[\d+\]")
CHALLENGE = re.compile(r"[A-Za-z0-9._~-]{43,128}")
METHODS = ("plain", "S256")
"""RFC 7636, 4.2 and 4.3."""


class Return(NamedTuple):
    """Where a browser is sent back to, and how."""

    redirect_uri: str
    state: str | None
    is_fragment: bool

    def address(self, values: Mapping[str, str]) -> str:
        """Puts values into the query, beside what stands there already, or into the fragment."""
        told = dict(values) if self.state is None else {**values, "state": self.state}
        joint = "&" if "?" in self.redirect_uri else "?"
        return f"{self.redirect_uri}{'#' if self.is_fragment else joint}{urlencode(told)}"

    def denial(self) -> str:
        """Says that the person refused: by RFC 6749's words, and by the interface's."""
        said = "The person denied access."
        return self.address(
            {"error": "access_denied", "error_description": said, "access_denied": "1"}
        )


class SentBack(Exception):
    """The request is wrong, and the application is told so."""

    def __init__(self, back: Return, error: str, description: str) -> None:
        super().__init__(description)
        self.address = back.address({"error": error, "error_description": description})


def way_back(request: AuthorizationRequest) -> Return:
    """Returns where the answer to a request goes."""
    return Return(request.redirect_uri, request.state, request.response_type == "token")


def asked(query: MultiDict[str, str], grants: Grants) -> AuthorizationRequest:
    """Reads the query of ``/oauth2/authorize``.

    Raises:
        Refused: The application or the redirect address is missing or unknown.
        SentBack: Anything else is wrong.
    """
    given = {name: value for name, value in query.items() if value}
    client_id = given.get("client_id", "")
    application = grants.application(client_id)
    if application is None or len(query.getlist("client_id")) > 1:
        refuse(f"There is no application with the client_id {client_id!r}.")
    redirect_uri = given.get("redirect_uri", "")
    addresses = query.getlist("redirect_uri")
    if redirect_uri not in application.redirect_uris or len(addresses) > 1:
        message = f"The address {redirect_uri!r} is not registered for this application."
        refuse(message)
    back = Return(redirect_uri, given.get("state"), given.get("response_type") == "token")
    repeated = [name for name in query if len(query.getlist(name)) > 1]
    if repeated:
        raise SentBack(back, "invalid_request", f"{repeated[0]} was sent more than once.")
    if "response_type" not in given:
        raise SentBack(back, "invalid_request", "The query lacks response_type.")
    if given["response_type"] not in {"code", "token"}:
        raise SentBack(back, "unsupported_response_type", "Ask for a code or a token.")
    scopes = _scopes(given, back)
    challenge, method = _challenge(given, back)
    return AuthorizationRequest(
        client_id=client_id,
        redirect_uri=redirect_uri,
        response_type=given["response_type"],
        scopes=scopes,
        state=back.state,
        code_challenge=challenge,
        code_challenge_method=method,
    )


def _scopes(given: Mapping[str, str], back: Return) -> tuple[Scope, ...]:
    wanted = {value for name, value in given.items() if SCOPE.fullmatch(name)}
    if not wanted:
        raise SentBack(back, "invalid_scope", "Name at least one scope, as scope[0].")
    unknown = sorted(wanted - set(Scope))
    if unknown:
        raise SentBack(back, "invalid_scope", f"There is no scope {unknown[0]}.")
    return tuple(scope for scope in Scope if scope in wanted)


def _challenge(given: Mapping[str, str], back: Return) -> tuple[str | None, str]:
    challenge = given.get("code_challenge")
    method = given.get("code_challenge_method", "plain")
    if challenge is None and "code_challenge_method" in given:
        raise SentBack(back, "invalid_request", "code_challenge_method lacks its code_challenge.")
    if method not in METHODS:
        raise SentBack(back, "invalid_request", "code_challenge_method is plain or S256.")
    if challenge is not None and not CHALLENGE.fullmatch(challenge):
        raise SentBack(back, "invalid_request", "code_challenge has a wrong length or character.")
    return challenge, method
