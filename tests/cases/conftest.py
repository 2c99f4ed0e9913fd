"""The mock in this process, asked without a client library in between, which would tidy cases up."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

import pytest

from understudy.cases.model import Case, CaseRequest
from understudy.cases.plans import OperationPlan, Planner
from understudy.cases.test_data import AVATAR_ID, TestData
from understudy.interface.scopes import SCOPES
from understudy.mock.app import Mock
from understudy.mock.server.clock import Clock
from understudy.mock.settings import Settings
from understudy.mock.store.applications import CODES, AuthorizationCode
from understudy.mock.store.tokens import TOKENS, Token
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import load

START = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
TEST_DATA = TestData()
MADE = {"CLIENT_TOKEN": "issued-to-server-app", "CODE": "7d3f0c5e9b1a4826a4c8e2f6071b3d59"}
SECRETS = {**TEST_DATA.secrets, **MADE, AVATAR_ID: TEST_DATA.image_id}


class Answer(NamedTuple):
    status: int
    location: str
    body: bytes


class Deployment:
    """A mock in which every case finds the same people, tokens and clock."""

    def __init__(self, choices: Mapping[str, str] = {}) -> None:
        self.mock = Mock(Settings(choices={"rate-limits": "off", **choices}, journal=0))
        world = self.mock.world
        world.clock = Clock(lambda: START)
        token = Token(MADE["CLIENT_TOKEN"], "ada", "oauth", SCOPES, TEST_DATA.client_id)
        world.put(TOKENS, token.token, token)
        until = START + timedelta(minutes=10)
        uri, client = TEST_DATA.redirect_uri, TEST_DATA.client_id
        code = AuthorizationCode(MADE["CODE"], client, uri, "ada", SCOPES[:2], until)
        world.put(CODES, code.code, code)
        self._before = world.snapshot()

    async def ask(self, request: CaseRequest) -> Answer:
        self.mock.world.become(self._before)
        request = request.filled(SECRETS)
        is_resource = request.site == "resource"
        path = (self.mock.base_path if is_resource else "") + request.path
        body = request.body or b""
        headers = [(n.lower().encode(), t.encode("latin-1", "replace")) for n, t in request.headers]
        if request.body is not None:
            headers.append((b"content-length", str(len(body)).encode()))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": unquote_to_bytes(path).decode("utf-8", "replace"),
            "raw_path": path.encode(),
            "query_string": request.target.partition("?")[2].encode(),
            "root_path": "",
            "headers": [(b"host", b"127.0.0.1:8080"), *headers],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8080),
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        site = self.mock.resource if is_resource else self.mock.authorization
        await site(scope, receive, send)
        start, *rest = sent
        found = {name.lower(): text for name, text in start["headers"]}
        content = b"".join(message.get("body", b"") for message in rest)
        return Answer(start["status"], found.get(b"location", b"").decode("latin-1"), content)

    async def fault(self, case: Case) -> str:
        """Returns what is wrong with the answer to a case, or nothing."""
        answer = await self.ask(case.request)
        said = case.expected.mismatch(answer.status, answer.location)
        if not said:
            return ""
        target = f"{case.request.method} {case.request.target[:200]}"
        told = answer.body[:150].decode("utf-8", "replace")
        return f"{case.id} ({case.kind}, {case.expected.because}) {case.description}: {target}: {said}: {told} {answer.location[:150]}"


@pytest.fixture(scope="session")
def deployment() -> Deployment:
    return Deployment()


def planners() -> tuple[Planner, Planner]:
    directory = openapi_directory()
    return (
        Planner(load(directory / "service.yaml"), "resource", TEST_DATA),
        Planner(load(directory / "authorization.yaml"), "authorization", TEST_DATA),
    )


def plans() -> list[OperationPlan]:
    return [p.plan(operation) for p in planners() for operation in p.operations]
