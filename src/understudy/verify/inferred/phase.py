"""Judges the inferred state of another service, as a part of every run that may write there."""

from collections.abc import Callable, Iterator
from functools import partial

from understudy.errors import LimitExceeded, StartupError
from understudy.openapi.resources.model import ResourceCollection, ResourceModel
from understudy.verify.inferred.context import OTHER, InferredRun
from understudy.verify.inferred.sequences import COSTS, judge_collection, source_of
from understudy.verify.inferred.singletons import judge_singleton
from understudy.verify.inferred_rules import INFERRED, OWNER_ONLY, lacking
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Unreachable
from understudy.verify.run import Run
from understudy.verify.target import Target

Judging = Callable[[], None]


def judge_inferred_state(run: Run) -> None:
    """Sends the fixed sequence of each collection and single resource, and deletes what it created.

    Raises:
        BudgetSpent: The requests are used up.
        OutOfTime: The time is used up.
        Unreachable: The deployment did not respond, too often in a row.
    """
    if run.has_interface:
        return
    reasons = unchecked_rules(run.resources, run.deployment.target)
    run.reasons |= reasons
    wanted = [rule for rule in INFERRED if rule in run.evaluator.rules and rule not in reasons]
    run.checkable |= set(wanted)
    if not wanted:
        return
    state = InferredRun(run, run.resources)
    for path, judge in _resources(state):
        try:
            judge()
        except (NotPermitted, LimitExceeded, StartupError) as reason:  # such as an invalid schema
            _give_reasons(run, wanted, f"{path}: {reason}")
        except (BudgetSpent, OutOfTime) as refusal:
            _give_reasons(run, wanted, str(refusal))
            raise
        except Unreachable as refusal:
            run.lose(refusal)
        else:
            run.lost = 0
        state.undo.restore()
    run.reasons.setdefault(OWNER_ONLY, "no collection is certainly the caller's own")
    _give_reasons(run, wanted, "no response could show it: requests were refused, or had no item")


def _resources(state: InferredRun) -> Iterator[tuple[str, Judging]]:
    for collection in state.model.collections:
        yield collection.path, partial(judge_collection, state, collection)
    for singleton in state.model.singletons:
        yield singleton.path, partial(judge_singleton, state, singleton)


def playable(run: Run) -> list[tuple[ResourceCollection, frozenset[str]]]:
    """Returns the collections whose items this run created, with the rules that they break."""
    sources = {it.source for it in run.exchanges if it.response.is_success}
    collections = [it for it in run.resources.collections if source_of(it.path) in sources]
    broken: dict[str, set[str]] = {}
    for finding in run.evaluator.findings:
        for collection in collections:
            if finding.exchange.source.startswith(source_of(collection.path)):
                broken.setdefault(collection.path, set()).add(finding.rule.id)
    return [(it, frozenset(broken.get(it.path, ()))) for it in collections]


def _give_reasons(run: Run, rules: list[str], reason: str) -> None:
    """Keeps why the rules were not checked that no resource before could show."""
    for rule in rules:
        run.reasons.setdefault(rule, reason)


def unchecked_rules(model: ResourceModel, target: Target) -> dict[str, str]:
    """Returns the rules of inferred state that a target cannot show, each with the reason."""
    reasons = {}
    for rule in INFERRED:
        reason = lacking(rule, model)
        if reason is None and target.writes == "observe":
            reason = "writing is not permitted: the mode is observe"
        if reason is None and rule == OWNER_ONLY:
            reason = _lacking_other(target)
        if reason is not None:
            reasons[rule] = reason
    return reasons


def _lacking_other(target: Target) -> str | None:
    """Returns why a target cannot show what another account reads; None if it can."""
    if target.is_mock:
        return "a mock keeps one state for all callers; worlds separate them"
    is_given = OTHER in target.identities()
    return None if is_given else "[credentials] other_access_token is not given"


def planned(model: ResourceModel, target: Target) -> Iterator[tuple[int, str]]:
    """Yields what would be sent to each resource: about how many requests, and a description."""
    if target.writes == "observe":
        return
    for collection in model.collections:
        roles = list(dict.fromkeys(it.role for it in collection.operations))
        cost = sum(COSTS.get(role, 0) for role in roles)
        yield cost, f"{collection.path}: {', '.join(role for role in roles if role in COSTS)}"
    for singleton in model.singletons:
        roles = list(dict.fromkeys(it.role for it in singleton.operations))
        yield 3 * len(roles), f"{singleton.path}: {', '.join(roles)}"
