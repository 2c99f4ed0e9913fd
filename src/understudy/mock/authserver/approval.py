"""Decides authorization requests, and issues a code or a token after a person's approval.

Requests that need no page are decided here: invalid ones, and those denied or approved in advance. The
pages, which need a browser and its session, decide all others.
"""

import string
from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import quote

from understudy.interface.rules import upholds
from understudy.mock.authserver.authorization_request import (
    AuthorizationRequest,
    RefusedPage,
    RefusedRedirect,
    ReturnAddress,
    find_return_address,
    parameters_of,
    validate,
)
from understudy.mock.authserver.client_advice import note_problem
from understudy.mock.authserver.token_lifecycle import IMPLICIT_LIFETIME, issue
from understudy.mock.server.call import Call, HandlerResponse, PageHandler
from understudy.mock.server.response_sending import PAGE_HEADERS
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import APPLICATIONS, CODES, AuthorizationCode
from understudy.mock.store.people import PEOPLE, account_number
from understudy.mock.store.vocabulary import vocabulary_of

CODE_DIGITS = 32
"""Hexadecimal digits of a code: 128 bits (RFC 6749, 10.10)."""


def approve(
    world: World, request: AuthorizationRequest, person: str, choices: Mapping[str, str]
) -> str:
    """Issues the requested code or token.

    Args:
        world: World in which the code or token is valid.
        request: Validated request that the person approved.
        person: Slug of the person who approved.
        choices: Switch name to the option in force.

    Returns:
        The URL to redirect the browser to.
    """
    if request.response_type == "token":
        return _token(world, request, person)
    seconds = int(choices.get("code-lifetime", "600"))
    return _code(world, request, person, timedelta(seconds=seconds))


@upholds("code-in-query", "code-time-limited", "code-lifetime", "code-unguessable", "pkce-honoured")
def _code(world: World, request: AuthorizationRequest, person: str, lifetime: timedelta) -> str:
    """Issues a code (interface, Code grant, 1: "time-limited"; RFC 6749, 4.1.2)."""
    code = AuthorizationCode(
        code=world.mark + world.identifiers.hexadecimal(CODE_DIGITS),
        client_id=request.return_address.application.client_id,
        redirect_uri=request.return_address.redirect_uri,
        person=person,
        scopes=request.scopes,
        expires=world.clock.now() + lifetime,
        challenge=request.challenge,
        challenge_method=request.challenge_method,
    )
    world.put(CODES, code.code, code)
    return request.return_address.with_response(code=code.code)


@upholds("implicit-token-in-fragment", "implicit-expires-in")
def _token(world: World, request: AuthorizationRequest, person: str) -> str:
    token = issue(
        world, request.return_address.application, person, request.scopes, IMPLICIT_LIFETIME
    )
    return request.return_address.with_response(
        access_token=token.token,
        expires_in=str(int(IMPLICIT_LIFETIME.total_seconds())),
        token_type="bearer",
        site_id=account_number(person),
    )


APPROVE, DENY = "mock_approve", "mock_deny"
"""Query parameters that name the person who approves or denies, for tests without a browser."""


def deciding(auto_approve: str | None) -> PageHandler:
    """Returns the handler of authorization requests that need no page.

    Args:
        auto_approve: Slug of the person who approves every request; None: pages are shown.
    """

    def decide(call: Call, query: bytes) -> HandlerResponse | None:
        world, parameters = call.world, parameters_of(query)
        try:
            address = find_return_address(
                parameters, lambda key: world.get(APPLICATIONS, key), call.authorization_url
            )
            request = validate(parameters, address, vocabulary_of(world))
        except RefusedPage:
            return None
        except RefusedRedirect as refusal:
            return _redirect(refused(address, refusal))
        values = dict(parameters)
        if DENY in values:
            note_risks(world, request, call.notes)
            return _redirect(address.denied())
        person = values.get(APPROVE) or auto_approve
        if person is None or world.get(PEOPLE, person) is None:
            return None
        note_risks(world, request, call.notes)
        return _redirect(approve(world, request, person, call.choices))

    return decide


@upholds("authorize-error-redirect")
def refused(address: ReturnAddress, refusal: RefusedRedirect) -> str:
    """Returns the URL to redirect to with an error (RFC 6749, 4.1.2.1)."""
    return address.with_response(error=refusal.error, error_description=refusal.description)


def note_risks(world: World, request: AuthorizationRequest, notes: list[str]) -> None:
    """Notes a missing ``state`` or ``code_challenge``, which protect the person (RFC 9700, 2.1.1, 4.7)."""
    client_id = request.return_address.application.client_id
    if request.return_address.state is None:
        note_problem(world, client_id, "no-state", notes)
    if request.response_type == "code" and request.challenge is None:
        note_problem(world, client_id, "no-pkce", notes)


def _redirect(url: str) -> HandlerResponse:
    """Returns a redirect to the application, without a body, as the URL may contain a token."""
    location = quote(url, safe=string.punctuation)  # a registered URI may have other than ASCII
    return HandlerResponse(None, 302, headers=(("location", location), *PAGE_HEADERS))
