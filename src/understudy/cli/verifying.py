"""Puts a run of ``understudy verify`` together: target, wire, time, phases, reports, exit code."""

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
from rich.console import Console

from understudy.cli import in_process
from understudy.cli.interrupts import ended_by_sigterm, noted
from understudy.cli.progress import Progress
from understudy.cli.recorded import judge_recorded
from understudy.cli.writing import expect_writable, unwritable
from understudy.deployments.clock import Time
from understudy.deployments.mock_clock import MockClock
from understudy.deployments.target import Target, is_loopback
from understudy.deployments.target_files import load_target, target_of
from understudy.deployments.transport import DeploymentTransport
from understudy.errors import StartupError
from understudy.mock.engine.clock import machine_time
from understudy.openapi.loader import Document, load
from understudy.verify.baseline import load_baseline, unaccepted
from understudy.verify.gateway import Allowance
from understudy.verify.generated_cases import generated
from understudy.verify.outcome import Outcome
from understudy.verify.published import PUBLISHED
from understudy.verify.reports import FORMATS
from understudy.verify.reports.gitlab import github_lines
from understudy.verify.reports.terminal import print_outcome
from understudy.verify.run import Phase, Plan, catalogue
from understudy.verify.runner import carry_out, chosen
from understudy.verify.scenarios import scenarios

POLITE = timedelta(milliseconds=50)
"""Between two requests to a deployment that is not on this machine."""

MOVABLE = Allowance(pause=timedelta(hours=2))
"""Where the hour's limit is waited for by moving a mock's clock."""

MOCK_CASES = 10
FINDINGS, UNCHECKED = 1, 3
"""Exit codes."""


DEFAULTS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("target", "base_url", "auth_url", "document", "mode", "baseline", "har")),
    **dict.fromkeys(("max_requests", "max_time", "cases")),
    "rules": (),
    "reports": (),
    "fail_on": (),
    "seed": 0,
    "workers": 1,
    "quiet": True,
}
"""The options of a run that nobody asked anything of."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line asked for.

    Attributes:
        target: What is judged.
        is_mock: Whether it is the mock in this process.
        where: What names the target file and its ledger and journal; None for none.
        document: The document in force; None for ours, or for the published one.
        is_published: Whether the deployment's own is the one in force.
        options: The other options, by name.
        environment: For what CI it is.
    """

    target: Target
    is_mock: bool
    where: Path | None
    document: Document | None
    is_published: bool
    options: Mapping[str, Any]
    environment: Mapping[str, str]


def preferences_of(options: Mapping[str, Any], environment: Mapping[str, str]) -> Wish:
    """Returns what was asked for, with its files read.

    Raises:
        StartupError: One of them is not as it must be.
    """
    path = options["target"]
    is_mock = path is None and options["base_url"] is None
    if is_mock and options["auth_url"]:
        msg = "--auth-url needs --target or --base-url: the mock in this process has its own."
        raise StartupError(msg)
    if path is not None:
        target = load_target(path, environment)
    elif is_mock:
        target = in_process.TARGET
    else:
        target = target_of({"base_url": options["base_url"]}, environment, "--base-url")
    given = {name: options[name] for name in ("base_url", "auth_url", "mode") if options[name]}
    target = msgspec.structs.replace(target, **given)
    named = options["document"] or (target.document and Path(target.document))
    is_published = named is not None and str(named) == PUBLISHED
    if is_published and options["har"]:
        msg = "--har sends nothing, and so cannot ask for the published document; name a file."
        raise StartupError(msg)
    catalogue(options["rules"])  # a wrong name is better said before anything is sent
    document = load(named) if named and not is_published else None
    return Wish(target, is_mock, path, document, is_published, options, environment)


def plan_of(wish: Wish, listen: Callable[[Any], None]) -> Plan:
    """Returns the run that was asked for."""
    options = wish.options
    if wish.is_mock:
        mock = in_process.mock(options["seed"])
        transport: httpx.BaseTransport = in_process.InProcess(mock)
        time, allowance = in_process.time_of(mock), MOVABLE
    elif wish.target.permit.clock:
        transport, allowance = DeploymentTransport(), MOVABLE
        time = MockClock(wish.target, machine_time).time
    else:
        transport, time = DeploymentTransport(), machine()
        is_here = is_loopback(wish.target.base_url)
        allowance = Allowance(interval=timedelta(0) if is_here else POLITE)
    journal = wish.where and wish.where.with_suffix(".journal")
    ledger = wish.target.ledger or (wish.where and wish.where.with_suffix(".ledger"))
    if time.advance is not None:
        ledger = None  # hours that are moved are not those that the file keeps
    return Plan(
        target=wish.target,
        transport=transport,
        time=time,
        machine_time=machine_time,
        rules=options["rules"],
        document=wish.document,
        is_published=wish.is_published,
        seed=options["seed"],
        allowance=replace(
            allowance, requests=options["max_requests"], is_over=_is_over(options["max_time"])
        ),
        journal=journal,
        ledger=Path(ledger) if ledger else None,
        workers=options["workers"],
        phases=phases_of(wish),
        listen=listen,
        undisturbed=noted,
    )


