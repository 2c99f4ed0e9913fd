"""The ``understudy`` command.

Modules of this package import slow libraries inside functions, so that every command, and above all
``understudy --help``, starts at once.
"""

import re
from collections.abc import Mapping
from typing import IO, Any, Final

import click
from click.core import ParameterSource

from understudy import plugins
from understudy.cli.exit_codes import ExitCode
from understudy.errors import StartupError, nearest
from understudy.installation import missing_extra
from understudy.terminal import printable

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Run": ("serve", "exec", "open", "demo", "stub", "mcp"),
    "Judge": ("verify", "drift", "lint", "rules", "cleanup"),
    "Make": ("generate", "fixtures", "record", "learn", "infer", "export"),
    "Look": ("journal", "explain", "exercised", "worlds", "schema", "plugins"),
}
"""The commands by purpose, in the order of the help."""

LONGEST_MESSAGE: Final = 4_000
"""Most characters of an error message that are printed."""


class Unusable(click.ClickException):
    """A usage or configuration error, which ends the command with exit code 2."""

    exit_code = ExitCode.UNUSABLE

    def format_message(self) -> str:
        """Returns the message; of a long one, which quotes a file or a response, the start and end."""
        text = printable(self.message)
        if len(text) <= LONGEST_MESSAGE:
            return text
        half = LONGEST_MESSAGE // 2
        return f"{text[:half]} … {text[-half:]}"

    def show(self, file: IO[Any] | None = None) -> None:
        """Prints the exit code and, as the reason for it, the message."""
        text = f"Error (exit code {self.exit_code:d}): {self.format_message()}"
        click.echo(text, file=file, err=file is None)


class Commands(click.Group):
    """Loads commands as plugins, and prints errors of usage in one line with exit code 2."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Returns the bundled commands; `understudy plugins` lists those of other packages."""
        return sorted(plugins.names("commands"))

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports a bundled command, or else one of another package."""
        command: click.Command | None = plugins.find("commands", cmd_name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments before the command.

        Raises:
            Exit: Ctrl-C was pressed.
            Unusable: An option of a command is among them.
        """
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
        except click.NoSuchOption as error:
            names, name = self.list_commands(ctx), error.option_name
            called = next((word for word in words if word in names), "COMMAND")
            msg = f"{name} stands before the command; write: understudy {called} {name}"
            raise Unusable(msg) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command of the first argument.

        Raises:
            UsageError: There is no command of this name.
        """
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            word = _ELSEWHERE.get(args[0], args[0])
            hint = nearest(word, self.list_commands(ctx)) or "."
            ctx.fail(f"there is no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands in their groups."""
        longest = max(map(len, self.list_commands(ctx)))
        for title, names in GROUPS.items():
            commands = ((name, self.get_command(ctx, name)) for name in names)
            rows = [
                (name.ljust(longest), command.get_short_help_str(formatter.width))
                for name, command in commands
                if command is not None
            ]
            with formatter.section(title):
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command.

        Raises:
            Exit: Ctrl-C was pressed.
            Unusable: A file, an option or the installation must be corrected first.
        """
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):  # while modules load, or at a question
            raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
        except click.UsageError as error:
            raise _in_words(error, self.get_command(ctx, ctx.invoked_subcommand or "")) from error
        except StartupError as error:
            raise Unusable(str(error)) from error
        except ModuleNotFoundError as error:
            missing = missing_extra(error)
            if missing is error:
                raise
            raise Unusable(str(missing)) from error
        except OSError as error:
            if error.filename is None:
                raise  # an error of a socket or of another process
            msg = f"{error.filename} cannot be used: {error.strerror}. Check the path and its permissions."
            raise Unusable(msg) from error


_ELSEWHERE: Final = {
    "mock": "serve",
    "start": "serve",
    "run": "serve",
    "proxy": "record",
    "test": "verify",
    "check": "verify",
    "validate": "lint",
    "diff": "drift",
    "-p": "--port",
    "-o": "--out",
    "--output": "--out",
    "--spec": "--document",
    "--schema": "--document",
    "--openapi": "--document",
    "--url": "--base-url",
    "--checks": "--rules",
    "--verbose": "--log",
}
"""Names of commands and options in other tools, each with its name here."""

_CREDENTIALS: Final = frozenset({"-H", "--header", "--headers", "-a", "--auth", "-u", "--token"})
"""Options of other tools for credentials, which a target file gives here."""

_NEEDED: Final = {
    "cleanup": "the journal that the killed run left beside its target file, such as staging.journal",
    "explain": "the id that `understudy journal` shows, or last",
    "export": "a new directory, such as fixtures",
    "infer": "an OpenAPI document, such as service.yaml",
    "lint": "an OpenAPI document, such as service.yaml",
    "open": "a capsule, which the console saves",
    "schema": "a command that takes --json, such as verify",
}
"""Descriptions of arguments, by command, for the message that one is missing."""

_OPTION_OF: Final = (
    (re.compile("https?://.*"), ("--base-url", "--mock")),
    (re.compile(r".*\.toml"), ("--target",)),
    (re.compile(r".*\.har"), ("--har",)),
    (re.compile(r".*\.(ya?ml|json)"), ("--document", "--fixtures")),
    (re.compile("[0-9]+"), ("--port",)),
)
"""Forms of values that users give without an option, each with the options that are likely meant."""


def _in_words(error: click.UsageError, command: click.Command | None) -> Unusable:
    """Returns an error with a remedy, and with the command that prints the help."""
    text = error.format_message()
    if isinstance(error, click.NoSuchOption):
        text = f"{error.message.rstrip('.')}{_remedy_of_option(error, command)}"
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        _name_variable(error)
        text = _with_remedy(error.param, error.message)
        named = click.BadParameter(text, error.ctx, error.param, error.param_hint)
        return Unusable(named.format_message())
    if isinstance(error, click.MissingParameter) and command and command.name in _NEEDED:
        text = f"{text.removesuffix('.')}; write {_NEEDED[command.name]}."
    if isinstance(error, click.BadOptionUsage) and command is not None:
        name = error.option_name
        for option in command.params:
            if name in option.opts and option.nargs > 1:
                text = f"{name} takes {option.nargs} values: {name} {option.metavar}"
    extra = _EXTRA.fullmatch(text)
    if extra is not None and command is not None:
        text = _unexpected(extra[1], command)
    known = f"understudy {command.name}" if command else "understudy"
    called = error.ctx.command_path if error.ctx else known
    return Unusable(f"{text}\nTry '{called} --help' for help.")


def _remedy_of_option(error: click.NoSuchOption, command: click.Command | None) -> str:
    """Returns the end of the message for an unknown option, with the option that is likely meant."""
    names = [*(error.possibilities or ()), *(_names(command) if command else ())]
    if error.option_name in _CREDENTIALS and "--target" in names:
        return "; give credentials in a file for --target, which `verify --init` writes."
    # click suggests options by similarity of the whole text, so that "--" alone makes them similar
    letters = _ELSEWHERE.get(error.option_name, error.option_name).lstrip("-")
    same = [it for it in names if it.lstrip("-") == letters]
    same = same or [it for it in names if it.lstrip("-").startswith(f"{letters}-")]
    close = same or [it for it in names if nearest(letters, [it.lstrip("-")])]
    return f"; did you mean {close[0]}?" if close else "."


_EXTRA: Final = re.compile(r"Got unexpected extra arguments? \((\S+).*\)", re.DOTALL)


def _names(command: click.Command) -> list[str]:
    """Returns the names of a command's options, and those of its arguments in capitals."""
    return [
        name if name.startswith("-") else name.upper() for it in command.params for name in it.opts
    ]


