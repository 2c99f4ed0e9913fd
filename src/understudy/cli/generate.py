"""``understudy generate``: writes edge-case requests for the tool that is already open."""

import sys

import click

from understudy import plugins
from understudy.cli import completion
from understudy.cli.command_options import GenerateOptions
from understudy.cli.options import takes


@click.command(context_settings={"show_default": True})
@click.argument(
    "operations", nargs=-1, metavar="[OPERATION]...", shell_complete=completion.operations
)
@takes(GenerateOptions)
def generate(options: GenerateOptions, operations: tuple[str, ...]) -> None:
    """Write edge-case requests of operations as files.

    Takes every operation of the document if none is named. With --send, exit code 1 means that
    cases failed.
    """
    _expect_consistent(options)
    # Importing jsonschema-rs and reading documents takes 0.1 s, which --help need not wait for.
    from understudy.cli import generating

    sys.exit(generating.generate(options, operations))


def _expect_consistent(options: GenerateOptions) -> None:
    """Accepts options that go together.

    Raises:
        UsageError: Two options contradict one another.
    """
    if options.only_failing and not options.is_sent:
        msg = "--only-failing goes with --send: what was not sent cannot have failed."
        raise click.UsageError(msg)
    if options.name == "bruno" and options.out is None:
        msg = "--format bruno writes a directory; name it with --out."
        raise click.UsageError(msg)
    if options.is_in_worlds:
        _expect_users(options)
    if options.is_in_sequences:
        _expect_sequences(options)
    elif options.state_model is not None:
        msg = "--state-model goes with --sequences: cases of operations need no collections."
        raise click.UsageError(msg)


def _expect_users(options: GenerateOptions) -> None:
    """Accepts ``--worlds`` with the formats of load tests.

    Raises:
        UsageError: The format has no virtual users.
    """
    if not plugins.find("formats", options.name).has_users:
        able = " or ".join(_formats_with("has_users"))
        msg = f"--worlds gives each virtual user a world, which {options.name} has none of; choose --format {able}."
        raise click.UsageError(msg)


def _expect_sequences(options: GenerateOptions) -> None:
    """Accepts options that go with ``--sequences``.

    Raises:
        UsageError: The set would be minimized, or the format carries no value to later requests.
    """
    if options.size is not None:
        msg = "--minimize-set chooses among cases of operations; use --count with --sequences."
        raise click.UsageError(msg)
    if not plugins.find("formats", options.name).has_sequences:
        able = ", ".join(_formats_with("has_sequences"))
        msg = (
            f"--format {options.name} carries no value from a response into the next request, "
            f"as sequences do; choose one of {able}."
        )
        raise click.UsageError(msg)


def _formats_with(attribute: str) -> list[str]:
    return [
        name
        for name in plugins.names("formats")
        if getattr(plugins.find("formats", name), attribute)
    ]
