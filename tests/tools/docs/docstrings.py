"""Reads Google-style docstrings: the summary, and the sections such as Attributes or Examples."""

import inspect
import re
from textwrap import dedent


def summary(item: object) -> str:
    """Returns the docstring's text before its first section."""
    text = inspect.getdoc(item) or ""
    return re.split(r"^\w+:\n", text, maxsplit=1, flags=re.M)[0].strip()


def section(item: object, name: str) -> str:
    """Returns the text of a section, without its indent; empty where there is none."""
    text = inspect.getdoc(item) or ""
    body = re.search(rf"^{name}:\n((?:    .*\n?|\n)*)", text, re.M)
    return dedent(body[1]).strip() if body else ""


def entries(item: object, name: str) -> dict[str, str]:
    """Returns name to description, of a section that lists names."""
    found = re.split(r"^(\*{0,2}\w+)(?: \([^)]*\))?: ", section(item, name), flags=re.M)[1:]
    pairs = zip(found[::2], found[1::2], strict=True)
    return {name: re.sub(r"\s+", " ", told).strip() for name, told in pairs}
