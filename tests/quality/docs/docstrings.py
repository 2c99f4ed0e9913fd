"""Reads Google-style docstrings: the summary, and the entries of a section such as Attributes."""

import inspect
import re


def summary(item: object) -> str:
    """Returns the docstring's text before its first section."""
    text = inspect.getdoc(item) or ""
    return re.split(r"^\w+:\n", text, maxsplit=1, flags=re.M)[0].strip()


def entries(item: object, section: str) -> dict[str, str]:
    """Returns name to description, of a section that lists names."""
    text = inspect.getdoc(item) or ""
    body = re.search(rf"^{section}:\n((?:    .*\n?|\n)*)", text, re.M)
    if body is None:
        return {}
    found = re.split(r"^    (\*{0,2}\w+)(?: \([^)]*\))?: ", body[1], flags=re.M)[1:]
    pairs = zip(found[::2], found[1::2], strict=True)
    return {name: re.sub(r"\s+", " ", told).strip() for name, told in pairs}
