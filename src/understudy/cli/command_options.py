"""Groups of options that several commands share, one record for each group."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal, get_args

import click

from understudy import plugins
from understudy.cli import completion
from understudy.cli.options import URL, option, values_of
from understudy.errors import nearest

MOCK_URL = "http://127.0.0.1:8080"
"""The default address of ``understudy serve``."""

GITHUB: Final = "github"
"""The report without a file: annotations in the log, and the job summary, which GitHub reads."""

FORMATS_OF_REPORTS: Final = ("json", "junit", "html", "sarif", "har", "gitlab", "markdown")
"""The formats of reports, in the order of the help."""

FAIL_ON: Final[Mapping[str, Any]] = {
    "type": click.Choice(["findings", "not-checked", "notes", "nothing"]),
    "help": "What sets the exit code; repeatable.  [default: findings]",
}
"""Attributes of the option ``--fail-on``."""


def rule_ids(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Returns the ids in a comma-separated list."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


RULES: Final[Mapping[str, Any]] = {
    "multiple": False,
    "callback": rule_ids,
    "shell_complete": completion.rules,
    "metavar": "ID,…",
}
"""Attributes of the option ``--rules``."""


def report_parser(without: Collection[str] = ()) -> Callable[..., tuple[tuple[str, Path], ...]]:
    """Returns a callback that parses the values of ``--report``.

    Args:
        without: Formats that the command does not support.
    """

    def parse(
        _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
    ) -> tuple[tuple[str, Path], ...]:
        ours = plugins.names("reports") if texts else ()
        known = tuple(name for name in ours if name not in without)
        if any(text.partition("=")[0] not in (*known, GITHUB) for text in texts):
            known = (*known, *plugins.foreign_names("reports"))
        reports = tuple(_report(text, known) for text in texts)
        paths = [path for name, path in reports if name != GITHUB]
        for path in paths:
            if paths.count(path) > 1:
                msg = f"two reports are written to {path}; give each a file of its own."
                raise click.BadParameter(msg)
        return reports

    return parse


def _report(text: str, formats: Collection[str]) -> tuple[str, Path]:
    """Parses one value.

    Raises:
        BadParameter: The value is not a known format with a file.
    """
    name, _, path = text.partition("=")
    if name == GITHUB and not path:
        return name, Path()
    if name not in formats:
        known = (*formats, GITHUB)
        ending = Path(text).suffix.removeprefix(".")
        hint = f"; did you mean {ending}={text}?" if ending in known and name == text else ""
        hint = hint or nearest(name, list(known)) or f"; formats are {', '.join(known)}"
        msg = f"there is no report format {name!r}{hint}"
        raise click.BadParameter(msg)
    if not path:
        msg = f"{text!r} names no file; write {name}=FILE"
        raise click.BadParameter(msg)
    further = [other for other in formats if f",{other}=" in path]
    if further:
        msg = f"{text!r} names two reports; repeat the option for {further[0]}=FILE"
        raise click.BadParameter(msg)
    return name, Path(path)


def report_option(before: str = "W", without: Collection[str] = ()) -> Any:
    """Returns the field of ``--report``.

    Args:
        before: Beginning of the help, up to the first letter of "Write".
        without: Formats that the command does not support.
    """
    known = [name for name in FORMATS_OF_REPORTS if name not in without]
    return option(
        "--report",
        default=(),
        callback=report_parser(without),
        metavar="FORMAT=FILE",
        help=f"{before}rite a report: {', '.join(known)}; or `github`, without a file: annotations and the"
        " job summary. Repeatable.",
    )


Mode = Literal["observe", "own", "full"]

MODE: Final[Mapping[str, Any]] = {
    "type": click.Choice(get_args(Mode)),
    "help": "What may be changed: nothing, the named account, or anything.",
}
"""Attributes of the option ``--mode``."""


@dataclass(frozen=True, slots=True)
class DeploymentAddresses:
    """The addresses of a deployment."""

    base_url: str | None = option(
        type=URL, help="Base URL of the resource API, instead of the file's."
    )
    auth_url: str | None = option(
        type=URL, help="Base URL of the authorization server, instead of the file's."
    )


DOCUMENT: Final[Mapping[str, Any]] = {
    "help": "OpenAPI document to judge by, instead of the file's; `published` for the"
    " deployment's own."
}
"""Attributes of the option ``--document``."""

LIKE: Final[Mapping[str, Any]] = {
    "metavar": "YAML",
    "help": "Profile of the deployment, as of `serve --like`: document, vocabulary, facts.",
}
"""Attributes of the option ``--like``."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run."""

    max_requests: int | None = option(
        type=click.IntRange(1), help="Send at most this many requests in a run."
    )
    max_time: float | None = option(
        type=click.FloatRange(0, min_open=True), help="Stop a run after this many seconds."
    )


class DeploymentCommand:
    """Base of the records whose options name a deployment."""

    __slots__ = ()

    @property
    def where(self) -> Any:
        """The options of the deployment, selected by their names."""
        # These take 0.1 s to import, which `--help` need not wait for.
        from understudy.api.options import DeploymentOptions

        given = values_of(self)
        known = {it.name: given[it.name] for it in fields(DeploymentOptions) if it.name in given}
        seconds = known.pop("max_time", None)
        time = None if seconds is None else timedelta(seconds=seconds)
        return DeploymentOptions(**known, target_file=given["target"], max_time=time)


class RequestedReports:
    """Base of the records with the option ``--report``."""

    __slots__ = ()
    reports: tuple[tuple[str, Path], ...]

    @property
    def files(self) -> tuple[tuple[str, Path], ...]:
        """Format and file of each report that has a file."""
        return tuple((name, path) for name, path in self.reports if name != GITHUB)

    @property
    def is_github(self) -> bool:
        """True if annotations and a job summary for GitHub are requested."""
        return any(name == GITHUB for name, _ in self.reports)


@dataclass(frozen=True, slots=True)
class Reporting(RequestedReports):
    """The reports of a run, and the conditions of its exit code."""

    reports: tuple[tuple[str, Path], ...] = report_option()
    fail_on: tuple[str, ...] = option(default=(), **FAIL_ON)
    baseline: Path | None = option(
        help="File of known findings, each accepted until a date; or the JSON report of an earlier"
        " run, to say what changed: a rule that was checked then must be checked now."
    )
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
        type=URL,
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
        """Returns an ``AdminClient`` for the mock, which is closed when the command ends.

        Raises:
            StartupError: No mock responds at the address, or it refused access.
        """
        # httpx takes 0.1 s to import, which `serve` need not wait for.
        from understudy.verify.admin_client import AdminClient

        admin = AdminClient(self.url, self.world, self.admin_token)
        click.get_current_context().call_on_close(admin.close)
        admin.expect_mock()
        return admin
