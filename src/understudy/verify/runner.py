"""Carries out a run: probes, generated cases, scenarios, undoing; and returns its outcome.

A refusal of the gateway ends a probe, and is the reason why its rules are not checked. Ctrl-C ends
the run, and the outcome holds what was done until then.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from understudy.deployments.clock import machine_time
from understudy.deployments.deployment import Deployment
from understudy.deployments.refusals import BudgetSpent, OutOfTime, Refusal, Unreachable
from understudy.errors import StartupError
from understudy.verify import probes
from understudy.verify.events import PhaseStarted
from understudy.verify.outcome import Outcome
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import PROBES, Parts, Probe, in_order, lacking, turns
from understudy.verify.run import Run, RunOptions, catalogue, start
from understudy.verify.unjudged import UNJUDGED

LOADED = probes.MODULES
"""Named so that importing the runner registers every probe."""

_OVER = object()


def carry_out(deployment: Deployment, options: RunOptions) -> Outcome:
    """Carries out a run, and undoes its changes.

    Raises:
        StartupError: It cannot begin: a file is invalid, or the deployment does not respond.
    """
    run = start(deployment, options)
    not_restored: list[str] = []
    try:
        outcome = run_phases(run)
    finally:
        run.tell(PhaseStarted("undo"))
        with options.undisturbed():
            not_restored = run.undo.restore()
    return replace(
        outcome,
        not_restored=tuple(not_restored),
        requests=run.gateway.sent,
        exchanges=tuple(run.exchanges),
        took=machine_time() - outcome.started,
    )


def run_phases(run: Run) -> Outcome:
    """Runs every phase, and does not undo its changes.

    Raises:
        StartupError: The deployment does not respond.
    """
    started = machine_time()
    stopped = ""
    try:
        for name, phase in (("probes", _probes), *run.options.phases):
            run.tell(PhaseStarted(name))
            try:
                phase(run)
            except (BudgetSpent, OutOfTime):
                run.not_run.append(f"the rest of the {name}")
    except KeyboardInterrupt:
        stopped = "stopped by Ctrl-C or SIGTERM"
    except Unreachable as refusal:
        if _never_responded(run):
            msg = f"{run.deployment.target.base_url} does not respond: {refusal}."
            raise StartupError(msg) from refusal
        stopped = str(refusal)
    return _outcome(run, started, stopped)


def chosen(deployment: Deployment, rules: Sequence[str] = ()) -> list[tuple[Probe, str | None]]:
    """Returns the probes of the rules to judge, each with the reason why it cannot run or None.

    They are in the order in which they begin; those that cannot run come last.
    """
    candidates = _candidates(deployment, rules)
    ready = in_order([probe for probe, reason in candidates if reason is None])
    excluded = [(probe, reason) for probe, reason in candidates if reason is not None]
    return [*((probe, None) for probe in ready), *excluded]


def _candidates(deployment: Deployment, rules: Sequence[str]) -> list[tuple[Probe, str | None]]:
    wanted = catalogue(rules)
    return [
        (probe, lacking(probe.needs, deployment.target, deployment.time))
        for probe in PROBES
        if any(rule in wanted for rule in probe.rules)
    ]


def _never_responded(run: Run) -> bool:
    """Returns True if the resource API never responded: most likely a wrong base URL."""
    return not any(exchange.site == "resource" for exchange in run.exchanges)


def _probes(run: Run) -> None:
    ready: list[Probe] = []
    for probe, reason in _candidates(run.deployment, run.options.rules):
        if reason is None:
            ready.append(probe)
            run.checkable |= set(probe.rules)
        else:
            run.reasons |= dict.fromkeys(probe.rules, reason)
    running = {
        probe.name: _steps(probe, ProbeClient(run.gateway, _source(probe), run.exchanges))
        for probe in ready
    }
    over: set[str] = set()
    for probe in turns(ready, over):
        try:
            is_over = next(running[probe.name], _OVER) is _OVER
        except Refusal as refusal:
            _cut_short(run, probe, refusal)
            is_over = True
        else:
            run.lost = 0
        if is_over:
            over.add(probe.name)


def _source(probe: Probe) -> str:
    """Returns the sender's name in reports."""
    return f"probe {probe.name}"


def _steps(probe: Probe, client: ProbeClient) -> Parts:
    """Returns the parts of a probe; a plain function is a single part."""
    parts = probe.run(client)
    if parts is not None:
        yield from parts


def _cut_short(run: Run, probe: Probe, refusal: Refusal) -> None:
    """Records why a probe was aborted.

    Raises:
        Unreachable: The deployment never responded, or too often in a row did not.
    """
    if isinstance(refusal, (BudgetSpent, OutOfTime)):
        is_begun = any(exchange.source == _source(probe) for exchange in run.exchanges)
        run.not_run.append(f"the rest of {probe.name}" if is_begun else probe.name)
    if isinstance(refusal, Unreachable):
        if _never_responded(run) and refusal.exchange.site == "resource":
            raise refusal
        run.lose(refusal)
    run.reasons |= dict.fromkeys(probe.rules, str(refusal))


def _outcome(run: Run, started: datetime, stopped: str) -> Outcome:
    evaluator, gateway = run.evaluator, run.gateway
    rules = evaluator.outcomes(run.reasons, run.checkable - set(UNJUDGED))
    now = run.deployment.time.now()
    counted = {"anonymous": gateway.ledger.used("anonymous", now)}
    return Outcome(
        target=run.deployment.target.base_url,
        seed=run.options.seed,
        started=started,
        took=machine_time() - started,
        rules=tuple(rules),
        findings=tuple(finding for finding in evaluator.findings if not finding.is_note),
        notes=tuple(finding for finding in evaluator.findings if finding.is_note),
        internal_errors=tuple(evaluator.internal_errors),
        requests=gateway.sent,
        counted=counted,
        coverage=evaluator.coverage,
        stopped=stopped,
        not_restored=(),
        exchanges=tuple(run.exchanges),
        not_run=tuple(run.not_run),
    )
