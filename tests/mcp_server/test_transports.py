"""``understudy mcp`` as agents start it: on stdio, and by HTTP under the guard of the admin API."""

import os

import httpx
import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.cli.conftest import UNDERSTUDY
from tests.mcp_server.conftest import Agent

from understudy.cli import main
from understudy.mcp_server.server import application, assemble

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
HEADERS = {"Accept": "application/json, text/event-stream", "Host": "127.0.0.1:8090"}


@pytest.mark.anyio
async def test_on_stdio_it_starts_a_mock_of_its_own():
    environment = {name: text for name, text in os.environ.items() if name != "UNDERSTUDY_URL"}
    server = StdioServerParameters(command=str(UNDERSTUDY), args=["mcp"], env=environment)
    async with Client(stdio_client(server), mode="legacy") as client:
        assert client.server_info is not None
        assert client.server_info.name == "understudy"
        assert (await Agent(client).send("GET", "/profiles/ada"))["status"] == 200


@pytest.mark.anyio
async def test_by_http_a_session_has_a_world_that_ends_with_it(address, worlds):
    before = worlds()
    async with Client(address, mode="legacy") as client:
        agent = Agent(client)
        made = await agent.call("create_world", people=["ada"])
        assert (await agent.call("list_people"))["count"] == 1
        assert worlds() - before == {made["world"]}
    assert worlds() == before


@pytest.mark.anyio
async def test_by_http_without_a_session_a_client_names_its_world(address):
    async with Client(address, mode="2026-07-28") as client:
        refused = await client.call_tool("list_people", {})
        assert refused.is_error
        made = await Agent(client).call("create_world", people=["ben"])
        assert (await Agent(client).call("list_people", world=made["world"]))["count"] == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("client", "headers", "reason"),
    [
        ("192.0.2.7", {}, "callers on this machine"),
        ("127.0.0.1", {"Host": "evil.example"}, "not a loopback host name"),
        ("127.0.0.1", {"Origin": "https://evil.example"}, "page of another origin"),
        ("192.0.2.7", {"Authorization": "Bearer wrong"}, "callers on this machine"),
    ],
)
async def test_the_guard_of_the_admin_api_stands_before_it(mock, client, headers, reason):
    guarded = application(assemble(mock), "secret")
    transport = httpx.ASGITransport(guarded, client=(client, 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8090") as caller:
        response = await caller.post("/mcp", json=INITIALIZE, headers=HEADERS | headers)
    assert (response.status_code, response.headers["content-type"]) == (
        403,
        "application/problem+json",
    )
    assert reason in response.json()["detail"]


@pytest.mark.anyio
async def test_the_admin_token_lets_in_another_machine(mock):
    assembled = assemble(mock)
    transport = httpx.ASGITransport(application(assembled, "secret"), client=("192.0.2.7", 50_000))
    headers = HEADERS | {"Host": "mock.test", "Authorization": "Bearer secret"}
    async with (
        assembled.server.session_manager.run(),
        httpx.AsyncClient(transport=transport, base_url="http://mock.test") as caller,
    ):
        response = await caller.post("/mcp", json=INITIALIZE, headers=headers)
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--mock", "http://127.0.0.1:1"], "No mock responds at http://127.0.0.1:1"),
        (["--document", "absent.yaml"], "absent.yaml"),
        (["--http", "--host", "192.0.2.1"], "Cannot listen on 192.0.2.1:8090"),
    ],
)
def test_what_must_be_mended_is_said_at_once(options, reason, mock):
    joined = [] if "--http" not in options else ["--mock", mock.url]
    result = CliRunner().invoke(main, ["mcp", *options, *joined])
    assert result.exit_code == 2
    assert reason in result.stderr
