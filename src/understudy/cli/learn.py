"""``understudy learn``: writes down how a deployment reads what the interface leaves open."""

import os

import click

from understudy.cli.command_options import LearnOptions
from understudy.cli.options import takes


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_LEARN", "show_default": True})
@takes(LearnOptions)
def learn(options: LearnOptions) -> None:
    """Learn how a deployment answers what the interface leaves open.

    Sends the smallest requests that tell the possible readings apart, undoes what they change, and
    writes dated facts: `serve --facts` behaves so, and `verify --facts` judges by them.
    """
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli.learning import learnt

    if options.is_plan and options.is_json:
        msg = "--json prints the facts of a run, and --plan sends nothing; leave one out."
        raise click.UsageError(msg)
    if options.is_plan:
        from understudy.cli.learning import print_plan

        print_plan(options.where, options.rules, os.environ)
        return
    click.get_current_context().exit(learnt(options, os.environ))
