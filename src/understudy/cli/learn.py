"""``understudy learn``: writes down how a deployment reads what the interface leaves open."""

import os
from pathlib import Path
from typing import Any

import click

from understudy.cli import completion
from understudy.cli.deployment_options import address_options, limit_options
from understudy.cli.option_types import rule_ids


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_LEARN", "show_default": True})
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="Target file: what to ask, and what is permitted.  [default: the mock]",
)
@address_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FACTS.yaml",
    help="Facts file to write; one that exists is brought up to date, and what changed is printed.",
)
@click.option(
    "--rules",
    callback=rule_ids,
    metavar="ID,…",
    shell_complete=completion.rules,
    help="Settle only these questions, by the ids of their rules.",
)
@limit_options
@click.option(
    "--plan",
    "is_plan",
    is_flag=True,
    help="Print the requests that would be sent and how they are undone, and send nothing.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the facts as JSON.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
def learn(**options: Any) -> None:
    """Learn how a deployment answers what the interface leaves open.

    Sends the smallest requests that tell the possible readings apart, undoes what they change, and
    writes dated facts: `serve --facts` behaves so, and `verify --facts` judges by them.
    """
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli.learning import learnt, typed

    wanted = typed(options)
    if options["is_plan"] and wanted.is_json:
        msg = "--json prints the facts of a run, and --plan sends nothing; leave one out."
        raise click.UsageError(msg)
    if options["is_plan"]:
        from understudy.cli.learning import print_plan

        print_plan(wanted.where, wanted.rules, os.environ)
        return
    click.get_current_context().exit(learnt(wanted, os.environ))
