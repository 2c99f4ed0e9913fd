"""Responses of upstreams that no framework sends, and damaged ones, through the recording proxy."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial
from itertools import islice
from random import Random  # noqa: TID251 - seeded by the list

from tests.proofs.attack.files.attempts import Attempt, FileList
from tests.record.sockets import Served, served
from tests.record.upstreams import UPSTREAMS

HOSTILE = (
    b"\x1b[2J",
    b"\x00",
    b"\r",
    b"\n",
    b"\r\n",
    b"\x7f",
    b"\xff",
    b": ",
    b"999",
    b"-1",
    b"\t" * 99,
)
STATUS = re.compile(rb"HTTP/1\.1 [2-5]\d\d [^\r\n]*\r\n")


class Proxied:
    """A proxy before an upstream that sends what it is told.

    Attributes:
        content: What the upstream sends next.
    """

    def __init__(self) -> None:
        self.content = b""
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._proxy: Served = self._runner.run(self._stack.enter_async_context(served(self._send)))

    async def _send(
        self, _head: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(self.content)
        await writer.drain()

    def problems(self, content: bytes, status: int | None = None) -> Iterator[str]:
        """Yields what is wrong with what an app gets where the upstream sends some bytes."""
        self.content = content
        received = self._runner.run(self._proxy.sent("Connection: close"))
        head = received.partition(b"\r\n\r\n")[0] + b"\r\n"
        if not STATUS.match(head):
            yield f"no response, but {received[:60]!r}"
        if status is not None and not head.startswith(b"HTTP/1.1 %d " % status):
            yield f"{head[:20]!r}, not {status}"
        if any(byte < 32 and byte not in b"\r\n\t" for byte in head):
            yield f"a control character in {head!r:.200}"
        failed = dict(self._proxy.recording.judge.proxy_failures)
        self._proxy.recording.judge.proxy_failures.clear()
        yield from (f"the proxy itself failed: {place}" for place in failed)

    def close(self) -> None:
        """Ends the proxy."""
        self._runner.run(self._stack.aclose())
        self._runner.close()


def attempts(count: int, seed: int) -> Iterator[Attempt]:
    """Yields the responses that are known to be hostile, and then damaged ones."""
    proxied = Proxied()
    for name, (content, status) in islice(UPSTREAMS.items(), count):
        yield Attempt(name, partial(proxied.problems, content, status))
    chance = Random(seed)
    sound = [content for content, _ in UPSTREAMS.values() if len(content) < 1000]
    for number in range(count - len(UPSTREAMS)):
        yield Attempt(
            f"damaged {seed}/{number}", partial(proxied.problems, _damaged(sound, chance))
        )
    proxied.close()


def _damaged(sound: list[bytes], chance: Random) -> bytes:
    content = bytearray(chance.choice(sound))
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content) + 1)
        content[at : at + chance.randint(0, 3)] = chance.choice(HOSTILE)
    return bytes(content)


FILES = FileList(attempts, count=2000, seconds=2, megabytes=80)
