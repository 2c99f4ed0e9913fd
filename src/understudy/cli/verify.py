"""Runs ``understudy verify``, or prints the plan of a run, and reports the outcome."""

import gc
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
from rich.console import Console

from understudy.api.judging import TELLING_CASES, cases_of, judge, phases_of
from understudy.api.opening import as_if_logged_in, logged_in, open_deployment
from understudy.cli.commands import VerifyOptions
from understudy.cli.exit_codes import ExitCode
from understudy.cli.init_target import ask_for_target, template
from understudy.cli.interrupts import noted
from understudy.cli.losses import print_losses, print_missing_base
from understudy.cli.options import words_of
from understudy.cli.progress import with_progress
from understudy.cli.reporting import Plan, console_of, end, read_baseline, reported
from understudy.collections.judging import CollectionsJudge
from understudy.errors import StartupError
from understudy.interface.recognition import interface_operations
from understudy.openapi.loader import Document
from understudy.openapi.operations import operations
from understudy.record.recorder import people_of_reports
from understudy.record_schemas import schema_text
from understudy.reports.console import Terminal, print_line
from understudy.store_address import is_store
from understudy.verify.catalogue import catalogue
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Listener, Outcome
from understudy.verify.permits import permission_lines
from understudy.verify.probing import chosen, needs_of
from understudy.verify.recorded_traffic import judge_recorded
from understudy.verify.reports import by_cause
from understudy.verify.run import RunOptions
from understudy.verify.runner import planned_requests
from understudy.verify.shapes import bundled
from understudy.verify.target import Target
from understudy.verify.target_schema import target_schema


def verify(options: VerifyOptions, environment: Mapping[str, str]) -> int:
    """Judges a deployment, or prints a plan, template or schema, and returns the exit code.

    Raises:
        UsageError: Two options contradict one another.
        StartupError: A file or an option is invalid, or the deployment does not respond.
    """
    gc.freeze()  # loaded modules need no garbage collection, as they live as long as the process
    if options.is_schema:
        click.echo(schema_text(target_schema()), nl=False)
    elif options.is_template:
        click.echo(template())
    elif options.is_init:
        ask_for_target(options.target or Path("target.toml"), options.where.document)
    elif options.is_plan and options.reporting.json:
        msg = "--json prints the report of a run, and --plan sends nothing; leave one out."
        raise click.UsageError(msg)
    elif options.is_plan:
        print_plan(options, environment)
    else:
        return _judged(options, environment)
    return ExitCode.DONE


def _judged(options: VerifyOptions, environment: Mapping[str, str]) -> int:
    """Judges, reports, and returns the exit code.

    Args:
        options: The options of the command line.
        environment: Variables for the values ``env:NAME`` of a target file, and those of GitHub's CI.

    Raises:
        StartupError: A file or an option is invalid, or the deployment does not respond.
    """
    catalogue(options.rules)  # before anything is written or sent
    baseline = read_baseline(options.reporting)
    if options.examples is not None:
        _expect_examples(options.examples)
    deployment = open_deployment(options.where, environment)
    if deployment.document is not None:
        print_losses(deployment.document.path, deployment.document.losses)
        print_missing_base(deployment.document, deployment.target.base_url)
    console = console_of(options.reporting)
    if options.har is None:
        deployment = logged_in(deployment)
    outcome = _outcome(options, deployment, console)
    people = people_of_reports(deployment, options.where.target_file)
    if people is not None:
        outcome = people.hidden_outcome(outcome)
    secrets = deployment.target.secrets()
    ended = reported(options.reporting, outcome, secrets, baseline, environment)
    if outcome.not_restored and deployment.journal is not None:
        words = (
            f"Once it responds again, `understudy cleanup {deployment.journal}` restores the rest."
        )
        print_line(console, words)
    return end(console, ended, _following(options, outcome))


WHAT_IS_JUDGED = frozenset(
    {
        "target",
        "base_url",
        "auth_url",
        "mode",
        "document",
        "overlays",
        "state_model",
        "like",
        "facts",
        "cases",
        "seed",
        "har",
    }
)
"""The options that the suggested next command repeats."""


def _following(options: VerifyOptions, outcome: Outcome) -> str:
    """Returns the command that shows the first cause or the unchecked rules in detail; or nothing."""
    words = ["understudy", "verify", *words_of(options, WHAT_IS_JUDGED)]
    if outcome.findings:
        first = by_cause(outcome.findings, outcome.roots)[0].findings[0].rule.id
        html = dict(options.reporting.files).get("html")
        if html is not None:
            return f"open {html}"
        return shlex.join([*words, "--rules", first, "--verbose", "--report", "html=report.html"])
    if options.where.is_mock:
        named = words_of(options, {"document"})
        asking = shlex.join(["understudy", "verify", "--init", *named])
        return f"{asking} (writes a target file, to judge a deployment)"
    if outcome.count("not_checked") and options.har is None and not options.rules:
        return shlex.join([*words, "--plan"]) + " (says what each unchecked rule needs)"
    return ""


