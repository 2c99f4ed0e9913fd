"""``understudy generate``: writes edge-case requests for the tool that is already open."""

import sys
from collections.abc import Iterable, Iterator
from itertools import compress
from pathlib import Path
from typing import Any, TypeVar

import click

FORMATS = ("curl", "http", "har", "postman", "bruno", "k6", "pytest", "jsonl", "csv")
BASE_URL = "http://127.0.0.1:8080/v3"
AUTH_URL = "http://127.0.0.1:8081"

Item = TypeVar("Item")


@click.command(context_settings={"show_default": True})
@click.argument("operations", nargs=-1, metavar="[OPERATION]...")
@click.option("--count", type=click.IntRange(1), default=50, help="Cases of each operation.")
@click.option(
    "--kind",
    type=click.Choice(["valid", "invalid", "all"]),
    default="all",
    help="What the contract accepts, what it refuses, or also what it leaves open.",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="The same seed, the same bytes.")
@click.option(
    "--format",
    "name",
    type=click.Choice(FORMATS),
    default="curl",
    help="The tool that is to open them.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File to write, or directory for bruno; else standard output.",
)
@click.option("--base-url", default=BASE_URL, help="Of the resource API.")
@click.option("--auth-url", default=AUTH_URL, help="Of the authorization server.")
@click.option(
    "--document",
    type=click.Path(path_type=Path),
    help="OpenAPI 3.0 or 3.1 document to make cases of, instead of the bundled ones.",
)
@click.option(
    "--minimize-set",
    "size",
    type=click.IntRange(1),
    metavar="N",
    help="Keep the N cases that together cover most, and say how much.",
)
@click.option(
    "--include-secrets",
    is_flag=True,
    help="Write the mock's tokens and passwords into the files, not variables alone.",
)
def generate(operations: tuple[str, ...], **options: Any) -> None:
    """Write edge-case requests of operations (all of them, if none is named) as files."""
    # jsonschema-rs and the documents take 0.1 s, which other commands need not wait for.
    from understudy.contract.edge_cases import selection
    from understudy.contract.edge_cases.covering_sets import choose
    from understudy.contract.edge_cases.subjects import Subjects
    from understudy.contract.formats.files import beside, save
    from understudy.contract.formats.registry import FORMATS as KNOWN
    from understudy.contract.formats.writing import Job

    subjects = Subjects()
    plans = selection.plans(selection.planners(options["document"], subjects), operations)
    wanted = (options["count"], options["seed"], selection.WORDS[options["kind"]])
    stream = selection.generate(plans, *wanted)
    if options["size"] is not None:
        coverage = choose(stream, options["size"])
        chosen = set(coverage.chosen)
        stream = selection.generate(plans, *wanted)
        stream = compress(stream, (place in chosen for place in _counting()))
    form, out = KNOWN[options["name"]], options["out"]
    job = Job(
        {
            "resource": options["base_url"].rstrip("/"),
            "authorization": options["auth_url"].rstrip("/"),
        },
        subjects.secrets if options["include_secrets"] else {},
        beside(out),
    )
    counted = _Counted(_shown(stream, options["size"] or options["count"] * len(plans)))
    left = save(form.write(counted, job), form, out)
    operations_ = "operation" if len(plans) == 1 else "operations"
    said = [f"{counted.count - len(left.ids):,} cases of {len(plans)} {operations_}"]
    said += [f"are in {out}: {form.about}." if out else "were written."]
    click.echo(" ".join(said), err=True)
    if options["size"] is not None:
        click.echo(coverage.said(), err=True)
    for reason, count in left.reasons.items():
        click.echo(f"{count:,} left out: {reason}.", err=True)


def _counting() -> Iterator[int]:
    place = 0
    while True:
        yield place
        place += 1


class _Counted:
    """Counts what goes through."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        for item in self._items:
            self.count += 1
            yield item


def _shown(items: Iterable[Item], total: int) -> Iterable[Item]:
    """Returns items under a progress bar, where a person looks on."""
    if not sys.stderr.isatty():
        return items
    # rich takes 60 ms to import, which a pipe need not wait for.
    from rich.console import Console
    from rich.progress import track

    return track(items, "cases", total=total, console=Console(stderr=True), transient=True)
