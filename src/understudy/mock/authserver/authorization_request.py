"""Judges an authorization request and says where its answer goes (interface, Authorization request).

Pure functions of parameters and records: the pages show what comes out, and tests need no browser.
What is redirected, and what must not be, follows RFC 6749, 4.1.2.1 and 4.2.2.1, and RFC 9700, 4.1.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, quote, urlencode

from understudy.interface.rules import upholds
from understudy.mock.authserver import requested_scopes
from understudy.mock.authserver.oauth_errors import (
    INVALID_REQUEST,
    INVALID_SCOPE,
    UNSUPPORTED_RESPONSE_TYPE,
    RefusedPage,
    RefusedRedirect,
)
from understudy.mock.store.applications import Application

Parameters = Sequence[tuple[str, str]]
"""Names and values in order; bytes that are not UTF-8 as surrogate escapes, so that none is lost."""

Find = Callable[[str], Application | None]
"""Looks an application up by its client_id."""

_CHALLENGE = re.compile(r"[A-Za-z0-9._~-]{43,128}")  # RFC 7636, 4.2


@dataclass(frozen=True, slots=True)
class ReturnAddress:
    """Where the answer goes once client and redirect are known to belong together.

    Attributes:
        application: Who asks.
        redirect_uri: As registered.
        in_fragment: Whether the answer stands in the fragment: response_type ``token``.
        state: Echoed as it came; None where none was sent.
    """

    application: Application
    redirect_uri: str
    in_fragment: bool
    state: str | None

    @upholds("state-echoed", "fragment-percent-encoded")
    def with_answer(self, **members: str) -> str:
        """Returns the address with an answer in its query or fragment."""
        if self.state is not None:
            members["state"] = self.state
        # percent-encoded throughout: in a fragment, '+' would be read as itself
        text = urlencode(members, quote_via=quote, safe="", errors="surrogateescape")
        if self.in_fragment:
            return f"{self.redirect_uri}#{text}"
        joint = "&" if "?" in self.redirect_uri else "?"
        return f"{self.redirect_uri}{joint}{text}"

    @upholds("denial-access-denied", "denial-error-parameter")
    def denied(self) -> str:
        """Returns where a person's denial leads."""
        return self.with_answer(
            error="access_denied", error_description="The person denied the request."
        )


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A request that a person may be asked to approve.

    Attributes:
        back: Where the answer goes.
        response_type: The flow.
        scopes: What is asked for.
        challenge: The PKCE challenge, where one was sent (RFC 7636).
        challenge_method: How the verifier becomes the challenge.
    """

    back: ReturnAddress
    response_type: Literal["code", "token"]
    scopes: tuple[str, ...]
    challenge: str | None
    challenge_method: Literal["S256", "plain"]


@upholds("authorize-empty-parameter")
def parameters_of(query: bytes) -> Parameters:
    """Returns the parameters of a query string; an empty one counts as omitted (RFC 6749, 3.1)."""
    text = query.decode("ascii", "surrogateescape")
    pairs = parse_qsl(text, keep_blank_values=False, errors="surrogateescape")
    return tuple(pairs)


@upholds("authorize-client-known", "redirect-uri-registered", "redirect-uri-exact")
def return_address(parameters: Parameters, find: Find) -> ReturnAddress:
    """Finds out where an answer may go.

    Raises:
        RefusedPage: The client or the redirect cannot be trusted, so no redirect may follow.
    """
    client_id = _single(parameters, "client_id")
    application = find(client_id)
    if application is None:
        what = f"There is no application with the client_id {client_id!r}."
        raise RefusedPage(what, "Compare it with the application in the developer dashboard.")
    redirect_uri = _single(parameters, "redirect_uri")
    if redirect_uri not in application.redirect_uris:
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
def judge(parameters: Parameters, back: ReturnAddress) -> AuthorizationRequest:
    """Judges the rest of a request, whose faults its client may be told.

    Raises:
        RefusedRedirect: Something is missing, unknown or given twice.
    """
    _refuse_repeated(parameters)
    given = dict(parameters)
    response_type = given.get("response_type")
    if response_type is None:
        raise RefusedRedirect(INVALID_REQUEST, "response_type is missing; send code or token.")
    if response_type not in {"code", "token"}:
        description = f"response_type {response_type!r} is not known; send code or token."
        raise RefusedRedirect(UNSUPPORTED_RESPONSE_TYPE, description)
    asked = requested_scopes.requested(parameters)
    fault = requested_scopes.fault(asked)
    if fault is not None:
        raise RefusedRedirect(INVALID_SCOPE, fault)
    method = given.get("code_challenge_method", "plain")
    challenge = given.get("code_challenge")
    if method not in {"S256", "plain"}:
        description = f"code_challenge_method {method!r} is not known; send S256."
        raise RefusedRedirect(INVALID_REQUEST, description)
    if challenge is not None and not _CHALLENGE.fullmatch(challenge):
        description = "code_challenge must have 43 to 128 characters out of A-Z a-z 0-9 - . _ ~."
        raise RefusedRedirect(INVALID_REQUEST, description)
    return AuthorizationRequest(
        back,
        "token" if response_type == "token" else "code",
        asked,
        challenge,
        "S256" if method == "S256" else "plain",
    )


@upholds("authorize-repeated-parameter")
def _single(parameters: Parameters, name: str) -> str:
    given = [text for key, text in parameters if key == name]
    if len(given) == 1:
        return given[0]
    if not given:
        what = f"{name} is missing."
        raise RefusedPage(what, "Send it in the query of the authorization URL.")
    what = f"{name} is given {len(given)} times."
    raise RefusedPage(what, "Send it once (RFC 6749, 3.1).")


@upholds("authorize-repeated-parameter")
def _refuse_repeated(parameters: Parameters) -> None:
    """Refuses what came twice; scopes come as often as they like, each under its index."""
    names = [name for name, _ in parameters]
    for name in dict.fromkeys(names):
        known = name in {"response_type", "state", "code_challenge", "code_challenge_method"}
        if names.count(name) > 1 and (known or requested_scopes.is_scope_name(name)):
            raise RefusedRedirect(INVALID_REQUEST, f"{name} is given more than once.")
