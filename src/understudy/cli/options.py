"""Defines the options of a command as the fields of a frozen record.

A field states an option's name, type, default and help once, for click and for the code, which gets
the filled record. The type of a field, such as ``bool`` or ``Path``, is that of the option. A record
as a field is a group of options, which several commands can share.
"""

import inspect
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, fields, is_dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from understudy import plugins
from understudy.errors import StartupError, nearest

Command = TypeVar("Command", bound=Callable[..., Any])

_DIGITS, _PORTS = 5, 2**16

_NOT_IN_URLS = frozenset(' "<>\\^`{|}')
"""Printable ASCII characters that URLs cannot have (RFC 3986, 2)."""


class _File(click.Path):
    """A path; a URL is refused, as documents are not downloaded."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the path."""
        if str(value).startswith(("http://", "https://")):
            self.fail(f"{str(value)!r} is a URL; download it, and name the file.", param, ctx)
        return super().convert(value, param, ctx)


FILE = _File(readable=False, path_type=Path)
_DIRECTORY = click.Path(readable=False, path_type=Path, file_okay=False)


def option(*names: str, default: Any = None, **attributes: Any) -> Any:
    """Returns a field that is an option of a command.

    Args:
        names: The names on the command line; if empty, the name of the field with hyphens.
        default: The value without the option.
        attributes: Further arguments of ``click.Option``.
    """
    return field(default=default, metadata={"names": names, "attributes": attributes})


def argument(**attributes: Any) -> Any:
    """Returns a field that is an argument of a command."""
    return field(metadata={"names": None, "attributes": attributes})


def group(record: Any, title: str = "") -> Any:
    """Returns a field that is a group of options.

    Args:
        record: The record of the group.
        title: The heading of the group in the help; empty to list its options with the others.
    """
    return field(default_factory=record, metadata={"title": title})


def takes(record: Any) -> Callable[[Command], Command]:
    """Returns a decorator that gives a command the options of a record, and passes it the record."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def called(**values: Any) -> Any:
            given = _filled(record, values)
            return command(given, **values)

        decorated: Any = called
        named: list[Any] = decorated.__dict__.setdefault("__click_params__", [])
        named.extend(reversed(_parameters(record)))  # click reverses this list, as decorators do
        return decorated  # type: ignore[no-any-return]  # a function with an attribute of click

    return decorate


def command(
    name: str,
    record: Any,
    place: str,
    prefix: str | None = None,
    before: Callable[[], None] = lambda: None,
    headings: Mapping[str, str] = MappingProxyType({}),
) -> click.Command:
    """Returns a command whose help is the docstring of its record.

    Args:
        name: Name of the command.
        record: The record of its options.
        place: Module and name of the function that gets the record and returns the exit code; the
            module is imported when the command runs, as this may take a second.
        prefix: Prefix for the environment variables of the options; None for no variables.
        before: Called before the module is imported.
        headings: Headings of the help, each with the names of its fields; other fields come first.
    """

    def run(**values: Any) -> None:
        options = _filled(record, values)
        before()
        module, _, function = place.partition(":")
        code = getattr(import_module(module), function)(options, os.environ)
        click.get_current_context().exit(code)

    parameters = _parameters(record)
    titles = {field: title for title, names in headings.items() for field in names.split()}
    for parameter in parameters:
        if isinstance(parameter, GroupedOption):
            parameter.show_envvar |= name == "serve"  # for containers, which set variables
            parameter.title = titles.get(parameter.name or "", parameter.title)
    return GroupedCommand(
        name,
        callback=run,
        params=parameters,
        help=inspect.cleandoc(record.__doc__),
        context_settings={"show_default": True, "auto_envvar_prefix": prefix},
    )


class GroupedCommand(click.Command):
    """A command whose help lists the options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options without a group first."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if row is not None:
                title = getattr(parameter, "title", "") or "Options"
                sections.setdefault(title, []).append(row)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


