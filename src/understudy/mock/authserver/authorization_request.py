"""Validates authorization requests and their redirect URIs; defines the server's errors.

Source: interface, Authorization request. These are pure functions, so that tests need no browser. RFC
6749, 4.1.2.1 and 4.2.2.1, and RFC 9700, 4.1, say which errors may be redirected. The kinds of errors:

OAuthError        400 or 401 as JSON, from the token endpoint and token-info (RFC 6749, 5.2)
RefusedPage       an error page: the client or the redirect cannot be trusted (RFC 6749, 4.1.2.1)
RefusedRedirect   back to the registered address, with ``error`` and ``error_description``
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar, Literal
from urllib.parse import parse_qsl, quote, urlencode

from understudy.errors import Headers, Problem, UnsupportedMediaType
from understudy.interface.rules import upholds
from understudy.interface.vocabulary import OWN_WORDS, Vocabulary
from understudy.mock.server.call import HandlerResponse
from understudy.mock.store.applications import Application
from understudy.openapi.media_types import MULTIPART

INVALID_GRANT = "invalid_grant"
INVALID_REQUEST = "invalid_request"
INVALID_SCOPE = "invalid_scope"
NEEDS_2FA = "needs_2fa"  # not in the RFC: what real deployments send for the account password of a two-step owner
UNSUPPORTED_GRANT_TYPE = "unsupported_grant_type"
UNSUPPORTED_RESPONSE_TYPE = "unsupported_response_type"

_UNDESCRIBABLE = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")
"""Characters that an ``error_description`` may not contain (RFC 6749, 4.1.2.1 and 5.2)."""


NO_STORE: Headers = (("cache-control", "no-store"), ("pragma", "no-cache"))  # RFC 6749, 5.1


MULTIPART_HINT = (
    "Where the deployment takes multipart, write token_endpoint: {multipart: true} in a file for "
    "--vocabulary."
)


class OAuthError(Problem):
    """An error response in the shape of RFC 6749, 5.2; its description contains no secrets."""

    status = 400

    def __init__(self, error: str, description: str, *, headers: Headers = ()) -> None:
        super().__init__(description, code=error, headers=headers)


class TokenRefused(OAuthError):
    """The refusal of token-info to describe a token, without the reason."""

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
        what: Cause of the error.
        remedy: Remedy for the developer.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy


class RefusedRedirect(Exception):
    """An authorization request with an error that is redirected to the registered address.

    Attributes:
        error: Error code of RFC 6749, 4.1.2.1.
        description: Cause and remedy.
    """

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = describable(description)


@upholds("authorize-error-form")
def describable(text: str) -> str:
    """Returns a text with only the characters that an ``error_description`` may have."""
    return _UNDESCRIBABLE.sub("?", text.replace('"', "'"))


@upholds("token-error-shape", "token-not-cached")
def error_response(problem: Problem) -> HandlerResponse:
    """Returns a problem in the authorization server's shape (RFC 6749, 5.2).

    Validation errors of the engine, such as a missing field or another media type, become
    ``invalid_request`` with status 400, as the RFC requires.
    """
    if isinstance(problem, OAuthError):
        error, status = problem.code or INVALID_REQUEST, problem.status
    elif problem.status in {401, 403, 404, 405, 429, 500, 507}:
        other = (
            "server_error"
            if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR
            else INVALID_REQUEST
        )
        error, status = problem.code or other, problem.status
    else:
        error, status = INVALID_REQUEST, 400
    message = problem.message
    if isinstance(problem, UnsupportedMediaType) and MULTIPART in message:
        message = f"{message} {MULTIPART_HINT}"
    body = {"error": error, "error_description": describable(message)}
    return HandlerResponse(body, status, headers=(*problem.headers, *NO_STORE))


_INDEXED = re.compile(r"scope\[([0-9]{0,6})\]")


def is_scope_parameter(name: str) -> bool:
    """Tells whether a parameter contains scopes: ``scope``, ``scope[0]``, ``scope[]``."""
    return name == "scope" or _INDEXED.fullmatch(name) is not None


@upholds("scope-indexed-array", "scope-any-index", "scope-space-joined")
def requested(parameters: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Returns the requested scopes, ordered by index and without repetitions.

    Args:
        parameters: All parameters, in order. Indexes may start anywhere and have gaps:
            ``scope[3]=a&scope[1]=b`` is b, a. Generic clients send ``scope=a b`` (RFC 6749, 3.3).
    """
    indexed = []
    for position, (name, text) in enumerate(parameters):
        match = _INDEXED.fullmatch(name)
        if match or name == "scope":
            index = int(match[1]) if match and match[1] else position
            indexed.append((index, text))
    words = [word for _, text in sorted(indexed, key=lambda pair: pair[0]) for word in text.split()]
    return tuple(dict.fromkeys(words))


