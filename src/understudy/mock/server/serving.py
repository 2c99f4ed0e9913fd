"""Serves ASGI applications on sockets that are bound before anything else is started.

A port in use is then found at once and said in one line, and port 0 is known before the first
request. One event loop runs every listener, so that they share one state without locks.
"""

import asyncio
import contextlib
import errno
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from understudy.errors import StartupError
from understudy.limits import IDLE_SECONDS, READING_SECONDS
from understudy.mock.server.direct_connection import DirectConnection

BACKLOG = 2048


CAN_SHARE_PORTS = hasattr(socket, "SO_REUSEPORT") and sys.platform != "win32"
"""True where several processes can listen at one port, and the system shares the connections out."""


def bind(host: str, port: int, option: str, *, is_shared: bool = False) -> socket.socket:
    """Binds a socket, which listens; one whose port is shared does so once it is served.

    Until then other processes get the connections, as this one could not respond to them yet.

    Args:
        host: Address or name.
        port: 0 for a free one.
        option: Name of the option that chooses another port, for the message.
        is_shared: Whether other processes of this mock listen at the same port.

    Raises:
        StartupError: The port is in use, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sys.platform == "linux":  # connections inherit it; elsewhere they wait as long as TCP does
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
            msg = f"Port {port} is in use; stop what runs there, or choose another with {option}."
        else:
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


class _Listener(uvicorn.Server):
    """uvicorn's server without its own grip on signals: there are two of them, and one loop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    applications: Mapping[socket.socket, ASGIApp],
    *,
    ready: Callable[[Callable[[], None]], None],
    beside: Sequence[Callable[[], Awaitable[None]]] = (),
    certificate: tuple[Path, Path] | None = None,
) -> None:
    """Serves until SIGINT or SIGTERM, and then stops at once.

    Args:
        applications: The application of each socket.
        ready: Called once every socket accepts requests, with a function that stops them all.
        beside: Tasks that run as long as the servers do.
        certificate: Certificate chain and private key, as PEM files, for https; None for http.
    """
    for application in applications.values():
        await warm_up(application)
    listeners = [
        _Listener(configuration(application, certificate)) for application in applications.values()
    ]

    def stop() -> None:
        for listener in listeners:
            listener.should_exit = listener.force_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop)  # not on Windows, nor outside the main thread
    tasks = [asyncio.ensure_future(task()) for task in beside]
    async with asyncio.TaskGroup() as group:
        for listener, bound in zip(listeners, applications, strict=True):
            group.create_task(listener.serve(sockets=[bound]))
        while not all(listener.started or listener.should_exit for listener in listeners):
            await asyncio.sleep(0.001)
        ready(stop)
    for task in tasks:
        task.cancel()


def configuration(
    application: ASGIApp, certificate: tuple[Path, Path] | None = None
) -> uvicorn.Config:
    """Returns the settings under which uvicorn serves an application.

    Args:
        application: What is served; its method ``respond``, if it has one, is asked first, and its
            ``websocket_protocol`` gets the connections that ask for a WebSocket.
        certificate: Certificate chain and private key, as PEM files, for https; None for http.
    """
    chain, key = certificate or (None, None)
    return uvicorn.Config(
        application,
        ssl_certfile=chain,
        ssl_keyfile=key,
        http=DirectConnection,
        interface="asgi3",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws=getattr(application, "websocket_protocol", "none"),
        timeout_keep_alive=IDLE_SECONDS.most,
    )


async def warm_up(application: ASGIApp) -> None:
    """Calls the application once, so that it builds its middleware stack."""

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(_message: object) -> None:
        return None

    await application({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
