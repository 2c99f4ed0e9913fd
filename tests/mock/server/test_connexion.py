"""The canary: what is read from Connexion beside its documentation is as we read it."""

import asyncio
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from understudy.errors import BadRequest, MethodNotAllowed, NotFound
from understudy.mock.server._connexion import routed
from understudy.mock.server.dispatcher import route_of
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead, put_context
from understudy.mock.server.response_sending import as_problem
from understudy.openapi.operations import operations


class Canary:
    """Connexion around a dispatcher that keeps the scope, and nothing else."""

    def __init__(self, found: Any, world: Any) -> None:
        self.world = world
        self.scopes: list[Any] = []
        self.application = routed({"/v1": found, "": found[:1]}, self.dispatch)

    async def dispatch(self, scope: Any, _receive: Any, _send: Any) -> None:
        self.scopes.append(scope)

    def ask(self, method: str, path: str) -> Any:
        scope: Any = {"type": "http", "method": method, "path": path, "query_string": b""}
        scope |= {"headers": [], "scheme": "http", "root_path": ""}
        put_context(scope, RequestContext.of(RequestHead.of(scope), Peer.of(scope), self.world))

        async def silent(*_: Any) -> None:
            return None

        asyncio.run(self.application(scope, silent, silent))  # type: ignore[arg-type]  # a coroutine
        return self.scopes[-1]


@pytest.fixture
def canary(serve) -> Canary:
    service = serve()
    found = operations(service.document)
    return Canary(found, service.world)


def test_routing_leaves_base_path_operation_and_path_parameters_in_the_scope(canary) -> None:
    scope = canary.ask("GET", "/v1/notes/12")
    assert scope["extensions"]["connexion_routing"] == {
        "api_base_path": "/v1",
        "operation_id": "GET /notes/{note-id}",
    }
    assert route_of(scope) == ("/v1", "GET /notes/{note-id}")
    assert scope["path_params"] == {"p0": "12"}


def test_an_api_at_the_root_has_an_empty_base_path(canary) -> None:
    assert route_of(canary.ask("GET", "/notes")) == ("", "GET /notes")


def test_an_unknown_path_has_no_operation_and_reaches_the_dispatcher(canary) -> None:
    assert route_of(canary.ask("GET", "/v1/nothing"))[1] is None


def test_a_wrong_method_is_connexions_405(canary) -> None:
    with pytest.raises(HTTPException) as refusal:
        canary.ask("PUT", "/v1/notes")
    assert refusal.value.status_code == 405


def test_refusals_of_connexion_become_ours_and_failures_stay_failures() -> None:
    ours = BadRequest("no")
    assert as_problem(ours) is ours
    assert isinstance(as_problem(HTTPException(405)), MethodNotAllowed)
    assert isinstance(as_problem(HTTPException(404)), NotFound)
    assert as_problem(ValueError()) is None
