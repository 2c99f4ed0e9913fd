"""Sockets are bound before anything else, with messages that say what to do."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator

import httpx
import pytest

from understudy.errors import StartupError
from understudy.limits import Limit
from understudy.mock.server.serving import CAN_SHARE_PORTS, bind, serve, url_of


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with bind("127.0.0.1", 0, "--port") as bound:
        yield bound


def test_port_0_is_a_free_port_that_is_known_at_once(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    assert port > 0
    assert url_of(listener) == f"http://127.0.0.1:{port}"


def test_a_port_in_use_is_said_with_the_option_that_helps(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    with pytest.raises(StartupError, match=rf"Port {port} is in use; .* another with --auth-port"):
        bind("127.0.0.1", port, "--auth-port")


@pytest.mark.parametrize(
    ("host", "port", "message"),
    [
        ("192.0.2.1", 0, r"Cannot listen on 192\.0\.2\.1:0: .*; choose another with --host"),
        ("no-such-host.invalid", 0, r"Cannot listen on no-such-host\.invalid:0: "),
        ("127.0.0.1", 70_000, r"Cannot listen on 127\.0\.0\.1:70000: .*port must be 0-65535"),
    ],
)
def test_an_address_that_is_not_ours_is_refused(host: str, port: int, message: str) -> None:
    with pytest.raises(StartupError, match=message):
        bind(host, port, "--port")


def test_a_socket_on_every_address_is_reached_on_this_machine() -> None:
    with bind("0.0.0.0", 0, "--port") as bound:
        assert url_of(bound).startswith("http://127.0.0.1:")


@pytest.mark.skipif(not CAN_SHARE_PORTS, reason="this platform shares no ports")
def test_a_process_that_does_not_serve_yet_gets_no_connections_to_a_shared_port() -> None:
    with bind("127.0.0.1", 0, "--port", is_shared=True) as bound:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(bound.getsockname())
        bound.listen()
        socket.create_connection(bound.getsockname()).close()


def test_an_address_of_version_6_stands_in_brackets() -> None:
    try:
        bound = bind("::1", 0, "--port")
    except StartupError:
        pytest.skip("this machine has no IPv6")
    with bound:
        assert url_of(bound).startswith("http://[::1]:")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends what is not read")
def test_a_connection_whose_client_reads_nothing_ends(monkeypatch) -> None:
    soon = Limit("reading-seconds", 1, "seconds")
    monkeypatch.setattr("understudy.mock.server.serving.READING_SECONDS", soon)
    with bind("127.0.0.1", 0, "--port") as listener, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(listener.getsockname())
        connection, _ = listener.accept()
        connection.settimeout(120)  # of the test; the system ends it before
        with connection, pytest.raises(OSError, match="Connection timed out"):
            connection.sendall(bytes(50_000_000))


def test_every_socket_answers_once_it_is_ready_until_a_signal(notes, listener) -> None:
    answers: list[httpx.Response] = []

    async def ask() -> None:
        await ready.wait()
        async with httpx.AsyncClient(timeout=120) as client:
            addresses = (url_of(listener), url_of(other))
            answers.extend([await client.get(f"{url}/v1/notes?size=1") for url in addresses])
        os.kill(os.getpid(), signal.SIGTERM)

    with bind("127.0.0.1", 0, "--port") as other:
        ready = asyncio.Event()
        applications = {listener: notes.application, other: notes.application}
        asyncio.run(serve(applications, ready=lambda _stop: ready.set(), beside=[ask]))
    assert [answer.status_code for answer in answers] == [200, 200]
