"""The options of the commands: a record each, and a record for each group that several share."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal, get_args

import click

from understudy import plugins
from understudy.cli import completion
from understudy.cli.options import FORMAT_NAME, PORT, URL, group, option
from understudy.errors import nearest

MOCK_URL = "http://127.0.0.1:8080"
"""The default address of ``understudy serve``."""

GITHUB: Final = "github"
"""The report that needs no file: GitHub reads it from the log, and from its own summary file."""

FAIL_ON = ("findings", "not-checked", "notes", "nothing")


def rule_ids(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Returns the ids of a list with commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


RULES: Final[Mapping[str, Any]] = {
    "multiple": False,
    "callback": rule_ids,
    "shell_complete": completion.rules,
    "metavar": "ID,…",
}
"""The option that names rules."""


def parsed_by(
    formats: Callable[[], Collection[str]], foreign: Callable[[], Collection[str]] = tuple
) -> Callable[..., tuple[tuple[str, Path], ...]]:
    """Returns what parses the values of ``--report``.

    Args:
        formats: Returns the formats that are written to files; called where there is a value.
        foreign: Returns those of other packages; called where a format is none of ours.
    """

    def parse(
        _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
    ) -> tuple[tuple[str, Path], ...]:
        known = formats() if texts else ()
        if any(text.partition("=")[0] not in (*known, GITHUB) for text in texts):
            known = (*known, *foreign())
        return tuple(_report(text, known) for text in texts)

    return parse


def _report(text: str, formats: Collection[str]) -> tuple[str, Path]:
    """Parses one value.

    Raises:
        BadParameter: It is not a known format with a file.
    """
    name, _, path = text.partition("=")
    if name == GITHUB and not path:
        return name, Path()
    if name not in formats:
        known = (*formats, GITHUB)
        hint = nearest(name, list(known)) or f"; formats are {', '.join(known)}"
        msg = f"there is no report format {name!r}{hint}"
        raise click.BadParameter(msg)
    if not path:
        msg = f"{text!r} names no file; write {name}=FILE"
        raise click.BadParameter(msg)
    return name, Path(path)


Mode = Literal["observe", "own", "full"]

MODE: Final[Mapping[str, Any]] = {
    "type": click.Choice(get_args(Mode)),
    "help": "What may be changed: nothing, the named account, or anything.",
}
"""The option of commands that may write to a deployment."""


@dataclass(frozen=True, slots=True)
class DeploymentAddresses:
    """The addresses of a deployment."""

    base_url: str | None = option(
        type=URL, help="Base URL of the resource API, instead of the file's."
    )
    auth_url: str | None = option(
        type=URL, help="Base URL of the authorization server, instead of the file's."
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run."""

    max_requests: int | None = option(
        type=click.IntRange(1), help="Send at most this many requests in a run."
    )
    max_time: float | None = option(
        type=click.FloatRange(0, min_open=True), help="Stop a run after this many seconds."
    )

    @property
    def time(self) -> timedelta | None:
        """The time after which a run stops; None for no end."""
        return None if self.max_time is None else timedelta(seconds=self.max_time)


def deployment(
    target: Path | None, addresses: DeploymentAddresses, limits: Limits | None = None, **others: Any
) -> Any:
    """Returns the ``DeploymentOptions`` of a command."""
    # The deployment takes 0.1 s to import, which `--help` need not wait for.
    from understudy.api.options import DeploymentOptions

    limits = limits or Limits()
    return DeploymentOptions(
        target_file=target,
        base_url=addresses.base_url,
        auth_url=addresses.auth_url,
        max_requests=limits.max_requests,
        max_time=limits.time,
        **others,
    )


class RequestedReports:
    """Tells the reports that are files from the one that GitHub reads from the log."""

    __slots__ = ()
    reports: tuple[tuple[str, Path], ...]

    @property
    def files(self) -> tuple[tuple[str, Path], ...]:
        """Format and file of each report that is written."""
        return tuple((name, path) for name, path in self.reports if name != GITHUB)

    @property
    def is_github(self) -> bool:
        """True to print annotations, and to write the job summary where there is one."""
        return any(name == GITHUB for name, _ in self.reports)


