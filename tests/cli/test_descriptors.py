"""A mock whose file descriptors run out says so, to clients and once in its log, and recovers."""

import select
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from tests.cli.conftest import PATIENCE, Running

DESCRIPTORS = 64
REQUEST = b"GET /v3/profiles/ada HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux sets the limit of another process"
)


def test_running_out_is_answered_logged_once_and_ends_with_the_connections(
    serve: Callable[..., Running],
) -> None:
    import resource  # noqa: PLC0415 - not there on Windows

    running = serve("--log", "off")
    resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    address = ("127.0.0.1", urlsplit(running.base_url).port)
    with ExitStack() as stack:
        idle = [
            stack.enter_context(socket.create_connection(address, PATIENCE))
            for _ in range(DESCRIPTORS)
        ]
        # A refused connection is answered before it asks. Which ones are refused is not told by
        # their order: a descriptor that the mock gives back meanwhile serves a later one.
        running.wait_for(lambda: "file descriptors are left" in running.said())
        refused, _, _ = select.select(idle, [], [], PATIENCE)
        assert refused
        for connection in refused:
            response = _received(connection)
            assert response.startswith(b"HTTP/1.1 503 ")
            assert b"x-mock-limit: spare-descriptors\r\n" in response
        # Last, as it closes its connection, whose descriptor a waiting one would be given.
        assert _response(idle[0]).startswith(b"HTTP/1.1 200 ")

    def is_served() -> bool:
        try:
            with socket.create_connection(address, PATIENCE) as later:
                return _response(later).startswith(b"HTTP/1.1 200 ")
        except ConnectionError:  # refused, and closed before it could read the request
            return False

    running.wait_for(is_served)
    assert running.said().count("file descriptors are left") == 1
    assert "Traceback" not in running.said()


def _response(connection: socket.socket) -> bytes:
    connection.sendall(REQUEST)
    return _received(connection)


def _received(connection: socket.socket) -> bytes:
    response = b""
    while content := connection.recv(65536):
        response += content
    return response
