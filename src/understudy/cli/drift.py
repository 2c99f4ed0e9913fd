"""``understudy drift``: shows where a deployment and the mock, or another deployment, part."""

import os
from pathlib import Path
from typing import Any

import click

from understudy.cli import completion
from understudy.cli.deployment_options import limit_options
from understudy.cli.option_types import rule_ids


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_DRIFT", "show_default": True})
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    required=True,
    help="Target file of the deployment, which gets every request twice.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    help="Target file of the deployment to compare it with.  [default: the mock]",
)
@click.option(
    "--facts",
    "mock_facts",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FACTS.yaml",
    help="Let the mock behave as `understudy learn` wrote; repeatable.",
)
@click.option(
    "--rules",
    callback=rule_ids,
    metavar="ID,…",
    shell_complete=completion.rules,
    help="Send only the probes of these rules.",
)
@limit_options
@click.option(
    "--markdown",
    type=click.Path(path_type=Path),
    metavar="FILE.md",
    help="Write the differences as Markdown, for a pull request.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the differences as JSON.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
@click.option("--verbose", is_flag=True, help="Print a command for every difference.")
def drift(**options: Any) -> None:
    """Show where a deployment and the mock part, and whose fault it is.

    The probes of the rules are sent to the deployment, there again, and to the mock. What differs
    between the first two is noise. Compared are statuses, error codes, members and their types,
    headers and pictures; never identifiers, dates or texts.
    """
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli.drifting import drifted, typed

    click.get_current_context().exit(drifted(typed(options), os.environ))
