"""The options of commands: each is a field of a frozen record, which a command gets as it stands.

A record says of an option what a user and the code must know, once: its name, type, default and
help. Fields of type ``bool`` and ``Path`` say so by their type; a record within a record is a group
of options, which several commands share.
"""

from collections.abc import Callable
from dataclasses import field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from understudy import plugins
from understudy.errors import nearest

Command = TypeVar("Command", bound=Callable[..., Any])

_DIGITS, _PORTS = 5, 2**16

_DIRECTORY = click.Path(readable=False, path_type=Path, file_okay=False)


def option(*names: str, default: Any = None, **attributes: Any) -> Any:
    """Returns a field that is an option of a command.

    Args:
        names: The names on the command line; that of the field with hyphens if there is none.
        default: The value of a command without the option.
        attributes: What click is to know beside the type.
    """
    return field(default=default, metadata={"names": names, "attributes": attributes})


def group(record: Any) -> Any:
    """Returns a field that is a group of options: a record of its own."""
    return field(default_factory=record)


def takes(record: Any) -> Callable[[Command], Command]:
    """Returns what gives a command the options of a record, and calls it with one."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def called(**values: Any) -> Any:
            given = _filled(record, values)
            return command(given, **values)

        decorated: Any = called
        for one in reversed(_options(record)):
            decorated = one(decorated)
        return decorated  # type: ignore[no-any-return]  # as click takes it

    return decorate


def _options(record: Any) -> list[Callable[..., Any]]:
    found: list[Callable[..., Any]] = []
    for each in fields(record):
        if is_dataclass(each.type):
            found += _options(each.type)
        elif "names" in each.metadata:
            names = each.metadata["names"] or (f"--{each.name.replace('_', '-')}",)
            default = None if each.default == () else each.default  # as click has it
            attributes = _attributes(each.type) | each.metadata["attributes"]
            found.append(click.option(*names, each.name, default=default, **attributes))
    return found


def _attributes(kind: Any) -> dict[str, Any]:
    """Returns what the type of a field says of its option."""
    if kind is bool:
        return {"is_flag": True}
    known: dict[str, Any] = {"multiple": True} if get_origin(kind) is tuple else {}
    if Path in (kind, *get_args(kind)):
        known["type"] = click.Path(readable=False, path_type=Path)
    return known


def _filled(record: Any, values: dict[str, Any]) -> Any:
    """Returns a record of what click parsed, and removes that from the values."""
    return record(
        **{
            each.name: _filled(each.type, values)
            if is_dataclass(each.type)
            else values.pop(each.name)
            for each in fields(record)
        }
    )


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
        except ValueError:
            is_url = False
        if not is_url:
            self.fail(f"{text!r} is not a URL; write it as https://host/path.", param, ctx)
        return text


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
    """The name of a format that generated requests are written in.

    The formats are imported when a name is first looked at, which other commands need not wait for.
    """

    name = "format"

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of our own formats, in the order in which they are offered."""
        return plugins.names("formats")

    def get_metavar(
        self,
        param: click.Parameter,  # noqa: ARG002 - passed by keyword
        ctx: click.Context | None = None,  # noqa: ARG002 - as above
    ) -> str:
        """Returns the names as the help shows them."""
        return f"[{'|'.join(self.choices)}]"

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes the names of our own formats."""
        return [CompletionItem(name) for name in self.choices if name.startswith(incomplete)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns a name that we or another package bring a format of."""
        if not plugins.has("formats", value):
            known = (*self.choices, *plugins.foreign_names("formats"))
            hint = nearest(value, known) or f"; formats are {', '.join(known)}"
            self.fail(f"there is no format {value!r}{hint}", param, ctx)
        return str(value)


PORT, STATE, URL, FORMAT_NAME = Port(), StatePlace(), Url(), FormatName()
