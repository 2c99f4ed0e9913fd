"""Puts a run of ``understudy generate`` together: subjects, stream, wire, format, summary."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress, count, takewhile
from pathlib import Path
from threading import Event
from typing import Any

import click

from understudy.cli.interrupts import noted
from understudy.generate import selection
from understudy.generate.cases import Case
from understudy.generate.covering_sets import choose
from understudy.generate.formats.files import Left, beside, prepare, save
from understudy.generate.formats.registry import FORMATS
from understudy.generate.formats.writing import Job
from understudy.generate.plans import OperationPlan
from understudy.generate.test_data import TestData

BASE_URL = "http://127.0.0.1:8080/v3"
AUTH_URL = "http://127.0.0.1:8081"
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


def generate(operations: tuple[str, ...], options: Mapping[str, Any]) -> int:
    """Generates, sends if that is wanted, writes, and returns the exit code.

    Raises:
        StartupError: There is something to mend first.
    """
    prepare(FORMATS[options["name"]], options["out"])
    with noted() as asked_to_stop:
        return _generate(operations, options, asked_to_stop)


def _generate(operations: tuple[str, ...], options: Mapping[str, Any], asked: Event) -> int:
    if options["is_sent"]:
        from understudy.cli.firing import fired

        with fired(options) as (firing, target):
            subjects = firing.prepare()
            urls = (target.base_url, target.auth_url or AUTH_URL)
            return _write(operations, options, (subjects, urls, firing.fire), asked)
    subjects, urls = TestData(), (BASE_URL, AUTH_URL)
    if options["target"] is not None:
        from understudy.deployments.target_files import load_target
        from understudy.generate.sending import subjects_of

        target = load_target(options["target"], os.environ)
        subjects, urls = subjects_of(target), (target.base_url, target.auth_url or AUTH_URL)
    return _write(operations, options, (subjects, urls, iter), asked)


def _write(
    operations: tuple[str, ...],
    options: Mapping[str, Any],
    about: tuple[TestData, tuple[str, str], Callable[[Iterable[Case]], Iterable[Case]]],
    asked: Event,
) -> int:
    subjects, urls, fire = about
    plans = selection.plans(selection.planners(options["document"], subjects), operations)
    stream, coverage = _chosen(plans, options)
    form, out = FORMATS[options["name"]], options["out"]
    base_url, auth_url = options["base_url"] or urls[0], options["auth_url"] or urls[1]
    job = Job(
        {"resource": base_url.rstrip("/"), "authorization": auth_url.rstrip("/")},
        subjects.secrets if options["include_secrets"] else {},
        beside(out),
    )
    tally = Tally()
    shown = _shown(stream, options["size"] or options["count"] * len(plans))
    wanted = takewhile(lambda _: not asked.is_set(), shown)
    cases = tally.through(fire(wanted), only_failing=options["only_failing"])
    left = save(form.write(cases, job), form, out)
    for plan in plans:
        if plan.unsure:
            said = f"{plan.name}: no value was found that the schema of {plan.unsure} takes, so"
            click.echo(f"{said} all is open; an example in the document helps.", err=True)
    _summarize(tally, left, f"{out}: {form.about}" if out else "", len(plans))
    if coverage:
        click.echo(coverage, err=True)
    if asked.is_set():
        click.echo("Stopped early: what was made until then is whole.", err=True)
        return STOPPED
    return FAILED if tally.outcomes["failed"] else 0


def _chosen(plans: list[OperationPlan], options: Mapping[str, Any]) -> tuple[Iterator[Case], str]:
    wanted = (options["count"], options["seed"], selection.WORDS[options["kind"]])
    stream = selection.generate(plans, *wanted)
    if options["size"] is None:
        return stream, ""
    coverage = choose(stream, options["size"])
    chosen = set(coverage.chosen)
    again = selection.generate(plans, *wanted)  # the same cases, which none had to remember
    return compress(again, (place in chosen for place in count())), coverage.said()


def _summarize(tally: Tally, left: Left, where: str, operations: int) -> None:
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


def checked(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the options, if they go together.

    Raises:
        UsageError: They do not.
    """
    if options["only_failing"] and not options["is_sent"]:
        msg = "--only-failing goes with --send: what was not sent cannot have failed."
        raise click.UsageError(msg)
    out: Path | None = options["out"]
    if options["name"] == "bruno" and out is None:
        msg = "--format bruno writes a directory; name it with --out."
        raise click.UsageError(msg)
    return options
