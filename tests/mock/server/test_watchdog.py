"""Who holds the event loop is named; what happens over and over begins once, until it has paused."""

import asyncio
import threading
from collections.abc import Callable
from logging import LogRecord

import httpx
from tests.conftest import paused_coverage

from understudy.mock.app import Mock
from understudy.mock.server import protocol, serving
from understudy.mock.server.protocol import Episode
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead, RequestTarget
from understudy.mock.server.serving import LoopWatchdog
from understudy.mock.server.worlds import World
from understudy.mock.settings import Settings


def test_an_episode_begins_again_after_a_pause_only(monkeypatch):
    times = iter([5.0, 6.0, 15.5, 26.0, 26.1])
    monkeypatch.setattr(protocol, "monotonic", lambda: next(times))
    episode = Episode()
    assert [episode.begins() for _ in range(5)] == [True, False, False, True, False]


def test_the_request_that_holds_the_loop_is_named(monkeypatch, caplog) -> None:
    monkeypatch.setattr(serving, "HELD_SECONDS", 0.01)
    has_said = threading.Event()
    monkeypatch.setattr(caplog.handler, "emit", emitting(caplog.handler.emit, has_said))
    target = RequestTarget("/v3/profiles/ada", b"token=secret")
    peer = Peer("127.0.0.1", ("127.0.0.1", 8080), "http")

    async def hold() -> None:
        watch = LoopWatchdog(asyncio.get_running_loop())
        watch.start()
        try:
            while not has_said.is_set():  # at first the loop may be held by the start of the thread
                await asyncio.sleep(0)
                respond(
                    RequestContext.of(RequestHead("GET", target, []), peer, World("default", {}))
                )
        finally:
            watch.stop()

    def respond(context: RequestContext) -> None:
        has_said.wait(0.1)
        assert context.method == "GET"

    asyncio.run(hold())
    assert "held" in caplog.text
    assert "GET /v3/profiles/ada in Condition.wait" in caplog.text
    assert "secret" not in caplog.text


def test_the_event_loop_does_not_wait_for_the_thread_that_builds_the_routes() -> None:
    site = Mock(Settings()).resource.site

    async def ask_while_they_are_built() -> int:
        transport = httpx.ASGITransport(site, client=("127.0.0.1", 50000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            site._is_building.acquire()
            end_of_patience = threading.Timer(60, site._is_building.release)
            end_of_patience.start()
            health = asyncio.ensure_future(client.get("/__admin/health"))
            await asyncio.sleep(0.01)
            assert site._is_building.locked()
            end_of_patience.cancel()
            site._is_building.release()
            return (await health).status_code

    with paused_coverage():
        assert asyncio.run(ask_while_they_are_built()) == 200


def emitting(emit: Callable[[LogRecord], None], has_said: threading.Event) -> Callable[..., None]:
    def emitted(record: LogRecord) -> None:
        emit(record)
        if "GET" in record.getMessage():
            has_said.set()

    return emitted
