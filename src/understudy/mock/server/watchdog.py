"""Watches what one process has for all its clients: file descriptors, and the event loop.

Whoever holds either of them keeps others waiting, and no log would say why.
"""

import asyncio
import logging
import math
import os
import sys
import threading
from asyncio import BaseTransport
from time import monotonic
from types import FrameType

import orjson

from understudy.errors import LimitExceeded
from understudy.limits import SPARE_DESCRIPTORS
from understudy.mock.server.request_context import RequestContext

if sys.platform != "win32":
    import resource

_log = logging.getLogger(__name__)

_QUIET = 10.0
"""Seconds without an occurrence after which the next one begins an episode."""


class Episode:
    """Occurrences that follow one another closely, so that the log has one line of them."""

    def __init__(self) -> None:
        self._latest = -_QUIET

    def begins(self) -> bool:
        """Takes an occurrence; returns whether it is the first of an episode."""
        now = monotonic()
        is_first = now - self._latest > _QUIET
        self._latest = now
        return is_first


def _no_descriptor() -> bytes:
    message = "Too many connections are open; close some, or raise ulimit -n for the mock."
    problem = LimitExceeded(SPARE_DESCRIPTORS.status, SPARE_DESCRIPTORS.name, message)
    body = orjson.dumps({"error": problem.message, "code": problem.code})
    head = (
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nx-mock-limit: {SPARE_DESCRIPTORS.name}\r\n"
        "retry-after: 1\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


NO_DESCRIPTOR = _no_descriptor()
"""The response to a connection for which too few descriptors are left, as it is sent."""


class DescriptorWatch:
    """Refuses connections while few descriptors are left, and logs that once an episode.

    An event loop that has none left accepts a connection and closes it without a word. A response and
    one line of the log cost a few, which are kept for them, and for files such as templates and the
    database.
    """

    def __init__(self) -> None:
        self._refusals = Episode()

    def has_room(self, transport: BaseTransport) -> bool:
        """Tells whether a connection may stay.

        The system gives a connection the lowest free descriptor, so its number says how many are
        in use.
        """
        highest = _descriptors() - SPARE_DESCRIPTORS.most
        if transport.get_extra_info("socket").fileno() < highest:
            return True
        if self._refusals.begins():
            _log.error(
                "Fewer than %d file descriptors are left: connections beyond %d are answered with "
                "503 until others end. Close idle connections, or raise the limit with ulimit -n.",
                SPARE_DESCRIPTORS.most,
                highest,
            )
        return False


def _descriptors() -> float:
    """Returns how many descriptors this process may have."""
    if sys.platform == "win32":
        return math.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else soft


WATCH = DescriptorWatch()
"""The one watch of this process, whose connections share its descriptors."""

HELD_SECONDS = 1.0
"""Seconds after which a request that holds the event loop is named."""

_KILLED = 1
"""The exit code of a process that could not stop in order."""


class LoopWatchdog:
    """Names the request that holds an event loop, and ends the process where that keeps it from stopping.

    It is a thread of its own, as nothing on the loop has its turn then. What runs is read from the
    loop's stack, so that requests pay nothing for it.

    Args:
        loop: The loop; the watchdog is made in the loop's thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._loop_thread = threading.get_ident()
        self._has_stopped = threading.Event()
        self._deadline = math.inf
        self._thread = threading.Thread(target=self._watch, name="loop-watchdog", daemon=True)

    def start(self) -> None:
        """Begins to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the watch, and what was ordered by ``end_within``."""
        self._has_stopped.set()
        self._thread.join()

    def end_within(self, seconds: float) -> None:
        """Ends the process after so many seconds, unless ``stop`` is called before."""
        self._deadline = min(self._deadline, monotonic() + seconds)

    def _watch(self) -> None:
        is_named = False
        turn = threading.Event()
        since = monotonic()
        self._loop.call_soon_threadsafe(turn.set)
        while not self._has_stopped.wait(HELD_SECONDS / 4):
            now = monotonic()
            if now >= self._deadline:
                self._end_process()
            if turn.is_set():
                is_named = False
                turn, since = threading.Event(), now
                self._loop.call_soon_threadsafe(turn.set)
            elif not is_named and now - since >= HELD_SECONDS:
                is_named = True
                _log.warning(
                    "The event loop has been held for more than %g s, so that all clients wait: %s.",
                    HELD_SECONDS,
                    self._holder(),
                )

    def _holder(self) -> str:
        """Describes what the loop's thread does, and for which request."""
        frame = sys._current_frames().get(self._loop_thread)  # noqa: SLF001 - documented for this use
        if frame is None:
            return "its thread has ended"
        place = f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})"
        context = _request_of(frame)
        if context is None:
            return f"in {place}"
        return f"{context.method} {context.path} in {place}"

    def _end_process(self) -> None:
        _log.error("The mock did not stop in time and is ended: %s.", self._holder())
        logging.shutdown()
        os._exit(_KILLED)


def _request_of(frame: FrameType | None) -> RequestContext | None:
    """Returns the innermost request among the variables of a stack, or None."""
    while frame is not None:
        # a copy, as the thread goes on meanwhile
        for value in tuple(frame.f_locals.values()):
            if isinstance(value, RequestContext):
                return value
        frame = frame.f_back
    return None
