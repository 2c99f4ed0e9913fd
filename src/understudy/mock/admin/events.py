"""Streams the changes of a world as server-sent events (``GET /events`` of ``openapi/admin.yaml``).

A stream polls its world a few times a second and reports the differences since the last poll, so
that listeners do not slow requests down. Under load some requests are left out, but counts are
exact, as the journal numbers its entries.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import orjson

from understudy.errors import BadRequest
from understudy.limits import EVENT_STREAMS
from understudy.mock.admin.context import AdminContext, AdminHandlers
from understudy.mock.admin.explaining import switches_at_work
from understudy.mock.admin.requests import INTERVAL, summary, with_heartbeats
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.clock import written
from understudy.mock.server.world_selection import Worlds
from understudy.mock.server.worlds import World

ROWS: Final = 25
"""Most requests that a poll reports; of more the newest, with the number of those left out."""

PAGE: Final = 200
"""Most requests in one event at the beginning of a stream."""


def stream_events(
    admin: AdminContext, call: Call, *, after: int | None = None, last_event_id: str | None = None
) -> HandlerResponse:
    """Responds to ``GET /events``.

    Raises:
        BadRequest: Last-Event-ID is not the id of an event.
        LimitExceeded: Too many streams are open.
    """
    EVENT_STREAMS.check(admin.worlds.open_streams + 1)
    if last_event_id is not None:
        after = _resumed(admin, last_event_id)
    watch = WorldWatch(call.world, admin.worlds, after)
    return HandlerResponse(_stream(admin, watch), media_type="text/event-stream")


def _resumed(admin: AdminContext, last_event_id: str) -> int:
    """Returns the number of the last reported request; 0 if the mock was restarted since."""
    started, _, number = last_event_id.rpartition("/")
    if not number.isdecimal() or len(number) > len(str(2**63)):
        msg = f"Last-Event-ID: {last_event_id!r} is not the id of an event; leave it out."
        raise BadRequest(msg)
    return int(number) if started == written(admin.worlds.started) else 0


async def _stream(admin: AdminContext, watch: "WorldWatch") -> AsyncIterator[bytes]:
    async def look() -> list[bytes] | None:
        if watch.is_over:
            return None
        await asyncio.sleep(INTERVAL)
        await admin.worlds.refresh(watch.world)
        return list(watch.look())

    admin.worlds.open_streams += 1
    try:
        for event in watch.begin():
            yield event
        async for event in with_heartbeats(look):
            yield event
    finally:
        admin.worlds.open_streams -= 1


@dataclass(slots=True)
class WorldWatch:
    """Reports the changes of a world since the last poll.

    Attributes:
        world: The world.
        worlds: All the worlds of the mock.
        after: The number of the last request that the client has; None to begin after the newest.
        is_over: True once the world has been deleted.
    """

    world: World
    worlds: Worlds
    after: int | None = None
    is_over: bool = False
    _seen: int = 0
    _forgotten: int = 0
    _shown: dict[str, Any] = field(default_factory=dict)

    def begin(self) -> Iterator[bytes]:
        """Yields the first event, then the requests of the journal that the client lacks."""
        journal = self.world.journal
        self._forgotten = journal.forgotten
        self._shown = self._parts()
        self._seen = total = journal.total
        about = {
            "started": written(self.worlds.started),
            "world": self.world.name,
            "total": total,
            "forgotten": journal.forgotten,
            "interval": INTERVAL,
        }
        yield b"retry: 1000\n" + _event("start", about)
        if self.after is None:
            return
        known = max(self.after, journal.forgotten)  # deleted requests do not count as skipped
        first = max(known, total - len(journal)) + 1
        skipped = first - 1 - min(known, total)
        for start in range(first, total + 1, PAGE):
            yield self._requests(range(start, min(start + PAGE, total + 1)), skipped)
            skipped = 0

    def look(self) -> Iterator[bytes]:
        """Yields an event for each part of the world that has changed since the last poll."""
        if self.world.is_ended:
            self.is_over = True
            yield _event("ended", {"world": self.world.name})
            return
        journal = self.world.journal
        if journal.forgotten != self._forgotten:
            self._forgotten = journal.forgotten
            yield _event("forgotten", {"total": journal.forgotten})
        if journal.total != self._seen:
            before, self._seen = self._seen, journal.total
            first = max(before, journal.total - ROWS) + 1
            yield self._requests(range(first, journal.total + 1), first - 1 - before)
        for name, data in self._parts().items():
            if data != self._shown[name]:
                self._shown[name] = data
                yield _event(name, data)

    def _requests(self, numbers: range, skipped: int) -> bytes:
        """Returns an event with requests; those that the journal has dropped count as skipped."""
        remembered = [self.world.journal.get(number) for number in numbers]
        rows = [
            {**summary(context), "switches": switches_at_work(context)}
            for context in remembered
            if context is not None
        ]
        data = {
            "total": numbers.stop - 1,
            "skipped": skipped + len(numbers) - len(rows),
            "requests": rows,
        }
        return b"id: %b/%d\n%b" % (
            written(self.worlds.started).encode(),
            numbers.stop - 1,
            _event("requests", data),
        )

    def _parts(self) -> dict[str, Any]:
        """Returns the parts of the world that are compared with the last poll, by event name."""
        world, setting = self.world, self.world.clock.setting
        return {
            "clock": {
                "set_at": setting and written(setting.set_at),
                "shown": setting and written(setting.shown),
                "rate": world.clock.rate,
            },
            "faults": {
                name: {**msgspec.to_builtins(fault), "met": fault.met, "struck": fault.struck}
                for name, fault in world.faults.items()
                if fault.stub is None
            },
            "stubs": [
                [name, fault.struck > 0, fault.times]
                for name, fault in world.faults.items()
                if fault.stub is not None
            ],
            "choices": dict(world.choices),
            "limits": dict(world.limits),
            "changes": {"revision": world.history.revision, "changed": world.changed()},
            "worlds": {"count": len(self.worlds)},
        }


def _event(name: str, data: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps(data))


ADMIN_HANDLERS: AdminHandlers = {
    ("GET", "/events"): stream_events,
}
