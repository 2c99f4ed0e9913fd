"""The commands that run a mock: options, help, and the name of the function that runs each.

The module of the function is imported only when the command runs: the parts of the mock take 0.3 s
to import, which `--help` need not wait for.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import click

from understudy.cli import completion
from understudy.cli.command_options import RunningMock
from understudy.cli.options import PORT, STATE, URL, argument, command, group, option


@dataclass(frozen=True, slots=True)
class FixturesOptions:
    """Show the people and tokens of the mock, or make more people."""

    is_list: bool = option(
        "--list", default=False, help="Show people, tokens and applications (the default)."
    )
    is_json: bool = option("--json", default=False, help="Show them as JSON.")
    directory: Path | None = option(
        "--fixtures",
        envvar="UNDERSTUDY_FIXTURES",
        show_envvar=True,
        help="Fixtures directory to show or to extend, instead of the bundled one.",
    )
    count: int | None = option(
        "--people", type=click.IntRange(1), help="Invent this many people; needs --out."
    )
    is_nasty: bool = option(
        "--nasty", default=False, help="Make people whose every field is an edge case; needs --out."
    )
    seed: int = option(default=0, type=click.IntRange(0), help="Seed for invented people.")
    out: Path | None = option(help="Directory to write: the fixtures, and the new people.")


@dataclass(frozen=True, slots=True)
class StartedMock:
    """The mock that a command starts."""

    port: int = option(
        default=8080, type=PORT, help="Port of a mock that is started; 0 for a free one."
    )
    auth_port: int = option(
        default=8081, type=PORT, help="Port of its authorization server; 0 for a free one."
    )
    fixtures: Path | None = option(
        help="Directory of the people that the capsule was made with, for a mock that is started."
    )
    document: Path | None = option(
        help="OpenAPI document that the capsule was made with, for a mock that is started."
    )
    ready_file: Path | None = option(
        help="File to write one line of JSON with the addresses to, once a started mock is ready."
    )


@dataclass(frozen=True, slots=True)
class OpenOptions:
    """Open a capsule, a world in one file, in a mock.

    Without --mock, a mock that responds at --port is used; where none does, one is started, and runs
    until Ctrl-C. The mock must have the fixtures and the document that the capsule was made with. Its
    clock is frozen at the moment of the capsule, so that the same requests get the same responses.
    """

    file: Path = argument(type=click.Path(readable=False, path_type=Path, dir_okay=False))
    running: RunningMock = group(RunningMock)
    started: StartedMock = group(StartedMock)


OFTEN_CHOSEN: Final = (
    "rate-limits=off",
    "rate-limit-window=clock-hour",
    "scopes=ignored",
    "invalid-optional-token=anonymous",
    "email-hashes=md5-too",
    "private-profile-lookup=404",
    "unknown-profile-members=ignore",
    "avatar-delete-status=200",
    "upload-image-types=webp-heic-too",
    "upload-largest=2000000",
    "code-lifetime=60",
    "token-endpoint-basic-auth=accept",
)
"""The choices that users want most often, of more than fifty switches, for the help."""


def _lower_case(
    _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(text.lower() for text in texts)


def _as_in_profile(ctx: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Takes the default values of other options from the profile of a deployment."""
    if path is not None:
        # msgspec takes 20 ms to import, which other commands need not wait for.
        from understudy.interface.deployment_profile import load_profile

        given = {name: value for name, value in load_profile(path).items() if name != "choices"}
        ctx.default_map = {**(ctx.default_map or {}), **given}
    return path


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """The addresses of the mock, and its certificate."""

    host: str = option(default="127.0.0.1", help="Address to listen on.")
    single_port: bool = option(
        default=False,
        help="Serve the authorization server at --port too, and open no second port.",
    )
    tls: Path | None = option(
        type=click.Path(readable=False, path_type=Path, file_okay=False),
        metavar="DIR",
        help="Directory of cert.pem and key.pem to serve https with; where they are missing, they are"
        " made, with a ca.pem that clients must trust.",
    )
    public_url: str | None = option(
        metavar="URL",
        type=URL,
        help="Address at which clients reach the resource API, for links behind a proxy or tunnel."
        "  [default: as each client names it]",
    )
    public_auth_url: str | None = option(
        metavar="URL",
        type=URL,
        help="Address at which clients reach the authorization server."
        "  [default: the host of the mock, with --auth-port]",
    )
    admin_token: str | None = option(
        metavar="TOKEN",
        help="Token that other machines need for the admin API; generated if --host is not loopback.",
    )
    admin_hosts: tuple[str, ...] = option(
        "--admin-host",
        default=(),
        callback=_lower_case,
        envvar="UNDERSTUDY_ADMIN_HOST",
        metavar="NAME",
        help="Host name that callers of the admin API may use too, such as mock.test; repeatable.",
    )
    callbacks_to: tuple[str, ...] = option(
        "--callbacks-to",
        default=(),
        callback=_lower_case,
        envvar="UNDERSTUDY_CALLBACKS_TO",
        metavar="HOST",
        help="Host that the document's callbacks and webhooks may be sent to; repeatable."
        "  [default: this machine, where no other reaches the mock]",
    )


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """The options of documents, mostly for those of other services."""

    overlays: tuple[Path, ...] = option(
        "--overlay",
        default=(),
        envvar="UNDERSTUDY_OVERLAY",
        help="Overlay file (1.0 or 1.1) that changes the document first; repeatable.",
    )
    vocabulary: Path | None = option(
        help="File with the words that the deployment uses: scopes, QR types, header prefix, upload"
        " field."
    )
    handlers: Literal["auto", "off"] = option(
        default="auto",
        help="Let bundled handlers respond to the operations of this interface, or only the document.",
    )
    tokens: Literal["any", "known", "strict"] | None = option(
        help="Credentials to take: any of the declared kind; those of the fixtures; or, of these, OAuth"
        " tokens only with the scopes that the document names."
        "  [default: any with another service's --document]",
    )
    accept: Literal["auto", "strict"] = option(
        default="auto",
        help="Return 406 if no declared media type is acceptable: only where the document declares 406,"
        " or always.",
    )
    infer: Literal["auto", "off"] = option(
        default="auto",
        help="Infer from another service's document which operations share a state, so that what is"
        " created can be read; off makes up every response.",
    )
    state_model: Path | None = option(
        metavar="YAML",
        help="State-model file that corrects what is inferred; `understudy infer --write` writes one.",
    )
    seed_data: Path | None = option(
        metavar="PATH",
        help="JSON, YAML or CSV file, or directory of such files, of the items that inferred"
        " collections begin with.  [default: three items, made up]",
    )
    response_validation: Literal["refuse", "warn", "off"] | None = option(
        "--validate-responses",
        envvar="UNDERSTUDY_VALIDATE_RESPONSES",
        help="What to do if a response of the mock itself breaks the document."
        "  [default: refuse, or warn with --document]",
    )