class GroupedOption(click.Option):
    """An option, with the heading of its group in the help.

    Args:
        names: The names of the option, and of its field.
        title: The heading; empty for none.
        attributes: Further arguments of ``click.Option``.
    """

    def __init__(self, names: list[str], title: str = "", **attributes: Any) -> None:
        super().__init__(names, **attributes)
        self.title = title

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Converts the value; refuses an empty one, which often comes from an unset variable."""
        if value == "" or (isinstance(value, list | tuple) and "" in value):
            msg = "it is empty; give a value, or leave the option out."
            raise click.BadParameter(msg, ctx, self)
        return super().type_cast_value(ctx, value)


def _parameters(record: Any, title: str = "") -> list[click.Parameter]:
    found: list[click.Parameter] = []
    for member in fields(record):
        if is_dataclass(member.type):
            found += _parameters(member.type, member.metadata.get("title") or title)
        elif "names" in member.metadata:
            attributes, names = member.metadata["attributes"], member.metadata["names"]
            if names is None:
                found.append(click.Argument([member.name], **attributes))
                continue
            attributes = _attributes(member.type) | attributes
            default = None if member.default == () else member.default  # as click expects it
            names = [*(names or (f"--{member.name.replace('_', '-')}",)), member.name]
            found.append(GroupedOption(names, title, default=default, **attributes))
    return found


def _attributes(kind: Any) -> dict[str, Any]:
    """Returns the arguments of ``click.Option`` that follow from the type of a field."""
    if kind is bool:
        return {"is_flag": True}
    known: dict[str, Any] = {"multiple": True} if get_origin(kind) is tuple else {}
    if Path in (kind, *get_args(kind)):
        known["type"] = FILE
    for part in (kind, *get_args(kind)):
        if get_origin(part) is Literal:
            known["type"] = click.Choice(get_args(part))
    return known


def _filled(record: Any, values: dict[str, Any]) -> Any:
    """Returns a record with the values that click parsed, and removes them from the dictionary."""
    return record(
        **{
            member.name: _filled(member.type, values)
            if is_dataclass(member.type)
            else values.pop(member.name)
            for member in fields(record)
        }
    )


def values_of(record: Any) -> dict[str, Any]:
    """Returns the values of a record and of its groups by the names of their fields."""
    values: dict[str, Any] = {}
    for member in fields(record):
        value = getattr(record, member.name)
        values |= values_of(value) if is_dataclass(value) else {member.name: value}
    return values


def words_of(record: Any, names: Collection[str]) -> list[str]:
    """Returns the words of a command line for some fields, where they are not at their default."""
    values, words = values_of(record), []
    for parameter in _parameters(type(record)):
        value = values[parameter.name]
        if parameter.name not in names or value in (None, (), parameter.default):
            continue
        name = max(parameter.opts, key=len)
        if parameter.nargs > 1:
            words += [name, *map(str, value)]
            continue
        if isinstance(value, tuple) and not parameter.multiple:
            value = ",".join(value)
        for part in value if parameter.multiple else (value,):
            words += [name, str(part)]
    return words


class Port(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2
    """A TCP port; 0 asks for a free one."""

    name = "port"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the port as a number."""
        text = str(value)
        if not (
            text.isascii() and text.isdecimal() and len(text) <= _DIGITS and int(text) < _PORTS
        ):
            self.fail(f"{text!r} is not a port; use a number from 0 to 65535.", param, ctx)
        return int(text)


class Url(click.ParamType):  # type: ignore[type-arg]  # as above
    """An http or https URL with a host."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the URL as it was given."""
        # urllib takes 5 ms to import, which commands without a URL need not wait for.
        from urllib.parse import urlsplit

        text = str(value)
        try:
            parts = urlsplit(text)
            is_url = parts.scheme in {"http", "https"} and bool(parts.hostname)
            is_url &= text.isprintable() and _NOT_IN_URLS.isdisjoint(text)
        except ValueError:
            is_url = False
        if not is_url:
            self.fail(f"{text!r} is not a URL; write it as https://host/path.", param, ctx)
        if parts.query or parts.fragment:
            self.fail(f"{text!r} goes on behind its path; leave out ? and #.", param, ctx)
        return text


def expect_different(ports: Mapping[str, int], or_else: str = "") -> None:
    """Checks that no port is used twice, which would later appear as a port in use.

    Args:
        ports: The ports by their options; 0 is a free one.
        or_else: Another remedy for the message, after a comma.

    Raises:
        StartupError: Two ports are the same.
    """
    for port in filter(None, ports.values()):
        names = [name for name, number in ports.items() if number == port]
        if len(names) > 1:
            same = f"{' and '.join(names[:2])} are both {port}"
            msg = f"{same}; give them two ports{or_else}."
            raise StartupError(msg)


class StatePlace(click.ParamType):  # type: ignore[type-arg]  # as above
    """A directory, or the URL of a store that several processes share."""

    name = "state"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        """Returns the directory as a path, and a URL as it was given."""
        text = str(value)
        if "://" not in text:
            directory: Path = _DIRECTORY.convert(value, param, ctx)
            return directory
        scheme = text.partition("://")[0].lower()
        if not plugins.has("stores", scheme):
            known = ", ".join(f"{name}://" for name in plugins.names("stores"))
            self.fail(
                f"{scheme}:// is not a store; give a directory, or one of {known}.", param, ctx
            )
        return text


class FormatName(click.ParamType):  # type: ignore[type-arg]  # as above
    """The name of an output format of generated requests."""

    name = "format"

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of the bundled formats, in the order of the help."""
        return (*plugins.names("formats"), "msw")  # no plugin, as it is not made of cases

    def get_metavar(
        self,
        param: click.Parameter,  # noqa: ARG002 - passed by keyword
        ctx: click.Context | None = None,  # noqa: ARG002 - as above
    ) -> str:
        """Returns the names for the help."""
        return f"[{'|'.join(self.choices)}]"

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes the names of the bundled formats."""
        return [CompletionItem(name) for name in self.choices if name.startswith(incomplete)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Checks that the name is of a bundled format or of a plugin, and returns it."""
        if value not in self.choices and not plugins.has("formats", value):
            known = (*self.choices, *plugins.foreign_names("formats"))
            hint = nearest(value, known) or f"; formats are {', '.join(known)}"
            self.fail(f"there is no format {value!r}{hint}", param, ctx)
        return str(value)


PORT, STATE, URL, FORMAT_NAME = Port(), StatePlace(), Url(), FormatName()
