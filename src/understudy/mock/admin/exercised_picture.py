"""Draws which parts of the contract were exercised, as SVG."""

from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

_WIDTH, _ROW, _LEFT, _TOP = 720, 22, 210, 52
"""Pixels: the whole width, the height of a row, where the cells begin, and the first row."""

_CELL, _GAP = 14, 3
"""Pixels: the size of a cell, and the space to the next one."""

_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1c2430}"
    ".t{font-weight:600;font-size:15px}.p{fill:#ffffff}.y{fill:#1a7f4b}.n{fill:#d5dae1}"
    "@media(prefers-color-scheme:dark)"
    "{text{fill:#e6e9ee}.p{fill:#151a21}.y{fill:#3fb97a}.n{fill:#3a424e}}"
)


def picture(report: Any) -> str:
    """Returns the picture of a report of ``GET /exercised``: a row an operation, a cell a part."""
    operations = report["operations"]
    height = _TOP + _ROW * len(operations) + 12
    share = (
        f"{report['share']:.0%} of the contract exercised: "
        f"{report['exercised']} of {report['declared']} parts"
    )
    rows = [line for place, it in enumerate(operations) for line in _row(place, it)]
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
            f"<title>{escape(share)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="p" width="{_WIDTH}" height="{height}" rx="6"/>',
            f'<text class="t" x="16" y="30">{escape(share)}</text>',
            *rows,
            "</svg>\n",
        ]
    )


def _row(place: int, operation: Any) -> Iterator[str]:
    top = _TOP + place * _ROW
    name = escape(operation["operation"])
    yield f'<text x="16" y="{top + 12}">{name}</text>'
    for number, (part, is_used) in enumerate(operation["parts"].items()):
        left = _LEFT + number * (_CELL + _GAP)
        state, kind = ("exercised", "y") if is_used else ("never", "n")
        yield (
            f'<rect class="{kind}" x="{left}" y="{top}" width="{_CELL}" height="{_CELL}" rx="3">'
            f"<title>{name}: {escape(part)}, {state}</title></rect>"
        )
