"""Sends each request to another replica, each of which runs in an event loop of its own thread."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATIENCE = 120
"""Seconds that a request may take; one that waits for itself takes for ever."""

Result = TypeVar("Result")


class LoopThread:
    """An event loop in a thread of its own, which replicas run in."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Returns what comes of a coroutine."""
        return self.begin(work).result()

    def begin(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begins a coroutine; also in the thread itself, which could not wait for its own work."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        """Ends the thread and the loop."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class RoundRobin:
    """Sends each request to another replica, as a proxy does.

    Args:
        replicas: The thread that the applications run in.
        applications: Returns the application of the replica whose turn it is.
    """

    def __init__(self, replicas: LoopThread, applications: Callable[[], ASGIApp]) -> None:
        self._loop = replicas.loop
        self._applications = applications

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request, in the loop of the replicas."""
        caller = asyncio.get_running_loop()

        def back(work: Awaitable[Any]) -> Awaitable[Any]:
            return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_awaited(work), caller))

        async def receive_back() -> Message:
            message: Message = await back(receive())
            return message

        async def send_back(message: Message) -> None:
            await back(send(message))

        served = self._applications()(scope, receive_back, send_back)
        work = asyncio.run_coroutine_threadsafe(_awaited(served), self._loop)
        async with asyncio.timeout(PATIENCE):  # of a request that waits for itself
            await asyncio.wrap_future(work)

    def respond(self, *_request: object) -> None:
        """Responds to nothing in one call, as no mock with a store does."""


async def _awaited(work: Awaitable[Result]) -> Result:
    return await work
