"""The commands that judge deployments: options, help, and the name of the function that runs each.

The module of the function is imported only when the command runs: Schemathesis and openapi-core take
a second to import, which `--help` need not wait for.
"""

import gc
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from understudy.cli import completion
from understudy.cli.command_options import (
    DOCUMENT,
    FAIL_ON,
    LIKE,
    MODE,
    RULES,
    DeploymentAddresses,
    DeploymentCommand,
    Limits,
    Mode,
    Overlays,
    Reporting,
    RequestedReports,
    report_option,
)
from understudy.cli.options import FORMAT_NAME, PORT, URL, argument, command, group, option


@dataclass(frozen=True, slots=True)
class VerifyOptions(DeploymentCommand):
    """Judge a deployment by the contract.

    The contract is the OpenAPI documents and every rule of prose; `understudy rules` lists them.

    Exit codes: 0 no findings; 1 findings; 2 the run could not start, or had nothing to judge; 3 the
    run was stopped, or checked less than --fail-on or --baseline requires; 4 a part of verify itself
    failed.
    """

    target: Path | None = option(
        help="Target file: what to judge, and what is permitted.  [default: the mock]"
    )
    addresses: DeploymentAddresses = group(DeploymentAddresses)
    mode: Mode | None = option(**MODE)
    document: Path | None = option(**DOCUMENT)
    changes: Overlays = group(Overlays)
    state_model: Path | None = option(
        help="State-model file that corrects what is inferred from the document of another service."
    )
    rules: tuple[str, ...] = option(
        default=(), help="Judge only these rules; `understudy rules` lists them.", **RULES
    )
    like: Path | None = option(**LIKE)
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


@dataclass(frozen=True, slots=True)
class LearnOptions(DeploymentCommand):
    """Learn how a deployment answers what the interface leaves open.

    Sends the smallest requests that tell the possible readings apart, undoes what they change, and
    writes dated facts: `serve --facts` behaves so, and `verify --facts` judges by them.
    """

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
    profile: Path | None = option(
        metavar="DEPLOYMENT.yaml",
        help="Profile of the deployment to write, for `--like`: its document, its words and --out; one"
        " that exists gains the facts.",
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


@dataclass(frozen=True, slots=True)
class DriftOptions(RequestedReports, DeploymentCommand):
    """Show where a deployment and the mock differ, and why.

    Sends the probes of the rules three times: twice to the deployment, once to the mock; what differs
    between the first two is noise. Compares statuses, error codes, members and their types, headers
    and pictures, but never identifiers, dates or texts. Compares the document that the deployment
    publishes with the one in force, and with the last one seen.
    """

    target: Path | None = option(
        help="Target file of the deployment, which gets every request twice."
    )
    addresses: DeploymentAddresses = group(DeploymentAddresses)
    document: Path | None = option(**DOCUMENT)
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
    like: Path | None = option(**LIKE)
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
    key: Path | None = option(
        help="File of the key for pseudonyms, as record has it.  [default: beside --target]"
    )
    walks: int = option(
        default=0,
        type=click.IntRange(min=0),
        help="Random walks through each scenario: edits, avatars, tokens.",
    )
    seed: int = option(default=0, help="Seed of the walks.")
    limits: Limits = group(Limits)
    reports: tuple[tuple[str, Path], ...] = report_option(without=("har",))
    history: Path | None = option(
        metavar="FILE.json",
        help="File that keeps when a difference was first and last seen.  [default: beside --target]",
    )
    fail_on: tuple[str, ...] = option(default=(), **FAIL_ON)
    baseline: Path | None = option(help="File of known differences, each accepted until a date.")
    write_baseline: Path | None = option(
        help="Write a baseline of what is found, accepted for 30 days."
    )
    is_json: bool = option("--json", default=False, help="Print the differences as JSON.")
    quiet: bool = option(default=False, help="Print no progress.")
    verbose: bool = option(default=False, help="Print both sides of every difference.")


@dataclass(frozen=True, slots=True)
class RecordOptions(DeploymentCommand):
    """Judge and record the traffic between an app and a deployment.

    Point the app at the proxy instead of the deployment. Every exchange is judged by the document
    and every rule, as by `verify --har`; a finding is one line. Ctrl-C ends it.
    """

    target: Path | None = option(help="Target file of the deployment, as verify takes it.")
    addresses: DeploymentAddresses = group(DeploymentAddresses)
    document: Path | None = option(**DOCUMENT)
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


@dataclass(frozen=True, slots=True)
class GenerateOptions(RequestedReports, DeploymentCommand):
    """Write edge-case requests of operations as files.

    OPERATION is an operationId, or METHOD /PATH as the document has it; every operation is taken if
    none is named. With --send, exit code 1 means that cases failed.
    """

    operations: tuple[str, ...] = argument(
        nargs=-1, metavar="[OPERATION]...", shell_complete=completion.operations
    )
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
    sequence_model: Path | None = option(
        "--state-model",
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
    name: str | None = option(
        "--format",
        type=FORMAT_NAME,
        help="Format of the output.  [default: curl; with --send and without --out, none]",
    )
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
    like: Path | None = option(**LIKE)
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
    reports: tuple[tuple[str, Path], ...] = report_option("With --send, w", ("json", "har"))
    force: bool = option(default=False, help="Replace the files of an earlier run; others stay.")

    @property
    def format_name(self) -> str:
        """The name of the output format."""
        return "jsonl" if self.is_json else self.name or "curl"

    @property
    def is_written(self) -> bool:
        """True if cases are written; False if they are only sent and judged."""
        return not self.is_sent or self.is_json or bool(self.name or self.out)


COLLECTED_AFTER: Final = 50_000
"""Allocated objects between two garbage collections."""

OLDER_AFTER: Final = (50, 50)
"""Collections before the older generations are collected: exchanges, which live to the end."""

TABLES: Final = "HYPOTHESIS_STORAGE_DIRECTORY"
"""The environment variable that names the directory for Hypothesis's tables of characters."""


def _prepare_judging() -> None:
    """Makes garbage collections rare, and moves Hypothesis's tables into the user's cache.

    The exchanges of a run live as long as the run, so collections find little garbage. By default
    the tables go into the current directory, which costs a second in each new one.
    """
    gc.set_threshold(COLLECTED_AFTER, *OLDER_AFTER)
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # a user without a home
        return
    os.environ.setdefault(TABLES, str(caches / "understudy" / "hypothesis"))


verify = command(
    "verify",
    VerifyOptions,
    "understudy.cli.verify:verify",
    "UNDERSTUDY_VERIFY",
    _prepare_judging,
    {
        "Contract": "overlays state_model like facts",
        "Requests": "cases seed workers examples max_requests max_time har",
        "Reporting": "baseline json verbose quiet",
        "Target files": "is_template is_schema",
    },
)
learn = command("learn", LearnOptions, "understudy.cli.learn:learn", "UNDERSTUDY_LEARN")
drift = command(
    "drift",
    DriftOptions,
    "understudy.cli.drift:drift",
    "UNDERSTUDY_DRIFT",
    headings={
        "Contract": "like mock_facts",
        "Requests": "archive key walks seed max_requests max_time",
        "Reporting": "history baseline write_baseline is_json quiet verbose",
    },
)
record = command("record", RecordOptions, "understudy.cli.record:record", "UNDERSTUDY_RECORD")
generate = command(
    "generate",
    GenerateOptions,
    "understudy.cli.generate:generate",
    headings={
        "Cases": "is_in_sequences sequence_model seed size overlays like auth_url",
        "Output": "is_in_worlds is_json include_secrets force only_failing",
    },
)
