"""The way of a request: as short as it is said to be, and as `architecture.md` tells it."""

import asyncio
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from tests.proofs.entrances.comparison import Wire
from uvicorn.server import ServerState

import understudy
from understudy.mock.app import Mock
from understudy.mock.server.protocol import HttpConnection
from understudy.mock.server.serving import configuration
from understudy.mock.settings import Settings

MOST_CALLS = 60
"""Calls of Python functions that an ordinary lookup takes; each costs as much as a header field."""

SERVER = Path(understudy.__file__).with_name("mock") / "server"
ARCHITECTURE = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"

LOOKUP = b"GET /v3/profiles/ada HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-Request-Id: %d\r\n\r\n"


def calls(requests: int, **options: str) -> list[str]:
    """Returns the file of each Python function that the last of some lookups calls, in order.

    Args:
        requests: How many lookups are sent.
        options: Switch to the option in force, with underscores for hyphens.
    """
    choices = {name.replace("_", "-"): option for name, option in options.items()}
    found: list[str] = []

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            found.append(frame.f_code.co_filename)

    async def converse() -> bytes:
        mock = Mock(Settings(choices=choices))
        settings = configuration(mock.resource)
        settings.load()
        connection = HttpConnection(settings, ServerState(), {})
        wire = Wire(connection)
        connection.connection_made(wire)
        for number in range(requests - 1):
            connection.data_received(LOOKUP % number)
        data = LOOKUP % requests
        sys.setprofile(profile)
        connection.data_received(data)
        sys.setprofile(None)
        connection.connection_lost(None)
        return wire.written

    assert asyncio.run(converse()).count(b"HTTP/1.1 200 OK") == requests
    return [file for file in found if file != sys.modules[Wire.__module__].__file__]


def test_an_ordinary_lookup_that_differs_in_a_header_takes_few_calls() -> None:
    assert len(calls(10)) <= MOST_CALLS


def test_a_lookup_under_an_option_reads_no_arguments_again() -> None:
    assert len(calls(10, rate_limits="off")) <= MOST_CALLS


def test_architecture_tells_the_modules_of_a_request_in_their_order() -> None:
    visited = [Path(file) for file in calls(1)]
    modules = dict.fromkeys(file.stem for file in visited if file.parent == SERVER)
    walk = ARCHITECTURE.read_text().partition("## One request")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `(\w+)` \|", walk, re.MULTILINE)
    assert told == [module for module in modules if module in told]
    assert len(told) >= len(modules) / 2
