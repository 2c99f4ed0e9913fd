"""Prints untrusted texts on a terminal, with escapes for control and invisible characters.

Texts from a deployment, a document, a journal or an upstream may contain ESC, C1 controls or marks that
reorder a line; a terminal that obeys them shows another text than the received one.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import click

_STEERING: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # bidi, unseen
    "\ud800-\udfff\U000e0000-\U000e007f"  # lone surrogates, which no output can encode; tags
    "]"
)
"""Matches control and invisible characters, but no joiners, which emoji and Indic scripts need."""

COLOURS: Final[Mapping[int, str]] = {2: "green", 3: "cyan", 4: "yellow", 5: "red"}
"""First digit of a status to its colour."""


def printable(text: str) -> str:
    r"""Returns a text with escapes for control and invisible characters.

    The escapes are those of JSON, ``\u001b``, so that a JSON text keeps its value.
    """
    return _STEERING.sub(_escape, text.replace("\r\n", "\n"))


def printable_line(text: str) -> str:
    """Returns a text as ``printable`` does, on one line, so that it cannot forge further lines."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun, in the plural unless the number is 1."""
    if number == 1:
        return f"1 {noun}"
    head, that, rest = noun.partition(" that ")  # "rules that were", and "2 new findings"
    rest = rest.replace("was not", "were not")
    return f"{number:,} {head}s{that}{rest}"


def echo(text: object = "", *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Prints a text, with escapes for control and invisible characters.

    Args:
        text: Text or UTF-8 bytes; styles in it would be escaped.
        err: True to print to standard error.
        nl: True to end the line.
        style: Arguments of ``click.style``.
    """
    shown = printable(text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text))
    click.echo(click.style(shown, **style) if style else shown, err=err, nl=nl)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
