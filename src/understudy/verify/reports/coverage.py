"""Shows coverage on the HTML page: operations by statuses as a picture, parameters as a table."""

from html import escape

from understudy.verify.outcome import Coverage

CELL, LEFT, HEAD = 26, 250, 40  # pixels of the picture
REFUSED, ERROR = 400, 500


def picture(coverage: Coverage) -> str:
    """Returns an SVG of operations by statuses, with the count in each cell."""
    operations = sorted({operation for operation, _ in coverage.statuses})
    statuses = sorted({status for _, status in coverage.statuses})
    width, height = LEFT + 2 * CELL * len(statuses), HEAD + CELL * len(operations)
    marks = [
        f"<text x={LEFT + 2 * CELL * place} y={HEAD - 10}>{status}</text>"
        for place, status in enumerate(statuses)
    ]
    for row, operation in enumerate(operations):
        y = HEAD + CELL * row
        marks.append(f"<text x=0 y={y + 16}>{escape(operation)}</text>")
        for column, status in enumerate(statuses):
            marks.append(_cell(coverage, operation, status, (LEFT + 2 * CELL * column, y)))
    label = "operations by statuses"
    body = "".join(marks)
    return f'<figure tabindex=0 role=group aria-label="{label}"><svg role=img aria-label="{label}" width={width} height={height}>{body}</svg></figure>'


def _cell(coverage: Coverage, operation: str, status: int, place: tuple[int, int]) -> str:
    x, y = place
    count = coverage.statuses[operation, status]
    kind = "error" if status >= ERROR else "refused" if status >= REFUSED else ""
    css = f"cell {kind}" if count else "none"
    number = f"<text class=count x={x + CELL - 2} y={y + 16}>{count}</text>" if count else ""
    return (
        f'<rect class="{css}" x={x} y={y} width={2 * CELL - 3} height={CELL - 3} rx=3>'
        f"<title>{escape(operation)} {status}: {count}</title></rect>{number}"
    )


def parameters(coverage: Coverage) -> str:
    """Returns an HTML table of parameters and the number of times that each was sent."""
    rows = [
        f"<tr><td>{escape(operation)}<td>{escape(name)}<td>{count}"
        for (operation, name), count in sorted(coverage.parameters.items())
    ]
    return "<table><tr><th>operation<th>parameter<th>sent" + "".join(rows) + "</table>"
