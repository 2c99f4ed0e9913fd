"""Undoes what a killed run of verify left changed, by the journal that it kept."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.errors import StartupError
from understudy.verify.deployment import ledger_of, locked
from understudy.verify.run import gateway_of
from understudy.verify.shapes import bundled
from understudy.verify.undo import Undo
from understudy.verify.undo_journal import read_journal


def restore(journal: Path, target_file: Path, environment: Mapping[str, str]) -> list[str]:
    """Restores what a run left changed.

    Args:
        journal: The journal of the run.
        target_file: The target file of the run.
        environment: Where ``env:NAME`` in the target file is looked up.

    Returns:
        What could not be restored, one line each.

    Raises:
        StartupError: A file cannot be read, a run still uses it, or the two are not of one
            deployment.
    """
    state = read_journal(journal)
    opened = open_deployment(DeploymentOptions(target_file), environment, state.clock)
    deployment = replace(opened, journal=journal)
    with closing(deployment), locked(deployment):
        base_url = deployment.target.base_url
        if base_url != state.base_url:
            msg = (
                f"{journal} is of {state.base_url}, and {target_file} of {base_url}; "
                "name the target file of that run with --target."
            )
            raise StartupError(msg)
        ledger = ledger_of(deployment)
        document = deployment.document or bundled("service.yaml")
        gateway = gateway_of(deployment, document, ledger)
        with closing(ledger):
            return Undo(gateway, journal, state).restore()
