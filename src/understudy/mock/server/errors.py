"""Turns every problem and every failure into a response in the error shape of the API.

It is done in one place for all that lies within, Connexion's own refusals included, so that no client
ever meets a framework's error page.
"""

import asyncio
import logging
from collections.abc import Sequence

from starlette.exceptions import HTTPException

from understudy.errors import (
    MethodNotAllowed,
    MockRefusal,
    NotFound,
    Problem,
    ShuttingDown,
)
from understudy.mock.server.api import Api
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.declared_errors import REASON
from understudy.mock.server.declared_headers import field_value
from understudy.mock.server.endpoint import endpoints
from understudy.mock.server.faults import WireResponse
from understudy.mock.server.rate_limit import sent_headers
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.response_sending import encode, problem_response
from understudy.openapi.paths import Paths

_log = logging.getLogger(__name__)


def as_problem(error: Exception) -> Problem | None:
    """Returns a refusal of the mock or of Connexion as a Problem; None for any other error.

    The text of what Connexion refused is left empty: it does not know what would be right.
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        is_method = error.status_code == MethodNotAllowed.status
        return MethodNotAllowed("") if is_method else NotFound("")
    return None


class ErrorResponses:
    """Makes the response to whatever was raised while a request was worked on.

    Args:
        paths: Knows which methods a path allows, and which path was probably meant.
        apis: The APIs with their error shapes; the first one's is used where no other fits.
    """

    def __init__(self, paths: Paths, apis: Sequence[Api]) -> None:
        self._paths = paths
        self._apis = apis

    def encode(
        self, context: RequestContext, error: Exception | asyncio.CancelledError
    ) -> WireResponse:
        """Notes why a request is refused, and returns the response as it is sent.

        Only a mock that stops cancels requests.
        """
        if isinstance(error, asyncio.CancelledError):
            error = ShuttingDown()
        problem = as_problem(error)
        if problem is None:
            _log.error("%s %s failed inside the mock", context.method, context.path, exc_info=error)
            problem = _failure(error)
        endpoint = context.endpoint
        if endpoint is not None and context.choices:
            problem = endpoint.api.policies.refusal(context.choices, problem)
        problem = self._worded(context, problem)
        context.refused(problem)
        response = self._response(context, problem)
        # a document may name what a challenge asks for
        own = ((name, field_value(text).decode("latin-1")) for name, text in response.headers)
        headers = (*own, *context.extra_headers)
        sent = sent_headers(context, response.status, headers)
        return encode(response, sent)

    def _worded(self, context: RequestContext, problem: Problem) -> Problem:
        """Returns a refusal with its message, which those of Connexion lack."""
        if problem.message:
            return problem
        if isinstance(problem, MethodNotAllowed):
            return method_not_allowed(context, self._paths.allowed(self._paths.based(context.path)))
        if isinstance(problem, NotFound):
            msg = f"There is nothing at {context.path}{self._paths.hint(context.path) or '.'}"
            return NotFound(msg, code="unknown_path")
        return problem

    def _response(self, context: RequestContext, problem: Problem) -> HandlerResponse:
        if isinstance(problem, MockRefusal):
            refusal = problem_response(problem.status, problem.title, problem.message)
            return refusal._replace(headers=((REASON, problem.title),))
        endpoint = context.endpoint
        api = endpoint.api if endpoint else self._api_of(self._paths.based(context.path))
        response = api.error_response(problem)
        seed = context.world.identifiers.seed
        if endpoint is None:
            others = endpoints(api) if api.has_usual_errors else ()
            return others[0].errors.usual_response(response, problem, seed) if others else response
        if endpoint.page is not None:
            return response
        return endpoint.errors.response(response, problem, seed)

    def _api_of(self, path: str) -> Api:
        """Returns the API whose error shape is used for a path without an operation."""
        template = self._paths.template(path)
        for api in self._apis:
            is_its_own = template is not None and template.removeprefix(api.base_path) in api.paths
            if is_its_own or (api.base_path and path.startswith(f"{api.base_path}/")):
                return api
        return self._apis[0]


def method_not_allowed(context: RequestContext, methods: Sequence[str]) -> MethodNotAllowed:
    """Returns the refusal of a method, with those that the path takes (RFC 9110, 15.5.6)."""
    allowed = ", ".join(methods)
    msg = f"{context.method} is not allowed at {context.path}; it takes {allowed}."
    return MethodNotAllowed(msg, code="method_not_allowed", headers=(("allow", allowed),))


def _failure(error: Exception) -> Problem:
    msg = f"The mock failed: {type(error).__name__}: {error}. Its log has the traceback."
    return Problem(msg, code="internal_server_error")
