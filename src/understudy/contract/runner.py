"""One run: probes, generated cases, scenarios; everything is put back; an outcome.

The order is one literal list of phases. A refusal of the gateway ends a probe and is the reason
that its rules stay unchecked; Ctrl-C ends the run, and the outcome says what was done.
"""

from dataclasses import replace
from datetime import datetime

from understudy.contract import probes
from understudy.contract.events import PhaseStarted
from understudy.contract.outcome import Outcome
from understudy.contract.probing import Probe, in_order, lacking
from understudy.contract.refusals import BudgetSpent, OutOfTime, Refusal, Unreachable
from understudy.contract.runs import Plan, Run, catalogue, start
from understudy.contract.unjudged import UNJUDGED
from understudy.contract.visit import Visit
from understudy.errors import StartupError

LOADED = probes.MODULES
"""Named, so that importing the runner registers every probe."""


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
        _knock(run)
        for name, phase in (("probes", _probes), *run.plan.phases):
            run.tell(PhaseStarted(name))
            try:
                phase(run)
            except (BudgetSpent, OutOfTime):
                run.more.append(f"the rest of the {name}")
    except KeyboardInterrupt:
        stopped = "stopped by Ctrl-C"
    except Unreachable as refusal:
        stopped = str(refusal)
    return _outcome(run, started, stopped)


def chosen(plan: Plan) -> list[tuple[Probe, str | None]]:
    """Returns the probes for the rules asked for, in order, each with why it cannot run."""
    wanted = catalogue(plan.rules)
    return [
        (probe, lacking(probe.needs, plan.target, plan.time))
        for probe in in_order()
        if any(rule in wanted for rule in probe.rules)
    ]


def _knock(run: Run) -> None:
    """Sends one request first, so that a wrong address is said in one line.

    Raises:
        StartupError: Nobody answers.
    """
    try:
        exchange = Visit(run.gateway, "knock").get("/openapi")
    except Unreachable as refusal:
        msg = f"{run.plan.target.base_url} does not answer: {refusal}."
        raise StartupError(msg) from refusal
    except Refusal:
        return
    if exchange.answer.media_type == "text/html" and not exchange.answer.is_success:
        return


def _probes(run: Run) -> None:
    for probe, reason in chosen(run.plan):
        why = reason or _probe(run, probe)
        if why is None or reason is None:
            run.checkable |= set(probe.rules)
        if why is not None:
            for rule in probe.rules:
                run.reasons.setdefault(rule, why)


def _probe(run: Run, probe: Probe) -> str | None:
    """Runs a probe, and returns why it was cut short, or None."""
    try:
        probe.run(Visit(run.gateway, f"probe {probe.name}"))
    except (BudgetSpent, OutOfTime) as refusal:
        run.more.append(probe.name)
        return str(refusal)
    except Unreachable as refusal:
        run.lose(refusal)
        return str(refusal)
    except Refusal as refusal:
        return str(refusal)
    run.lost = 0
    return None


def _outcome(run: Run, started: datetime, stopped: str) -> Outcome:
    court, gateway = run.court, run.gateway
    rules = court.outcomes(run.reasons, run.checkable - set(UNJUDGED))
    now = run.plan.time.now()
    counted = {"anonymous": gateway.ledger.used("anonymous", now)}
    return Outcome(
        target=run.plan.target.base_url,
        seed=run.plan.seed,
        started=started,
        took=run.plan.machine_time() - started,
        rules=tuple(rules),
        findings=tuple(finding for finding in court.findings if not finding.is_note),
        notes=tuple(finding for finding in court.findings if finding.is_note),
        ours=tuple(court.ours),
        requests=gateway.sent,
        counted=counted,
        coverage=court.coverage,
        stopped=stopped,
        left=(),
        exchanges=tuple(run.exchanges),
        more=tuple(run.more),
    )
