"""Carries out a run for a comparison, and keeps what its exchanges are judged by."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from understudy.deployments.deployment import Deployment
from understudy.deployments.exchange import Exchange
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome
from understudy.verify.run import Phase, Run, RunOptions, evaluator_of
from understudy.verify.runner import carry_out


@dataclass(frozen=True, slots=True)
class Observation:
    """A run at a deployment.

    Attributes:
        outcome: The outcome of the run.
        exchanges: The exchanges in the words of the interface, by which two deployments compare.
        findings: The findings and notes of the run, with exchanges in the same words.
        evaluator: Judges the exchanges by every rule; None where the run ended too early.
    """

    outcome: Outcome
    exchanges: Sequence[Exchange] = ()
    findings: Sequence[Finding] = ()
    evaluator: Evaluator | None = None


@dataclass
class _Observer:
    """A phase that sends nothing, and remembers the run."""

    run: Run | None = None

    def __call__(self, run: Run) -> None:
        """Remembers a run."""
        self.run = run


def observed(deployment: Deployment, options: RunOptions) -> Observation:
    """Carries out a run, undoes what it changed, and returns what was exchanged.

    Raises:
        StartupError: It cannot begin: a file is not as it must be, or nothing responds.
    """
    observer = _Observer()
    phases: Sequence[tuple[str, Phase]] = (("comparison", observer), *options.phases)
    outcome = carry_out(deployment, replace(options, phases=phases))
    run = observer.run
    if run is None:
        return Observation(outcome)
    evaluator = evaluator_of(run.deployment.target, run.document, ())
    evaluator.documents = run.evaluator.documents  # which remember what they judged
    findings = tuple(run.evaluator.findings)
    return Observation(outcome, tuple(run.exchanges), findings, evaluator)
