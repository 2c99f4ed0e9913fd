"""Serves ASGI applications on sockets that are bound before anything else is started.

So a port in use is reported at once and in one line, and the number of a free port (0) is known before
the first request. One event loop runs every listener, so that they share state without locks.
"""

import asyncio
import contextlib
import errno
import gc
import logging
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from understudy.errors import StartupError
from understudy.limits import IDLE_SECONDS, READING_SECONDS
from understudy.mock.server.protocol import Arrivals, HttpConnection
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.stack import ReloadableSite

_log = logging.getLogger(__name__)

BACKLOG = 2048

_BY_MAKE = "UNDERSTUDY_STARTED_BY"
"""Variable that a Makefile sets to its command, if that passes ARGS on as options."""

CAN_SHARE_PORTS = hasattr(socket, "SO_REUSEPORT") and sys.platform != "win32"
"""True where several processes can listen at one port, and the system distributes connections."""


def bind(host: str, port: int, option: str, *, is_shared: bool = False) -> socket.socket:
    """Returns a bound socket, which listens already unless other processes share its port.

    A shared port gets connections as soon as it listens, and this process cannot serve them yet.

    Args:
        host: Host name or address.
        port: Port; 0 for a free one.
        option: Name of the option that chooses another port, for the message.
        is_shared: Whether other processes of this mock listen at the same port.

    Raises:
        StartupError: The port is in use, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # connections inherit the timeout for clients that stop reading; other systems have no such option
    if sys.platform == "linux":
        milliseconds = READING_SECONDS.most * 1000
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    try:
        if is_shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((host, port))
        if not is_shared:
            listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            command = os.environ.get(_BY_MAKE)
            other = f'{command} ARGS="{option} {port + 1}"' if command else option
            msg = f"Port {port} is in use; stop what runs there, or choose another with {other}."
        else:
            if "/" in host:
                alone = host.rstrip("/").rpartition("/")[2]
                msg = f"{host!r} is not a host; write a name or an address alone, such as {alone}."
                raise StartupError(msg) from error
            reason = getattr(error, "strerror", None) or error
            msg = f"Cannot listen on {host}:{port}: {reason}; choose another with --host, {option}."
        raise StartupError(msg) from error
    return listener


def url_of(listener: socket.socket, scheme: str = "http") -> str:
    """Returns the URL at which a browser on this machine reaches a socket."""
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:
        host = "127.0.0.1"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


HELD_SECONDS = 1.0
"""Seconds after which a request that blocks the event loop is logged."""

_KILLED = 1
"""Exit status of a process that could not shut down cleanly."""


class LoopWatchdog:
    """Logs the request that blocks an event loop, and ends the process if that prevents the shutdown.

    It runs in a thread, since a blocked loop runs nothing else. It finds the request in the stack of the
    loop's thread, so that requests need not register themselves.

    Args:
        loop: Event loop to watch; the watchdog must be made in its thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._loop_thread = threading.get_ident()
        self._has_stopped = threading.Event()
        self._deadline = math.inf
        self._thread = threading.Thread(target=self._watch, name="loop-watchdog", daemon=True)

    def start(self) -> None:
        """Starts the watching thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stops the watching thread, and cancels ``end_within``."""
        self._has_stopped.set()
        self._thread.join()

    def end_within(self, seconds: float) -> None:
        """Ends the process after this many seconds, unless ``stop`` is called before."""
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
        """Describes the function that the loop's thread runs, and its request."""
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
        # a copy, since the other thread keeps changing its variables
        for value in tuple(frame.f_locals.values()):
            if isinstance(value, RequestContext):
                return value
        frame = frame.f_back
    return None


_LAST_SECONDS = 1.0
"""Seconds after the grace period in which the remaining requests get 503."""


