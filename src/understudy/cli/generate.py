"""Runs ``understudy generate``: chooses cases, sends and writes them, and prints a summary."""

import re
import shlex
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, compress, count, groupby, islice, takewhile
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

import click

from understudy import plugins
from understudy.api.case_source import CaseSource, offline_source, worded
from understudy.cases import selection
from understudy.cases.model import Case
from understudy.cases.selection import choose
from understudy.cli.command_options import MOCK_URL
from understudy.cli.commands import GenerateOptions
from understudy.cli.exit_codes import ExitCode, last_lines
from understudy.cli.interrupts import noted
from understudy.cli.losses import print_losses, print_missing_base
from understudy.cli.reporting import deliver
from understudy.cli.writing import expect_writable
from understudy.collections.sequences import generate_sequences, sequence_source
from understudy.exchange.curl import curl
from understudy.exchange.messages import Request
from understudy.generate import msw
from understudy.generate.formats.export import (
    ExportSettings,
    Omissions,
    base_url,
    beside,
    prepare,
    save,
)
from understudy.reports.content import Cause, Entry, Report, RuleLine, Section, ShownSide, Status
from understudy.terminal import counted, echo
from understudy.verify.clock import machine_time

RUN_BY: Final = {
    "curl": ("{secrets}sh {out}", "{}=… "),
    "pytest": ("{secrets}pytest {out}", "{}=… "),
    "postman": ("newman run {out}{secrets}", " --env-var {}=…"),
    "bruno": ("cd {out} && bru run{secrets}", " --env-var {}=…"),
    "k6": ("k6 run{secrets} {out}", " -e {}=…"),
    "http": ("{secrets}httpyac send {out} --all", "{}=… "),
    "har": ("understudy drift --target FILE --har {out}", ""),
}
"""The command that runs the output of a format and the words that set one secret, by format."""


@dataclass
class Tally:
    """Counts cases while they are written.

    Attributes:
        total: Number of cases to write.
        outcomes: Number of cases by outcome, such as ``failed``.
        reasons: Number of cases by the reason why they were not sent or judged.
        sequences: Identifiers of the sequences to write.
        causes: Number of failures and the case with the smallest request, by cause.
        sent: The cases with an outcome.
        secrets: Names of the secrets that the cases need, each once.
    """

    total: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    sequences: set[str] = field(default_factory=set)
    causes: dict[str, tuple[int, Case]] = field(default_factory=dict)
    sent: list[Case] = field(default_factory=list)
    secrets: dict[str, None] = field(default_factory=dict)

    def through(self, cases: Iterable[Case], *, only_failing: bool) -> Iterator[Case]:
        """Counts cases, and yields those to write."""
        for _, steps in groupby(
            cases, lambda case: case.id if case.step is None else case.step.sequence
        ):
            group = [self._counted(case) for case in steps]
            if only_failing and not any(case.has_failed for case in group):
                continue  # a sequence is left out only if none of its steps failed
            self.total += len(group)
            self.secrets |= dict.fromkeys(name for case in group for name in case.variables)
            self.sequences |= {case.step.sequence for case in group if case.step is not None}
            yield from group

    def _counted(self, case: Case) -> Case:
        word, _, why = case.outcome.partition(": ")
        if word:
            self.outcomes[word] += 1
            self.sent.append(case)
        if word.startswith("not "):
            self.reasons[why] += 1
        if case.has_failed:
            cause = _cause_of(case, why)
            number, smallest = self.causes.get(cause, (0, case))
            self.causes[cause] = (number + 1, min(smallest, case, key=_size))
        return case


MOST_REASONS: Final = 5
"""Most reasons for cases that were not sent or judged in a report, the most frequent first."""

SERVER_ERROR = re.compile("answered 5[0-9][0-9]")


def _cause_of(case: Case, why: str) -> str:
    """Returns the name of a failure's cause: the operation, the response and the mutated place.

    The place is left out for server errors and broken rules, which have one cause for all places.
    """
    reason = why.partition("; ")[0]
    if SERVER_ERROR.match(reason):
        return f"{case.operation} {reason.partition(',')[0]}"
    if reason.startswith("rule "):
        from understudy.verify.findings import without_values  # --send has loaded it

        return f"{case.operation} {without_values(reason)}"
    return f"{case.operation} {reason} ({case.part}, {case.source})"


