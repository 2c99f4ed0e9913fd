"""A connection that sends no end of a header is answered and closed; others are not kept waiting."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.proofs.entrances.comparison import Entrance, Wire
from tests.proofs.entrances.traffic import Sent
from uvicorn.server import ServerState

from understudy.limits import HEADER_BYTES, Limit
from understudy.mock.server import protocol
from understudy.mock.server.protocol import Episode, HttpConnection
from understudy.mock.server.serving import bind, configuration, serve
from understudy.mock.server.stack import ReloadableSite

REQUEST = b"GET /v1/notes?size=1 HTTP/1.1\r\nHost: mock.test\r\n"


async def sent(port: int, *chunks: bytes) -> bytes:
    """Returns all that comes back for some bytes, until the mock closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for chunk in chunks:
        writer.write(chunk)
        await writer.drain()
    async with asyncio.timeout(120):
        response = await reader.read()
    writer.close()
    return response


Talk = Callable[[Callable[[int], Coroutine[Any, Any, bytes]]], bytes]


@pytest.fixture
def talk(notes) -> Talk:
    """Serves on a socket, and returns what one conversation brought."""

    def talk(conversation: Callable[[int], Coroutine[Any, Any, bytes]]) -> bytes:
        heard: list[bytes] = []
        with bind("127.0.0.1", 0, "--port") as listener:
            ready = asyncio.Event()
            stops: list[Callable[[], None]] = []

            async def converse() -> None:
                await ready.wait()
                try:
                    heard.append(await conversation(listener.getsockname()[1]))
                finally:
                    stops[0]()

            def started(stop: Callable[[], None]) -> None:
                stops.append(stop)
                ready.set()

            asyncio.run(serve({listener: notes.application}, ready=started, beside=[converse]))
        return heard[0]

    return talk


def test_a_header_without_end_is_431_and_the_connection_is_closed(talk: Talk) -> None:
    endless = b"X-A: " + b"a" * (2 * HEADER_BYTES.most)
    response = talk(lambda port: sent(port, REQUEST, endless))
    assert response.startswith(b"HTTP/1.1 431 ")
    assert b"x-mock-limit: header-bytes" in response


def test_a_header_that_stays_half_is_408(talk: Talk, monkeypatch) -> None:
    soon = Limit("header-seconds", 1, "seconds", 408)
    monkeypatch.setattr("understudy.mock.server.protocol.HEADER_SECONDS", soon)
    assert talk(lambda port: sent(port, REQUEST)).startswith(b"HTTP/1.1 408 ")


def test_a_connection_that_says_nothing_ends(talk: Talk, monkeypatch) -> None:
    soon = Limit("header-seconds", 0, "seconds", 408)
    monkeypatch.setattr("understudy.mock.server.protocol.HEADER_SECONDS", soon)
    assert talk(sent) == b""


