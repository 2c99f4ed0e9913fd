"""Types of option values, with messages that say what would be right."""

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from understudy import plugins
from understudy.errors import nearest

_DIGITS, _PORTS = 5, 2**16

_DIRECTORY = click.Path(path_type=Path, file_okay=False)


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


def rule_ids(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Returns the ids of a list with commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


FORMAT_NAME = FormatName()
PORT = Port()
STATE = StatePlace()
URL = Url()
