"""Runs ``understudy record``: serves the proxy, prints findings, and writes the recording."""

import asyncio
import ctypes
import gc
import logging
import shlex
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from understudy.api.opening import open_deployment
from understudy.api.options import profile_files
from understudy.cli.commands import RecordOptions
from understudy.cli.exit_codes import ExitCode
from understudy.cli.options import expect_different, words_of
from understudy.cli.writing import ready_file
from understudy.errors import StartupError
from understudy.exchange.messages import Identity
from understudy.interface.deployment_profile import write_profile
from understudy.mock.server import serving
from understudy.record.messages import place_of
from understudy.record.proxy import Recording, RecordingOptions
from understudy.record.recorder import Recorder, expect_new, key_file, load_key, write_whole
from understudy.terminal import counted, echo
from understudy.verify.findings import Finding

HOST: Final = "127.0.0.1"
"""The proxy listens on loopback only, as it passes on everything that a client sends."""

_SET_DUMPABLE: Final = 4
"""PR_SET_DUMPABLE of prctl(2)."""


def record(options: RecordOptions, environment: Mapping[str, str]) -> int:
    """Proxies a deployment until Ctrl-C or SIGTERM, and returns the exit code.

    Raises:
        StartupError: A file or an option is invalid, or a port is in use.
    """
    if options.where.is_mock:
        msg = "Name the deployment to record: --target FILE or --base-url URL."
        raise StartupError(msg)
    if not options.single_port:
        ports = {"--port": options.port, "--auth-port": options.auth_port}
        expect_different(ports, ", or add --single-port")
    announce = ready_file(options.ready_file)
    key, key_path = None, key_file(options.key, options.where.target_file)
    if options.out is not None:
        expect_new(options.out)
        key = load_key(key_path, echo)
    with (
        silent_loggers(),
        closing(open_deployment(options.where, environment)) as deployment,
        ExitStack() as sockets,
    ):
        resource = sockets.enter_context(serving.bind(HOST, options.port, "--port"))
        authorization = resource
        if not options.single_port and deployment.target.auth_url is not None:
            bound = serving.bind(HOST, options.auth_port, "--auth-port")
            authorization = sockets.enter_context(bound)
        recording = Recording(
            deployment,
            RecordingOptions(
                port=resource.getsockname()[1],
                auth_port=authorization.getsockname()[1],
                is_blocking=options.is_blocking,
                key=key,
                fallback=echo if options.is_fallback else None,
            ),
            (lambda _finding: None) if options.quiet else _announce,
        )
        if not options.quiet:
            recording.judge.skip = echo
        try:
            _serve(recording, (resource, authorization), announce)
            again = words_of(options, {"target", "base_url", "auth_url", "document"})
            return finished(recording, options.out, key_path, again)
        except StartupError:
            raise
        except Exception as error:  # a traceback could print personal data of an exchange
            echo(f"The proxy itself failed: {place_of(error)}", fg="red", err=True)
            return ExitCode.INTERNAL


def finished(
    recording: Recording, out: Path | None, key: Path | None = None, again: Sequence[str] = ()
) -> ExitCode:
    """Judges the remaining exchanges, reports, writes the recording, and returns the exit code.

    Args:
        recording: The recorded traffic.
        out: The directory to write; None to write nothing.
        key: File of the key for pseudonyms.
        again: The options that name the deployment, for the suggested next command.

    Raises:
        StartupError: The recording cannot be written.
    """
    recording.judge.close()
    code = report(recording)
    if recording.recorder is not None and out is not None:
        write(recording.recorder, out, key, again)
    else:
        echo(f"Next: {_record_command(again, 'recording')} (keeps what passes, to serve it)")
    return code


def _record_command(options: Sequence[str], out: str) -> str:
    """Returns the command that records a deployment into a new directory."""
    return shlex.join(["understudy", "record", *options, "--out", out])


def _serve(
    recording: Recording,
    sockets: Iterable[socket.socket],
    announce: Callable[[Mapping[str, str]], None],
) -> None:
    """Serves the proxy until Ctrl-C or SIGTERM."""
    _prevent_core_dumps()
    bound = {each.getsockname()[1]: each for each in sockets}

    def ready(_stop: Callable[[], None]) -> None:
        _print_ready(recording.proxied_urls)
        announce(recording.proxied_urls)

    async def serve() -> None:
        applications = {bound[port]: proxy for port, proxy in recording.applications.items()}
        try:
            await serving.serve(applications, ready=ready)
        finally:
            await recording.aclose()

    asyncio.run(serve())