def test_a_body_that_stays_half_is_408(talk: Talk, monkeypatch) -> None:
    soon = Limit("body-seconds", 0, "seconds", 408)
    monkeypatch.setattr("understudy.mock.server.guards.BODY_SECONDS", soon)
    head = b"POST /v1/notes HTTP/1.1\r\nHost: m\r\nConnection: close\r\nContent-Length: 9\r\n\r\n{"
    assert talk(lambda port: sent(port, head)).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_sends_no_more_still_gets_its_response(talk: Talk) -> None:
    async def half_close(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write((REQUEST + b"Prefer: delay=0.05\r\n\r\n") * 2)
        writer.write_eof()
        response = await reader.read()
        writer.close()
        return response

    assert talk(half_close).count(b"HTTP/1.1 200 OK") == 2


def test_a_client_that_has_gone_releases_its_connection_and_waits_for_nothing(
    talk: Talk, notes, monkeypatch
) -> None:
    soon = Limit("half-closed-seconds", 0, "seconds")
    monkeypatch.setattr("understudy.mock.server.protocol.HALF_CLOSED_SECONDS", soon)
    before = notes.world.journal.total

    async def give_up(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST + b"Prefer: delay=59\r\n\r\n")
        writer.write_eof()
        response = await reader.read()
        writer.close()
        while notes.world.journal.total == before:  # carried out, although nobody waits for it
            await asyncio.sleep(0.001)
        return response

    assert talk(give_up) == b""


@pytest.mark.parametrize(
    "more",
    [b"\r\n", b"POST /v1/nothing HTTP/1.1\r\nHost: m\r\nContent-Length: 9\r\n\r\n{"],
    ids=["an empty line", "a body that was refused before it came"],
)
def test_an_idle_connection_ends_whatever_it_sent_last(talk: Talk, monkeypatch, more) -> None:
    soon = Limit("body-seconds", 0, "seconds", 408)
    monkeypatch.setattr("understudy.mock.server.guards.BODY_SECONDS", soon)
    idle = Limit("idle-seconds", 1, "seconds")
    monkeypatch.setattr("understudy.mock.server.serving.IDLE_SECONDS", idle)

    async def converse(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST + b"\r\n")
        response = await reader.readuntil(b"\r\n\r\n")
        writer.write(more)
        await asyncio.sleep(0.1)
        writer.write(b"\r\n")
        async with asyncio.timeout(120):
            response += await reader.read()
        writer.close()
        return response

    assert talk(converse).startswith(b"HTTP/1.1 200 OK")


def test_one_timer_serves_an_idle_connection_until_the_application_works(notes) -> None:
    async def converse() -> None:
        served = ReloadableSite()
        served.site = notes.application
        settings = configuration(served)
        settings.load()
        connection = HttpConnection(settings, ServerState(), {})
        connection.connection_made(Wire(connection))
        timers = []
        for field in (b"", b"X-Other: head\r\n", b"Prefer: delay=0.01\r\n"):
            connection.data_received(REQUEST + field + b"\r\n")
            timers.append(connection.timeout_keep_alive_task)
        first, second, while_working = timers
        assert first is not None
        assert second is first
        assert first.cancelled()
        assert while_working is None
        await asyncio.gather(*connection.tasks)
        assert connection.timeout_keep_alive_task is not None
        connection.connection_lost(None)

    asyncio.run(converse())


def test_two_requests_of_one_connection_are_both_answered(talk: Talk) -> None:
    last = REQUEST + b"Connection: close\r\n\r\n"
    response = talk(lambda port: sent(port, REQUEST + b"\r\n" + last))
    assert response.count(b"HTTP/1.1 200 OK") == 2


def test_a_field_of_a_trailer_is_no_header(talk: Talk) -> None:
    head = b"POST /v1/forms HTTP/1.1\r\nHost: m\r\nConnection: close\r\n"
    chunked = (
        b"Transfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
    )
    trailer = b"6\r\nname=a\r\n0\r\nHost: other\r\n\r\n"
    response = talk(lambda port: sent(port, head + chunked + trailer))
    assert response.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "chunked",
    [b"2;" + b"a" * 200_000, b"0" * 200_000, b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 40_000],
    ids=["extension", "size", "trailer"],
)
def test_bytes_between_chunks_are_bounded_too(talk: Talk, monkeypatch, chunked: bytes) -> None:
    monkeypatch.setattr("understudy.mock.server.protocol.MOST_DRAINED_BYTES", 0)
    head = b"POST /v1/notes HTTP/1.1\r\nHost: m\r\nTransfer-Encoding: chunked\r\n\r\n"
    response = talk(lambda port: sent(port, head, chunked))
    assert response.startswith(b"HTTP/1.1 413 ")
    assert b"x-mock-limit: body-bytes" in response


# Clients that pipeline get every response, in the order of their requests, whatever comes last.

LOOKUP = b"GET /v3/profiles/ada HTTP/1.1\r\nHost: a\r\n\r\n"
CUT = b"PATCH /v3/me/profile HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"
FAULT = b'{"effect": "reset", "times": 1}'
ADD_FAULT = b"POST /__admin/faults HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n"
JSON = b"Content-Type: application/json\r\n\r\n"


@pytest.fixture(scope="module")
def entrance() -> Entrance:
    return Entrance(is_direct=False)


def replied(entrance: Entrance, content: bytes, *, is_half_closed: bool = False) -> Wire:
    sending = entrance.send(Sent((content,), is_half_closed=is_half_closed))
    return asyncio.run(asyncio.wait_for(sending, 60))


def statuses(wire: Wire) -> list[bytes]:
    return [part[:3] for part in wire.written.split(b"HTTP/1.1 ")[1:]]


def test_what_is_no_request_is_refused_after_the_responses_before_it(entrance):
    wire = replied(entrance, LOOKUP * 2 + b"\x00\r\n\r\n")
    assert statuses(wire) == [b"200", b"200", b"400"]
    assert wire.is_closing()


def test_a_method_that_nobody_knows_is_refused_with_those_that_are_taken(entrance):
    wire = replied(entrance, LOOKUP.replace(b"GET ", b"BREW ", 1))
    assert statuses(wire) == [b"400"]
    assert wire.written.endswith(b"send GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.")


def test_a_malformed_body_is_refused_after_the_responses_before_it(entrance):
    head = CUT.replace(b"Content-Length: 9", b"Transfer-Encoding: chunked")
    assert statuses(replied(entrance, LOOKUP + head)) == [b"200", b"400"]


def test_a_client_that_half_closes_in_a_request_gets_the_responses_before_it(entrance):
    wire = replied(entrance, LOOKUP * 2 + CUT, is_half_closed=True)
    assert statuses(wire) == [b"200", b"200"]
    assert wire.is_closing()


