"""Decodes pictures beside the event loop: small ones in threads, a large one in a process of its own.

A progressive JPEG of 600 kB takes 500 MB while it is decoded, and twelve at once take the machine.
So large pictures are decoded one at a time, in a process that may take so much memory and no more,
and that one bad picture may end without ending the mock.
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
"""Pixels of a picture that is decoded in this process: some 50 MB at most, whatever its format."""

MOST_BYTES: Final = 512 * 1024
"""Bytes of a picture that is decoded in this process: a file may have a million empty parts, each of which
takes time that the event loop lacks."""

_THREADS: Final = ThreadPoolExecutor(2, "understudy-pictures")
"""Their own, so that pictures that wait for their turn keep nothing else waiting."""

_GATE: Final = ThreadPoolExecutor(1, "understudy-large-pictures")
"""One thread waits for the process of a large picture, so there is one at a time."""

_RESIZED: Final[RecentWithin[tuple[bytes, int, str | None], Image]] = RecentWithin(
    16 * 1024 * 1024, lambda image: len(image.content)
)
"""Pictures at the sizes that were requested last, by the digest of their bytes. A portrait of 256 pixels
takes 0.3 s to become one of 2,048, which every run of verify asks for before it changes an account."""


class PictureJob(msgspec.Struct, frozen=True):
    """A call of ``checked_upload`` or ``resize``, as the process of a large picture reads it."""

    name: Literal["checked_upload", "resize"]
    image: Image
    arguments: dict[str, Any]


class PictureResult(msgspec.Struct, frozen=True):
    """The result of a job: a picture, or the text and the code of its refusal."""

    image: Image | None = None
    message: str = ""
    code: str | None = None


async def in_turn(
    content: bytes, work: Callable[[bool], Image], *, converts_newer: bool = False
) -> Image:
    """Returns what work on a picture returns, once it is its turn.

    Args:
        content: The file.
        work: Told whether the picture is large, so that it must be decoded apart.
        converts_newer: Whether WebP and HEIC are decoded too.
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
    """Returns a picture as ``resize`` does.

    Raises:
        LimitExceeded: It takes too much memory, or too long.
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
    """Calls a function of ``image_processing`` in a process of its own, and waits for it.

    Raises:
        BadRequest: The function refused the picture.
        LimitExceeded: It takes too much memory, or too long.
    """
    job = msgspec.msgpack.encode(PictureJob(name, image, arguments))
    # -P: what lies in the working directory is not the program; its own path goes along
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
