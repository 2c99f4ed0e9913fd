"""``understudy learn``: writes down how a deployment reads what the interface leaves open."""

import os
from pathlib import Path
from typing import Any

import click

from understudy.cli import completion
from understudy.cli.option_types import URL, rule_ids


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_LEARN", "show_default": True})
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="Target file: what to ask, and what is permitted.  [default: the mock]",
)
@click.option("--base-url", type=URL, help="Base URL of the resource API, instead of the file's.")
@click.option(
    "--auth-url", type=URL, help="Base URL of the authorization server, instead of the file's."
)
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
@click.option("--max-requests", type=click.IntRange(1), help="Send at most this many requests.")
@click.option(
    "--max-time", type=click.FloatRange(0, min_open=True), help="Stop after this many seconds."
)
@click.option(
    "--mode",
    type=click.Choice(["observe", "own", "full"]),
    help="What may be changed: nothing, the named account, or anything.",
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

    click.get_current_context().exit(learnt(typed(options), os.environ))
