"""The parts of a mock that the handlers of its admin API use, in one record.

A generator of edge cases is passed in as ``EdgeCaseSource``, so that the mock does not import one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

from starlette.types import ASGIApp

from understudy.errors import BadRequest
from understudy.interface.facts import Facts
from understudy.mock.server.api import Api
from understudy.mock.server.endpoint import Endpoint, endpoints
from understudy.mock.server.world_selection import Worlds
from understudy.openapi.operations import no_operation, operation_named


class ExportedCases(NamedTuple):
    """Edge cases in the file format of a tool.

    Attributes:
        content: The bytes of the file.
        suffix: Suffix of the file name, such as ``.har``; ``.zip`` if the tool reads a directory.
    """

    content: bytes
    suffix: str


class EdgeCaseSource(Protocol):
    """Makes edge cases of operations, and sends them to the mock."""

    def cases(self, operation: str, count: int, seed: int) -> list[dict[str, Any]]:
        """Returns edge cases as JSON.

        Raises:
            StartupError: There is no such operation.
        """

    async def send(self, wanted: Mapping[str, Any], site_url: str, auth_url: str) -> dict[str, Any]:
        """Sends a case to the mock, and returns the response with its result.

        Raises:
            StartupError: There is no such operation.
            NotFound: There is no such case.
        """

    def exported(
        self, operation: str, form: str, options: Mapping[str, int], urls: Mapping[str, str]
    ) -> ExportedCases:
        """Returns edge cases in the file format of a tool.

        Raises:
            StartupError: There is no such operation or format.
        """


SiteName = Literal["resource", "authorization"]

Sites = Mapping[SiteName, ASGIApp]
"""The ASGI applications of the resource API and of the authorization server."""


@dataclass(frozen=True, eq=False)
class AdminContext:
    """The parts of one mock that the handlers of its admin API use.

    Attributes:
        worlds: All the worlds of the mock.
        apis: The APIs that the mock serves; the first one is the resource API.
        edge_cases: Returns the source of edge cases; None if the mock has none.
        sites: The ASGI applications of the two addresses.
        facts: The facts files of ``serve --facts``, in their order.
        digests: Cache for capsules: each digested object with its digest, by name.
    """

    worlds: Worlds
    apis: Sequence[Api]
    edge_cases: Callable[[], EdgeCaseSource | None]
    sites: Sites
    facts: Sequence[Facts]
    digests: dict[str, tuple[object, str]] = field(default_factory=dict)

    @property
    def base_path(self) -> str:
        """The base path of the resource API."""
        return self.apis[0].base_path

    @cached_property
    def endpoints(self) -> Mapping[str, Endpoint]:
        """Every operation of the mock by its operationId."""
        served = (endpoint for api in self.apis for endpoint in endpoints(api))
        return {endpoint.operation.operation_id: endpoint for endpoint in served}


def expect_operation(name: str, endpoints: Mapping[str, Endpoint]) -> str:
    """Returns the operationId of an operation, which may be named by method and path.

    Raises:
        BadRequest: There is no operation of this name.
    """
    found = operation_named(name, [endpoint.operation for endpoint in endpoints.values()])
    if found is None:
        shown = [endpoint.operation for endpoint in of_service(endpoints)]
        msg = f"operation: there is {no_operation(name, shown)}"
        raise BadRequest(msg)
    return found.operation_id


def of_service(endpoints: Mapping[str, Endpoint]) -> Sequence[Endpoint]:
    """Returns the operations that clients of the service call, the most that a user is shown.

    Those that issue tokens are left out for another service, which accepts any token.
    """
    free = [endpoint for endpoint in endpoints.values() if not endpoint.api.needs_tokens]
    return free or list(endpoints.values())


AdminHandlers = Mapping[tuple[str, str], Callable[..., Any]]
"""Handlers by method and path template, which take the context before a handler's arguments."""