def _unexpected(word: str, command: click.Command) -> str:
    """Returns the message for an unexpected argument, with the option that is likely missing."""
    if any(isinstance(it, click.Argument) for it in command.params):
        taken = " ".join(command.collect_usage_pieces(click.Context(command))[1:])
        return f"{word!r} is one argument too many; {command.name} takes {taken}."
    takes_values = not all(getattr(it, "is_flag", False) for it in command.params)
    remedy = "; each value stands behind its option." if takes_values else "."
    for written, names in _OPTION_OF:
        meant = [name for name in names if name in _names(command) and written.fullmatch(word)]
        if meant:
            remedy = f"; did you mean {meant[0]} {word}?"
    return f"{command.name} takes no argument {word!r}{remedy}"


def _name_variable(error: click.BadParameter) -> None:
    """Changes an error to name the environment variable if the value came from one."""
    parameter, ctx = error.param, error.ctx
    if parameter is None or ctx is None or parameter.name is None:
        return
    if ctx.get_parameter_source(parameter.name) is ParameterSource.ENVIRONMENT:
        named = parameter.envvar or f"{ctx.auto_envvar_prefix}_{parameter.name.upper()}"
        error.param_hint = named if isinstance(named, str) else named[0]
    elif isinstance(parameter, click.Option):  # click would name the variable too
        error.param_hint = f"'{parameter.opts[0]}'"


def _with_remedy(parameter: click.Parameter | None, message: str) -> str:
    """Returns a message that names the valid values, where click's says only what is wrong."""
    kind, value = getattr(parameter, "type", None), message.partition(" is not ")[0]
    if isinstance(kind, click.types.BoolParamType):
        return f"{value} is neither 1 nor 0."
    if kind is click.INT:
        return f"{value} is not a whole number."
    if isinstance(kind, click.IntRange | click.FloatRange) and value != message:
        number = "a whole number" if isinstance(kind, click.IntRange) else "a number"
        bounds = f" above {kind.min}" if kind.min_open else f" of {kind.min} or more"
        if kind.max is not None:
            bounds = f" from {kind.min} to {kind.max}"
        return f"{value} is not {number}{bounds}."
    is_path = isinstance(kind, click.Path) or message.startswith("Directory ")
    if is_path and message.endswith((" is a file.", " is a directory.")):
        wanted = "directory" if message.endswith(" is a file.") else "file"
        return f"{message.partition(' ')[2].rstrip('.')}; name a {wanted}."
    return message


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="understudy-mock")
def main() -> None:
    """Mock the avatar and profile service, and judge every deployment of it."""
