"""The options of ``understudy generate`` with types, and what goes with what."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from understudy import plugins
from understudy.api.options import DeploymentOptions


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """The options of the command line.

    Attributes:
        where: The deployment whose test data cases use, and that they are sent to.
        operations: The operations to make cases of; every operation if none is named.
        count: Cases of each operation.
        kind: ``valid``, ``invalid`` or ``all``.
        size: Keep only so many cases that cover the most; None to keep all.
        format_name: The output format.
        out: The file or directory to write; None for standard output.
        is_sent: True to send the cases.
        is_only_failing: True to keep only cases that failed.
        includes_secrets: True to write values of secrets, and not variables alone.
        is_forced: True to replace the output of an earlier run.
        is_in_sequences: True to make sequences of collections instead of cases of operations.
        is_in_worlds: True to give each virtual user of a load test a world of its own.
        state_model: State-model file that corrects which collections are inferred.
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
    is_forced: bool = False
    is_in_sequences: bool = False
    is_in_worlds: bool = False
    state_model: Path | None = None


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
    _expect_users(options)
    if options["is_in_sequences"]:
        _expect_sequences(options)
    elif options["state_model"] is not None:
        msg = "--state-model goes with --sequences: cases of operations need no collections."
        raise click.UsageError(msg)
    where = DeploymentOptions(
        target_file=options["target"],
        base_url=options["base_url"],
        auth_url=options["auth_url"],
        document=options["document"],
        overlays=options["overlays"],
        seed=options["seed"],
    )
    return GenerateOptions(
        where=where,
        operations=operations,
        count=options["count"],
        kind=options["kind"],
        size=options["size"],
        format_name="jsonl" if options["is_json"] else options["name"],
        out=options["out"],
        is_sent=options["is_sent"],
        is_only_failing=options["only_failing"],
        includes_secrets=options["include_secrets"],
        is_forced=options["force"],
        is_in_sequences=options["is_in_sequences"],
        is_in_worlds=options["is_in_worlds"],
        state_model=options["state_model"],
    )


def _expect_users(options: Mapping[str, Any]) -> None:
    """Accepts ``--worlds`` with the formats of load tests.

    Raises:
        UsageError: The format has no virtual users.
    """
    if options["is_in_worlds"] and not plugins.find("formats", options["name"]).has_users:
        able = " or ".join(_formats_with("has_users"))
        msg = f"--worlds gives each virtual user a world, which {options['name']} has none of; choose --format {able}."
        raise click.UsageError(msg)


def _expect_sequences(options: Mapping[str, Any]) -> None:
    """Accepts options that go with ``--sequences``.

    Raises:
        UsageError: The set would be minimized, or the format carries no value to later requests.
    """
    if options["size"] is not None:
        msg = "--minimize-set chooses among cases of operations; use --count with --sequences."
        raise click.UsageError(msg)
    if not plugins.find("formats", options["name"]).has_sequences:
        able = ", ".join(_formats_with("has_sequences"))
        msg = (
            f"--format {options['name']} carries no value from a response into the next request, "
            f"as sequences do; choose one of {able}."
        )
        raise click.UsageError(msg)


def _formats_with(attribute: str) -> list[str]:
    return [
        name
        for name in plugins.names("formats")
        if getattr(plugins.find("formats", name), attribute)
    ]
