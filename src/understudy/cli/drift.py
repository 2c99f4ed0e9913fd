"""``understudy drift``: shows where a deployment and the mock, or another deployment, part."""

import os

import click

from understudy.cli.command_options import DriftOptions
from understudy.cli.options import takes


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_DRIFT", "show_default": True})
@takes(DriftOptions)
def drift(options: DriftOptions) -> None:
    """Show where a deployment and the mock differ, and why.

    Sends the probes of the rules twice to the deployment and once to the mock; what differs between
    the first two is noise. Compares statuses, error codes, members and their types, headers and
    pictures, but never identifiers, dates or texts. Compares the document that the deployment
    publishes with ours, and with the last one seen.
    """
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli.drifting import drifted

    click.get_current_context().exit(drifted(options, os.environ))
