"""Runs ``understudy learn``: learns facts, or prints the plan of a run, and writes the facts file."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

import click
import msgspec
from rich.console import Console

from understudy.api.judging import learn_from
from understudy.api.opening import open_deployment
from understudy.api.options import profile_files
from understudy.cli.commands import LearnOptions
from understudy.cli.exit_codes import ExitCode
from understudy.cli.interrupts import noted
from understudy.cli.options import words_of
from understudy.cli.output_records import print_record
from understudy.cli.progress import with_progress
from understudy.cli.reporting import Ending, Plan, end, first_reason
from understudy.cli.writing import expect_writable
from understudy.errors import StartupError
from understudy.interface.deployment_profile import write_profile
from understudy.interface.facts import Fact, Facts, facts_text, is_as_chosen, load_facts
from understudy.interface.recognition import interface_operations
from understudy.record.recorder import people_of_reports
from understudy.reports.console import Terminal, print_line
from understudy.terminal import counted, echo
from understudy.verify.catalogue import catalogue
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Listener, Outcome
from understudy.verify.learner import Learnt, open_rules
from understudy.verify.permits import permission_lines
from understudy.verify.probing import chosen
from understudy.verify.readings import PlannedExperiment, planned_experiments
from understudy.verify.run import RunOptions
from understudy.verify.shapes import bundled
from understudy.verify.target import Target


def learn(options: LearnOptions, environment: Mapping[str, str]) -> int:
    """Learns, writes and prints the facts, and returns the exit code.

    Raises:
        StartupError: A file or an option is invalid, or the deployment does not respond.
    """
    if options.is_plan:
        return _planned(options, environment)
    console = Terminal(highlight=False, stderr=options.is_json)
    open_rules(options.rules)  # before anything is written or sent
    earlier = _earlier(options)
    if options.where.is_mock:
        echo("Asks the mock itself, in this process; --target names a deployment.", err=True)
    deployment = _opened(options, environment)

    def carry_out(listen: Listener) -> Learnt:
        run_options = RunOptions(
            rules=options.rules,
            listen=listen,
            is_preflighted=not options.where.is_mock,
            undisturbed=noted,
        )
        return learn_from(deployment, run_options)

    result = with_progress(console, deployment.journal, carry_out, is_quiet=options.quiet)
    people = people_of_reports(deployment, options.where.target_file)
    if people is not None:
        outcome = people.hidden_outcome(result.outcome)
        result = Learnt(people.hidden_facts(result.facts), outcome)
    facts = result.facts if earlier is None else merged(earlier, result.facts)
    _print(console, result.facts, earlier)
    if options.out is not None:
        _write(options.out, facts, options.profile, deployment.target)
        print_line(console, f"The facts were written to {options.out}.")
    if options.is_json:
        print_record(facts)
    return _ended(console, result.outcome, _following(options))


def _ended(console: Console, outcome: Outcome, following: str) -> int:
    """Prints the failures of a run, the exit code with its reason, and the next command."""
    for line in (*outcome.not_restored, *outcome.internal_errors, *filter(None, [outcome.stopped])):
        print_line(console, line, "bold red")
    return end(console, ending(outcome), following)


def ending(outcome: Outcome) -> Ending:
    """Returns the exit code with its reason: changes that were not undone, then errors, then a stop."""
    ended = first_reason(
        (ExitCode.FINDINGS, len(outcome.not_restored), "change that was not undone"),
        (ExitCode.INTERNAL, len(outcome.internal_errors), "internal error"),
    )
    if ended.code or not outcome.stopped:
        return ended
    return Ending(ExitCode.INCOMPLETE, f"the run ended early ({outcome.stopped})")


def _following(options: LearnOptions) -> str:
    """Returns the command that uses the facts, or that writes them to a file."""
    if options.profile is not None:
        return shlex.join(["understudy", "serve", "--like", str(options.profile)])
    if options.out is not None:
        return shlex.join(["understudy", "serve", "--facts", str(options.out)])
    words = words_of(options, {"target", "base_url", "auth_url", "mode", "rules"})
    return shlex.join(["understudy", "learn", *words, "--out", "facts.yaml"])


def _earlier(options: LearnOptions) -> Facts | None:
    """Checks that the files can be written, and returns the facts of the file to update, if any.

    Raises:
        StartupError: A file cannot be written, or the existing file is not a facts file.
        UsageError: There is ``--profile``, but no facts file that the profile could name.
    """
    if options.out is None:
        if options.profile is not None:
            msg = "--profile names the facts file that --out writes; give both."
            raise click.UsageError(msg)
        return None
    expect_writable(options.out, "--out")
    if options.profile is not None:
        expect_writable(options.profile, "--profile")
    is_there = options.out.exists() and options.out.stat().st_size
    return load_facts(options.out, catalogue().values()) if is_there else None


def _write(out: Path, facts: Facts, profile: Path | None, target: Target) -> None:
    """Writes the facts, and the profile that names them."""
    out.write_text(facts_text(facts), encoding="utf-8")
    if profile is not None:
        write_profile(profile, profile_files(target) | {"facts": (out,)})


def _opened(options: LearnOptions, environment: Mapping[str, str]) -> Deployment:
    """Returns the deployment to ask.

    Raises:
        StartupError: It cannot be opened, or is another service.
    """
    deployment = open_deployment(options.where, environment)
    document = deployment.document
    if document is not None and not interface_operations(document):
        deployment.close()
        msg = (
            "learn asks what the interface of the avatar and profile service leaves open, and "
            f"{document.path} describes another service; `understudy infer {document.path}` shows "
            "what the mock takes from it, and `understudy verify --target FILE` judges by that."
        )
        raise StartupError(msg)
    return deployment


def _planned(options: LearnOptions, environment: Mapping[str, str]) -> int:
    """Prints the probes and the experiments that would be sent, and returns the exit code.

    Raises:
        UsageError: ``--json`` is given, which a plan does not support.
        StartupError: A file is invalid, or a rule leaves nothing open.
    """
    if options.is_json:
        msg = "--json prints the facts of a run, and --plan sends nothing; leave one out."
        raise click.UsageError(msg)
    plan = Plan(Terminal(highlight=False))
    deployment = _opened(options, environment)
    deployment.close()
    questions = open_rules(options.rules)
    target, again = deployment.target, 0
    document = deployment.document or bundled("service.yaml")
    for probe, reason in chosen(deployment, document, tuple(questions)):
        again += probe.cost if reason is None and not probe.is_exhausting else 0
        plan.add(probe.cost, [rule for rule in probe.rules if rule in questions], reason)
    for experiment in planned_experiments(questions, target, deployment.time):
        again += 0 if experiment.reason else experiment.repetition
        plan.add(experiment.requests, (experiment.rule,), experiment.reason, _about(experiment))
    plan.print_left()
    for line in permission_lines(target):
        print_line(plan.console, line, hanging=2)
    text = f"at most {counted(plan.total, 'request')} to {target.base_url}"
    print_line(plan.console, text, hanging=2)
    line = f"and, within the budget, at most {again} to see again what was seen only once"
    print_line(plan.console, line, hanging=2)
    return ExitCode.DONE


MEGABYTE = 1_000_000


def _about(experiment: PlannedExperiment) -> str:
    sizes = f", at most {experiment.bytes // MEGABYTE} MB" if experiment.bytes else ""
    undo = f"; {experiment.undo}" if experiment.undo else ""
    return f"{sizes}{undo}"


def merged(earlier: Facts, latest: Facts) -> Facts:
    """Returns the updated facts of a file; questions that were not settled anew keep their fact."""
    settled = earlier.by_rule() | latest.by_rule()
    reasons = {each.rule: each for each in (*earlier.unsettled, *latest.unsettled)}
    order = list(catalogue())
    return msgspec.structs.replace(
        latest,
        facts=tuple(settled[rule] for rule in order if rule in settled),
        unsettled=tuple(reasons[r] for r in order if r in reasons and r not in settled),
    )


def changed(earlier: Facts, latest: Facts) -> list[tuple[Fact, Fact]]:
    """Returns the facts whose reading has changed, each after the earlier fact."""
    before = earlier.by_rule()
    return [
        (before[fact.rule], fact)
        for fact in latest.facts
        if fact.rule in before and before[fact.rule].reading != fact.reading
    ]


def _print(console: Console, facts: Facts, earlier: Facts | None) -> None:
    rules = catalogue()
    as_chosen = [fact for fact in facts.facts if is_as_chosen(fact, rules[fact.rule])]
    others = [fact for fact in facts.facts if fact not in as_chosen]
    _section(console, "As understudy assumes", as_chosen)
    _section(console, "Otherwise", others)
    if facts.unsettled:
        console.print("[bold]Not settled[/bold]")
    for question in facts.unsettled:
        console.print(f"  {question.rule:34} {question.why}", markup=False, soft_wrap=True)
    for before, now in changed(earlier, facts) if earlier else ():
        line = f"Changed since {before.learnt}: {now.rule} was {before.reading}, is {now.reading}"
        console.print(line, style="bold yellow", markup=False, soft_wrap=True)
    count = len(facts.facts)
    console.print(
        f"{counted(count, 'question')} settled, {len(others)} of them otherwise than assumed; "
        f"{len(facts.unsettled)} not settled; {counted(facts.requests, 'request')}",
        style="bold",
        soft_wrap=True,
    )


def _section(console: Console, title: str, facts: Iterable[Fact]) -> None:
    lines = [
        f"  {fact.rule:34} {_answer(fact):16} {fact.shown_by[0] if fact.shown_by else ''}"
        for fact in facts
    ]
    if lines:
        console.print(f"[bold]{title}[/bold]")
        console.print("\n".join(lines), markup=False, soft_wrap=True)


def _answer(fact: Fact) -> str:
    """Returns the behaviour of a deployment, with a mark if it was seen only once."""
    return f"{fact.actual or fact.reading}{' (seen once)' * (fact.sure == 'seen once')}"
