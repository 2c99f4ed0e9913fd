"""Markdown that reads well unrendered: headings, tables, inline code."""

import re
from collections.abc import Iterable, Sequence


def page(title: str, *parts: str) -> str:
    """Returns a page: its title, then its parts, one empty line between them."""
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table, or an empty text where there are no rows; empty columns are left out."""
    cells = [[_cell(text) for text in row] for row in rows]
    used = [column for column in range(len(heads)) if any(row[column] for row in cells)]
    lines = [[heads[column] for column in used], ["---"] * len(used)]
    lines += [[row[column] for column in used] for row in cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if cells else ""


def code(text: object) -> str:
    """Returns inline code; empty for an empty text."""
    return f"`{text}`" if str(text) else ""


def codes(texts: Iterable[object]) -> str:
    """Returns inline code for each text, with commas between."""
    return ", ".join(code(text) for text in texts)


def prose(text: str) -> str:
    """Returns a docstring's text as Markdown: double backticks become single ones, line ends spaces."""
    return re.sub(r"\s+", " ", text.replace("``", "`")).strip()


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", r"\|").strip()