def report_of(tally: Tally, urls: Mapping[str, str], started: datetime) -> Report:
    """Returns a report of the cases that were sent, with the smallest request of each cause.

    Args:
        tally: The cases.
        urls: Base URLs that they were sent to, by the site of a request.
        started: Time of the first request.
    """
    causes = sorted(tally.causes.items(), key=lambda entry: -entry[1][0])
    failed, passed = tally.outcomes["failed"], tally.outcomes["passed"]
    verdict = "No failures"
    if failed:
        verdict = f"{counted(failed, 'case')} failed, for {counted(len(causes), 'cause')}"
    verdict += f". {passed:,} passed, {tally.reasons.total():,} not sent or judged."
    reasons = tally.reasons.most_common(MOST_REASONS)
    if others := tally.reasons.total() - sum(number for _, number in reasons):
        reasons.append(("other reasons, which --out and --report junit=FILE name", others))
    shown = tuple(_shown_cause(name, number, case, urls) for name, (number, case) in causes)
    return Report(
        tool="understudy generate --send",
        title=urls["resource"],
        verdict=verdict,
        is_bad=bool(failed),
        sections=(Section("Failures", shown),) if shown else (),
        cases=tuple(_shown_case(case, urls) for case in tally.sent),
        remarks=tuple(f"{number:,} not sent or judged: {reason}." for reason, number in reasons),
        numbers={"started": started.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")},
    )


def _shown_case(case: Case, urls: Mapping[str, str]) -> tuple[RuleLine, Cause | None]:
    word, _, why = case.outcome.partition(": ")
    is_judged = not word.startswith("not ")
    status: Status = "not_checked" if not is_judged else "failed" if case.has_failed else "passed"
    line = RuleLine(case.title, case.description, case.operation, status, "stated", is_judged, why)
    return line, _shown_cause(_cause_of(case, why), 1, case, urls) if case.has_failed else None


def _shown_cause(name: str, number: int, case: Case, urls: Mapping[str, str]) -> Cause:
    from understudy.verify.catalogue import catalogue  # --send has loaded it

    request, actual = case.request, case.outcome.partition(": ")[2]
    url = urls[request.site].rstrip("/") + request.target
    headers = tuple((header.lower(), text) for header, text in request.headers)
    sent = Request(request.method, url, headers, request.body or b"")
    entry = Entry(
        label=case.description,
        summary=f"{counted(number, 'case')}: {name}",
        operation=case.operation,
        fingerprint=case.id,
        sides=(ShownSide(curl(sent, {f"~~{it}~~": it for it in request.variables})),),
        facts=(
            ("cases", f"{number:,}; this one has the smallest request"),
            ("expected", f"{' or '.join(case.expected.statuses)} ({case.expected.because})"),
            ("actual", re.sub("(answered [0-9]{3}), expected [^;]+", r"\1", actual)),
        ),
    )
    is_crash = SERVER_ERROR.match(actual) is not None
    named = re.match(r"rule ([\w-]+):", actual)
    rule = catalogue().get(named[1]) if named else None
    statement = "" if rule is None else rule.statement
    name = name if rule is None else f"{rule.id} ({case.operation})"
    return Cause(name, statement, (entry,), severity="critical" if is_crash else "major")


def _size(case: Case) -> int:
    return len(case.request.target) + len(case.request.body or b"")


def generate(options: GenerateOptions, environment: Mapping[str, str]) -> int:
    """Generates cases, sends them with ``--send``, writes them, and returns the exit code.

    Raises:
        UsageError: Two options contradict one another.
        StartupError: An option, a file or the deployment cannot be used.
    """
    if options.format_name == msw.NAME:
        url = options.base_url or environment.get("UNDERSTUDY_URL", MOCK_URL)
        msw.write(url, options.out, is_forced=options.force)
        if options.out is not None:
            about = f"{options.out}: handlers(), to give to setupServer or setupWorker of MSW"
            echo(f"{about}\nNext: npm install --save-dev msw", err=True)
        return 0
    for contradiction in _contradictions(options):
        raise click.UsageError(contradiction)
    for name, path in options.files:
        expect_writable(path, f"--report {name}={path}")
    prepare(plugins.find("formats", options.format_name), options.out, is_forced=options.force)
    with noted() as interrupted:
        if not options.is_sent:
            source = offline_source(options.where, environment)
            return _write(options, source, interrupted, environment)
        return _send(options, interrupted, environment)


def _send(options: GenerateOptions, interrupted: Event, environment: Mapping[str, str]) -> int:
    """Sends cases as they are written, and returns the exit code."""
    # The evaluator and the mock take a second to import, which writing need not wait for.
    from understudy.api.opening import logged_in, open_deployment
    from understudy.api.sending import sending
    from understudy.record.recorder import people_of_reports

    where = replace(options.where, has_default_limits=False)  # --count says how many
    deployment = logged_in(open_deployment(where, environment))
    if deployment.document is not None:
        print_missing_base(deployment.document, deployment.target.base_url)
    people = people_of_reports(deployment, options.where.target_file)
    if people is None:
        with sending(deployment, _report_left) as source:
            return _write(options, source, interrupted, environment)
    with sending(
        deployment, lambda line: _report_left(people.hidden(line)), people.listen
    ) as source:
        hidden = replace(source, send=lambda cases: map(people.hidden_case, source.send(cases)))
        return _write(options, hidden, interrupted, environment)


def _contradictions(options: GenerateOptions) -> Iterator[str]:
    """Yields the messages on options that cannot be used together."""
    name, form = options.format_name, plugins.find("formats", options.format_name)
    if (options.only_failing or options.reports) and not options.is_sent:
        option = "--only-failing" if options.only_failing else "--report"
        yield f"{option} goes with --send: what was not sent cannot have failed."
    if name == "bruno" and options.out is None:
        yield "--format bruno writes a directory; name it with --out."
    if options.is_in_worlds and not form.has_users:
        able = " or ".join(_formats_with("has_users"))
        yield f"--worlds gives each virtual user a world, which {name} has none of; choose --format {able}."
    if not options.is_in_sequences:
        if options.sequence_model is not None:
            yield "--state-model goes with --sequences: cases of operations need no collections."
    elif options.size is not None:
        yield "--minimize-set chooses among cases of operations; use --count with --sequences."
    elif not form.has_sequences:
        able = ", ".join(_formats_with("has_sequences"))
        yield (
            f"--format {name} carries no value from a response into the next request, "
            f"as sequences do; choose one of {able}."
        )


def _formats_with(attribute: str) -> list[str]:
    return [
        name
        for name in plugins.names("formats")
        if getattr(plugins.find("formats", name), attribute)
    ]


def _report_left(line: str) -> None:
    echo(f"not undone: {line}", err=True)


def _write(
    options: GenerateOptions,
    source: CaseSource,
    interrupted: Event,
    environment: Mapping[str, str],
) -> int:
    for planner in source.planners:
        print_losses(planner.document.path, planner.document.losses)
    chosen = (
        _chosen_sequences(source, options)
        if options.is_in_sequences
        else _chosen_cases(source, options)
    )
    form, out = plugins.find("formats", options.format_name), options.out
    settings = ExportSettings(
        {
            "resource": base_url(source.base_url, "--base-url"),
            "authorization": base_url(source.auth_url, "--auth-url"),
        },
        source.test_data.secrets if options.include_secrets else {},
        beside(out),
        "" if out is None else out.stem,
        options.is_in_worlds,
    )
    tally, started = Tally(), machine_time()
    shown = _shown(chosen.cases, chosen.total)
    wanted = takewhile(lambda _: not interrupted.is_set(), shown)
    cases = tally.through(source.send(wanted), only_failing=options.only_failing)
    first = tuple(islice(cases, 1))  # raises if nothing responds, before a file is written
    judged = worded(chain(first, cases), source.wording)
    if options.is_written:
        omissions = save(form.write(judged, settings), form, out, is_forced=options.force)
    else:
        omissions = Omissions()
        deque(judged, maxlen=0)  # reading the cases sends them
    for note in chosen.notes:
        echo(note, err=True)
    done = f"in {out}: {form.about}" if out else "written" if options.is_written else "generated"
    _summarize(tally, omissions, done, chosen.sources)
    if chosen.coverage:
        echo(chosen.coverage, err=True)
    if tally.outcomes:
        urls = {"resource": source.base_url, "authorization": source.auth_url}
        deliver(report_of(tally, urls, started), options, environment, is_apart=True)
    if out is not None and options.format_name in RUN_BY:
        command, setting = RUN_BY[options.format_name]
        secrets = "".join(setting.format(it) for it in tally.secrets if it not in settings.secrets)
        echo(f"Next: {command.format(out=shlex.quote(str(out)), secrets=secrets)}", err=True)
    if interrupted.is_set():
        echo("Stopped early: the output is complete up to that point.", err=True)
        return ExitCode.INCOMPLETE
    return _end(tally, dict(options.files).get("html"))


def _end(tally: Tally, page: Path | None) -> ExitCode:
    """Returns the exit code, and prints the reason if it is not 0, and how to open the HTML report."""
    failed, passed = tally.outcomes["failed"], tally.outcomes["passed"]
    if tally.outcomes and not (failed or passed):
        is_basic = any("[application]" in reason for reason in tally.reasons)
        lines = 'username = "…"` and `password = "…"' if is_basic else 'api_key = "…"'
        table = "application" if is_basic else "credentials"
        remedy = (
            f"write what is missing into a file, as `[{table}]` and below it `{lines}` "
            "(any value at a mock of `serve`), and name it with --target; or correct --base-url"
        )
        echo(f"Exit code 2: no case could be sent and judged; {remedy}.", err=True)
        return ExitCode.UNUSABLE
    reason = f"{counted(failed, 'case')} failed" if failed else ""
    return last_lines(reason, "" if page is None else f"open {shlex.quote(str(page))}")


class ChosenCases(NamedTuple):
    """The cases to write, and their summary.

    Attributes:
        cases: The cases, which are generated while they are written.
        sources: The number of operations or collections, such as ``3 operations``.
        total: Number of cases, or its upper bound; None if it is not known.
        notes: Lines on operations and collections that can hardly be tested.
        coverage: The coverage of a minimized set, in words; empty for other sets.
    """

    cases: Iterable[Case]
    sources: str
    total: int | None
    notes: tuple[str, ...] = ()
    coverage: str = ""


def _chosen_cases(source: CaseSource, options: GenerateOptions) -> ChosenCases:
    plans = selection.plans(source.planners, options.operations)
    notes = tuple(
        f"{plan.name}: {plan.doubt}, so every response but a server error is right; "
        "make the document clear, as by an example."
        for plan in plans
        if plan.doubt
    )
    wanted = (options.count, options.seed, selection.WORDS[options.kind])
    sources = counted(len(plans), "operation")
    stream = selection.generate(plans, *wanted)
    if options.size is None:
        return ChosenCases(stream, sources, options.count * len(plans), notes)
    coverage = choose(stream, options.size)
    chosen = set(coverage.chosen)
    again = selection.generate(plans, *wanted)  # generated twice instead of kept in memory
    cases = compress(again, (place in chosen for place in count()))
    return ChosenCases(cases, sources, options.size, notes, coverage.summary())


def _chosen_sequences(source: CaseSource, options: GenerateOptions) -> ChosenCases:
    collections, omitted = sequence_source(
        source.planners, options.operations, options.sequence_model
    )
    kinds = selection.WORDS[options.kind]
    stream = generate_sequences(collections, options.count, options.seed, kinds)
    return ChosenCases(stream, counted(len(collections), "collection"), None, omitted)


def _summarize(tally: Tally, omissions: Omissions, done: str, sources: str) -> None:
    number = tally.total - len(omissions.ids)
    cases = f"{counted(number, 'case')} of {sources}"
    if tally.sequences:
        cases = f"{counted(len(tally.sequences), 'sequence')}, with {cases},"
    are, were = ("is", "was") if number == 1 and not tally.sequences else ("are", "were")
    echo(f"{cases} {are if done.startswith('in ') else were} {done}.", err=True)
    if tally.outcomes:
        outcomes = (f"{number:,} {word}" for word, number in sorted(tally.outcomes.items()))
        echo(f"Sent: {', '.join(outcomes)}.", err=True)
    for reason, number in omissions.reasons.items():
        echo(f"{number:,} omitted: {reason}.", err=True)


def _shown(cases: Iterable[Case], total: int | None) -> Iterable[Case]:
    """Wraps cases in a progress bar, if standard error is a terminal."""
    if not sys.stderr.isatty():
        return cases
    # Importing rich takes 60 ms, which a pipe need not wait for.
    from rich.progress import track

    from understudy.reports.console import Terminal

    return track(cases, "cases", total=total, console=Terminal(stderr=True), transient=True)
