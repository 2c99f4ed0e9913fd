"""Writes the page of the field: a table of all runs, and a picture of what was found for how many requests."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Final

from tests.proofs.field.results import Result

PAGE: Final = Path(__file__).parents[3] / "docs" / "explanation" / "field.md"
PICTURE: Final = PAGE.parents[1] / "_static" / "field.svg"
BEGIN, END = "<!-- measured -->", "<!-- end -->"
COLOURS: Final = {"verify": "#2f7d4f", "generate --send": "#3b6ea8", "schemathesis run": "#b0662a"}
JUDGED, PEER = "verify", "schemathesis run"


def write_page(results: Sequence[Result]) -> list[str]:
    """Writes table and picture, and returns where verify misses its goals, a line each.

    Args:
        results: Every run.
    """
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = "\n".join(_table(results))
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
    PICTURE.write_text(_picture(results))
    return list(_misses(results))


def _table(results: Sequence[Result]) -> Iterator[str]:
    yield "| target | judge | planted bugs found, a seed each | requests | alarms on the sound setting | processor time |"
    yield "|---|---|---|--:|---|--:|"
    for target in dict.fromkeys(it.target for it in results):
        for judge in COLOURS:
            runs = [it for it in results if it.target == target and it.judge == judge]
            broken = sorted((it for it in runs if not it.is_sound), key=lambda it: it.seed)
            sound = sorted((it for it in runs if it.is_sound), key=lambda it: it.seed)
            if not broken:
                continue
            found = ", ".join(str(len(it.found)) for it in broken)
            alarms = ", ".join(str(it.findings) for it in sound) or "not measured"
            requests = round(mean(it.requests for it in runs))
            seconds = mean(it.seconds for it in runs)
            yield (
                f"| {target} | {judge} | {found} of {broken[0].planted} | {requests:,} | {alarms} "
                f"| {seconds:.0f} s |"
            )


def _misses(results: Sequence[Result]) -> Iterator[str]:
    """Yields where verify finds less than another judge, asks more, or raises an alarm."""
    for run in (it for it in results if it.judge == JUDGED):
        where = f"{run.target}, seed {run.seed}"
        same = [it for it in results if it.key[:2] == run.key[:2] and it.seed == run.seed]
        for bug in sorted({name for it in same for name in it.found} - {*run.found}):
            yield f"{where}: verify misses '{bug}', which another judge finds"
        peers = [it.requests for it in same if it.judge == PEER]
        if peers and run.requests > peers[0]:
            yield f"{where}: verify sent {run.requests} requests, Schemathesis {peers[0]}"
        if run.is_sound and run.findings:
            yield f"{where}: {run.findings} alarms where the service is sound"


ROW, LEFT, WIDTH, BAR = 18, 150, 640, 12


def _picture(results: Sequence[Result]) -> str:
    """Returns bars: the share of the planted bugs that each judge finds, by target."""
    broken = [it for it in results if not it.is_sound and it.planted]
    targets = list(dict.fromkeys(it.target for it in broken))
    height = (len(targets) * (len(COLOURS) + 1) + 2) * ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        *_legend(),
    ]
    for row, target in enumerate(targets):
        top = (row * (len(COLOURS) + 1) + 2) * ROW
        lines.append(f'<text x="8" y="{top + ROW}" fill="#666">{target}</text>')
        for place, (judge, colour) in enumerate(COLOURS.items()):
            runs = [it for it in broken if it.target == target and it.judge == judge]
            if runs:
                lines += _bar(runs, top + place * ROW, colour)
    return "\n".join((*lines, "</svg>", ""))


def _legend() -> Iterator[str]:
    for place, (judge, colour) in enumerate(COLOURS.items()):
        x = LEFT + place * 150
        yield f'<rect x="{x}" y="8" width="{BAR}" height="{BAR}" fill="{colour}"/>'
        yield f'<text x="{x + 18}" y="18" fill="#666">{judge}</text>'


def _bar(runs: Iterable[Result], top: int, colour: str) -> Iterator[str]:
    rows = list(runs)
    share = mean(len(it.found) / it.planted for it in rows)
    length = round(share * (WIDTH - LEFT - 170)) + 2
    requests = round(mean(it.requests for it in rows))
    text = f"{share:.0%} in {requests:,} requests"
    yield f'<rect x="{LEFT}" y="{top + 4}" width="{length}" height="{BAR}" fill="{colour}"/>'
    yield f'<text x="{LEFT + length + 6}" y="{top + 14}" fill="#666">{text}</text>'
