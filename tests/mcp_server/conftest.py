"""An agent: a client of the official SDK, in one process with the server and the mock."""

import base64
import json
import re
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import pytest
from mcp import Client
from mcp_types import TextContent, TextResourceContents
from PIL import Image
from tests.cli.conftest import PATIENCE, UNDERSTUDY

from understudy.mcp_server.server import assemble
from understudy.mock.settings import Settings
from understudy.testing.background import Background
from understudy.verify.admin_client import AdminClient


class Refused(Exception):
    """What a tool says of a call that it cannot carry out."""


class Agent:
    """Calls tools as an agent does, and takes their structured results."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Calls a tool.

        Raises:
            Refused: The result is an error.
        """
        result = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        if result.is_error:
            raise Refused(content.text)
        assert (
            json.loads(content.text) == result.structured_content
        )  # for clients of the first versions
        return result.structured_content

    async def send(self, method: str, path: str, **request: Any) -> Any:
        return await self.call("send_request", request={"method": method, "path": path, **request})

    async def read(self, uri: str) -> str:
        (content,) = (await self.client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        return content.text


class Connect(Protocol):
    def __call__(self, mode: str = "legacy") -> AbstractAsyncContextManager[Agent]: ...


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def mock() -> Iterator[AdminClient]:
    background = Background(Settings(log="off"))
    with closing(AdminClient(background.url)) as admin:
        yield admin
    background.stop()


@pytest.fixture(scope="module")
def address(mock) -> Iterator[str]:
    """The address of a server by HTTP, which joined the mock."""
    process = subprocess.Popen(
        [str(UNDERSTUDY), "mcp", "--http", "--port", "0", "--mock", mock.url],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process:
        found = re.search(r"http\S+", process.stderr.readline())
        assert found is not None
        yield found[0]
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture
def connect(mock: AdminClient) -> Connect:
    @asynccontextmanager
    async def connected(mode: str = "legacy") -> AsyncIterator[Agent]:
        everything = assemble(mock, target=Path("staging.toml")).server
        async with Client(everything, mode=mode) as client:
            yield Agent(client)

    return connected


@pytest.fixture
def worlds(mock: AdminClient) -> Callable[[], set[str]]:
    return lambda: {world["name"] for world in mock.call("GET", "/worlds")}


@pytest.fixture(scope="session")
def tiny_png() -> str:
    """A picture in base64, as tools take files."""
    buffer = BytesIO()
    Image.new("RGB", (64, 64), "teal").save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()
