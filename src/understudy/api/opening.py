"""Opens the deployment that a command or a test names: a target file, an address, or the mock."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from understudy.api.options import DeploymentOptions, target_from
from understudy.errors import StartupError
from understudy.verify.clock import ClockState
from understudy.verify.deployment import Deployment, deployment_of, ledger_of, locked, over_after
from understudy.verify.run import gateway_of
from understudy.verify.shapes import bundled
from understudy.verify.target import expect_sendable
from understudy.verify.undo import Undo
from understudy.verify.undo_journal import read_journal


def open_deployment(
    options: DeploymentOptions, environment: Mapping[str, str], stood: ClockState | None = None
) -> Deployment:
    """Returns the deployment that the options name; nothing is sent to it yet.

    Args:
        options: What the caller says.
        environment: Where ``env:NAME`` in a target file is looked up.
        stood: The clock's state before an earlier run moved it; None if no run did.

    Raises:
        StartupError: A file cannot be read, or the options contradict one another.
    """
    target = target_from(options, environment)
    if options.is_mock:
        from understudy.api.in_process import mock_deployment  # noqa: PLC0415 - none by a socket

        deployment = mock_deployment(target, options.seed)
    else:
        expect_sendable(target, str(options.target_file or "--base-url"))
        deployment = deployment_of(target, options.target_file, stood)
    allowance = replace(
        deployment.allowance,
        requests=options.max_requests,
        is_over=over_after(options.max_time),
    )
    return replace(deployment, allowance=allowance)


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
