"""Small files that are large pictures, uploaded and asked for at once: another size each time."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, NoReturn

import httpx
from PIL import Image
from tests.proofs.attack.files.attempts import Attempt, FileList

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

FIRST, OTHERS = 12, 2
"""How many of the first kind, and of each other one, are sent at once."""

SIDE = 6300
"""Pixels: as many as an upload may have."""

_MADE: Final = "UNDERSTUDY_PICTURES"
"""Names the directory of the files once they are made."""

ADA = {"Authorization": "Bearer ada-full"}


def _file(kind: str, mode: str, **options: Any) -> bytes:
    content = BytesIO()
    Image.new(mode, (SIDE, SIDE)).save(content, kind, **options)
    return content.getvalue()


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


FILES_BY_NAME: dict[str, Callable[[], bytes]] = {
    "progressive CMYK JPEG": partial(_file, "JPEG", "CMYK", progressive=True),
    "progressive RGB JPEG": partial(_file, "JPEG", "RGB", progressive=True),
    "transparent PNG": partial(_file, "PNG", "RGBA"),
    "PNG of 16 bits": partial(_file, "PNG", "I;16"),
    "PNG of a palette": partial(_file, "PNG", "P"),
    "GIF": partial(_file, "GIF", "P"),
    "half of a progressive JPEG": lambda: _cut(_file("JPEG", "CMYK", progressive=True)),
    "half of a PNG": lambda: _cut(_file("PNG", "RGBA")),
}


def attempts(count: int, _seed: int) -> Iterator[Attempt]:
    """Yields the kinds of pictures, each uploaded and read so many at once."""
    directory = os.environ.get(_MADE)
    if directory is None:
        _begin_anew(count)
    mock = Mock(Settings())
    for number, name in enumerate(list(FILES_BY_NAME)[:count]):
        file = Path(directory) / str(number)
        content = file.read_bytes()
        file.unlink()
        yield Attempt(name, partial(_sent, mock, content, OTHERS if number else FIRST))


def _begin_anew(count: int) -> NoReturn:
    """Makes the files, and begins this process anew: making them takes more memory than is measured."""
    made = mkdtemp(prefix="understudy-pictures-")
    for number, make in enumerate(list(FILES_BY_NAME.values())[:count]):
        (Path(made) / str(number)).write_bytes(make())
    os.environ[_MADE] = made
    os.execv(sys.executable, [sys.executable, "-m", "tests.proofs.attack.files", *sys.argv[1:]])


def _sent(mock: Mock, content: bytes, at_once: int) -> list[str]:
    return asyncio.run(_sending(mock, content, at_once))


async def _sending(mock: Mock, content: bytes, at_once: int) -> list[str]:
    transport = httpx.ASGITransport(mock.resource, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:8080", timeout=600
    ) as client:
        file = {"data": ("a", content)}
        uploads = [client.post("/v3/me/avatars", files=file, headers=ADA) for _ in range(at_once)]
        answers = await asyncio.gather(*uploads)
        ids = [answer.json()["image_id"] for answer in answers if answer.is_success]
        reads = [client.get(f"/avatar/{id_}.png?s={100 + n * 170}") for n, id_ in enumerate(ids)]
        shown = await asyncio.gather(*reads)
        problems = [f"{it.status_code}" for it in (*answers, *shown) if it.status_code >= 500]
        for id_ in ids:
            await client.delete(f"/v3/me/avatars/{id_}", headers=ADA)
    is_whole = len(content) > 0 and len(ids) in {0, at_once}
    return problems if is_whole else [*problems, f"{len(ids)} of {at_once} were accepted"]


FILES = FileList(attempts, count=len(FILES_BY_NAME), seconds=90.0, megabytes=100, child=450)
