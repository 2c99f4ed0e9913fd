"""Learns how a deployment reads what the interface leaves open: what ``understudy learn`` runs."""

from contextlib import closing

from understudy.verify.deployment import Deployment
from understudy.verify.learner import Learnt, learn
from understudy.verify.run import RunOptions


def learn_from(deployment: Deployment, options: RunOptions) -> Learnt:
    """Learns from an open deployment, undoes what was changed, and closes it.

    Raises:
        StartupError: A rule leaves nothing open, or the run cannot begin.
    """
    with closing(deployment):
        return learn(deployment, options)