def write(
    recorder: Recorder, out: Path, key: Path | None = None, again: Sequence[str] = ()
) -> None:
    """Writes a recording, and prints the next command."""
    files = recorder.files()
    write_whole(files, out)
    is_served = not {"tokens.yaml", "stubs/recorded.yaml"}.isdisjoint(files)
    echo(
        f"Wrote {counted(len(recorder.entries), 'exchange')} to {out}; parts left out: "
        f"{recorder.dropped.total} ({out / 'dropped.md'} counts them)."
    )
    if recorder.left_out:
        echo(f"Exchanges that were too many to keep: {recorder.left_out}.")
    if is_served:
        profile = out / "deployment.yaml"
        facts = [out / "facts.yaml"] * ("facts.yaml" in files)
        others = {"fixtures": out, "recording-key": key, "facts": facts}
        write_profile(profile, profile_files(recorder.target) | others)
        echo(f"Next: understudy serve --like {shlex.quote(str(profile))}")
    else:
        echo("No response passed that a mock could repeat: there is nothing to serve.")
        echo(f"Next: {_record_command(again, f'{out}-again')} (and let the app read something)")


def line_of(finding: Finding) -> str:
    """Returns one line on a finding, without values of the exchange, which may be personal data."""
    exchange = finding.exchange
    operation = exchange.title or exchange.request.method
    identity = name_of(exchange.identity)
    outcome = exchange.status or finding.actual  # the reason why there was no response
    return f"{operation} as {identity}: {outcome}  {finding.rule.id}: {finding.rule.statement}"


def name_of(identity: Identity) -> str:
    """Returns the name of an identity; for a token that the target does not name, without its hash."""
    return "a token" if identity.kind == "unknown" else identity.name


@contextmanager
def silent_loggers() -> Iterator[None]:
    """Disables all loggers, as libraries log header fields and texts of errors."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        gc.collect()  # while logging is off: futures log unread errors when they are collected
        logging.disable(before)


def _prevent_core_dumps() -> None:
    """Prevents core dumps, which would contain the exchanges."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # where the limit does not apply to dumps that a program collects
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _announce(finding: Finding) -> None:
    echo(line_of(finding), fg="red")


def _print_ready(urls: Mapping[str, str]) -> None:
    for name, url in urls.items():
        echo(f"{name}  {url}")
    echo("Point the app at these addresses; Ctrl-C ends the recording.")


def report(recording: Recording) -> ExitCode:
    """Prints the findings and counts, without values of exchanges, and returns the exit code."""
    judge, counts = recording.judge, recording.judge.counts
    findings = [each for each in judge.evaluator.findings if not each.is_note]
    notes = len(judge.evaluator.findings) - len(findings)
    for finding in findings:
        echo(f"{line_of(finding)} ({counted(finding.count, 'time')})", fg="red")
    echo(
        f"{counted(counts.judged, 'exchange')} judged, {counted(len(findings), 'finding')}, "
        f"{counted(notes, 'note')}; "
        f"{counts.lost} without a response, {counts.blocked} withheld, {counts.too_large} not judged",
        bold=True,
    )
    if counts.websockets:
        echo(f"{counted(counts.websockets, 'WebSocket connection')} passed, not judged")
    if recording.fallback is not None:
        number = recording.fallback.count
        echo(f"{counted(number, 'response')} of the mock, where the deployment had none")
    if judge.evaluator.internal_errors:
        number = len(judge.evaluator.internal_errors)
        msg = f"{counted(number, 'check')} failed themselves; `verify --har` on the recording says which."
        echo(msg, fg="red", err=True)
    for place, times in judge.proxy_failures.items():
        echo(f"The proxy itself failed: {place} ({counted(times, 'time')})", fg="red", err=True)
    if findings:
        return ExitCode.FINDINGS
    if judge.proxy_failures or judge.evaluator.internal_errors:
        return ExitCode.INTERNAL
    return ExitCode.INCOMPLETE if counts.too_large else ExitCode.DONE
