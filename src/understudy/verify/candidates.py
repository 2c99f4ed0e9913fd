"""Chooses the probes of a run, each with the reason why it cannot run."""

from collections.abc import Collection, Iterable, Sequence

from understudy.deployments.deployment import Deployment
from understudy.openapi.loader import Document
from understudy.verify.catalogue import rules_of
from understudy.verify.needs import lacking
from understudy.verify.ordering import in_order
from understudy.verify.probing import PROBES, Probe


def chosen(
    deployment: Deployment, document: Document, rules: Sequence[str] = ()
) -> list[tuple[Probe, str | None]]:
    """Returns the probes of the rules to judge, each with the reason why it cannot run or None.

    They are in the order in which they begin; those that cannot run come last. There are none for
    another service.

    Raises:
        StartupError: There is no such rule, or it is not of the service.
    """
    probes = candidates(deployment, rules_of(document, rules))
    ready = in_order([probe for probe, reason in probes if reason is None])
    excluded = [(probe, reason) for probe, reason in probes if reason is not None]
    return [*((probe, None) for probe in ready), *excluded]


def candidates(deployment: Deployment, wanted: Collection[str]) -> list[tuple[Probe, str | None]]:
    """Returns the probes of the wanted rules, each with the reason why it cannot run or None."""
    return [
        (probe, lacking(probe.needs, deployment.target, deployment.time))
        for probe in PROBES
        if any(rule in wanted for rule in probe.rules)
    ]


def needs_of(candidates: Iterable[tuple[Probe, str | None]]) -> set[str]:
    """Returns what the probes need that can run."""
    return {need for probe, reason in candidates if reason is None for need in probe.needs}
