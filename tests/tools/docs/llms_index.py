"""``llms.txt`` (https://llmstxt.org): a short index of the documentation, for language models.

Each page is listed with the first sentence of its text, and stands beside its HTML as Markdown.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NAME: Final = "llms.txt"

_TOCTREE: Final = re.compile(r"```\{toctree\}.*?\n:caption: (.+?)\n\n(.*?)```", re.S)
_LISTED: Final = re.compile(r"^\| \[(.+?)\]\((\S+?)\) \| (.*?) \|", re.M)
_SKIPPED: Final = ("#", "|", "<", "```", "-", ":", "!")


def llms_index(docs: Path) -> str:
    """Returns the index of the pages below a directory, in the order of their tables of contents."""
    front = (docs / "index.md").read_text()
    lines = [f"# {_title(front)}", "", f"> {_sentence(front)}"]
    for caption, body in _TOCTREE.findall(front):
        lines += ["", f"## {caption}", ""]
        for name in body.split():
            text = (docs / f"{name}.md").read_text()
            lines.append(f"- [{_title(text)}]({name}.md): {_sentence(text)}")
        if caption == "Reference":
            lines += _reference((docs / "reference" / "index.md").read_text())
    return "\n".join(lines) + "\n"


def _reference(text: str) -> Iterator[str]:
    for title, name, holds in _LISTED.findall(text):
        yield f"- [{title}](reference/{name}): {_plain(holds)}"


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def _sentence(text: str) -> str:
    """Returns the first sentence of a page's first paragraph."""
    paragraphs = re.split(r"\n\s*\n", text)[1:]
    first = next(part for part in paragraphs if not part.startswith(_SKIPPED))
    sentence = re.split(r"(?<=[.:;])\s", _plain(" ".join(first.split())))[0]
    return sentence.rstrip(".:;") + "."


def _plain(text: str) -> str:
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)
