"""Lists the work of a run that shards divide: probes, cases of operations, scenarios, collections."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from understudy.deployments.clock import machine_clock
from understudy.deployments.target import Target
from understudy.interface.operations import QR_CODE
from understudy.interface.recognition import interface_operations
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation, operations, path_shape
from understudy.openapi.resources.model import Resource, ResourceModel
from understudy.verify.inferred.sequences import COSTS, source_of
from understudy.verify.needs import lacking
from understudy.verify.probing import PROBES, Probe
from understudy.verify.shards import Division, Shard, Work, divide

CASES: Final = "generated cases"
SCENARIOS: Final = "scenarios"
FACTS: Final = Work("facts", 20, frozenset({"own", "other"}))
"""The experiments of what was learnt, which look at both accounts."""

COST_OF_CASES: Final = 100
"""The approximate number of requests of an operation's cases, or of a scenario."""

ACCOUNTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("owner", "reader", "auth_only", "no_auth", "expired", "api_key"), "own"),
    **dict.fromkeys(
        ("slug", "emails", "hashes", "two_emails", "issued", "hidden_contact_slug"), "own"
    ),
    **dict.fromkeys(("other", "other_slug", "other_emails", "other_hashes"), "other"),
    **dict.fromkeys(("private", "private_slug"), "private"),
    **dict.fromkeys(("password", "two_step", "other_person"), "signing in"),
    "disabled": "disabled",
}
"""The account that a need or a credential of a probe belongs to.

An API key may be of any account, and tokens that are issued are the test account's.
"""

ANONYMOUS: Final = "the anonymous client"
"""The account of requests without a token, which count towards one limit."""


def division_of(
    shard: Shard | None,
    target: Target,
    document: Document,
    resources: ResourceModel,
    rules: Collection[str],
    phases: Collection[str],
) -> Division:
    """Returns the work of each shard, which every one of them finds to be the same.

    Args:
        shard: The shard; None for a run that is not divided.
        target: What is known of the deployment.
        document: The document in force.
        resources: What is inferred from the document of another service.
        rules: Ids of the rules to judge.
        phases: Names of the phases after the probes.
    """
    if shard is None:
        return Division()
    works = list(_probe_works(shard, target, rules))
    works += [FACTS] if target.facts else []
    if not interface_operations(document):
        works = list(_resource_works(resources))
    if CASES in phases:
        works += _case_works(shard, target, document, resources)
    if SCENARIOS in phases and interface_operations(document):
        is_last = target.permit.clock  # tokens grow old in one of them
        own = frozenset({"own"})
        works += [
            Work(scenario_of(n), COST_OF_CASES, own) for n in ("profile-edits", "avatar-life")
        ]
        works.append(Work(scenario_of("token-life"), COST_OF_CASES, own, is_last=is_last))
    return divide(works, shard)


def probe_of(probe: Probe) -> str:
    """Returns the name of a probe as a piece of work."""
    return f"probe {probe.name}"


def cases_of(method: str, path: str) -> str:
    """Returns the name of an operation's generated cases as a piece of work."""
    return f"cases of {method.upper()} {path_shape(path)}"


def scenario_of(name: str) -> str:
    """Returns the name of a scenario as a piece of work."""
    return f"scenario {name}"


def _probe_works(shard: Shard, target: Target, rules: Collection[str]) -> Iterator[Work]:
    is_movable = target.permit.clock or not shard.is_shared
    fixed = machine_clock()
    time = replace(fixed, advance=fixed.wait) if is_movable else fixed
    for probe in PROBES:
        is_wanted = any(rule in rules for rule in probe.rules)
        if is_wanted and lacking(probe.needs, target, time) is None:
            accounts = frozenset(_accounts(probe, shard, target))
            yield Work(probe_of(probe), max(1, probe.cost), accounts, probe.is_last)


def _accounts(probe: Probe, shard: Shard, target: Target) -> Iterator[str]:
    """Yields the accounts that a probe uses, by what it needs and by what it was measured to send."""
    credentials = {name for part in probe.parts for name in _credentials(part.by)}
    for name in (*probe.needs, *credentials):
        if name in ACCOUNTS:
            yield ACCOUNTS[name]
    is_anonymous = "anonymous" in credentials or "people" in probe.needs
    if is_anonymous and shard.is_shared and target.is_mock:
        yield ANONYMOUS  # the mock is held to count exactly, and others would count too


def _credentials(by: str) -> Sequence[str]:
    return by.removesuffix(", to write").split(" and ") if by else ()


def _case_works(
    shard: Shard, target: Target, document: Document, resources: ResourceModel
) -> Iterator[Work]:
    for operation in operations(document):
        name = cases_of(operation.method, operation.path)
        if not interface_operations(document):
            accounts = frozenset(_resources_of(operation, resources))
        elif f"{operation.method} {path_shape(operation.path)}" != QR_CODE:
            accounts = frozenset({"own", "other"})
        else:
            accounts = frozenset({ANONYMOUS} if shard.is_shared and target.is_mock else ())
        yield Work(name, COST_OF_CASES, accounts)


def _resource_works(model: ResourceModel) -> Iterator[Work]:
    for collection in model.collections:
        cost = sum(COSTS.get(it.role, 0) for it in collection.operations)
        above = {it.collection for it in collection.parents if it.collection}
        others = {collection.path, *above, *collection.references.values()}
        yield Work(source_of(collection.path), cost, frozenset(others))
    for singleton in model.singletons:
        above = {it.collection for it in singleton.parents if it.collection}
        cost = 3 * len(singleton.operations)
        yield Work(source_of(singleton.path), cost, frozenset({singleton.path, *above}))


def _resources_of(operation: Operation, model: ResourceModel) -> Iterator[str]:
    """Yields the collection or single resource that an operation is about."""
    resources: tuple[Resource, ...] = (*model.collections, *model.singletons)
    for resource in resources:
        if any(it.key == (operation.method, operation.path) for it in resource.operations):
            yield resource.path
