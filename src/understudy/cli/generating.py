"""Runs ``understudy generate`` with typed options: source, cases, format, summary."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress, count, takewhile
from pathlib import Path
from threading import Event
from typing import Any

import click

from understudy.api.case_source import CaseSource, offline_source
from understudy.api.options import DeploymentOptions
from understudy.cli.interrupts import noted
from understudy.generate import selection
from understudy.generate.cases import Case
from understudy.generate.covering_sets import choose
from understudy.generate.formats.export import ExportSettings
from understudy.generate.formats.export_formats import FORMATS
from understudy.generate.formats.output_files import Omissions, beside, prepare, save
from understudy.generate.plans import OperationPlan

FAILED = 1
"""Exit code where cases were sent and some failed."""


STOPPED = 3
"""Exit code where Ctrl-C or SIGTERM came before the end."""


@dataclass
class Tally:
    """Counts cases on their way to the format.

    Attributes:
        total: All of them.
        outcomes: First word of an outcome to how many.
        reasons: Why cases were not sent, and how many.
    """

    total: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def through(self, cases: Iterable[Case], *, only_failing: bool) -> Iterator[Case]:
        """Yields the cases that are to be written."""
        for case in cases:
            word, _, why = case.outcome.partition(": ")
            if word:
                self.outcomes[word] += 1
            if word.startswith("not "):
                self.reasons[why] += 1
            if not only_failing or case.has_failed:
                self.total += 1
                yield case


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What the command line says.

    Attributes:
        where: The deployment that cases are about, and sent to.
        operations: The operations to make cases of; every operation if none is named.
        count: Cases of each operation.
        kind: ``valid``, ``invalid`` or ``all``.
        size: Keep only so many cases that cover the most; None to keep all.
        format_name: The output format.
        out: The file or directory to write; None for standard output.
        is_sent: True to send the cases.
        is_only_failing: True to keep only cases that failed.
        includes_secrets: True to write values of secrets, and not variables alone.
    """

    where: DeploymentOptions
    operations: tuple[str, ...] = ()
    count: int = 50
    kind: str = "all"
    size: int | None = None
    format_name: str = "curl"
    out: Path | None = None
    is_sent: bool = False
    is_only_failing: bool = False
    includes_secrets: bool = False


def typed(operations: tuple[str, ...], options: Mapping[str, Any]) -> GenerateOptions:
    """Returns what click parsed as values with types; the mapping ends here.

    Raises:
        UsageError: Two options contradict one another.
    """
    if options["only_failing"] and not options["is_sent"]:
        msg = "--only-failing goes with --send: what was not sent cannot have failed."
        raise click.UsageError(msg)
    if options["name"] == "bruno" and options["out"] is None:
        msg = "--format bruno writes a directory; name it with --out."
        raise click.UsageError(msg)
    where = DeploymentOptions(
        target_file=options["target"],
        base_url=options["base_url"],
        auth_url=options["auth_url"],
        document=options["document"],
        seed=options["seed"],
    )
    return GenerateOptions(
        where=where,
        operations=operations,
        count=options["count"],
        kind=options["kind"],
        size=options["size"],
        format_name=options["name"],
        out=options["out"],
        is_sent=options["is_sent"],
        is_only_failing=options["only_failing"],
        includes_secrets=options["include_secrets"],
    )


def generate(options: GenerateOptions) -> int:
    """Generates, sends if that is wanted, writes, and returns the exit code.

    Raises:
        StartupError: There is something to mend first.
    """
    prepare(FORMATS[options.format_name], options.out)
    with noted() as interrupted:
        if not options.is_sent:
            return _write(options, offline_source(options.where, os.environ), interrupted)
        # The judge and the mock take a second to import, which cases that are not sent need not.
        from understudy.api.opening import open_deployment
        from understudy.api.sending import sending

        deployment = open_deployment(options.where, os.environ)
        with sending(deployment, _report_left) as source:
            return _write(options, source, interrupted)


def _report_left(line: str) -> None:
    click.echo(f"not put back: {line}", err=True)


def _write(options: GenerateOptions, source: CaseSource, interrupted: Event) -> int:
    plans = selection.plans(source.planners, options.operations)
    stream, coverage = _chosen(plans, options)
    form, out = FORMATS[options.format_name], options.out
    settings = ExportSettings(
        {
            "resource": source.base_url.rstrip("/"),
            "authorization": source.auth_url.rstrip("/"),
        },
        source.test_data.secrets if options.includes_secrets else {},
        beside(out),
    )
    tally = Tally()
    shown = _shown(stream, options.size or options.count * len(plans))
    wanted = takewhile(lambda _: not interrupted.is_set(), shown)
    cases = tally.through(source.send(wanted), only_failing=options.is_only_failing)
    left = save(form.write(cases, settings), form, out)
    for plan in plans:
        if plan.uncertain_part:
            said = f"{plan.name}: no value was found that the schema of {plan.uncertain_part} takes, so"
            click.echo(f"{said} all is open; an example in the document helps.", err=True)
    _summarize(tally, left, f"{out}: {form.about}" if out else "", len(plans))
    if coverage:
        click.echo(coverage, err=True)
    if interrupted.is_set():
        click.echo("Stopped early: what was made until then is whole.", err=True)
        return STOPPED
    return FAILED if tally.outcomes["failed"] else 0


def _chosen(plans: list[OperationPlan], options: GenerateOptions) -> tuple[Iterator[Case], str]:
    wanted = (options.count, options.where.seed, selection.WORDS[options.kind])
    stream = selection.generate(plans, *wanted)
    if options.size is None:
        return stream, ""
    coverage = choose(stream, options.size)
    chosen = set(coverage.chosen)
    again = selection.generate(plans, *wanted)  # the same cases, which none had to remember
    return compress(again, (place in chosen for place in count())), coverage.summary()


def _summarize(tally: Tally, left: Omissions, where: str, operations: int) -> None:
    named = "operation" if operations == 1 else "operations"
    said = f"{tally.total - len(left.ids):,} cases of {operations} {named}"
    click.echo(f"{said} are in {where}." if where else f"{said} were written.", err=True)
    if tally.outcomes:
        counted = (f"{number:,} {word}" for word, number in sorted(tally.outcomes.items()))
        click.echo(f"Sent: {', '.join(counted)}.", err=True)
    for reason, number in tally.reasons.most_common(5):
        click.echo(f"{number:,} not sent or judged: {reason}.", err=True)
    for reason, number in left.reasons.items():
        click.echo(f"{number:,} left out: {reason}.", err=True)


def _shown(cases: Iterable[Case], total: int) -> Iterable[Case]:
    """Returns cases under a progress bar, where a person looks on."""
    if not sys.stderr.isatty():
        return cases
    # rich takes 60 ms to import, which a pipe need not wait for.
    from rich.console import Console
    from rich.progress import track

    return track(cases, "cases", total=total, console=Console(stderr=True), transient=True)
