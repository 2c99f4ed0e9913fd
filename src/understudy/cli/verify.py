"""``understudy verify``: judges a deployment by the contract."""

import gc
import os
import sys
from pathlib import Path

import click

from understudy.cli.command_options import VerifyOptions
from understudy.cli.options import takes

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
@takes(VerifyOptions)
def verify(options: VerifyOptions) -> None:
    """Judge a deployment by the contract.

    The contract is the OpenAPI documents and every rule of prose; `understudy rules` lists them.

    Exit codes: 0 no findings; 1 findings; 2 the run could not start; 3 the run was stopped, or
    (with --fail-on not-checked) rules were not checked that could have been; 4 a part of verify
    itself failed.
    """
    if options.is_schema:
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
    if options.is_template:
        from understudy.cli.init_target import template

        click.echo(template())
        return
    if options.is_init:
        from understudy.cli.init_target import ask_for_target

        ask_for_target(options.target or Path("target.toml"))
        return
    if options.is_plan and options.reporting.json:
        msg = "--json prints the report of a run, and --plan sends nothing; leave one out."
        raise click.UsageError(msg)
    if options.is_plan:
        verifying.print_plan(options, os.environ)
        return
    sys.exit(verifying.verify(options, os.environ))
