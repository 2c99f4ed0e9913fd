"""Who holds the event loop is named; what happens over and over begins once, until it has paused."""

import asyncio
import threading
from collections.abc import Callable
from logging import LogRecord

from understudy.mock.server import protocol, serving
from understudy.mock.server.protocol import Episode
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead, RequestTarget
from understudy.mock.server.serving import LoopWatchdog
from understudy.mock.server.worlds import World


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
            respond(RequestContext(RequestHead("GET", target, []), peer, World("default", {})))
        finally:
            watch.stop()

    def respond(context: RequestContext) -> None:
        assert has_said.wait(60)
        assert context.method == "GET"

    asyncio.run(hold())
    assert "held" in caplog.text
    assert "GET /v3/profiles/ada in Condition.wait" in caplog.text
    assert "secret" not in caplog.text


def emitting(emit: Callable[[LogRecord], None], has_said: threading.Event) -> Callable[..., None]:
    def emitted(record: LogRecord) -> None:
        emit(record)
        has_said.set()

    return emitted
