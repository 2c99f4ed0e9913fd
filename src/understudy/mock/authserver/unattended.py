"""Decides authorization requests that no person has to see: refused, denied or approved in advance.

What is left is shown by the pages, which need a browser and its session.
"""

import string
from urllib.parse import quote

from understudy.interface.rules import upholds
from understudy.mock.authserver.approval import approve
from understudy.mock.authserver.authorization_request import (
    AuthorizationRequest,
    ReturnAddress,
    find_return_address,
    parameters_of,
    validate,
)
from understudy.mock.authserver.client_advice import note_problem
from understudy.mock.authserver.oauth_errors import RefusedPage, RefusedRedirect
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import PageHandler
from understudy.mock.server.response_sending import PAGE_HEADERS
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import APPLICATIONS
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.vocabulary import vocabulary_of

APPROVE, DENY = "mock_approve", "mock_deny"
"""Query parameters that name the person who approves or denies, for tests without a browser."""


def deciding(auto_approve: str | None) -> PageHandler:
    """Returns what responds to an authorization request where no page has to be shown.

    Args:
        auto_approve: Slug of the person who approves every request; None: each is shown.
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
    """Returns the address to redirect to with an error (RFC 6749, 4.1.2.1)."""
    return address.with_response(error=refusal.error, error_description=refusal.description)


def note_risks(world: World, request: AuthorizationRequest, notes: list[str]) -> None:
    """Notes what the client leaves out that would protect the person (RFC 9700, 2.1.1 and 4.7).

    Args:
        world: The world of the request.
        request: The validated request.
        notes: The journal's notes on the request.
    """
    client_id = request.return_address.application.client_id
    if request.return_address.state is None:
        note_problem(world, client_id, "no-state", notes)
    if request.response_type == "code" and request.challenge is None:
        note_problem(world, client_id, "no-pkce", notes)


def _redirect(url: str) -> HandlerResponse:
    """Redirects to the application, without a body: the URL may contain a token."""
    location = quote(url, safe=string.punctuation)  # a registered address may not be ASCII
    return HandlerResponse(None, 302, headers=(("location", location), *PAGE_HEADERS))
