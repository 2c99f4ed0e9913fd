"""Decodes pictures outside the event loop: small ones in threads, large ones in a subprocess each.

Decoding a progressive JPEG of 600 kB takes 500 MB, and twelve at once exhaust the machine. So large
pictures are decoded one at a time, in a subprocess with a memory limit, whose crash does not end the mock.
"""

import asyncio
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal

import msgspec

from understudy.errors import BadRequest
from understudy.limits import PICTURE_MEMORY, PICTURE_SECONDS
from understudy.mock.server.recent import RecentWithin
from understudy.mock.store.people import Image

MOST_PIXELS: Final = 4_000_000
"""Pixels of the largest picture that is decoded in this process: some 50 MB in any format."""

MOST_BYTES: Final = 512 * 1024
"""Bytes of the largest picture that is decoded in this process: a file may have a million empty parts,
whose parsing holds the GIL and so blocks the event loop."""

_THREADS: Final = ThreadPoolExecutor(2, "understudy-pictures")
"""Threads for pictures only, so that other work never waits behind pictures."""

_GATE: Final = ThreadPoolExecutor(1, "understudy-large-pictures")
"""A single thread, which waits for the subprocess, so that only one runs at a time."""

_RESIZED: Final[RecentWithin[tuple[bytes, int, str | None], Image]] = RecentWithin(
    16 * 1024 * 1024, lambda image: len(image.content)
)
"""Cache of scaled pictures, by the digest of the original bytes. To enlarge a portrait of 256 pixels to
2,048 takes 0.3 s, and every run of verify requests that."""


class PictureJob(msgspec.Struct, frozen=True):
    """A call of ``checked_upload`` or ``resize`` for the subprocess."""

    name: Literal["checked_upload", "resize"]
    image: Image
    arguments: dict[str, Any]


class PictureResult(msgspec.Struct, frozen=True):
    """The result of a job: a picture, or the message and the code of a BadRequest."""

    image: Image | None = None
    message: str = ""
    code: str | None = None


async def in_turn(
    content: bytes, work: Callable[[bool], Image], *, converts_newer: bool = False
) -> Image:
    """Runs work on a picture in a thread of the right pool, and returns its result.

    Args:
        content: Bytes of the file.
        work: Gets whether the picture is large, and must be decoded in the subprocess.
        converts_newer: Whether WebP and HEIC are accepted, too.
    """
    loop = asyncio.get_running_loop()
    is_large = await loop.run_in_executor(_THREADS, _is_large, content, converts_newer)
    return await loop.run_in_executor(_GATE if is_large else _THREADS, work, is_large)


def _is_large(content: bytes, converts_newer: bool) -> bool:  # noqa: FBT001 - an executor takes no keywords
    from understudy.mock.service.image_processing import pixels  # noqa: PLC0415 - importing Pillow takes too long at start

    if len(content) > MOST_BYTES:
        return True
    return pixels(content, converts_newer=converts_newer) > MOST_PIXELS


async def resized(image: Image, size: int, media_type: str | None) -> Image:
    """Returns the result of ``resize``, from the cache or from a thread or subprocess.

    Raises:
        LimitExceeded: Decoding takes too much memory, or too long.
    """

    def work(is_large: bool) -> Image:  # noqa: FBT001 - the one argument
        from understudy.mock.service.image_processing import resize  # noqa: PLC0415 - as above

        key = (hashlib.sha256(image.content).digest(), size, media_type)
        kept = _RESIZED.get(key)
        if kept is not None:
            return kept
        made = (
            decoded_apart("resize", image, size=size, media_type=media_type)
            if is_large
            else resize(image, size, media_type)
        )
        return _RESIZED.put(key, made)

    return await in_turn(image.content, work)


def decoded_apart(
    name: Literal["checked_upload", "resize"], image: Image, **arguments: Any
) -> Image:
    """Calls a function of ``image_processing`` in a subprocess, and waits for it.

    Raises:
        BadRequest: The function refused the picture.
        LimitExceeded: Decoding takes too much memory, or too long.
    """
    job = msgspec.msgpack.encode(PictureJob(name, image, arguments))
    # -P keeps modules in the working directory from being imported; PYTHONPATH has this program's path
    command = [sys.executable, "-P", "-m", f"{__package__}.picture_process"]
    path = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(
            command,
            input=job,
            capture_output=True,
            check=False,
            timeout=PICTURE_SECONDS.most,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired:
        raise PICTURE_SECONDS.exceeded() from None
    if done.returncode:
        raise PICTURE_MEMORY.exceeded()
    result = msgspec.msgpack.decode(done.stdout, type=PictureResult)
    if result.image is None:
        raise BadRequest(result.message, code=result.code)
    return result.image
