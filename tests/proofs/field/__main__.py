"""Compares three judges on services with known bugs: ``python -m tests.proofs.field``.

Each run of a judge at a target is kept in ``build/field.jsonl`` as soon as it ends, so that a measurement
that was interrupted goes on where it stopped. The page is written from that file.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from tests.proofs.field.judges import JUDGES
from tests.proofs.field.page import write_page
from tests.proofs.field.results import Result
from tests.proofs.field.targets import Setting, demo_server, httpbin, own_settings, users_and_books

ROOT: Final = Path(__file__).parents[3]
CONSOLE: Final = Console()
RESULTS: Final = ROOT / "build" / "field.jsonl"


def main() -> int:
    """Runs what was not run yet, writes the page, and returns 1 if verify misses its goals."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.field")
    parser.add_argument(
        "--restler", type=Path, help="folder demo_server of the fuzzer's repository"
    )
    parser.add_argument("--vampi", type=Path, help="the repository of the vulnerable service")
    parser.add_argument("--no-httpbin", action="store_true", help="leave httpbin out")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each judge at each target")
    parser.add_argument("--target", help="run at one target only, such as tickets")
    parser.add_argument("--judge", choices=JUDGES, help="run one judge only")
    parser.add_argument("--fresh", action="store_true", help="forget the earlier runs")
    options = parser.parse_args()
    if options.fresh:
        RESULTS.unlink(missing_ok=True)
    RESULTS.parent.mkdir(exist_ok=True)
    known = _known()
    for setting in _settings(options):
        if options.target not in {None, setting.name}:
            continue
        for judge in [options.judge] if options.judge else JUDGES:
            for seed in range(options.seeds):
                if (setting.name, setting.is_sound, judge, seed) not in {it.key for it in known}:
                    result = _run(setting, judge, seed)
                    CONSOLE.print(result.line, highlight=False)
                    with RESULTS.open("ab") as file:
                        file.write(msgspec.json.encode(result) + b"\n")
                    known.append(result)
    misses = write_page(known)
    for miss in misses:
        CONSOLE.print(miss, highlight=False)
    return 1 if misses else 0


def _settings(options: argparse.Namespace) -> Iterator[Setting]:
    yield from own_settings()
    if options.restler:
        yield from demo_server(options.restler.resolve())
    if options.vampi:
        yield from users_and_books(options.vampi.resolve())
    if not options.no_httpbin:
        yield from httpbin()


def _run(setting: Setting, judge: str, seed: int) -> Result:
    with setting.started() as base_url:
        judgement = JUDGES[judge](setting, base_url, seed)
    found = [bug.name for bug in setting.bugs if any(map(bug.is_in, judgement.findings))]
    return Result(
        target=setting.name,
        is_sound=setting.is_sound,
        judge=judge,
        seed=seed,
        planted=len(setting.bugs),
        found=tuple(found),
        findings=len(judgement.findings),
        requests=judgement.requests,
        seconds=round(judgement.seconds, 1),
    )


def _known() -> list[Result]:
    lines = RESULTS.read_bytes().splitlines() if RESULTS.exists() else []
    return [msgspec.json.decode(line, type=Result) for line in lines]


if __name__ == "__main__":
    raise SystemExit(main())