def _expect_examples(url: str) -> None:
    """Checks that the store for examples responds.

    Raises:
        StartupError: The URL is not that of a store, or the store does not respond.
    """
    if not is_store(url):
        msg = f"--examples: {url!r} is not the URL of a store; write valkey://host:6379/0."
        raise StartupError(msg)
    # The client library of the store is an optional dependency.
    from understudy.verify.shared_ledger import expect_store

    expect_store(url, "--examples")


def _outcome(options: VerifyOptions, deployment: Deployment, console: Console) -> Outcome:
    if options.har is None:
        return _sent(options, deployment, console)
    deployment.close()
    if deployment.is_published:
        msg = "--har sends nothing, and so cannot ask for the published document; name a file."
        raise StartupError(msg)
    return judge_recorded(options.har, deployment, options.rules)


def _sent(options: VerifyOptions, deployment: Deployment, console: Console) -> Outcome:
    def carry_out(listen: Listener) -> Outcome:
        run_options = RunOptions(
            rules=options.rules,
            seed=options.seed,
            workers=options.workers,
            phases=phases_of(options.cases, deployment.document, is_mock=options.where.is_mock),
            listen=listen,
            is_preflighted=not options.where.is_mock,
            undisturbed=noted,
            examples=options.examples,
        )
        return judge(deployment, run_options)

    return with_progress(console, deployment.journal, carry_out, is_quiet=options.quiet)


def print_plan(options: VerifyOptions, environment: Mapping[str, str]) -> None:
    """Prints the requests that would be sent, and sends none.

    Raises:
        StartupError: A file is invalid, or there is no such rule.
    """
    plan = Plan(Terminal(highlight=False))
    issuing = tokens = 0
    deployment = as_if_logged_in(open_deployment(options.where, environment))
    deployment.close()
    document = deployment.document or bundled("service.yaml")
    probes = chosen(deployment, document, options.rules)
    target = deployment.target
    if probes and not options.where.is_mock:
        count = planned_requests(target, needs_of(probes))
        plan.add(count, (), about="preflight: each credential, slug and secret once")
    _add_inferred(plan, target, document)
    for probe, reason in probes:
        plan.add(probe.cost, probe.rules, reason)
        if reason is None:
            issuing += probe.cost * ("tokens" in probe.needs)
            tokens += probe.tokens
    plan.print_left()
    for line in (*_cases(options, document), *permission_lines(target)):
        print_line(plan.console, line, hanging=2)
    before = ", before the generated cases" if _number_of_cases(options, document) else ""
    issued = _issued(issuing, tokens, target)
    most = deployment.allowance.requests
    limit = f"; at most {most} in all (--max-requests)" if most is not None else ""
    text = f"about {plan.total} requests to {target.base_url}{before}{issued}{limit}"
    if most is not None and not interface_operations(document):  # only the service shows how many
        text = f"at most {most} requests to {target.base_url} (--max-requests), what undoes changes included"
    print_line(plan.console, text, hanging=2)


def _add_inferred(plan: Plan, target: Target, document: Document) -> None:
    """Adds the requests that judge inferred state to a plan."""
    if interface_operations(document):
        return
    judge = CollectionsJudge(target, document)
    if judge.can_judge:
        for count, text in judge.planned():
            plan.add(count, (), about=f"inferred state of {text}")
        for rule, reason in judge.unchecked_rules().items():
            plan.add(0, (rule,), reason)


def _cases(options: VerifyOptions, document: Document) -> Iterator[str]:
    """Yields lines on the cases that are generated from the document, and on how they are judged."""
    number, count = len(operations(document)), _number_of_cases(options, document)
    if not interface_operations(document):
        yield (
            f"{document.path} describes another service: its {number} operations are judged by two "
            "validators of the document and by inferred state, and by no rule of this interface"
        )
    if count and not interface_operations(document):
        yield f"cases of the catalogue, up to {TELLING_CASES * count} of each operation, as the owner"
    if count:
        yield (
            f"generated cases of each of {number} operations, as the owner and as anonymous: those "
            f"that cover its schemas, and up to {count} random ones; --max-requests bounds them"
        )


def _number_of_cases(options: VerifyOptions, document: Document) -> int:
    return cases_of(options.cases, document, is_mock=options.where.is_mock)


def _issued(requests: int, tokens: int, target: Target) -> str:
    """Returns a text on the requests of a plan that issue or use tokens, and the number of tokens."""
    if not requests:
        return ""
    most = target.permit.max_tokens
    allowed = f"; [permit] max_tokens allows {most}" if most is not None and most < tokens else ""
    return f", {requests} of them to have about {tokens} tokens issued, or to use them{allowed}"
