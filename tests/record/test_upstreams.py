"""What an app gets of upstreams that send what no client can be sent, and of WebSockets."""

import asyncio
import math

import pytest
from tests.record.sockets import sends, served
from tests.record.upstreams import UPSTREAMS

from understudy.mock.server.protocol import HttpConnection

CLOSE = "Connection: close"
LIVE = ("GET /v3/live HTTP/1.1", "Host: 127.0.0.1")
UPGRADE = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")


def response_to(name: str) -> tuple[bytes, list[str]]:
    """Returns what an app gets of an upstream, and what the proxy says."""

    async def exchanged() -> tuple[bytes, list[str]]:
        async with served(sends(UPSTREAMS[name][0])) as proxy:
            return await proxy.sent(CLOSE), proxy.lines

    return asyncio.run(exchanged())


@pytest.mark.parametrize("name", UPSTREAMS)
def test_an_app_gets_a_response_whatever_the_upstream_sends(name):
    content, _ = response_to(name)
    status = UPSTREAMS[name][1]
    if status is not None:
        assert content.startswith(b"HTTP/1.1 %d " % status)
    if status == 502:
        assert b"the deployment" in content
    head = content.partition(b"\r\n\r\n")[0]
    assert not any(byte < 32 and byte not in b"\r\n" for byte in head)


def test_control_characters_of_a_field_pass_as_spaces_and_are_said_by_its_name():
    content, lines = response_to("escape-in-a-field")
    assert b"x-a: a [2Jb  \r\n" in content
    assert content.endswith(b"ok")
    assert lines == [
        "GET /profiles/{profileIdentifier}: control characters in x-a passed as spaces"
    ]


def test_a_status_that_no_client_can_be_sent_is_a_502_that_names_it():
    content, _ = response_to("status-999")
    assert b"status 999, which HTTP does not know" in content


def test_a_websocket_passes_in_both_directions_and_is_said_not_to_be_judged():
    heads: list[bytes] = []

    async def echo(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(head)
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
        while part := await reader.read(65_536):
            writer.write(part)
            await writer.drain()

    async def exchanged() -> None:
        async with served(echo) as proxy:
            fields = (*UPGRADE, f"Origin: http://127.0.0.1:{proxy.port}")
            reader, writer = await proxy.connect(*fields, path="/v3/live?a=b")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
            sent = bytes(range(256)) * 8192
            writer.write(sent)
            assert await reader.readexactly(len(sent)) == sent
            writer.close()
            assert proxy.lines == [
                "A WebSocket connection to the resource server passes, not judged"
            ]
            assert proxy.recording.judge.counts.websockets == 1
            assert proxy.recording.judge.counts.judged == 0

    asyncio.run(exchanged())
    (head,) = heads
    assert head.startswith(b"GET /v3/live?a=b HTTP/1.1\r\n")
    assert b"connection: Upgrade\r\nupgrade: websocket\r\n" in head
    assert b"sec-websocket-version: 13" in head
    host = next(line for line in head.split(b"\r\n") if line.startswith(b"host: "))
    assert b"origin: http://" + host.removeprefix(b"host: ") in head  # the deployment's, as its own


def test_a_websocket_is_not_passed_for_a_page_that_rebinds_its_name():
    async def exchanged() -> None:
        async with served(sends(b"")) as proxy:
            content = await proxy.sent(*UPGRADE, host="evil.example")
            assert content.startswith(b"HTTP/1.1 403 ")
            assert proxy.lines == []

    asyncio.run(exchanged())


def test_a_websocket_ends_as_its_upstream_does():
    async def exchanged() -> None:
        async with served(sends(b"")) as proxy:
            assert await proxy.sent(*UPGRADE) == b""

    asyncio.run(exchanged())


def test_a_websocket_of_an_upstream_that_is_gone_is_a_502():
    async def exchanged() -> None:
        async with served(sends(b"")) as proxy:
            proxy.upstream.close()
            content = await proxy.sent(*UPGRADE)
            assert content.startswith(b"HTTP/1.1 502 ")
            assert b"cannot be reached (ConnectionRefusedError)" in content

    asyncio.run(exchanged())


async def echoes(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Responds to a request, or lets a WebSocket send one byte and sends it back."""
    if b"upgrade: websocket" in head:
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        writer.write(await reader.readexactly(1))
    else:
        writer.write(UPSTREAMS["sound"][0])


def test_no_timer_of_the_requests_before_it_ends_a_websocket():
    async def exchanged() -> None:
        async with served(echoes) as proxy:
            reader, writer = await proxy.connect()
            await reader.readuntil(b"ok")
            (before,) = proxy.server.server_state.connections
            writer.write("\r\n".join([*LIVE, *UPGRADE, "", ""]).encode())
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
            assert isinstance(before, HttpConnection)
            before._active_at = -math.inf
            before.timeout_keep_alive_handler()  # as the loop calls it after five seconds
            writer.write(b"x")
            assert await reader.read() == b"x"
            writer.close()

    asyncio.run(exchanged())


def test_a_websocket_that_is_asked_for_too_early_waits_for_no_response_of_another_request():
    async def exchanged() -> None:
        async with served(sends(UPSTREAMS["sound"][0])) as proxy:
            reader, writer = await proxy.connect("", *LIVE, *UPGRADE)
            for _ in range(2):  # an ordinary request each, in their order
                assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
            writer.close()
            assert proxy.recording.judge.counts.websockets == 0

    asyncio.run(exchanged())