@upholds("scope-at-least-one", "scope-auth-needed", "scope-known")
def error_in(scopes: Sequence[str], vocabulary: Vocabulary) -> str | None:
    """Returns a message about the first error in the requested scopes; None if they are valid."""
    auth, known = vocabulary.scopes.auth, vocabulary.scope_names
    if not scopes:
        return f"scope is missing; request at least one: scope[0]={auth}."
    unknown = [scope for scope in scopes if scope not in known]
    if unknown:
        return f"scope {unknown[0]!r} is unknown; the scopes are {', '.join(known)}."
    if auth not in scopes:
        return f"scope {auth} is missing; every endpoint needs it."
    return None


def meanings(vocabulary: Vocabulary) -> dict[str, str]:
    """Returns each scope with its meaning, for the consent page."""
    return {
        vocabulary.scopes.auth: "Know who you are",
        vocabulary.scopes.read: "Read your profile and avatars",
        vocabulary.scopes.manage: "Edit your profile and avatars",
    }


Parameters = Sequence[tuple[str, str]]
"""Names and values in order, with surrogate escapes for bytes that are not UTF-8."""

Find = Callable[[str], Application | None]
"""Returns the application with a client ID, or None."""

_CHALLENGE = re.compile(r"[A-Za-z0-9._~-]{43,128}")  # RFC 7636, 4.2


@dataclass(frozen=True, slots=True)
class ReturnAddress:
    """The destination of the authorization response, with a redirect URI that was checked.

    Attributes:
        application: Client.
        redirect_uri: Redirect URI, as registered.
        in_fragment: Whether the response is in the fragment, as for response_type ``token``.
        state: State of the request, which the response repeats; None if none was sent.
    """

    application: Application
    redirect_uri: str
    in_fragment: bool
    state: str | None

    @upholds("state-echoed", "fragment-percent-encoded")
    def with_response(self, **members: str) -> str:
        """Returns the redirect URI with these members in its query or fragment."""
        if self.state is not None:
            members["state"] = self.state
        # %20 instead of '+', which scripts that read the fragment take for a plus sign
        text = urlencode(members, quote_via=quote, safe="", errors="surrogateescape")
        if self.in_fragment:
            return f"{self.redirect_uri}#{text}"
        joint = "&" if "?" in self.redirect_uri else "?"
        return f"{self.redirect_uri}{joint}{text}"

    @upholds("denial-access-denied", "denial-error-parameter")
    def denied(self) -> str:
        """Returns the URL to redirect to after a denial."""
        return self.with_response(
            error="access_denied", error_description="The person denied the request."
        )


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A valid authorization request, which a person may approve.

    Attributes:
        return_address: Destination of the response.
        response_type: ``code`` for the code grant, ``token`` for the implicit grant.
        scopes: Requested scopes.
        challenge: PKCE challenge (RFC 7636); None without PKCE.
        challenge_method: Derivation of the challenge from the verifier.
    """

    return_address: ReturnAddress
    response_type: Literal["code", "token"]
    scopes: tuple[str, ...]
    challenge: str | None
    challenge_method: Literal["S256", "plain"]


@upholds("authorize-empty-parameter")
def parameters_of(query: bytes) -> Parameters:
    """Returns the parameters of a query string; an empty one counts as omitted (RFC 6749, 3.1).

    But an empty code_challenge is kept: to omit it would silently turn PKCE off (RFC 9700, 4.8.2).
    """
    text = query.decode("ascii", "surrogateescape")
    pairs = parse_qsl(text, keep_blank_values=True, errors="surrogateescape")
    return tuple((name, value) for name, value in pairs if value or name == "code_challenge")


CALLBACK_PATH = "/callback"
"""Path of the mock's callback page, which every application may use as redirect URI."""


