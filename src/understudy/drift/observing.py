"""Carries out a run for a comparison, and keeps what its exchanges are judged by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from understudy.exchange.messages import Exchange
from understudy.interface.declared_inputs import DeclaredInputs
from understudy.interface.facts import Fact
from understudy.verify.deployment import Deployment
from understudy.verify.evaluator import Evaluator
from understudy.verify.experiments import carry_out_experiments
from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome
from understudy.verify.readings import Trials
from understudy.verify.run import Phase, Run, RunOptions, evaluator_of
from understudy.verify.runner import carry_out

LIMITS_SPARED: Final = (
    "What happens once an hourly limit is used up was not compared: the second run would be refused "
    "for the rest of the hour. At a mock, [permit] clock = true lets the hour pass."
)


@dataclass(frozen=True, slots=True)
class Observation:
    """A run at a deployment.

    Attributes:
        outcome: The outcome of the run.
        exchanges: The exchanges in the words of the interface, by which two deployments compare.
        findings: The findings and notes of the run, with exchanges in the same words.
        evaluator: Judges the exchanges by every rule; None where the run ended too early.
        bounds: Inputs whose bounds the requests went by; None where the run ended too early.
    """

    outcome: Outcome
    exchanges: Sequence[Exchange] = ()
    findings: Sequence[Finding] = ()
    evaluator: Evaluator | None = None
    bounds: DeclaredInputs | None = None


@dataclass
class _Observer:
    """A phase that sends nothing, and remembers the run."""

    run: Run | None = None

    def __call__(self, run: Run) -> None:
        """Remembers a run."""
        self.run = run


def is_limited_for_the_hour(deployment: Deployment) -> bool:
    """Tells whether a first run may use up a limit that a second run needs, and no time passes."""
    return deployment.target.permit.exhaust_rate_limit and deployment.time.advance is None


def sparing_limits(deployment: Deployment) -> Deployment:
    """Returns a deployment at which no limit may be used up."""
    permit = structs.replace(deployment.target.permit, exhaust_rate_limit=False)
    return replace(deployment, target=structs.replace(deployment.target, permit=permit))


def observed(
    deployment: Deployment,
    options: RunOptions,
    *,
    bounds: DeclaredInputs | None = None,
    facts: Mapping[str, Fact] | None = None,
) -> Observation:
    """Carries out a run, undoes what it changed, and returns what was exchanged.

    Args:
        deployment: The deployment.
        options: The rules whose probes are sent, and who listens.
        bounds: Inputs whose bounds the requests go by; None for those of the document in force.
        facts: What was learnt of the deployment, by rule: experiments show whether it still holds.

    Raises:
        StartupError: It cannot begin: a file is not as it must be, or nothing responds.
    """
    observer = _Observer()
    phases: list[tuple[str, Phase]] = [("comparison", observer)]
    if facts:
        phases.append(("facts", _experiments(facts)))
    # Walks come last, as their requests change what an experiment would show.
    phases += options.phases
    wanted = replace(options, phases=phases, bounds=bounds, is_cross_checked=False)
    outcome = carry_out(deployment, wanted)
    run = observer.run
    if run is None:
        return Observation(outcome)
    evaluator = evaluator_of(run.deployment.target, run.document, ())
    evaluator.documents = run.evaluator.documents  # which remember what they judged
    findings = tuple(run.evaluator.findings)
    inputs = run.gateway.routes.inputs
    return Observation(outcome, tuple(run.exchanges), findings, evaluator, inputs)


def _experiments(facts: Mapping[str, Fact]) -> Phase:
    """Returns the phase that sends the experiments of facts which no probe shows."""

    def phase(run: Run) -> None:
        wanted = facts.keys() & run.evaluator.rules.keys()
        trials = Trials(run.evaluator.history.emptied())
        run.reasons |= carry_out_experiments(run.gateway, run.exchanges, wanted, trials, facts)

    return phase