@dataclass(frozen=True, slots=True)
class WorldOptions:
    """The options of worlds, and of the processes that share them."""

    require_world: bool = option(
        default=False,
        help="Refuse requests that name no world, so that no test uses another test's world.",
    )
    journal: int = option(
        default=1000,
        type=click.IntRange(0),
        help="Exchanges that each world keeps in its journal.",
    )
    state_repair: bool = option(
        default=False,
        help="Set rows of the state that cannot be read aside in a file, instead of refusing to start.",
    )
    workers: int = option(
        default=1,
        type=click.IntRange(1, 64),
        help="Processes that serve the same ports; more than one need --state with the URL of a store.",
    )
    grace: float = option(
        default=5,
        type=click.FloatRange(0, 3600),
        metavar="SECONDS",
        help="Seconds in which requests in flight are finished after SIGINT or SIGTERM; the rest get"
        " 503.  A second signal ends at once.",
    )


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Run the mock until Ctrl-C."""

    port: int = option(default=8080, type=PORT, help="Port of the resource API; 0 for a free one.")
    auth_port: int = option(
        default=8081, type=PORT, help="Port of the authorization server; 0 for a free one."
    )
    document: Path | None = option(
        help="OpenAPI (3.0 to 3.2) or Swagger 2.0 document to serve instead of the bundled one."
    )
    like: Path | None = option(
        is_eager=True,
        callback=_as_in_profile,
        metavar="YAML",
        help="Profile of a deployment to be like, whose keys are options of this command, such as"
        " document, vocabulary, choose and facts; options that are given replace them.",
    )
    fixtures: Path | None = option(
        help="Directory of people, tokens and pictures to use instead of the bundled one."
    )
    recording_key: Path | None = option(
        metavar="KEY",
        help="Key of the recording that the fixtures are, as `understudy record` wrote it: the"
        " recorded app then names people and tokens as it did.",
    )
    choices: tuple[str, ...] = option(
        "--choose",
        default=(),
        shell_complete=completion.choices,
        envvar="UNDERSTUDY_CHOOSE",
        metavar="SWITCH=OPTION",
        help="Choose another reading of the interface; repeatable. People ask for"
        f" {', '.join(OFTEN_CHOSEN)}; the rules that `understudy rules` prints have more.",
    )
    facts: tuple[Path, ...] = option(
        default=(),
        envvar="UNDERSTUDY_FACTS",
        metavar="FACTS.yaml",
        help="Behave as the deployment whose facts `understudy learn` wrote; --choose takes"
        " precedence. Repeatable.",
    )
    auto_approve: str | None = option(
        shell_complete=completion.people,
        metavar="SLUG",
        help="Person who approves every authorization at once, so that tests need no browser.",
    )
    user_info: bool = option(
        default=False,
        help="Serve /oauth2/userinfo at the authorization server, for clients that ask who signed in.",
    )
    seed: int = option(default=0, help="Seed for generated identifiers and responses.")
    state: Any = option(
        type=STATE,
        metavar="DIR|URL",
        help="Directory that keeps the worlds when the process ends, or the URL of a store that"
        " several processes share, such as valkey://host/0.  [default: in memory]",
    )
    reload: bool = option(
        default=False, help="Reload documents and fixtures when they change; the state is kept."
    )
    log: Literal["auto", "text", "json", "off"] = option(
        default="auto",
        help="Request log, one line per request; auto colours it on a terminal.",
    )
    ready_file: Path | None = option(
        help="File to write one line of JSON with the addresses to, once the mock is ready."
    )
    network: NetworkOptions = group(NetworkOptions, "Network")
    any_document: DocumentOptions = group(DocumentOptions, "Documents")
    worlds: WorldOptions = group(WorldOptions, "Worlds and processes")


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Run a mock and a faulty staging beside it, to try verify on.

    Writes the target file of the staging. With --fixed the staging has no faults.
    """

    port: int = option(default=8080, type=PORT, help="Port of the mock; 0 for a free one.")
    auth_port: int = option(
        default=8081, type=PORT, help="Port of its authorization server; 0 for a free one."
    )
    staging_port: int = option(
        default=8090, type=PORT, help="Port of the staging; 0 for a free one."
    )
    target: Path = option(
        default=Path("staging.toml"), help="Target file of the staging, which is written."
    )
    is_fixed: bool = option("--fixed", default=False, help="Leave the faults out.")
    ready_file: Path | None = option(
        help="File to write one line of JSON with the addresses to, once both are ready."
    )


demo = command("demo", DemoOptions, "understudy.cli.demo:demo")
serve = command(
    "serve",
    ServeOptions,
    "understudy.cli.serve:serve",
    "UNDERSTUDY",
    headings={
        "Behaviour": "facts recording_key user_info seed",
        "Worlds and processes": "ready_file",
    },
)
fixtures = command("fixtures", FixturesOptions, "understudy.cli.fixtures:fixtures")
open_ = command("open", OpenOptions, "understudy.cli.open_:open_")
