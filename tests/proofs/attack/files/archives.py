"""Hostile zip files for ``POST /__admin/import``: names that lead out, bombs, and damaged bytes."""

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from functools import partial
from pathlib import Path
from random import Random  # noqa: TID251 - drawn from the seed
from tempfile import TemporaryDirectory

from tests.mock.admin.conftest import Driver, Time
from tests.proofs.attack.files.attempts import Attempt, FileList

from understudy.mock.settings import Settings

ZIP = {"content-type": "application/zip"}
PERSON = b"slug: eve\nabout: x\nemails: [{email: eve@example.com}]\n"

NAMES = (
    *("../people/eve.yaml", "people/../../eve.yaml", "/people/eve.yaml", "..\\people\\eve.yaml"),
    *("C:\\eve.yaml", "people/\x1b[2J.yaml", "people/eve\x00.yaml", "images/a.png:stream", ".", ""),
)
"""Names of entries that lead out of a directory somewhere, or show as something else."""

SIZE = 200 * 1024 * 1024


def zipped(entries: Mapping[str, bytes]) -> bytes:
    """Returns a zip file of these entries."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _with_size(size: int) -> bytes:
    """Returns a zip file that says less of an entry than it holds."""
    content = zipped({"people/eve.yaml": PERSON + b"#" * 20_000_000})
    real = (len(PERSON) + 20_000_000).to_bytes(4, "little")
    return content.replace(real, size.to_bytes(4, "little"))


KINDS: Mapping[str, Callable[[], bytes]] = {
    **{f"entry {name!r}": partial(zipped, {name: PERSON}) for name in NAMES},
    "200 MB of zeros": lambda: zipped({"people/eve.yaml": bytes(SIZE)}),
    "an entry that says that it is small": lambda: _with_size(10),
    "10,000 entries": lambda: zipped({f"people/p{n}.yaml": b"" for n in range(10_000)}),
    "aliases of aliases": lambda: zipped({"people/eve.yaml": _aliases()}),
    "a deep person": lambda: zipped({"people/e.jsonl": b'{"slug":' + b"[" * 100_000}),
}


def _aliases() -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join(lines).encode()


def attempts(count: int, seed: int) -> Iterator[Attempt]:
    """Yields the known kinds, and then exports with changed bytes."""
    driver, chance = Driver(Settings(), Time()), Random(seed)
    export = driver.get("/__admin/export").content
    for number in range(count):
        kinds = list(KINDS)
        name = kinds[number] if number < len(kinds) else f"export with other bytes {number}"
        make = KINDS.get(name, partial(_changed, export, chance))
        yield Attempt(name, partial(imported, driver, make, is_refused=name in KINDS))


def _changed(export: bytes, chance: Random) -> bytes:
    content = bytearray(export)
    for _ in range(chance.randrange(1, 20)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)


def imported(driver: Driver, make: Callable[[], bytes], *, is_refused: bool) -> Iterator[str]:
    """Imports a zip file, and yields what should not have come of it."""
    with TemporaryDirectory() as place:
        inside = Path(place, "inside")
        inside.mkdir()
        with chdir(inside):
            answer = driver.ask("POST", "/__admin/import", content=make(), headers=ZIP)
        if list(Path(place).rglob("*")) != [inside]:
            yield "a file lies outside"
    if answer.status_code >= 500 or (is_refused and answer.is_success):
        yield f"the import is {answer.status_code}: {answer.text[:200]}"
    if driver.get("/__admin/export").status_code != 200:
        yield "the world cannot be exported any more"


FILES = FileList(attempts, count=300, seconds=10.0, megabytes=450)
