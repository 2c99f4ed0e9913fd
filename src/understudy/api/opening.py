"""Opens the deployment that a command or a test names: a target file, an address, or the mock."""

from collections.abc import Mapping
from dataclasses import replace

from understudy.api.options import DeploymentOptions, target_from
from understudy.verify.clock import ClockState
from understudy.verify.deployment import Deployment, deployment_of, over_after
from understudy.verify.target import expect_sendable


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
