"""``understudy verify``: judges a deployment by the contract."""

import gc
import os
import sys
from pathlib import Path
from typing import Any

import click

from understudy.cli import completion
from understudy.cli.deployment_options import address_options, limit_options
from understudy.cli.document_options import overlay_option
from understudy.cli.option_types import rule_ids
from understudy.cli.report_options import (
    baseline_option,
    fail_on_option,
    printing_options,
    report_option,
)

COLLECTED_AFTER = 50_000
"""Objects that are allocated between two collections of garbage."""

OLDER_AFTER = (50, 50)
"""Collections until those that survived one or two are looked at again: exchanges, which stay."""

TABLES = "HYPOTHESIS_STORAGE_DIRECTORY"
"""The environment variable that names the directory for Hypothesis's tables of characters."""


def _keep_tables() -> None:
    """Lets Hypothesis keep its tables in the user's cache, unless the environment says where.

    In the current directory, where they would be by default, the first run anew spends a second on
    them, and leaves a directory behind.
    """
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # a user without a home
        return
    os.environ.setdefault(TABLES, str(caches / "understudy" / "hypothesis"))


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_VERIFY", "show_default": True})
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="Target file: what to judge, and what is permitted.  [default: the mock]",
)
@address_options
@click.option(
    "--document",
    type=click.Path(path_type=Path),
    help="OpenAPI document to judge by, instead of the file's; `published` for the deployment's own.",
)
@overlay_option
@click.option(
    "--state-model",
    type=click.Path(path_type=Path),
    help="State-model file that corrects what is inferred from the document of another service.",
)
@click.option(
    "--rules",
    callback=rule_ids,
    shell_complete=completion.rules,
    metavar="ID,…",
    help="Judge only these rules; `understudy rules` lists them.",
)
@report_option
@click.option("--seed", default=0, help="Seed for generated cases.")
@limit_options
@click.option(
    "--workers", type=click.IntRange(1, 16), default=1, help="Threads for generated cases."
)
@click.option(
    "--examples",
    envvar="UNDERSTUDY_EXAMPLES",
    metavar="URL",
    help="Store, such as valkey://host/0, that shares between machines what broke a scenario.",
)
@fail_on_option
@click.option(
    "--facts",
    type=click.Path(path_type=Path),
    metavar="FACTS.yaml",
    help="Judge by what `understudy learn` wrote of the deployment, instead of assuming it.",
)
@baseline_option
@click.option(
    "--cases",
    type=click.IntRange(0),
    default=None,
    help="Generated cases per operation; 0 for none.  [default: 10 for the mock, else 0]",
)
@click.option(
    "--har",
    type=click.Path(path_type=Path),
    help="Judge recorded traffic (HAR 1.2) instead of sending.",
)
@click.option(
    "--plan",
    "is_plan",
    is_flag=True,
    help="Print the requests that would be sent, and send nothing.",
)
@click.option(
    "--init", "is_init", is_flag=True, help="Ask questions, and write a target file to --target."
)
@click.option(
    "--template", "is_template", is_flag=True, help="Print a target file with every key, and stop."
)
@click.option(
    "--schema", "is_schema", is_flag=True, help="Print the JSON Schema of target files, and stop."
)
@printing_options
@click.option("--quiet", is_flag=True, help="Print no progress.")
def verify(**options: Any) -> None:
    """Judge a deployment by the contract.

    The contract is the OpenAPI documents and every rule of prose; `understudy rules` lists them.

    Exit codes: 0 no findings; 1 findings; 2 the run could not start; 3 the run was stopped, or
    (with --fail-on not-checked) rules were not checked that could have been; 4 a part of verify
    itself failed.
    """
    if options["is_schema"]:
        from understudy.record_schemas import schema_text
        from understudy.verify.target_schema import target_schema

        click.echo(schema_text(target_schema()), nl=False)
        return
    # What a run exchanges lives as long as it does: each collection would walk all of it.
    gc.set_threshold(COLLECTED_AFTER, *OLDER_AFTER)
    gc.disable()  # modules live as long as the process: collections among them take a tenth of a run
    _keep_tables()
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli import verifying

    gc.freeze()
    gc.enable()
    if options["is_template"]:
        from understudy.cli.init_target import template

        click.echo(template())
        return
    if options["is_init"]:
        from understudy.cli.init_target import ask_for_target

        ask_for_target(options["target"] or Path("target.toml"))
        return
    typed = verifying.typed(options)
    if options["is_plan"] and typed.reporting.is_json:
        msg = "--json prints the report of a run, and --plan sends nothing; leave one out."
        raise click.UsageError(msg)
    if options["is_plan"]:
        verifying.print_plan(typed, os.environ)
        return
    sys.exit(verifying.verify(typed, os.environ))
