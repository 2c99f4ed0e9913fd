"""Defines the errors of the authorization server by where they are shown, and their shape.

OAuthError        400 or 401 as JSON, from the token endpoint and token-info (RFC 6749, 5.2)
RefusedPage       an error page: the client or the redirect cannot be trusted (RFC 6749, 4.1.2.1)
RefusedRedirect   back to the registered address, with ``error`` and ``error_description``
"""

import re
from typing import ClassVar

from understudy.errors import Headers, Problem, UnsupportedMediaType
from understudy.exchange.multipart import MULTIPART
from understudy.interface.rules import upholds
from understudy.mock.server.call import HandlerResponse

INVALID_GRANT = "invalid_grant"
INVALID_REQUEST = "invalid_request"
INVALID_SCOPE = "invalid_scope"
NEEDS_2FA = "needs_2fa"  # not in the RFC: what real deployments send for the account password of a two-step owner
UNSUPPORTED_GRANT_TYPE = "unsupported_grant_type"
UNSUPPORTED_RESPONSE_TYPE = "unsupported_response_type"

_UNDESCRIBABLE = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")
"""Characters that an ``error_description`` may not contain (RFC 6749, 4.1.2.1 and 5.2)."""

_SERVER_ERRORS = 500

NO_STORE: Headers = (("cache-control", "no-store"), ("pragma", "no-cache"))  # RFC 6749, 5.1


MULTIPART_HINT = (
    "Where the deployment takes multipart, write token_endpoint: {multipart: true} in a file for "
    "--vocabulary."
)


class OAuthError(Problem):
    """An error response in the shape of RFC 6749, 5.2.

    Args:
        error: The error code.
        description: What was wrong and what to do; contains no secrets.
        headers: Further headers.
    """

    status = 400

    def __init__(self, error: str, description: str, *, headers: Headers = ()) -> None:
        super().__init__(description, code=error, headers=headers)


class TokenRefused(OAuthError):
    """A token that its validation does not describe; the error does not tell why."""

    def __init__(self, description: str) -> None:
        super().__init__(INVALID_REQUEST, description)


class InvalidClient(OAuthError):
    """The client is not authenticated."""

    status: ClassVar[int] = 401

    def __init__(self, description: str, *, headers: Headers = ()) -> None:
        super().__init__("invalid_client", description, headers=headers)


class RefusedPage(Exception):
    """An authorization request with an error that must not be redirected.

    Attributes:
        what: What was wrong.
        remedy: What the developer should do.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy


class RefusedRedirect(Exception):
    """An authorization request with an error that is redirected to the registered address.

    Attributes:
        error: The code that RFC 6749, 4.1.2.1 registers.
        description: What was wrong and what to do.
    """

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = describable(description)


@upholds("authorize-error-form")
def describable(text: str) -> str:
    """Returns a text in the characters of an ``error_description``: no quote, no backslash, only ASCII."""
    return _UNDESCRIBABLE.sub("?", text.replace('"', "'"))


@upholds("token-error-shape", "token-not-cached")
def error_response(problem: Problem) -> HandlerResponse:
    """Returns a problem in the authorization server's shape (RFC 6749, 5.2).

    Validation errors of the engine (a missing field, a body of another type) become
    ``invalid_request``, with the status that the RFC gives it.
    """
    if isinstance(problem, OAuthError):
        error, status = problem.code or INVALID_REQUEST, problem.status
    elif problem.status in {401, 403, 404, 405, 429, 500, 507}:
        other = "server_error" if problem.status >= _SERVER_ERRORS else INVALID_REQUEST
        error, status = problem.code or other, problem.status
    else:
        error, status = INVALID_REQUEST, 400
    message = problem.message
    if isinstance(problem, UnsupportedMediaType) and MULTIPART in message:
        message = f"{message} {MULTIPART_HINT}"
    body = {"error": error, "error_description": describable(message)}
    return HandlerResponse(body, status, headers=(*problem.headers, *NO_STORE))
