"""A rich console that escapes control characters in everything that is printed."""

import textwrap
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from understudy.terminal import printable


class Terminal(Console):
    """A console for untrusted texts.

    Rich makes segments of everything that is printed, so escaping them misses nothing; rich's own
    styles and cursor movements are not part of a segment's text.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Renders an object into segments without control characters."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


def print_line(
    console: Console, text: str, style: str = "", *, indent: int = 0, hanging: int = 0
) -> None:
    """Prints a text; on a terminal wrapped between words, in a file as one line."""
    text = printable(text)  # before it is wrapped, as escapes are longer
    lines = [" " * indent + text]
    if console.is_terminal:
        lines = textwrap.wrap(
            text,
            console.width,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + hanging),
            break_long_words=False,
            break_on_hyphens=False,
        )
    for line in lines:
        # a Text, as responses are not markup
        console.print(Text(line, style), soft_wrap=True)
