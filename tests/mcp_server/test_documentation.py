"""The page about agents: its configuration starts a server, and it names what the server has."""

import json
import re
import shlex

import pytest
from tests.house.documentation import ROOT, blocks

from understudy.cli.mcp import mcp

PAGE = "docs/how-to/agents.md"
TEXT = (ROOT / PAGE).read_text()


def block(language: str) -> str:
    (text,) = (it.text for it in blocks(PAGE) if it.language == language)
    return text


@pytest.mark.anyio
async def test_the_page_lists_the_tools_and_resources(connect):
    async with connect() as agent:
        tools = {tool.name for tool in (await agent.client.list_tools()).tools}
        uris = {str(it.uri) for it in (await agent.client.list_resources()).resources}
    assert set(re.findall(r"^\| `(\w+)` \|", TEXT, re.M)) == tools
    assert set(re.findall(r"`(understudy://\w+)`", TEXT)) == uris


def test_the_configuration_starts_the_server_on_stdio():
    (server,) = json.loads(block("json"))["mcpServers"].values()
    assert (server["command"], server["args"][0]) == ("understudy", "mcp")
    assert mcp.make_context("mcp", server["args"][1:]).params["is_http"] is False


def test_the_command_serves_http_at_the_address_of_the_page():
    program, name, *options = shlex.split(block("sh"))
    parameters = mcp.make_context(name, options).params
    assert (program, name, parameters["is_http"]) == ("understudy", "mcp", True)
    assert f"http://{parameters['host']}:{parameters['port']}/mcp" in TEXT
