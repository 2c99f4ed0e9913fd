"""``understudy record``: stands between an app and a deployment, and judges what passes."""

import os

import click

from understudy.cli.command_options import RecordOptions
from understudy.cli.options import takes


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_RECORD", "show_default": True})
@takes(RecordOptions)
def record(options: RecordOptions) -> None:
    """Judge and record the traffic between an app and a deployment.

    Point the app at the proxy instead of the deployment. Every exchange is judged by the document
    and every rule, as by `verify --har`; a finding is one line. Ctrl-C ends it.
    """
    # The judge takes a second to import, which other commands need not wait for.
    from understudy.cli.recording import recorded

    click.get_current_context().exit(recorded(options, os.environ))
