"""Chooses the probes of a run, each with the reason why it cannot run."""

from collections.abc import Collection, Iterable, Sequence

from understudy.deployments.deployment import Deployment
from understudy.openapi.loader import Document
from understudy.verify.catalogue import rules_of
from understudy.verify.needs import lacking
from understudy.verify.ordering import in_order
from understudy.verify.probing import PROBES, Probe
from understudy.verify.shard_works import probe_of
from understudy.verify.shards import Division


def chosen(
    deployment: Deployment,
    document: Document,
    rules: Sequence[str] = (),
    division: Division | None = None,
) -> list[tuple[Probe, str | None]]:
    """Returns the probes of the rules to judge, each with the reason why it cannot run or None.

    They are in the order in which they begin; those that cannot run come last. There are none for
    another service.

    Raises:
        StartupError: There is no such rule, or it is not of the service.
    """
    probes = candidates(deployment, rules_of(document, rules), division or Division())
    ready = in_order([probe for probe, reason in probes if reason is None])
    excluded = [(probe, reason) for probe, reason in probes if reason is not None]
    return [*((probe, None) for probe in ready), *excluded]


def candidates(
    deployment: Deployment, wanted: Collection[str], division: Division
) -> list[tuple[Probe, str | None]]:
    """Returns the probes of the wanted rules, each with the reason why it cannot run or None.

    Args:
        deployment: The deployment.
        wanted: Ids of the rules.
        division: The work that is left to other shards.
    """

    def reason(probe: Probe) -> str | None:
        if not division.has(probe_of(probe)):
            return division.reason(probe_of(probe))
        return lacking(probe.needs, deployment.target, deployment.time)

    return [(it, reason(it)) for it in PROBES if any(rule in wanted for rule in it.rules)]


def needs_of(candidates: Iterable[tuple[Probe, str | None]]) -> set[str]:
    """Returns what the probes need that can run."""
    return {need for probe, reason in candidates if reason is None for need in probe.needs}
