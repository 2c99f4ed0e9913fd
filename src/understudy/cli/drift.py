"""``understudy drift``: shows where a deployment and the mock, or another deployment, part."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from understudy.cli import completion
from understudy.cli.deployment_options import limit_options
from understudy.cli.option_types import rule_ids
from understudy.cli.report_options import FAIL_ON, parsed_by


def _formats() -> Collection[str]:
    from understudy.drift.reports import FORMATS

    return FORMATS


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_DRIFT", "show_default": True})
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="Target file of the deployment, which gets every request twice.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    help="Target file of the deployment to compare it with.  [default: the mock]",
)
@click.option(
    "--documents",
    nargs=2,
    type=click.Path(path_type=Path),
    metavar="OLD NEW",
    help="Compare two OpenAPI documents, and send nothing.",
)
@click.option(
    "--facts",
    "mock_facts",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FACTS.yaml",
    help="Let the mock behave as `understudy learn` wrote, and name what changed; repeatable.",
)
@click.option(
    "--rules",
    callback=rule_ids,
    metavar="ID,…",
    shell_complete=completion.rules,
    help="Send only the probes of these rules.",
)
@click.option(
    "--har",
    "archive",
    type=click.Path(path_type=Path),
    metavar="FILE.har",
    help="Send recorded requests too, such as those of `understudy generate --format har`.",
)
@click.option(
    "--walks",
    type=click.IntRange(min=0),
    default=0,
    help="Random walks through each scenario: edits, avatars, tokens.",
)
@click.option("--seed", default=0, help="Seed of the walks.")
@limit_options
@click.option(
    "--report",
    "reports",
    multiple=True,
    callback=parsed_by(_formats),
    metavar="FORMAT=FILE",
    help="Write a report: json, html, sarif or markdown; or `github`, without a file:"
    " annotations and the job summary. Repeatable.",
)
@click.option(
    "--history",
    type=click.Path(path_type=Path),
    metavar="FILE.json",
    help="File that keeps when a difference was first and last seen.  [default: beside --target]",
)
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="What sets the exit code; repeatable.  [default: findings]",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="File of known differences, each accepted until a date.",
)
@click.option(
    "--write-baseline",
    type=click.Path(path_type=Path),
    help="Write a baseline of what is found, accepted for 30 days.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the differences as JSON.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
@click.option("--verbose", is_flag=True, help="Print both sides of every difference.")
def drift(**options: Any) -> None:
    """Show where a deployment and the mock differ, and why.

    Sends the probes of the rules twice to the deployment and once to the mock; what differs between
    the first two is noise. Compares statuses, error codes, members and their types, headers and
    pictures, but never identifiers, dates or texts. Compares the document that the deployment
    publishes with ours, and with the last one seen.
    """
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli.drifting import drifted, typed

    click.get_current_context().exit(drifted(typed(options), os.environ))
