"""One run: probes, generated cases, scenarios; everything is put back; an outcome.

The order is one literal list of phases. A refusal of the gateway ends a probe and is the reason
that its rules stay unchecked; Ctrl-C ends the run, and the outcome says what was done.
"""

from dataclasses import replace
from datetime import datetime

from understudy.deployments.refusals import BudgetSpent, OutOfTime, Refusal, Unreachable
from understudy.errors import StartupError
from understudy.verify import probes
from understudy.verify.events import PhaseStarted
from understudy.verify.outcome import Outcome
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import PROBES, Parts, Probe, in_order, lacking, turns
from understudy.verify.run import Plan, Run, catalogue, start
from understudy.verify.unjudged import UNJUDGED

LOADED = probes.MODULES
"""Named, so that importing the runner registers every probe."""

_OVER = object()


def carry_out(plan: Plan) -> Outcome:
    """Carries a run out, and puts everything back.

    Raises:
        StartupError: It cannot begin: a file is not as it must be, or nobody answers.
    """
    run = start(plan)
    left: list[str] = []
    try:
        outcome = go_on(run)
    finally:
        run.tell(PhaseStarted("put back"))
        with plan.undisturbed():
            left = run.undone.restore()
    return replace(
        outcome,
        left=tuple(left),
        requests=run.gateway.sent,
        exchanges=tuple(run.exchanges),
        took=plan.machine_time() - outcome.started,
    )


def go_on(run: Run) -> Outcome:
    """Runs every phase, and leaves what was changed as it is now.

    Raises:
        StartupError: Nobody answers.
    """
    started = run.plan.machine_time()
    stopped = ""
    try:
        for name, phase in (("probes", _probes), *run.plan.phases):
            run.tell(PhaseStarted(name))
            try:
                phase(run)
            except (BudgetSpent, OutOfTime):
                run.more.append(f"the rest of the {name}")
    except KeyboardInterrupt:
        stopped = "stopped by Ctrl-C or SIGTERM"
    except Unreachable as refusal:
        if _is_mute(run):
            msg = f"{run.plan.target.base_url} does not answer: {refusal}."
            raise StartupError(msg) from refusal
        stopped = str(refusal)
    return _outcome(run, started, stopped)


def chosen(plan: Plan) -> list[tuple[Probe, str | None]]:
    """Returns the probes for the rules asked for, each with why it cannot run.

    They are in the order in which they begin; those that cannot run come last.
    """
    found = _asked_for(plan)
    ready = in_order([probe for probe, reason in found if reason is None])
    return [(probe, None) for probe in ready] + [entry for entry in found if entry[1] is not None]


def _asked_for(plan: Plan) -> list[tuple[Probe, str | None]]:
    wanted = catalogue(plan.rules)
    return [
        (probe, lacking(probe.needs, plan.target, plan.time))
        for probe in PROBES
        if any(rule in wanted for rule in probe.rules)
    ]


def _is_mute(run: Run) -> bool:
    """Tells whether the resource API never answered, so that a wrong address is said in one line."""
    return not any(exchange.site == "resource" for exchange in run.exchanges)


def _probes(run: Run) -> None:
    ready: list[Probe] = []
    for probe, reason in _asked_for(run.plan):
        if reason is None:
            ready.append(probe)
            run.checkable |= set(probe.rules)
        else:
            run.reasons |= dict.fromkeys(probe.rules, reason)
    under_way = {
        probe.name: _begun(probe, ProbeClient(run.gateway, _source(probe), run.exchanges))
        for probe in ready
    }
    over: set[str] = set()
    for probe in turns(ready, over):
        try:
            is_over = next(under_way[probe.name], _OVER) is _OVER
        except Refusal as refusal:
            _cut_short(run, probe, refusal)
            is_over = True
        else:
            run.lost = 0
        if is_over:
            over.add(probe.name)


def _source(probe: Probe) -> str:
    """Returns what reports call the sender."""
    return f"probe {probe.name}"


def _begun(probe: Probe, client: ProbeClient) -> Parts:
    """Returns the parts of a probe; one that is no generator is all one part."""
    parts = probe.run(client)
    if parts is not None:
        yield from parts


def _cut_short(run: Run, probe: Probe, refusal: Refusal) -> None:
    """Notes why a probe did not come to its end.

    Raises:
        Unreachable: Nobody answered, at all or too often in a row.
    """
    if isinstance(refusal, (BudgetSpent, OutOfTime)):
        is_begun = any(exchange.source == _source(probe) for exchange in run.exchanges)
        run.more.append(f"the rest of {probe.name}" if is_begun else probe.name)
    if isinstance(refusal, Unreachable):
        if _is_mute(run) and refusal.exchange.site == "resource":
            raise refusal
        run.lose(refusal)
    run.reasons |= dict.fromkeys(probe.rules, str(refusal))


def _outcome(run: Run, started: datetime, stopped: str) -> Outcome:
    evaluator, gateway = run.evaluator, run.gateway
    rules = evaluator.outcomes(run.reasons, run.checkable - set(UNJUDGED))
    now = run.plan.time.now()
    counted = {"anonymous": gateway.ledger.used("anonymous", now)}
    return Outcome(
        target=run.plan.target.base_url,
        seed=run.plan.seed,
        started=started,
        took=run.plan.machine_time() - started,
        rules=tuple(rules),
        findings=tuple(finding for finding in evaluator.findings if not finding.is_note),
        notes=tuple(finding for finding in evaluator.findings if finding.is_note),
        ours=tuple(evaluator.ours),
        requests=gateway.sent,
        counted=counted,
        coverage=evaluator.coverage,
        stopped=stopped,
        left=(),
        exchanges=tuple(run.exchanges),
        more=tuple(run.more),
    )
