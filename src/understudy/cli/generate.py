"""``understudy generate``: writes edge-case requests for the tool that is already open."""

import sys
from pathlib import Path
from typing import Any

import click

FORMATS = ("curl", "http", "har", "postman", "bruno", "k6", "pytest", "jsonl", "csv")


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
@click.option("--base-url", help="Of the resource API.  [default: the target's, or the mock's]")
@click.option(
    "--auth-url", help="Of the authorization server.  [default: the target's, or the mock's]"
)
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
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="Target file of verify: whom the cases are about, and for --send what is permitted.",
)
@click.option(
    "--send",
    "is_sent",
    is_flag=True,
    help="Fire them at the target, or at the mock in this process, and add the outcome.",
)
@click.option("--only-failing", is_flag=True, help="With --send, keep those that failed.")
def generate(operations: tuple[str, ...], **options: Any) -> None:
    """Write edge-case requests of operations as files.

    Takes every operation of the document if none is named. With --send, exit code 1 means that
    cases failed.
    """
    # jsonschema-rs and the documents take 0.1 s, which other commands need not wait for.
    from understudy.cli import generating

    sys.exit(generating.generate(generating.typed(operations, options)))
