"""Prints what could not be taken from a document as it was written, before a command goes on."""

from collections.abc import Sequence
from pathlib import Path

import click

from understudy.openapi.diagnostics import Diagnostic

MOST = 5
"""Losses that are printed; ``understudy lint`` shows all."""


def print_losses(path: Path, losses: Sequence[Diagnostic]) -> None:
    """Prints the first losses of a document on standard error, errors first, one line each."""
    for loss in sorted(losses, key=lambda loss: loss.severity)[:MOST]:
        click.secho(f"{path}: {loss.severity}: {loss}", fg="yellow", err=True)
    if len(losses) > MOST:
        click.secho(
            f"and {len(losses) - MOST:,} more; `understudy lint {path}` shows all {len(losses):,}.",
            fg="yellow",
            err=True,
        )
