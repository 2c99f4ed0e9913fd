"""``understudy merge``: makes one report of the reports of several runs."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from understudy.cli.report_options import (
    baseline_option,
    fail_on_option,
    printing_options,
    report_option,
)


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_MERGE"})
@click.argument(
    "files", metavar="REPORT...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@report_option
@fail_on_option
@baseline_option
@printing_options
def merge(files: tuple[Path, ...], **options: Any) -> None:
    """Make one report of several reports of verify.

    Each REPORT is a file that `understudy verify --shard I/N --report json=FILE` wrote. The exit code is that of a run
    that did the work of all; where the report of a shard is missing, that run was stopped.
    """
    # The judge takes a second to import, which other commands need not wait for.
    from understudy.cli.reporting import prepared, reported, reporting_of
    from understudy.verify.merging import merged, read_reports

    reporting = reporting_of(options)
    accepted = prepared(reporting)
    reports = read_reports(files)
    secrets = {mark: name for report in reports for mark, name in report.secrets.items()}
    outcome = merged([report.outcome for report in reports])
    sys.exit(reported(reporting, outcome, secrets, accepted, os.environ))