@upholds("authorize-client-known", "redirect-uri-registered", "redirect-uri-exact")
def find_return_address(
    parameters: Parameters, find: Find, authorization_url: str = ""
) -> ReturnAddress:
    """Returns the destination of the authorization response.

    Args:
        parameters: All parameters of the request.
        find: Returns the application with a client ID.
        authorization_url: Base URL of the authorization server; empty without a callback page.

    Raises:
        RefusedPage: The client or the redirect URI is unknown, so that no redirect is safe.
    """
    client_id = _single(parameters, "client_id")
    application = find(client_id)
    if application is None:
        what = f"There is no application with the client_id {client_id!r}."
        raise RefusedPage(what, "Compare it with the application in the developer dashboard.")
    redirect_uri = _single(parameters, "redirect_uri")
    own = authorization_url and authorization_url + CALLBACK_PATH
    if redirect_uri not in {*application.redirect_uris, *filter(None, [own])}:
        registered = ", ".join(application.redirect_uris) or "none"
        what = f"The redirect_uri {redirect_uri!r} is not registered for {application.name}."
        remedy = (
            f"It must equal a registered one, character by character. Registered: {registered}."
        )
        raise RefusedPage(what, remedy)
    states = [text for name, text in parameters if name == "state"]
    response_types = [text for name, text in parameters if name == "response_type"]
    return ReturnAddress(
        application,
        redirect_uri,
        in_fragment=response_types == ["token"],
        state=states[0] if states else None,
    )


@upholds("response-type", "authorize-error-redirect", "authorize-unknown-parameters-ignored")
def validate(
    parameters: Parameters, address: ReturnAddress, vocabulary: Vocabulary = OWN_WORDS
) -> AuthorizationRequest:
    """Validates the other parameters, whose errors may be redirected to the client.

    Args:
        parameters: All parameters of the request.
        address: Destination of the response.
        vocabulary: Names of the scopes in the deployment.

    Raises:
        RefusedRedirect: A parameter is missing, unknown or repeated.
    """
    _refuse_repeated(parameters)
    values = dict(parameters)
    response_type = values.get("response_type")
    if response_type is None:
        raise RefusedRedirect(INVALID_REQUEST, "response_type is missing; send code or token.")
    if response_type not in {"code", "token"}:
        description = f"response_type {response_type!r} is not known; send code or token."
        raise RefusedRedirect(UNSUPPORTED_RESPONSE_TYPE, description)
    scopes = requested(parameters)
    scope_error = error_in(scopes, vocabulary)
    if scope_error is not None:
        raise RefusedRedirect(INVALID_SCOPE, scope_error)
    method = values.get("code_challenge_method", "plain")
    challenge = values.get("code_challenge")
    if method not in {"S256", "plain"}:
        description = f"code_challenge_method {method!r} is not known; send S256."
        raise RefusedRedirect(INVALID_REQUEST, description)
    if challenge is None and "code_challenge_method" in values:
        description = "code_challenge is missing; code_challenge_method was sent without it."
        raise RefusedRedirect(INVALID_REQUEST, description)
    if challenge is not None and not _CHALLENGE.fullmatch(challenge):
        description = "code_challenge must have 43 to 128 characters out of A-Z a-z 0-9 - . _ ~."
        raise RefusedRedirect(INVALID_REQUEST, description)
    return AuthorizationRequest(
        address,
        "token" if response_type == "token" else "code",
        scopes,
        challenge,
        "S256" if method == "S256" else "plain",
    )


@upholds("authorize-repeated-parameter")
def _single(parameters: Parameters, name: str) -> str:
    values = [text for key, text in parameters if key == name]
    if len(values) == 1:
        return values[0]
    if not values:
        what = f"{name} is missing."
        raise RefusedPage(what, "Send it in the query of the authorization URL.")
    what = f"{name} is given {len(values)} times."
    raise RefusedPage(what, "Send it once (RFC 6749, 3.1).")


@upholds("authorize-repeated-parameter")
def _refuse_repeated(parameters: Parameters) -> None:
    """Refuses repeated parameters; several scopes have different indexes."""
    names = [name for name, _ in parameters]
    for name in dict.fromkeys(names):
        is_known = name in {"response_type", "state", "code_challenge", "code_challenge_method"}
        if names.count(name) > 1 and (is_known or is_scope_parameter(name)):
            advice = "; number them: scope[0], scope[1]" if name == "scope[]" else ""
            raise RefusedRedirect(INVALID_REQUEST, f"{name} is given more than once{advice}.")
