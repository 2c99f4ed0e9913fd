"""Gives a shard its part of what a target permits, and files of its own.

Shards run at the same time on several machines, so none may spend what was counted for all of them,
and none but the last moves the clock, which would let the tokens and hours of the others pass.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import msgspec

from understudy.deployments.clock import Time, machine_clock
from understudy.deployments.deployment import Deployment
from understudy.deployments.target import Target

_NAME: Final = re.compile(r"\.(\d+|last)-of-\d+(?=\.journal$)")
"""The part of a journal's name that names a shard."""

ShareOf = Callable[[int], int]
"""Returns the part of a total that a shard may use."""


def deployment_of_shard(
    deployment: Deployment, name: str, share_of: ShareOf, *, is_last: bool
) -> Deployment:
    """Returns a deployment as one of several shards uses it at the same time.

    Args:
        deployment: The deployment.
        name: The shard, such as ``2/4``.
        share_of: Its part of a total.
        is_last: True if it runs after the others, and so may move the clock.
    """
    target = deployment.target
    most = target.permit.max_tokens
    if most is not None:
        permit = msgspec.structs.replace(target.permit, max_tokens=share_of(most))
        target = msgspec.structs.replace(target, permit=permit)
    shared = replace(
        deployment,
        target=target,
        journal=_file_of(deployment.journal, name),
    )
    shared = (
        shared if deployment.shared_ledger is not None else _with_own_ledger(shared, name, share_of)
    )
    if is_last or deployment.time.advance is None:
        return shared
    allowance = replace(deployment.allowance, pause=timedelta(0))
    return replace(shared, time=_fixed(deployment.time), allowance=allowance)


def target_file_of(journal: Path) -> Path:
    """Returns the target file that a journal lies beside, also the journal of a shard."""
    return journal.with_name(_NAME.sub("", journal.name)).with_suffix(".toml")


def _with_own_ledger(deployment: Deployment, name: str, share_of: ShareOf) -> Deployment:
    target: Target = deployment.target
    budget = msgspec.structs.replace(
        target.budget,
        anonymous=share_of(target.budget.anonymous),
        token=share_of(target.budget.token),
    )
    return replace(
        deployment,
        target=msgspec.structs.replace(target, budget=budget),
        ledger=_file_of(deployment.ledger, name),
    )


def _file_of(path: Path | None, name: str) -> Path | None:
    """Returns the file of a shard, such as ``staging.2-of-4.journal``."""
    if path is None:
        return None
    return path.with_name(f"{path.stem}.{name.replace('/', '-of-')}{path.suffix}")


def _fixed(time: Time) -> Time:
    """Returns a mock's time that passes by waiting, and is not moved."""
    return Time(time.now, machine_clock().wait)
