"""Compares a deployment with the mock or with another one: what ``understudy drift`` runs."""

from collections import ChainMap
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import mock_deployment
from understudy.deployments.deployment import Deployment
from understudy.deployments.target import Target
from understudy.drift.comparing import Drift, compare
from understudy.interface.facts import choices_of, load_facts
from understudy.verify.catalogue import catalogue
from understudy.verify.run import RunOptions


def mock_beside(target: Target, facts: Sequence[Path] = ()) -> Deployment:
    """Returns a new mock to compare a deployment with: people of its own in the same parts.

    Args:
        target: The deployment's, whose permissions count for the mock too.
        facts: Facts files that the mock follows; of two for one question the last counts.

    Raises:
        StartupError: A facts file cannot be read.
    """
    rules = catalogue().values()
    choices = [choices_of(load_facts(path, rules), rules) for path in facts]
    # As another's deployment: an assumption that the two read otherwise is nobody's fault.
    own = msgspec.structs.replace(
        TARGET, is_mock=False, mode=target.writes, permit=target.permit, document=target.document
    )
    return mock_deployment(own, choices=dict(ChainMap(*reversed(choices))))


def drift(deployment: Deployment, other: Deployment, options: RunOptions) -> Drift:
    """Compares two open deployments, undoes what was changed, and closes them.

    Args:
        deployment: The deployment, which gets the requests twice.
        other: The one that it is compared with.
        options: The rules whose probes are sent, and who listens.

    Raises:
        StartupError: A run cannot begin, or nothing responds.
    """
    with closing(deployment), closing(other):
        return compare(deployment, other, options)
