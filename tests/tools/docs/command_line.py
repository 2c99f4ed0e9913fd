"""The pages on commands and environment variables, from what click knows of them."""

import inspect
from collections.abc import Iterator

import click
from tests.tools.docs.markdown import code, codes, page, prose, table

from understudy.cli import main


def commands() -> str:
    """Returns the page that lists every command with its options."""
    parts = [
        "`--help` of every command prints the same text. Exit code 2 means a usage or configuration error;"
        " the message is one line and names the next step.",
        table(
            ("command", "what it does"),
            (
                (f"[`understudy {name}`](#understudy-{name})", command.get_short_help_str(200))
                for name, command in _commands()
            ),
        ),
    ]
    for name, command in _commands():
        parts += _section(name, command)
    return page("Commands", *parts)


def environment() -> str:
    """Returns the page that lists every environment variable."""
    places: dict[str, list[str]] = {}
    for name, command in _commands():
        context = _context(name, command)
        for option in _options(command):
            variable = _variable(option, context)
            if variable:
                places.setdefault(variable, []).append(f"{name} {option.opts[0]}")
    rows = [(code(variable), codes(options)) for variable, options in sorted(places.items())]
    return page(
        "Environment variables",
        "An option on the command line takes precedence over its variable. The variable of a repeatable option"
        " has several values separated by spaces; a flag takes `1` or `0`.",
        table(("variable", "command and option"), rows),
        "## What `understudy exec` sets",
        _paragraphs(inspect.cleandoc(main.get_command(_root(), "exec").help or "")),  # type: ignore[union-attr]  # it is there
        "`NO_COLOR` turns colours off everywhere (<https://no-color.org>).",
    )


def _section(name: str, command: click.Command) -> Iterator[str]:
    context = _context(name, command)
    yield f"## understudy {name}"
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    yield _paragraphs(inspect.cleandoc(command.help or ""))
    rows = (_row(option, context) for option in _options(command))
    yield table(("option", "default", "what it does", "environment"), rows)


def _row(option: click.Option, context: click.Context) -> tuple[str, str, str, str]:
    names = " ".join([", ".join(option.opts), _metavar(option, context)]).strip()
    default = option.get_default(context, call=False)
    is_shown = isinstance(default, str | int | float) and not isinstance(default, bool)
    variable = _variable(option, context)
    return (
        code(names),
        code(default) if is_shown else "",
        prose(option.help or ""),
        code(variable) if variable else "",
    )


def _metavar(option: click.Option, context: click.Context) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return " | ".join(str(choice) for choice in option.type.choices)
    if option.metavar is None and isinstance(option.type, click.types.IntParamType):
        return "N"
    return option.make_metavar(context)


def _variable(option: click.Option, context: click.Context) -> str:
    if isinstance(option.envvar, str):
        return option.envvar
    if option.envvar:
        return ", ".join(option.envvar)
    prefix = context.auto_envvar_prefix
    return f"{prefix}_{(option.name or '').upper()}" if prefix and option.allow_from_autoenv else ""


def _paragraphs(text: str) -> str:
    return text.replace("``", "`").replace("\b\n", "")


def _options(command: click.Command) -> list[click.Option]:
    return [
        param for param in command.params if isinstance(param, click.Option) and not param.hidden
    ]


def _commands() -> Iterator[tuple[str, click.Command]]:
    for name in main.list_commands(_root()):
        command = main.get_command(_root(), name)
        if command is not None:
            yield name, command


def _root() -> click.Context:
    return click.Context(main, info_name="understudy")


def _context(name: str, command: click.Command) -> click.Context:
    """Returns the context that a call would have, with the command's own settings."""
    return click.Context(command, info_name=name, parent=_root(), **command.context_settings)
