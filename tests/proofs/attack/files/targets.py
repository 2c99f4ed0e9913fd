"""Target files with a value or a name replaced: each is read, or refused in one line that names it."""

import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random  # noqa: TID251 - drawn from the seed
from tempfile import TemporaryDirectory
from typing import Any

from tests.proofs.attack.files.attempts import Attempt, FileList
from tests.proofs.attack.files.calls import LARGE
from tests.proofs.attack.files.capsules import mutated, places

from understudy.errors import StartupError
from understudy.verify.target import load_target

CUSTOMER = Path(__file__).parents[2] / "reference" / "target.toml"
LONGEST = 2_000
"""Characters of a refusal."""


def attempts(count: int, seed: int) -> Iterator[Attempt]:
    """Yields target files, and damaged bytes of one."""
    chance, content = Random(seed), CUSTOMER.read_bytes()
    target = tomllib.loads(content.decode())
    for number in range(count):
        if number % 4:
            what, changed = mutated(target, [*places(target)], chance, LARGE)
            yield Attempt(f"{number}: {what:.80}", partial(read, _written(changed)))
        else:
            at = chance.randrange(len(content))
            damaged = content[:at] + chance.randbytes(3) + content[at + chance.randrange(20) :]
            yield Attempt(f"{number}: other bytes at {at}", partial(read, damaged))


def _written(target: dict[str, Any]) -> bytes:
    lines = [f"{_text(name)} = {_value(value)}" for name, value in target.items()]
    return "\n".join(lines).encode()


def _value(value: Any) -> str:
    """Returns a value as TOML has it on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{_text(k)} = {_value(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case _:
            return _text("" if value is None else str(value))


def _text(text: str) -> str:
    escaped = "".join(
        f"\\U{ord(it):08x}" if ord(it) < ord(" ") or it in '"\\\x7f' else it for it in text
    )
    return f'"{escaped}"'


def read(content: bytes) -> Iterator[str]:
    """Reads a target file, and yields what should not have come of it."""
    with TemporaryDirectory() as place:
        path = Path(place, "target.toml")
        path.write_bytes(content)
        try:
            load_target(path, {"MOCK_TOKEN": "secret"})
        except StartupError as error:
            text = str(error)
            if "\n" in text or len(text) > LONGEST:
                yield f"a refusal of {len(text)} characters: {text[:200]!r}"


FILES = FileList(attempts, count=2_000, seconds=1.0, megabytes=50)
