"""Carries out a run: probes, generated cases, scenarios, undoing; and returns its outcome.

A refusal of the gateway ends a probe, and is the reason why its rules are not checked. Ctrl-C ends
the run, and the outcome holds what was done until then.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import Final

from understudy.errors import StartupError
from understudy.interface.operations import UPDATE_PROFILE
from understudy.verify.clock import machine_time
from understudy.verify.deployment import Deployment, locked
from understudy.verify.evaluator import UNJUDGED
from understudy.verify.events import Found, PhaseStarted
from understudy.verify.experiments import carry_out_experiments
from understudy.verify.outcome import Outcome
from understudy.verify.permits import BudgetSpent, OutOfTime, Refusal, Unreachable
from understudy.verify.preflight import preflight
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Probe, candidates, needs_of, order_of_parts
from understudy.verify.readings import Trials
from understudy.verify.run import Phase, Run, RunOptions, start
from understudy.verify.wording import as_on_the_wire

_OVER = object()

UPDATE_RULE = "profile-patch-partial"
"""The rule that a profile field breaks which does not keep the text that an update sets."""


def carry_out(deployment: Deployment, options: RunOptions) -> Outcome:
    """Carries out a run, and undoes its changes.

    Raises:
        StartupError: It cannot begin: a file is invalid, another run uses the journal or the
            ledger, or the deployment does not respond.
    """
    with locked(deployment):
        run = start(deployment, options)
        with closing(run.gateway.ledger):
            return _carried_out(run, options)


def _carried_out(run: Run, options: RunOptions) -> Outcome:
    not_restored: list[str] = []
    if options.is_preflighted and run.has_interface:
        _try_target(run)
    try:
        outcome = run_phases(run)
    finally:
        run.announce(PhaseStarted("undo"))
        with options.undisturbed():
            not_restored = run.undo.restore()
    report_unrestored(run)
    whole = _outcome(run, outcome.started, outcome.stopped)
    return replace(whole, not_restored=tuple(not_restored), remaining=tuple(_remaining(run)))


def run_phases(run: Run) -> Outcome:
    """Runs every phase, and does not undo its changes.

    Raises:
        StartupError: The deployment does not respond.
    """
    started = machine_time()
    stopped = ""
    try:
        for name, phase in (
            *_FIRST,
            *((("facts", _experiments),) if run.evaluator.facts else ()),
            *run.options.phases,
            ("rate limits", _exhausting),
        ):
            run.announce(PhaseStarted(name))
            try:
                phase(run)
            except (BudgetSpent, OutOfTime):
                run.not_run.append(f"the rest of the {name}")
            except Unreachable:
                raise
            except Exception as error:  # the other phases, and the report, go on
                run.fail(f"the phase {name}", error)
    except KeyboardInterrupt:
        stopped = "stopped by Ctrl-C or SIGTERM"
    except Unreachable as refusal:
        if _never_responded(run):
            msg = f"{run.deployment.target.base_url} does not respond: {refusal}."
            raise StartupError(msg) from refusal
        stopped = str(refusal)
    return _outcome(run, started, stopped)


def _candidates_of(run: Run) -> list[tuple[Probe, str | None]]:
    return candidates(run.deployment, run.evaluator.rules)


def _never_responded(run: Run) -> bool:
    """Returns True if the resource API never responded: most likely a wrong base URL."""
    return not any(exchange.site == "resource" for exchange in run.exchanges)


def _try_target(run: Run) -> None:
    """Tries each value of the target that a probe of this run needs.

    Raises:
        StartupError: The deployment refused one.
    """
    preflight(ProbeClient(run.gateway, "preflight"), needs_of(_candidates_of(run)))


def report_unrestored(run: Run) -> None:
    """Makes a finding of each profile field that the deployment did not restore."""
    for field in run.undo.unrestored:
        now = "missing" if field.now is None else f'"{field.now}"'
        findings = run.evaluator.disagree(
            UPDATE_RULE,
            field.exchange,
            f'{field.name} "{field.before}", as before the run and as the last update sets it',
            f"{field.name} {now}; it stays so",
        )
        for finding in findings:
            run.announce(Found(finding))


def _remaining(run: Run) -> Iterator[str]:
    """Yields what a run leaves behind although everything that can be undone was."""
    if any(each.operation == UPDATE_PROFILE for each in run.exchanges) and run.undo.has_changed:
        yield "the time of the last profile edit"
    yield from run.undo.items.remaining
    count = len(run.gateway.issued)
    if count:
        plural = "s" if count > 1 else ""
        yield f"{count} issued token{plural}, since the interface has no way to revoke one"


def _probes(run: Run) -> None:
    """Sends every probe that does not use up a limit."""
    ready: list[Probe] = []
    for probe, reason in _candidates_of(run):
        if reason is not None:
            run.reasons |= dict.fromkeys(probe.rules, reason)
            continue
        run.checkable |= set(probe.rules)
        if not _is_exhausting(probe):
            ready.append(probe)
    _send(run, ready)


def _experiments(run: Run) -> None:
    """Sends the experiments of what was learnt and no probe sends, so that a change is seen."""
    wanted = set(run.evaluator.facts) & set(run.evaluator.rules)
    trials = Trials(run.evaluator.history.emptied())
    facts = run.evaluator.facts
    run.reasons |= carry_out_experiments(run.gateway, run.exchanges, wanted, trials, facts)


def _judge_state(run: Run) -> None:
    """Judges what the document of another service suggests, which is no rule of this interface."""
    if run.state is not None:
        run.state.judge(run)


_FIRST: Final[Sequence[tuple[str, Phase]]] = (
    ("probes", _probes),
    ("inferred state", _judge_state),
)
"""The phases before those of the options."""


def _exhausting(run: Run) -> None:
    """Sends the probes that use up a limit, once nothing is left to undo by the same limit."""
    candidates = _candidates_of(run)
    ready = [probe for probe, reason in candidates if reason is None and _is_exhausting(probe)]
    if not ready:
        return
    lines = run.undo.restore_changes()
    if lines:
        reason = f"changes could not be undone before the limit was used up: {lines[0]}"
        for probe in ready:
            run.reasons |= dict.fromkeys(probe.rules, reason)
        return
    _send(run, ready)


def _is_exhausting(probe: Probe) -> bool:
    return "exhaust" in probe.needs


def _send(run: Run, ready: list[Probe]) -> None:
    """Sends probes, part by part, in the order of what their next parts settle."""
    running = {
        probe.name: probe.steps(ProbeClient(run.gateway, _source(probe), run.exchanges))
        for probe in ready
    }
    ended: set[str] = set()
    for probe in order_of_parts(ready, ended):
        try:
            is_over = next(running[probe.name], _OVER) is _OVER
        except Refusal as refusal:
            _cut_short(run, probe, refusal)
            is_over = True
        except Exception as error:
            run.fail(_source(probe), error)
            run.reasons |= dict.fromkeys(probe.rules, f"{_source(probe)} failed: {error}")
            is_over = True
        else:
            run.lost = 0
        if is_over:
            ended.add(probe.name)


def _source(probe: Probe) -> str:
    """Returns the sender's name in reports."""
    return f"probe {probe.name}"


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
        findings=tuple(it.on_the_wire() for it in evaluator.findings if not it.is_note),
        notes=tuple(it.on_the_wire() for it in evaluator.findings if it.is_note),
        internal_errors=tuple(evaluator.internal_errors),
        differences=tuple(evaluator.differences),
        document_file=run.deployment.document_file,
        target_file=run.deployment.target_file,
        requests=gateway.sent,
        counted=counted,
        coverage=evaluator.coverage,
        stopped=stopped,
        not_restored=(),
        exchanges=tuple(map(as_on_the_wire, run.exchanges)),
        not_run=tuple(run.not_run),
        contract=run.contract,
    )
