"""Compares a deployment with the mock or with another deployment, for ``understudy drift``."""

from collections import ChainMap
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec

from understudy.api.bundled_target import SITE, TARGET
from understudy.api.in_process import InProcess, mock_deployment
from understudy.drift.comparing import Drift, MockBeside, compare
from understudy.drift.differences import ExplainedBy
from understudy.drift.mirrored_mock import (
    AccountSeen,
    credential_fixtures,
    mirrored_baseline,
    mirrored_target,
    read_accounts,
)
from understudy.drift.observing import recorded
from understudy.interface.deployment_profile import load_profile
from understudy.interface.facts import Facts, choices_of
from understudy.interface.recognition import interface_operations
from understudy.interface.rules import bundled_choices
from understudy.mock.app import Mock
from understudy.mock.server.worlds import Baseline
from understudy.mock.store.vocabulary import vocabulary_of
from understudy.verify.catalogue import catalogue
from understudy.verify.deployment import Deployment
from understudy.verify.permits import BudgetSpent, OutOfTime
from understudy.verify.recorded_traffic import read_recording
from understudy.verify.run import Phase, RunOptions
from understudy.verify.scenarios import walks
from understudy.verify.shapes import bundled
from understudy.verify.target import Credentials, Target


def mock_beside(deployment: Deployment, facts: Sequence[Facts] = ()) -> Deployment:
    """Returns a new mock to compare a deployment with, with the accounts of that deployment.

    If the target file names neither people nor credentials, no account can be read, and the mock
    has its own people. The mock of another service has no people, but takes the same credential.

    Args:
        deployment: The deployment; its permissions apply to the mock too, and so do the choices of
            its profile.
        facts: Facts that the mock follows; the last one wins for each rule, and the choices over all.

    Raises:
        StartupError: The deployment cannot be used.
    """
    rules = catalogue().values()
    followed = [choices_of(each, rules) for each in facts]
    target = deployment.target
    if target.like is not None:
        chosen = load_profile(Path(target.like)).get("choices", ())
        followed.append(bundled_choices(chosen))
    choices = dict(ChainMap(*reversed(followed)))
    document = deployment.document
    if document is not None and not interface_operations(document):
        # it has no accounts to read, and the mock keeps one state for all callers
        only = Credentials(access_token=target.credentials.access_token)
        mirrored = mirrored_target(msgspec.structs.replace(target, credentials=only), (), SITE)
        fixtures = credential_fixtures(mirrored)
        beside = mock_deployment(
            mirrored, choices=choices, seeding=lambda _mock: (fixtures, mirrored)
        )
        return _as_patient(beside, deployment)
    accounts = _accounts(deployment)
    if not accounts:
        # is_mock=False: where the two read an open rule differently, neither breaks it
        kept = ("permit", "document", "overlays", "vocabulary", "state_model", "like")
        own = msgspec.structs.replace(
            TARGET,
            is_mock=False,
            mode=target.writes,
            **{name: getattr(target, name) for name in kept},
        )
        return _as_patient(mock_deployment(own, choices=choices), deployment)

    def seeding(mock: Mock) -> tuple[Baseline, Target]:
        mirrored = mirrored_target(target, accounts, TARGET.base_url)
        return mirrored_baseline(mirrored, accounts, vocabulary_of(mock.world)), mirrored

    return _as_patient(mock_deployment(target, choices=choices, seeding=seeding), deployment)


def _as_patient(mock: Deployment, deployment: Deployment) -> Deployment:
    """Returns a mock that waits as long for an hourly limit as a deployment, as codes expire."""
    return replace(mock, allowance=replace(mock.allowance, pause=deployment.allowance.pause))


def _accounts(deployment: Deployment) -> list[AccountSeen]:
    """Returns the accounts of a deployment; none if the budget does not suffice to read them."""
    try:
        return read_accounts(deployment)
    except (BudgetSpent, OutOfTime):
        return []


def comparison_phases(
    deployment: Deployment, *, number: int, seed: int = 0, archive: Path | None = None
) -> tuple[tuple[str, Phase], ...]:
    """Returns the phases of a comparison after the probes, each with its name.

    Args:
        deployment: The deployment that is compared.
        number: Number of random walks through each scenario.
        seed: Seed of the walks.
        archive: HAR file with recorded traffic of the deployment; None for no replay.

    Raises:
        StartupError: The archive cannot be read.
    """
    phases: list[tuple[str, Phase]] = []
    if archive is not None:
        target, document = deployment.target, deployment.document or bundled("service.yaml")
        exchanges = read_recording(archive, target, document, is_sent=False)
        phases.append(("recorded requests", recorded(exchanges, target)))
    if number:
        phases.append(("walks", walks(number, seed)))
    return tuple(phases)


def drift(
    deployment: Deployment,
    other: Deployment,
    options: RunOptions,
    explained_by: ExplainedBy | None = None,
    *,
    facts: Sequence[Facts] = (),
    is_minimised: bool = True,
) -> Drift:
    """Compares two open deployments, undoes all changes, and closes both.

    Args:
        deployment: The deployment, which gets the requests twice.
        other: The deployment or mock that it is compared with.
        options: The rules whose probes are sent, and the listeners to progress.
        explained_by: Finds the change of the documents behind a difference; None without documents.
        facts: The facts that were learnt of the deployment and that the mock follows.
        is_minimised: True to search the shortest sequences, which takes further requests.

    Raises:
        StartupError: A run cannot begin, or a deployment does not respond.
    """
    is_mock = isinstance(other.transport, InProcess)
    own, others = deployment.target.known.slug, other.target.known.slug
    with closing(deployment), closing(other):
        return compare(
            deployment,
            other,
            options,
            explained_by,
            MockBeside(
                has_same_people=is_mock and own is not None and own == others,
                facts=dict(ChainMap(*(each.by_rule() for each in reversed(facts)))),
                reset=_resetting(other) if is_minimised else None,
            ),
        )


def _resetting(other: Deployment) -> Callable[[], object] | None:
    """Returns a function that restores the mock's present state; None for another deployment."""
    if not isinstance(other.transport, InProcess):
        return None
    world = other.transport.world
    beginning = world.snapshot()
    return lambda: world.become(beginning)