@dataclass(frozen=True, slots=True)
class Reporting(RequestedReports):
    """The reports of an outcome, and what its exit code depends on."""

    reports: tuple[tuple[str, Path], ...] = option(
        "--report",
        default=(),
        callback=parsed_by(
            lambda: plugins.names("reports"), lambda: plugins.foreign_names("reports")
        ),
        metavar="FORMAT=FILE",
        help="Write a report: json, junit, html, sarif, har, gitlab or markdown; or `github`,"
        " without a file: annotations and the job summary. Repeatable.",
    )
    fail_on: tuple[str, ...] = option(
        default=(),
        type=click.Choice(FAIL_ON),
        help="What sets the exit code; repeatable.  [default: findings, and in CI not-checked]",
    )
    baseline: Path | None = option(help="File of known findings, each accepted until a date.")
    json: bool = option(
        default=False, help="Print the JSON report, and the text to standard error."
    )
    verbose: bool = option(
        default=False, help="Print consequences, notes and unchecked rules in full."
    )


@dataclass(frozen=True, slots=True)
class Overlays:
    """The files that change a document before it is read."""

    overlays: tuple[Path, ...] = option(
        "--overlay",
        default=(),
        metavar="FILE",
        help="Overlay file (1.0 or 1.1) that changes the document first; repeatable.",
    )


@dataclass(frozen=True, slots=True)
class RunningMock:
    """The running mock that a command uses."""

    url: str = option(
        "--mock",
        default=MOCK_URL,
        show_default=True,
        envvar="UNDERSTUDY_URL",
        show_envvar=True,
        metavar="URL",
        help="Address of the running mock.",
    )
    world: str | None = option(
        envvar="UNDERSTUDY_WORLD",
        show_envvar=True,
        help="World to use.  [default: the default world]",
    )
    admin_token: str | None = option(
        envvar="UNDERSTUDY_ADMIN_TOKEN",
        show_envvar=True,
        metavar="TOKEN",
        help="Admin token that `understudy serve` printed; needed from another machine.",
    )

    def client(self) -> Any:
        """Returns the ``AdminClient`` for the mock; the command's end closes it."""
        # httpx takes 0.1 s to import, which `serve` need not wait for.
        from understudy.verify.admin_client import AdminClient

        admin = AdminClient(self.url, self.world, self.admin_token)
        click.get_current_context().call_on_close(admin.close)
        return admin


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """The options of ``understudy verify``."""

    target: Path | None = option(
        help="Target file: what to judge, and what is permitted.  [default: the mock]"
    )
    addresses: DeploymentAddresses = group(DeploymentAddresses)
    mode: Mode | None = option(**MODE)
    document: Path | None = option(
        help="OpenAPI document to judge by, instead of the file's; `published` for the"
        " deployment's own."
    )
    changes: Overlays = group(Overlays)
    state_model: Path | None = option(
        help="State-model file that corrects what is inferred from the document of another service."
    )
    rules: tuple[str, ...] = option(
        default=(), help="Judge only these rules; `understudy rules` lists them.", **RULES
    )
    facts: Path | None = option(
        metavar="FACTS.yaml",
        help="Judge by what `understudy learn` wrote of the deployment, instead of assuming it.",
    )
    cases: int | None = option(
        type=click.IntRange(0),
        help="Generated cases per operation; 0 for none.  [default: 10 for the mock, else 0]",
    )
    seed: int = option(default=0, help="Seed for generated cases.")
    workers: int = option(
        default=1, type=click.IntRange(1, 16), help="Threads for generated cases."
    )
    examples: str | None = option(
        envvar="UNDERSTUDY_EXAMPLES",
        metavar="URL",
        help="Store, such as valkey://host/0, that shares between machines what broke a scenario.",
    )
    limits: Limits = group(Limits)
    har: Path | None = option(help="Judge recorded traffic (HAR 1.2) instead of sending.")
    reporting: Reporting = group(Reporting)
    quiet: bool = option(default=False, help="Print no progress.")
    is_plan: bool = option(
        "--plan", default=False, help="Print the requests that would be sent, and send nothing."
    )
    is_init: bool = option(
        "--init", default=False, help="Ask questions, and write a target file to --target."
    )
    is_template: bool = option(
        "--template", default=False, help="Print a target file with every key, and stop."
    )
    is_schema: bool = option(
        "--schema", default=False, help="Print the JSON Schema of target files, and stop."
    )

    @property
    def where(self) -> Any:
        """The deployment, as ``DeploymentOptions``."""
        return deployment(
            self.target,
            self.addresses,
            self.limits,
            document=self.document,
            overlays=self.changes.overlays,
            facts=self.facts,
            state_model=self.state_model,
            mode=self.mode,
            seed=self.seed,
        )


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """The options of ``understudy learn``."""

    target: Path | None = option(
        help="Target file: what to ask, and what is permitted.  [default: the mock]"
    )
    addresses: DeploymentAddresses = group(DeploymentAddresses)
    mode: Mode | None = option(**MODE)
    out: Path | None = option(
        metavar="FACTS.yaml",
        help="Facts file to write; one that exists is brought up to date, and what changed is"
        " printed.",
    )
    rules: tuple[str, ...] = option(
        default=(), help="Settle only these questions, by the ids of their rules.", **RULES
    )
    limits: Limits = group(Limits)
    is_plan: bool = option(
        "--plan",
        default=False,
        help="Print the requests that would be sent and how they are undone, and send nothing.",
    )
    is_json: bool = option("--json", default=False, help="Print the facts as JSON.")
    quiet: bool = option(default=False, help="Print no progress.")

    @property
    def where(self) -> Any:
        """The deployment, as ``DeploymentOptions``."""
        return deployment(self.target, self.addresses, self.limits, mode=self.mode)


