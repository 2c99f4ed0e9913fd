"""The ``understudy`` command."""

from typing import Any

import click

from understudy.cli.cleanup import cleanup
from understudy.cli.exec_ import exec_
from understudy.cli.exercised import exercised
from understudy.cli.explain import explain
from understudy.cli.export import export
from understudy.cli.fixtures import fixtures
from understudy.cli.generate import generate
from understudy.cli.journal import journal
from understudy.cli.rules import rules
from understudy.cli.serve import serve
from understudy.cli.verify import verify
from understudy.errors import StartupError


class Unusable(click.ClickException):
    """Something to mend first."""

    exit_code = 2


class Commands(click.Group):
    """Says what a person must mend in one line, and ends with 2."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command.

        Raises:
            Unusable: There is something to mend.
        """
        try:
            return super().invoke(ctx)
        except StartupError as error:
            raise Unusable(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="understudy")
def main() -> None:
    """A stand-in for the avatar and profile service, and the judge of every deployment of it."""


COMMANDS = (
    *(serve, verify, generate, rules, fixtures),
    *(journal, explain, exercised, export, exec_, cleanup),
)
for command in COMMANDS:
    main.add_command(command)
