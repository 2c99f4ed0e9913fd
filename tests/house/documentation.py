"""Reads the README and the pages of ``docs/``: their blocks, and what is to be done with each."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
GENERATED = "docs/reference/"
"""Directory of pages that the build makes, beside those of `WRITTEN`."""

WRITTEN = {"index.md", "inferred-state.md"}
SITE = "docs/_build/"
"""The site, which has each page as Markdown too."""

PAGES = tuple(
    path.relative_to(ROOT).as_posix()
    for path in (
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    )
    if not path.is_relative_to(ROOT / GENERATED) or path.name in WRITTEN
    if not path.is_relative_to(ROOT / SITE)
)
"""Every page that a person wrote."""

_FENCE = re.compile(r"((?:^<!-- [^\n]* -->\n)?)^```(\w*)\n(.*?)^```$", re.M | re.S)
_FILE_NAME = re.compile(r"(?:#|//|<!--) (\S+\.\w+)(?: -->)?$")


class Block(NamedTuple):
    """A fenced block.

    Attributes:
        language: What stands behind the fence.
        text: What stands in it.
        note: The comment on the line before it, or an empty text.
    """

    language: str
    text: str
    note: str

    @property
    def file_name(self) -> str | None:
        """The name that the first line gives the block, where a reader is to save it."""
        found = _FILE_NAME.match(self.text.partition("\n")[0])
        return found[1] if found else None


class Command(NamedTuple):
    """A command that a page shows, and the output that it shows for it."""

    line: str
    output: str


def blocks(page: str) -> list[Block]:
    """Returns the fenced blocks of a page, in order."""
    found = _FENCE.findall((ROOT / page).read_text())
    return [Block(language, text, note.strip()) for note, language, text in found]


def commands(block: Block) -> Iterator[Command]:
    """Yields the commands of a console block; one continues where its line ends in a backslash."""
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        found = re.match(r"((?:.*\\\n)*.*)\n?", part)
        line = found[1] if found else part
        yield Command(line, part[len(line) :].strip("\n"))


def fits(shown: str, actual: str) -> bool:
    """Tells whether an output is what a page shows: ``…`` stands for anything."""
    shown, actual = shown.strip("\n"), actual.strip("\n")
    if "…" not in shown:
        return shown == actual
    pattern = re.escape(shown).replace("…", ".*?")
    return re.fullmatch(pattern, actual, re.S) is not None