def _drift_formats() -> Collection[str]:
    from understudy.drift.reports import FORMATS

    return FORMATS


@dataclass(frozen=True, slots=True)
class DriftOptions(RequestedReports):
    """The options of ``understudy drift``."""

    target: Path | None = option(
        help="Target file of the deployment, which gets every request twice."
    )
    against: Path | None = option(
        help="Target file of the deployment to compare it with.  [default: the mock]"
    )
    documents: tuple[Path, ...] = option(
        default=(),
        multiple=False,
        nargs=2,
        metavar="OLD NEW",
        help="Compare two OpenAPI documents, and send nothing.",
    )
    mock_facts: tuple[Path, ...] = option(
        "--facts",
        default=(),
        metavar="FACTS.yaml",
        help="Let the mock behave as `understudy learn` wrote, and name what changed; repeatable.",
    )
    rules: tuple[str, ...] = option(
        default=(), help="Send only the probes of these rules.", **RULES
    )
    archive: Path | None = option(
        "--har",
        metavar="FILE.har",
        help="Send recorded requests too, such as those of `understudy generate --format har`.",
    )
    walks: int = option(
        default=0,
        type=click.IntRange(min=0),
        help="Random walks through each scenario: edits, avatars, tokens.",
    )
    seed: int = option(default=0, help="Seed of the walks.")
    limits: Limits = group(Limits)
    reports: tuple[tuple[str, Path], ...] = option(
        "--report",
        default=(),
        callback=parsed_by(_drift_formats),
        metavar="FORMAT=FILE",
        help="Write a report: json, html, sarif or markdown; or `github`, without a file:"
        " annotations and the job summary. Repeatable.",
    )
    history: Path | None = option(
        metavar="FILE.json",
        help="File that keeps when a difference was first and last seen.  [default: beside --target]",
    )
    fail_on: tuple[str, ...] = option(
        default=(),
        type=click.Choice(FAIL_ON),
        help="What sets the exit code; repeatable.  [default: findings]",
    )
    baseline: Path | None = option(help="File of known differences, each accepted until a date.")
    write_baseline: Path | None = option(
        help="Write a baseline of what is found, accepted for 30 days."
    )
    is_json: bool = option("--json", default=False, help="Print the differences as JSON.")
    quiet: bool = option(default=False, help="Print no progress.")
    verbose: bool = option(default=False, help="Print both sides of every difference.")

    @property
    def where(self) -> Any:
        """The deployment, as ``DeploymentOptions``."""
        return deployment(self.target, DeploymentAddresses(), self.limits, seed=self.seed)


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """The options of ``understudy record``."""

    target: Path | None = option(help="Target file of the deployment, as verify takes it.")
    addresses: DeploymentAddresses = group(DeploymentAddresses)
    port: int = option(default=8080, type=PORT, help="Port for the resource API; 0 for a free one.")
    auth_port: int = option(
        default=8081, type=PORT, help="Port for the authorization server; 0 for a free one."
    )
    single_port: bool = option(
        default=False, help="Serve both addresses at --port, and open no second port."
    )
    out: Path | None = option(
        type=click.Path(readable=False, path_type=Path, file_okay=False),
        metavar="DIR",
        help="New directory to write fixtures, traffic and facts to, without anything personal.",
    )
    key: Path | None = option(
        help="File of the project's key for pseudonyms.  [default: beside the target file]"
    )
    is_fallback: bool = option(
        "--fallback", default=False, help="Let the mock respond where the deployment does not."
    )
    is_blocking: bool = option(
        "--block", default=False, help="Respond 502 with the finding, where there is one."
    )
    ready_file: Path | None = option(
        help="File to write one line of JSON with the addresses to, once the proxy is ready."
    )
    quiet: bool = option(default=False, help="Print findings at the end only.")

    @property
    def where(self) -> Any:
        """The deployment, as ``DeploymentOptions``."""
        return deployment(self.target, self.addresses)


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """The options of ``understudy generate``."""

    count: int = option(
        default=50,
        type=click.IntRange(1),
        help="Number of cases for each operation, or of sequences for each collection.",
    )
    is_in_sequences: bool = option(
        "--sequences",
        default=False,
        help="Write sequences instead, by the collections that `understudy infer` shows: create an"
        " item, use it, delete it, and see that it is gone.",
    )
    state_model: Path | None = option(
        metavar="YAML",
        help="With --sequences, state-model file that corrects which collections are inferred.",
    )
    kind: str = option(
        default="all",
        type=click.Choice(["valid", "invalid", "all"]),
        help="Cases that the contract accepts, that it refuses, or all, with those it leaves open.",
    )
    seed: int = option(
        default=0,
        type=click.IntRange(0),
        help="Seed for cases; the same seed gives the same bytes.",
    )
    name: str = option("--format", default="curl", type=FORMAT_NAME, help="Format of the output.")
    is_in_worlds: bool = option(
        "--worlds",
        default=False,
        help="With k6, at a mock: give each virtual user a world of its own, and end it"
        " afterwards.",
    )
    is_json: bool = option("--json", default=False, help="The same as --format jsonl.")
    out: Path | None = option(
        help="File to write, or directory for bruno; standard output by default."
    )
    base_url: str | None = option(
        type=URL, help="Base URL of the resource API.  [default: the target's, or the mock's]"
    )
    auth_url: str | None = option(
        type=URL,
        help="Base URL of the authorization server.  [default: the target's, or the mock's]",
    )
    document: Path | None = option(
        help="OpenAPI (3.0 to 3.2) or Swagger 2.0 document that describes the operations, instead of"
        " the bundled ones."
    )
    changes: Overlays = group(Overlays)
    size: int | None = option(
        "--minimize-set",
        type=click.IntRange(1),
        metavar="N",
        help="Keep the N cases that together cover most, and print how much they cover.",
    )
    include_secrets: bool = option(
        default=False,
        help="Write the values of tokens and passwords into the files, not only variables.",
    )
    target: Path | None = option(
        help="Target file of verify: the test data for cases, and what --send may do."
    )
    is_sent: bool = option(
        "--send",
        default=False,
        help="Send the cases to the target, or to the mock in this process, and add the outcomes.",
    )
    only_failing: bool = option(default=False, help="With --send, keep only cases that failed.")
    force: bool = option(default=False, help="Replace the files of an earlier run; others stay.")

    @property
    def format_name(self) -> str:
        """The name of the output format."""
        return "jsonl" if self.is_json else self.name

    @property
    def where(self) -> Any:
        """The deployment, as ``DeploymentOptions``."""
        return deployment(
            self.target,
            DeploymentAddresses(self.base_url, self.auth_url),
            document=self.document,
            overlays=self.changes.overlays,
            seed=self.seed,
        )