class _Stopping:
    """The shutdown of a mock: requests in flight are finished within a grace period.

    Args:
        grace: Seconds of the grace period.
        watchdog: Ends the process if a blocked event loop prevents the shutdown.
    """

    def __init__(self, grace: float, watchdog: LoopWatchdog) -> None:
        self._grace = grace
        self._watchdog = watchdog
        self._deadline = math.inf
        self.listeners: list[_Listener] = []

    def begin(self) -> None:
        """Begins the shutdown; a second call ends the grace period at once."""
        is_first = self._deadline == math.inf
        self._deadline = monotonic() + self._grace if is_first else 0
        self._watchdog.end_within((self._grace if is_first else 0) + 2 * _LAST_SECONDS)
        for listener in self.listeners:
            listener.should_exit = True

    @property
    def is_over(self) -> bool:
        """True once the grace period is over."""
        return monotonic() >= self._deadline

    @contextlib.contextmanager
    def by_signals(self) -> Iterator[None]:
        """Lets SIGINT and SIGTERM begin the shutdown, even while the event loop is blocked.

        That needs ``signal.signal``: handlers of ``loop.add_signal_handler`` run on the loop.
        """
        loop = asyncio.get_running_loop()

        def handle(_number: int, _frame: FrameType | None) -> None:
            self.begin()
            loop.call_soon_threadsafe(bool)  # wakes the loop

        before: dict[signal.Signals, Any] = {}
        with contextlib.suppress(ValueError):  # raised outside the main thread
            for number in (signal.SIGINT, signal.SIGTERM):
                before[number] = signal.signal(number, handle)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Listener(uvicorn.Server):
    """uvicorn's server with a shared shutdown, as several servers run on one loop."""

    def __init__(self, config: uvicorn.Config, stopping: _Stopping) -> None:
        super().__init__(config)
        self._stopping = stopping

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Installs no handlers, since ``_Stopping`` handles signals for all servers."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops listening, waits for requests to finish, and responds 503 to the remaining ones."""
        for closable in (*self.servers, *(sockets or ())):
            closable.close()
        connections, tasks = self.server_state.connections, self.server_state.tasks
        for connection in tuple(connections):
            connection.shutdown()
        while (connections or tasks) and not self._stopping.is_over:
            await asyncio.sleep(_TURN)
        deadline = monotonic() + _LAST_SECONDS
        while tasks and monotonic() < deadline:  # queued requests start as others are cancelled
            for task in tuple(tasks):
                task.cancel()
            await asyncio.sleep(_TURN)
        for connection in tuple(connections):
            connection.transport.close()


_TURN = 0.01
"""Seconds between two checks of the remaining requests."""


async def serve(
    applications: Mapping[socket.socket, ASGIApp],
    *,
    ready: Callable[[Callable[[], None]], None],
    beside: Sequence[Callable[[], Awaitable[None]]] = (),
    certificate: tuple[Path, Path] | None = None,
    grace: float = 5.0,
) -> None:
    """Serves until SIGINT or SIGTERM; a second signal ends the grace period at once.

    Args:
        applications: Socket to the application that it serves.
        ready: Called once every socket accepts requests, with a function that begins the shutdown.
        beside: Tasks that run as long as the servers do.
        certificate: Certificate chain and private key, as PEM files, for https; None for http.
        grace: Seconds in which requests in flight are finished.
    """
    watchdog = LoopWatchdog(asyncio.get_running_loop())
    stopping = _Stopping(grace, watchdog)
    listeners = stopping.listeners = [
        _Listener(configuration(application, certificate), stopping)
        for application in applications.values()
    ]
    watchdog.start()
    try:
        with stopping.by_signals():
            tasks = [asyncio.ensure_future(task()) for task in beside]
            async with asyncio.TaskGroup() as group:
                for listener, bound in zip(listeners, applications, strict=True):
                    group.create_task(listener.serve(sockets=[bound]))
                while not all(listener.started or listener.should_exit for listener in listeners):
                    await asyncio.sleep(0.001)
                ready(stopping.begin)
                group.create_task(asyncio.to_thread(_build_stacks, applications.values()))
            for task in tasks:
                task.cancel()
    finally:
        watchdog.stop()


def _build_stacks(applications: Iterable[ASGIApp]) -> None:
    """Builds the routers, which take long and which only unusual requests need."""
    for application in applications:
        if isinstance(application, ReloadableSite):
            application.site.router()
    if gc.get_freeze_count():  # the start froze its objects; these are permanent, too
        gc.freeze()


def configuration(
    application: ASGIApp, certificate: tuple[Path, Path] | None = None
) -> uvicorn.Config:
    """Returns the settings under which uvicorn serves an application.

    Args:
        application: Application to serve. A ``ReloadableSite`` responds directly to ordinary requests; the
            attribute ``websocket_protocol``, if any, handles WebSocket connections.
        certificate: Certificate chain and private key, as PEM files, for https; None for http.
    """
    chain, key = certificate or (None, None)
    return uvicorn.Config(
        application,
        ssl_certfile=chain,
        ssl_keyfile=key,
        http=partial(HttpConnection, arrivals=Arrivals()),  # type: ignore[arg-type]  # makes one
        interface="asgi3",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws=getattr(application, "websocket_protocol", "none"),
        timeout_keep_alive=IDLE_SECONDS.most,
    )
