"""Disturbs a fleet: its processes are paused and killed, and its way to the store is slow and cut."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random  # noqa: TID251 - of the tests' own seed

CHUNK = 1 << 16


class UnreliableProxy:
    """A proxy between replicas and their store, whose connections can be slowed down, stopped and cut.

    Args:
        port: The port of the store on this machine.

    Attributes:
        delay: Seconds that each piece of data waits at most; how long it does is drawn.
        is_stopped: Whether no data passes at all.
        port: Its own port.
    """

    def __init__(self, port: int, random: Random) -> None:
        self.delay = 0.0
        self.is_stopped = False
        self.port = 0
        self._store = port
        self._random = random
        self._writers: set[asyncio.StreamWriter] = set()

    async def serve(self, ready: Callable[[], object], over: asyncio.Event) -> None:
        """Serves until the event is set."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready()
        await over.wait()
        server.close()
        self.cut()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            onward = await asyncio.open_connection("127.0.0.1", self._store)
            both = {writer, onward[1]}
            self._writers |= both
            await asyncio.gather(self._pass(reader, onward[1]), self._pass(onward[0], writer))
            self._writers -= both

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                if self.delay:
                    await asyncio.sleep(self._random.uniform(0, self.delay))
                while self.is_stopped:
                    await asyncio.sleep(0.01)
                writer.write(data)
                await writer.drain()
        writer.close()

    def cut(self) -> None:
        """Cuts all connections, whatever is on its way."""
        for writer in tuple(self._writers):
            writer.transport.abort()


@contextmanager
def unreliable_proxy(port: int, random: Random) -> Iterator[UnreliableProxy]:
    """Runs a proxy in a thread of its own."""
    proxy = UnreliableProxy(port, random)
    loop = asyncio.new_event_loop()
    over, ready = asyncio.Event(), threading.Event()
    work = proxy.serve(ready.set, over)
    thread = threading.Thread(target=loop.run_until_complete, args=(_to_its_end(work),))
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


async def _to_its_end(work) -> None:
    """Waits for the tasks of connections, too, which end when these are cut."""
    await work
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)


class Disturbance:
    """Pauses and kills the processes of a fleet, and disturbs its way to the store, at random.

    Args:
        proxy: Its way to the store.
        workers: Returns the processes that serve, the oldest first.
        random: Draws what happens, and when.
    """

    def __init__(
        self, proxy: UnreliableProxy, workers: Callable[[], list[int]], random: Random
    ) -> None:
        self._proxy = proxy
        self._workers = workers
        self._random = random
        self._is_killing = random.random() < 0.5  # a new worker takes longer than a history
        self.happened: list[str] = []

    async def go_on(self) -> None:
        """Disturbs until it is cancelled, and leaves nothing stopped."""
        kinds = (self._pause, self._cut, self._slow_down, self._stop_proxy, self._kill)
        while True:
            await asyncio.sleep(self._random.uniform(0, 0.02))
            kind = self._random.choice(kinds)
            self.happened.append(kind.__name__)
            await kind()

    async def _pause(self) -> None:
        worker = self._random.choice(self._workers())
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGSTOP)
        try:
            await asyncio.sleep(self._random.choice((0.01, 0.05, 0.3)))
        finally:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGCONT)

    async def _cut(self) -> None:
        self._proxy.cut()

    async def _slow_down(self) -> None:
        self._proxy.delay = self._random.choice((0.002, 0.01, 0.05))
        try:
            await asyncio.sleep(0.1)
        finally:
            self._proxy.delay = 0.0

    async def _stop_proxy(self) -> None:
        self._proxy.is_stopped = True
        try:
            await asyncio.sleep(self._random.choice((0.02, 0.1, 2.2)))
        finally:
            self._proxy.is_stopped = False

    async def _kill(self) -> None:
        workers = self._workers()
        if not self._is_killing or len(workers) < 3:
            return
        self._is_killing = False
        with suppress(ProcessLookupError):
            os.kill(self._random.choice(workers), signal.SIGKILL)
