"""Reads a Dockerfile: its stages, and the instructions of each, as far as ours uses them."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Instruction(NamedTuple):
    """One instruction, such as ``RUN`` and its command line."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """The arguments, of the form with brackets too."""
        if self.text.startswith("["):
            words: list[str] = json.loads(self.text)
            return words
        return shlex.split(self.text)


class Stage(NamedTuple):
    """One stage: its name, the image or stage that it starts from, and its instructions."""

    name: str
    base: str
    instructions: tuple[Instruction, ...]

    def texts(self, name: str) -> list[str]:
        """Returns the arguments of all instructions of a name."""
        return [it.text for it in self.instructions if it.name == name]


def read_stages(path: Path) -> dict[str, Stage]:
    """Returns the stages by their names, in order; the last is the default of a build."""
    stages: dict[str, Stage] = {}
    for instruction in _instructions(path.read_text()):
        if instruction.name == "FROM":
            base, _, name = instruction.words
            stages[name] = Stage(name, base, ())
        else:
            last = stages[next(reversed(stages))]
            added = (*last.instructions, instruction)
            stages[last.name] = last._replace(instructions=added)
    return stages


def lineage(stages: dict[str, Stage], name: str) -> Iterator[Stage]:
    """Yields the stages that one starts from, the first before, and then the stage itself."""
    stage = stages[name]
    if stage.base in stages:
        yield from lineage(stages, stage.base)
    yield stage


def _instructions(text: str) -> Iterator[Instruction]:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    for line in filter(None, map(str.strip, joined.splitlines())):
        name, _, rest = line.partition(" ")
        yield Instruction(name.upper(), rest.strip())