def _is_over(seconds: float | None) -> Callable[[], bool]:
    ends = machine_time() + timedelta(seconds=seconds) if seconds else None
    return lambda: ends is not None and machine_time() >= ends


def phases_of(wish: Wish) -> list[tuple[str, Phase]]:
    """Returns what is run after the probes."""
    cases = wish.options["cases"]
    if cases is None:
        cases = MOCK_CASES if wish.is_mock else 0
    if not cases:
        return []
    return [("generated cases", generated(cases)), ("scenarios", scenarios(cases))]


def machine() -> Time:
    """Returns the machine's time, which passes by waiting."""

    def wait(span: timedelta) -> None:
        threading.Event().wait(max(0.0, span.total_seconds()))

    return Time(machine_time, wait)


def print_plan(wish: Wish) -> None:
    """Prints what would be sent, and sends nothing."""
    console = Console(highlight=False)
    total = 0
    plan = plan_of(wish, lambda _event: None)
    plan.transport.close()
    for probe, reason in chosen(plan):
        if reason is None:
            total += probe.cost
            console.print(
                f"{probe.cost:5} requests  {probe.name}: {', '.join(probe.rules)}", soft_wrap=True
            )
        else:
            console.print(
                f"    not sent  {probe.name}: {reason}", style="dim", markup=False, soft_wrap=True
            )
    console.print(f"about {total} requests to {wish.target.base_url}, mode {wish.target.writes}")


def verify(wish: Wish) -> int:
    """Judges, reports, and returns the exit code.

    Raises:
        StartupError: There is something to mend first.
    """
    console = Console(highlight=False)
    for name, path in wish.options["reports"]:
        expect_writable(path, f"--report {name}={path}")
    accepted = load_baseline(wish.options["baseline"]) if wish.options["baseline"] else ()
    if wish.options["har"] is not None:
        outcome = judge_recorded(
            wish.options["har"], wish.target, wish.document, wish.options["rules"]
        )
    else:
        outcome = _carried_out(wish, console)
    secrets = wish.target.secrets()
    print_outcome(console, outcome, secrets)
    for name, path in wish.options["reports"]:
        _write(path, name, FORMATS[name](outcome, secrets))
    if wish.environment.get("GITHUB_ACTIONS"):
        console.print("\n".join(github_lines(outcome)), soft_wrap=True, markup=False)
    today = machine_time().date()
    return exit_code(outcome, fail_on(wish), len(unaccepted(outcome.findings, accepted, today)))


def _carried_out(wish: Wish, console: Console) -> Outcome:
    with (
        ended_by_sigterm(),
        Progress(console, is_shown=console.is_terminal and not wish.options["quiet"]) as shown,
    ):
        plan = plan_of(wish, shown.listen)
        if plan.journal is not None:
            expect_writable(plan.journal, "what a cleanup after a kill needs")
        try:
            with closing(plan.transport):
                return carry_out(plan)
        except KeyboardInterrupt as error:  # a second time, while things were put back
            rest = f"; `understudy cleanup {plan.journal}` does the rest" if plan.journal else ""
            msg = f"Stopped before everything was put back{rest}."
            raise StartupError(msg) from error


def fail_on(wish: Wish) -> frozenset[str]:
    """Returns what makes the exit code other than 0."""
    chosen_ones = frozenset(wish.options["fail_on"])
    if chosen_ones:
        return chosen_ones
    return frozenset({"findings", "not-checked"} if wish.environment.get("CI") else {"findings"})


def exit_code(outcome: Outcome, wanted: frozenset[str], findings: int) -> int:
    """Returns 0, 1 for findings, or 3 for rules that could have been checked and were not."""
    if "nothing" in wanted:
        return 0
    is_bad = ("findings" in wanted and findings) or ("notes" in wanted and outcome.notes)
    if is_bad or outcome.not_restored:
        return FINDINGS
    is_open = any(found.status == "not_checked" and found.could_be for found in outcome.rules)
    if outcome.stopped or ("not-checked" in wanted and is_open):
        return UNCHECKED
    return 0


def _write(path: Path, name: str, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise unwritable(path, f"--report {name}={path}", error) from error
