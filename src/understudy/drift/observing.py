"""Carries out the runs of a comparison, and replays recorded requests.

A replay sends requests with the codes, tokens and identifiers that are issued this time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final

from msgspec import structs

from understudy.exchange.messages import ISSUED, Exchange
from understudy.interface.facts import Fact
from understudy.interface.operations import DeclaredInputs
from understudy.verify.deployment import Deployment
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import Finding, Outcome
from understudy.verify.gateway import Gateway
from understudy.verify.issued_values import rewritten, values_in
from understudy.verify.permits import NotPermitted
from understudy.verify.run import Phase, Run, RunOptions, evaluator_of
from understudy.verify.runner import carry_out, send_experiments
from understudy.verify.target import Target

LIMITS_SPARED: Final = (
    "What happens once an hourly limit is used up was not compared: the second run would be refused "
    "for the rest of the hour. At a mock, [permit] clock = true lets the hour pass."
)


@dataclass(frozen=True, slots=True)
class Observation:
    """A run at a deployment.

    Attributes:
        outcome: The outcome of the run.
        exchanges: The exchanges in the interface's words, even if the deployment uses others.
        findings: The findings and notes of the run, with such exchanges.
        evaluator: Judges the exchanges by every rule; None if the run ended too early.
        bounds: Inputs whose bounds the requests kept to; None if the run ended too early.
    """

    outcome: Outcome
    exchanges: Sequence[Exchange] = ()
    findings: Sequence[Finding] = ()
    evaluator: Evaluator | None = None
    bounds: DeclaredInputs | None = None


def is_limited_for_the_hour(deployment: Deployment) -> bool:
    """Tells whether one run may use up the hourly limit, and no clock can be moved for the next."""
    return deployment.target.permit.exhaust_rate_limit and deployment.time.advance is None


def sparing_limits(deployment: Deployment) -> Deployment:
    """Returns a deployment without the permission to use up the hourly limit."""
    permit = structs.replace(deployment.target.permit, exhaust_rate_limit=False)
    return replace(deployment, target=structs.replace(deployment.target, permit=permit))


def observed(
    deployment: Deployment,
    options: RunOptions,
    *,
    bounds: DeclaredInputs | None = None,
    facts: Mapping[str, Fact] | None = None,
) -> Observation:
    """Carries out a run, undoes its changes, and returns its exchanges.

    Args:
        deployment: The deployment.
        options: The rules whose probes are sent, and the listeners to progress.
        bounds: Inputs whose bounds the requests keep to; None for those of the document in force.
        facts: The facts that were learnt, by rule; further requests test whether they still hold.

    Raises:
        StartupError: The run cannot begin: a file is invalid, or the deployment does not respond.
    """
    runs: list[Run] = []
    phases: list[tuple[str, Phase]] = [("comparison", runs.append)]
    if facts:
        phases.append(("facts", partial(send_experiments, facts=facts)))
    # Walks come last, as their requests change what an experiment would show.
    phases += options.phases
    wanted = replace(options, phases=phases, bounds=bounds, is_cross_checked=False)
    outcome = carry_out(deployment, wanted)
    if not runs:
        return Observation(outcome)
    (run,) = runs
    evaluator = evaluator_of(run.deployment.target, run.document, ())
    evaluator.documents = run.evaluator.documents  # which cache the results of schema validation
    findings = tuple(run.evaluator.findings)
    inputs = run.gateway.routes.inputs
    return Observation(outcome, tuple(run.exchanges), findings, evaluator, inputs)


SOURCE: Final = "replay"
"""Name of the sender of replayed requests, for reports."""

_MOMENT: Final = timedelta(minutes=1)
"""Shortest time between two requests that a replay repeats, if the clock can be moved."""


def replay(
    gateway: Gateway, steps: Sequence[Exchange], known: Mapping[str, str] | None = None
) -> list[Exchange]:
    """Sends the requests of exchanges again, in their order.

    Args:
        gateway: Sends the permitted requests.
        steps: The exchanges.
        known: Replacements for texts of the requests, such as for the recorded base URL.

    Returns:
        The new exchanges, one for each step.

    Raises:
        Refusal: A request cannot be sent.
    """
    values = dict(known or {})
    replayed: list[Exchange] = []
    for place, step in enumerate(steps):
        passed = step.at - steps[place - 1].at if place else timedelta(0)
        if passed >= _MOMENT and gateway.time.advance is not None:
            gateway.time.advance(passed)
        request = rewritten(step.request, values)
        if step.identity.name == ISSUED and request.token is not None:
            gateway.learn(request.token, step.identity)
        exchange = gateway.send(request, SOURCE)
        values |= _issued_anew(step, exchange)
        replayed.append(exchange)
    return replayed


def recorded(exchanges: Sequence[Exchange], target: Target) -> Phase:
    """Returns a phase that replays recorded requests, except those that are not permitted."""
    own = [each for each in exchanges if each.site != "elsewhere"]

    def phase(run: Run) -> None:
        there = run.deployment.target
        values = {target.base_url: there.base_url}
        if target.auth_url and there.auth_url:
            values[target.auth_url] = there.auth_url
        for step in own:
            try:
                values |= _issued_anew(step, *replay(run.gateway, [step], values))
            except NotPermitted as refusal:
                run.not_run.append(f"the recorded {step.operation or step.path}: {refusal}")

    return phase


def _issued_anew(step: Exchange, exchange: Exchange) -> dict[str, str]:
    """Maps each value that the recorded response issued to the value that the new one issues."""
    now = {(source, name): value for source, name, value in values_in(exchange)}
    return {
        value: now[source, name]
        for source, name, value in values_in(step)
        if now.get((source, name), value) != value
    }
