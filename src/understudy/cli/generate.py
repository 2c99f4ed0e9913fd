"""``understudy generate``: writes edge-case requests for the tool that is already open."""

import sys
from pathlib import Path
from typing import Any

import click

from understudy.cli import completion
from understudy.cli.document_options import overlay_option
from understudy.cli.option_types import FORMAT_NAME, URL


@click.command(context_settings={"show_default": True})
@click.argument(
    "operations", nargs=-1, metavar="[OPERATION]...", shell_complete=completion.operations
)
@click.option(
    "--count",
    type=click.IntRange(1),
    default=50,
    help="Number of cases for each operation, or of sequences for each collection.",
)
@click.option(
    "--sequences",
    "is_in_sequences",
    is_flag=True,
    help="Write sequences instead, by the collections that `understudy infer` shows: create an item,"
    " use it, delete it, and see that it is gone.",
)
@click.option(
    "--state-model",
    type=click.Path(path_type=Path),
    metavar="YAML",
    help="With --sequences, state-model file that corrects which collections are inferred.",
)
@click.option(
    "--kind",
    type=click.Choice(["valid", "invalid", "all"]),
    default="all",
    help="Cases that the contract accepts, that it refuses, or all, with those it leaves open.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    help="Seed for cases; the same seed gives the same bytes.",
)
@click.option(
    "--format",
    "name",
    type=FORMAT_NAME,
    default="curl",
    help="Format of the output.",
)
@click.option(
    "--worlds",
    "is_in_worlds",
    is_flag=True,
    help="With k6, at a mock: give each virtual user a world of its own, and end it afterwards.",
)
@click.option("--json", "is_json", is_flag=True, help="The same as --format jsonl.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File to write, or directory for bruno; standard output by default.",
)
@click.option(
    "--base-url",
    type=URL,
    help="Base URL of the resource API.  [default: the target's, or the mock's]",
)
@click.option(
    "--auth-url",
    type=URL,
    help="Base URL of the authorization server.  [default: the target's, or the mock's]",
)
@click.option(
    "--document",
    type=click.Path(path_type=Path),
    help="OpenAPI (3.0 to 3.2) or Swagger 2.0 document that describes the operations, instead of the bundled ones.",
)
@overlay_option
@click.option(
    "--minimize-set",
    "size",
    type=click.IntRange(1),
    metavar="N",
    help="Keep the N cases that together cover most, and print how much they cover.",
)
@click.option(
    "--include-secrets",
    is_flag=True,
    help="Write the values of tokens and passwords into the files, not only variables.",
)
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="Target file of verify: the test data for cases, and what --send may do.",
)
@click.option(
    "--send",
    "is_sent",
    is_flag=True,
    help="Send the cases to the target, or to the mock in this process, and add the outcomes.",
)
@click.option("--only-failing", is_flag=True, help="With --send, keep only cases that failed.")
@click.option("--force", is_flag=True, help="Replace the files of an earlier run; others stay.")
def generate(operations: tuple[str, ...], **options: Any) -> None:
    """Write edge-case requests of operations as files.

    Takes every operation of the document if none is named. With --send, exit code 1 means that
    cases failed.
    """
    # Importing jsonschema-rs and reading documents takes 0.1 s, which --help need not wait for.
    from understudy.cli import generate_options, generating

    sys.exit(generating.generate(generate_options.typed(operations, options)))