def test_a_reset_connection_leaves_no_task_behind_for_a_client_that_pipelines(entrance):
    add = ADD_FAULT % len(FAULT) + JSON + FAULT
    assert statuses(replied(entrance, add)) == [b"201"]
    wire = replied(entrance, LOOKUP * 2)  # would never end
    assert len(statuses(wire)) == 1
    assert wire.is_closing()


def test_requests_that_cannot_be_parsed_are_logged_once_while_they_go_on(
    entrance, monkeypatch, caplog
):
    monkeypatch.setattr(protocol, "_UNPARSABLE", Episode())
    for _ in range(3):
        assert statuses(replied(entrance, b"\x00\r\n\r\n")) == [b"400"]
    (record,) = caplog.records
    assert record.getMessage().startswith("127.0.0.1 sent what is not HTTP/1.1 and got 400;")


# What several clients send at once is read first, then responded to, then written.


def connected(notes, count: int) -> tuple[list[HttpConnection], list[Wire]]:
    """Returns connections of one server, whose requests wait for one another, and their wires."""
    served = ReloadableSite()
    served.site = notes.application
    settings = configuration(served)
    settings.load()
    state = ServerState()
    make: Any = settings.http_protocol_class
    connections = [make(settings, state, {}) for _ in range(count)]
    wires = [Wire(connection) for connection in connections]
    for connection, wire in zip(connections, wires, strict=True):
        connection.connection_made(wire)
    return connections, wires


def test_requests_that_arrive_together_are_responded_to_once_all_are_read(notes) -> None:
    async def converse() -> None:
        (first, second), wires = connected(notes, 2)
        first.data_received(REQUEST + b"\r\n")
        second.data_received(REQUEST + b"Connection: close\r\n\r\n")
        assert [wire.written for wire in wires] == [b"", b""]
        await asyncio.sleep(0)
        assert [statuses(wire) for wire in wires] == [[b"200"], [b"200"]]
        assert [wire.is_closing() for wire in wires] == [False, True]

    asyncio.run(converse())


def test_a_defect_met_in_one_request_ends_its_connection_alone(notes, monkeypatch, caplog) -> None:
    async def converse() -> None:
        (first, second), wires = connected(notes, 2)

        def parse(_data: bytes) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(first, "parse", parse)
        first.data_received(REQUEST + b"\r\n")
        second.data_received(REQUEST + b"\r\n")
        await asyncio.sleep(0)
        assert [statuses(wire) for wire in wires] == [[], [b"200"]]
        assert wires[0].is_closing()

    asyncio.run(converse())
    assert "ZeroDivisionError" in caplog.text


def test_a_response_that_took_long_waits_for_no_others(notes, monkeypatch) -> None:
    monkeypatch.setattr(protocol, "_LONGEST_WAIT", -1)

    async def converse() -> None:
        (first, second), wires = connected(notes, 2)
        sent_before: list[list[bytes]] = []
        monkeypatch.setattr(second, "parse", lambda _: sent_before.append(statuses(wires[0])))
        first.data_received(REQUEST + b"\r\n")
        second.data_received(REQUEST + b"\r\n")
        await asyncio.sleep(0)
        assert sent_before == [[b"200"]]

    asyncio.run(converse())


@pytest.mark.parametrize("leave", ["connection_lost", "eof_received", "shutdown"])
def test_what_a_client_sent_before_it_left_is_carried_out(notes, leave: str) -> None:
    before = notes.world.journal.total

    async def converse() -> None:
        (first, _), _ = connected(notes, 2)
        first.data_received(REQUEST + b"\r\n")
        assert notes.world.journal.total == before
        getattr(first, leave)(*([None] if leave == "connection_lost" else []))
        assert notes.world.journal.total == before + 1

    asyncio.run(converse())


def test_an_idle_connection_stays_open_for_a_request_that_has_just_arrived(notes) -> None:
    async def converse() -> None:
        (first, _), (wire, _) = connected(notes, 2)
        first.timeout_keep_alive = -1  # over at once
        first.data_received(REQUEST + b"\r\n")
        await asyncio.sleep(0)
        first.data_received(REQUEST + b"\r\n")
        first.timeout_keep_alive_handler()
        await asyncio.sleep(0)
        assert statuses(wire) == [b"200", b"200"]
        first.timeout_keep_alive_handler()
        assert wire.is_closing()

    asyncio.run(converse())


def test_a_large_read_waits_for_no_others(notes, monkeypatch) -> None:
    monkeypatch.setattr(protocol, "_MOST_WAITING", 1)

    async def converse() -> None:
        (first, _), (wire, _) = connected(notes, 2)
        first.data_received(REQUEST + b"\r\n")
        assert statuses(wire) == [b"200"]

    asyncio.run(converse())
