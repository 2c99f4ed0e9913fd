"""The commands that import much: what they are asked, and their help; what they do is imported when one runs.

Each has a module of its own, of the same name; other commands are whole in theirs.
"""

import gc
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from understudy.cli import completion
from understudy.cli.command_options import (
    MOCK_URL,
    DriftOptions,
    GenerateOptions,
    LearnOptions,
    RecordOptions,
    RunningMock,
    VerifyOptions,
)
from understudy.cli.options import PORT, STATE, URL, takes


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_RECORD", "show_default": True})
@takes(RecordOptions)
def record(options: RecordOptions) -> None:
    """Judge and record the traffic between an app and a deployment.

    Point the app at the proxy instead of the deployment. Every exchange is judged by the document
    and every rule, as by `verify --har`; a finding is one line. Ctrl-C ends it.
    """
    # The judge takes a second to import, which other commands need not wait for.
    from understudy.cli.record import recorded

    click.get_current_context().exit(recorded(options, os.environ))


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_DRIFT", "show_default": True})
@takes(DriftOptions)
def drift(options: DriftOptions) -> None:
    """Show where a deployment and the mock differ, and why.

    Sends the probes of the rules twice to the deployment and once to the mock; what differs between
    the first two is noise. Compares statuses, error codes, members and their types, headers and
    pictures, but never identifiers, dates or texts. Compares the document that the deployment
    publishes with ours, and with the last one seen.
    """
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli.drift import drifted

    click.get_current_context().exit(drifted(options, os.environ))


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_LEARN", "show_default": True})
@takes(LearnOptions)
def learn(options: LearnOptions) -> None:
    """Learn how a deployment answers what the interface leaves open.

    Sends the smallest requests that tell the possible readings apart, undoes what they change, and
    writes dated facts: `serve --facts` behaves so, and `verify --facts` judges by them.
    """
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli.learn import learnt

    if options.is_plan and options.is_json:
        msg = "--json prints the facts of a run, and --plan sends nothing; leave one out."
        raise click.UsageError(msg)
    if options.is_plan:
        from understudy.cli.learn import print_plan

        print_plan(options.where, options.rules, os.environ)
        return
    click.get_current_context().exit(learnt(options, os.environ))


COLLECTED_AFTER = 50_000
"""Objects that are allocated between two collections of garbage."""

OLDER_AFTER = (50, 50)
"""Collections until those that survived one or two are looked at again: exchanges, which stay."""

TABLES = "HYPOTHESIS_STORAGE_DIRECTORY"
"""The environment variable that names the directory for Hypothesis's tables of characters."""


def _keep_tables() -> None:
    """Lets Hypothesis keep its tables in the user's cache, unless the environment says where.

    In the current directory, where they would be by default, the first run anew spends a second on
    them, and leaves a directory behind.
    """
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # a user without a home
        return
    os.environ.setdefault(TABLES, str(caches / "understudy" / "hypothesis"))


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_VERIFY", "show_default": True})
@takes(VerifyOptions)
def verify(options: VerifyOptions) -> None:
    """Judge a deployment by the contract.

    The contract is the OpenAPI documents and every rule of prose; `understudy rules` lists them.

    Exit codes: 0 no findings; 1 findings; 2 the run could not start; 3 the run was stopped, or
    (with --fail-on not-checked) rules were not checked that could have been; 4 a part of verify
    itself failed.
    """
    if options.is_schema:
        from understudy.record_schemas import schema_text
        from understudy.verify.target_schema import target_schema

        click.echo(schema_text(target_schema()), nl=False)
        return
    # What a run exchanges lives as long as it does: each collection would walk all of it.
    gc.set_threshold(COLLECTED_AFTER, *OLDER_AFTER)
    _keep_tables()
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli import verify as verifying

    gc.freeze()  # modules live as long as the process
    if options.is_template:
        from understudy.cli.init_target import template

        click.echo(template())
        return
    if options.is_init:
        from understudy.cli.init_target import ask_for_target

        ask_for_target(options.target or Path("target.toml"))
        return
    if options.is_plan and options.reporting.json:
        msg = "--json prints the report of a run, and --plan sends nothing; leave one out."
        raise click.UsageError(msg)
    if options.is_plan:
        verifying.print_plan(options, os.environ)
        return
    sys.exit(verifying.verify(options, os.environ))


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
    # Importing jsonschema-rs and reading documents takes 0.1 s, which --help need not wait for.
    from understudy.cli import generate as generating

    sys.exit(generating.generate(options, operations))


@click.command(context_settings={"show_default": True})
@click.option(
    "--list", "is_list", is_flag=True, help="Show people, tokens and applications (the default)."
)
@click.option("--json", "is_json", is_flag=True, help="Show them as JSON.")
@click.option(
    "--fixtures",
    "directory",
    type=click.Path(readable=False, path_type=Path),
    envvar="UNDERSTUDY_FIXTURES",
    show_envvar=True,
    help="Fixtures directory to show or to extend, instead of the bundled one.",
)
@click.option(
    "--people", "count", type=click.IntRange(1), help="Invent this many people; needs --out."
)
@click.option(
    "--nasty", is_flag=True, help="Make people whose every field is an edge case; needs --out."
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed for invented people.")
@click.option(
    "--out",
    type=click.Path(readable=False, path_type=Path),
    help="Directory to write: the fixtures, and the new people.",
)
def fixtures(**options: Any) -> None:
    """Show the people and tokens of the mock, or make more people."""
    # The mock's records take 0.1 s to import, which other commands need not wait for.
    from understudy.cli import fixtures as fixture_making
    from understudy.openapi.bundled import fixtures_directory

    directory, out = options["directory"] or fixtures_directory(), options["out"]
    count, is_nasty = options["count"], options["nasty"]
    is_making = count is not None or is_nasty
    if is_making and out is None:
        msg = f"{'--nasty' if is_nasty else '--people'} needs a new directory; add --out DIR."
        raise click.UsageError(msg)
    if out is not None and not is_making:
        msg = "--out needs --people N or --nasty, which say what to make."
        raise click.UsageError(msg)
    if out is None:
        fixture_making.show(directory, is_json=options["is_json"])
    elif options["is_list"] or options["is_json"]:
        msg = "--list and --json show fixtures, --out makes more; use one of them."
        raise click.UsageError(msg)
    else:
        made = fixture_making.made(count, options["seed"], is_nasty=is_nasty)
        fixture_making.write(directory, out, made)


@click.command("open")
@click.argument("file", type=click.Path(readable=False, path_type=Path, dir_okay=False))
@takes(RunningMock)
@click.option(
    "--port",
    type=PORT,
    default=8080,
    show_default=True,
    help="Port of a mock that is started; 0 for a free one, and a mock of its own.",
)
@click.option(
    "--auth-port",
    type=PORT,
    default=8081,
    show_default=True,
    help="Port of its authorization server; 0 for a free one.",
)
@click.option(
    "--fixtures",
    type=click.Path(readable=False, path_type=Path),
    help="Directory of the people that the capsule was made with, for a mock that is started.",
)
@click.option(
    "--document",
    type=click.Path(readable=False, path_type=Path),
    help="OpenAPI document that the capsule was made with, for a mock that is started.",
)
@click.option(
    "--ready-file",
    type=click.Path(readable=False, path_type=Path),
    help="File to write one line of JSON with the addresses to, once a started mock is ready.",
)
@click.pass_context
def open_(context: click.Context, running: RunningMock, /, file: Path, **started: Any) -> None:
    """Open a capsule in a running mock, or in a new one.

    Without --mock, a mock that responds at --port is used; where none does, one is started, and runs
    until Ctrl-C. It must have the fixtures and the document that the capsule was made with. The
    clock is frozen at the moment of the capsule, so that the same requests get the same responses.
    """
    from understudy.cli.open_ import is_running, open_in_new, open_in_running, read_capsule

    capsule = read_capsule(file)
    default = click.core.ParameterSource.DEFAULT
    if context.get_parameter_source("url") is default:
        url = f"{MOCK_URL.rpartition(':')[0]}:{started['port']}"
        if not started["port"] or not is_running(url):
            open_in_new(capsule, running.world, started)
            return
        running = replace(running, url=url)
    for line in open_in_running(capsule, running):
        click.echo(line)


def _choices(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> Any:
    """Parses ``--choose``; the rules are only read if something is chosen."""
    if not texts:
        return {}
    from understudy.interface.rules import choose, load_rules, switches
    from understudy.openapi.bundled import openapi_directory

    return choose(switches(load_rules(openapi_directory() / "rules.yaml")), texts)


def _learnt(paths: tuple[Path, ...]) -> tuple[dict[str, str], tuple[Any, ...]]:
    """Returns facts files, and the choices that they make; the last one counts for a question."""
    if not paths:
        return {}, ()
    from understudy.cli.losses import followed_facts
    from understudy.interface.facts import choices_of
    from understudy.interface.rules import load_rules
    from understudy.openapi.bundled import openapi_directory

    rules = load_rules(openapi_directory() / "rules.yaml")
    files = followed_facts(paths, rules)
    choices: dict[str, str] = {}
    for facts in files:
        choices |= choices_of(facts, rules)
    return choices, files


def _lower_case(
    _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(text.lower() for text in texts)


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
"""The choices that the help names, of more than fifty switches."""


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY", "show_default": True})
@click.option("--host", default="127.0.0.1", show_envvar=True, help="Address to listen on.")
@click.option(
    "--port",
    type=PORT,
    default=8080,
    show_envvar=True,
    help="Port of the resource API; 0 for a free one.",
)
@click.option(
    "--auth-port",
    type=PORT,
    default=8081,
    show_envvar=True,
    help="Port of the authorization server; 0 for a free one.",
)
@click.option(
    "--single-port",
    is_flag=True,
    show_envvar=True,
    help="Serve the authorization server at --port too, and open no second port.",
)
@click.option(
    "--document",
    type=click.Path(readable=False, path_type=Path),
    show_envvar=True,
    help="OpenAPI (3.0 to 3.2) or Swagger 2.0 document to serve instead of the bundled one.",
)
@click.option(
    "--overlay",
    "overlays",
    multiple=True,
    type=click.Path(readable=False, path_type=Path),
    envvar="UNDERSTUDY_OVERLAY",
    show_envvar=True,
    help="Overlay file (1.0 or 1.1) that changes the document first; repeatable.",
)
@click.option(
    "--vocabulary",
    type=click.Path(readable=False, path_type=Path),
    show_envvar=True,
    help="File with the words that the deployment uses: scopes, QR types, header prefix, upload field.",
)
@click.option(
    "--handlers",
    type=click.Choice(["auto", "off"]),
    default="auto",
    show_envvar=True,
    help="Let bundled handlers respond to the operations of this interface, or only the document.",
)
@click.option(
    "--tokens",
    type=click.Choice(["any", "known", "strict"]),
    show_envvar=True,
    help="Take any credential of the declared kind, only those of the fixtures, or of these only OAuth"
    " tokens with the scopes that the document names."
    "  [default: any with another service's --document]",
)
@click.option(
    "--infer",
    type=click.Choice(["auto", "off"]),
    default="auto",
    show_envvar=True,
    help="Infer from another service's document which operations share a state, so that what is"
    " created can be read; off makes up every response.",
)
@click.option(
    "--state-model",
    type=click.Path(readable=False, path_type=Path),
    metavar="YAML",
    show_envvar=True,
    help="State-model file that corrects what is inferred; `understudy infer --write` writes one.",
)
@click.option(
    "--seed-data",
    type=click.Path(readable=False, path_type=Path),
    metavar="PATH",
    show_envvar=True,
    help="JSON, YAML or CSV file, or directory of such files, of the items that inferred collections"
    " begin with.  [default: three items, made up]",
)
@click.option(
    "--fixtures",
    type=click.Path(readable=False, path_type=Path),
    show_envvar=True,
    help="Directory of people, tokens and pictures to use instead of the bundled one.",
)
@click.option(
    "--reload",
    is_flag=True,
    show_envvar=True,
    help="Reload documents and fixtures when they change; the state is kept.",
)
@click.option(
    "--log",
    type=click.Choice(["auto", "text", "json", "off"]),
    default="auto",
    show_envvar=True,
    help="Request log, one line per request; auto colours it on a terminal.",
)
@click.option(
    "--choose",
    "choices",
    multiple=True,
    callback=_choices,
    shell_complete=completion.choices,
    envvar="UNDERSTUDY_CHOOSE",
    show_envvar=True,
    metavar="SWITCH=OPTION",
    help="Choose another reading of the interface; repeatable. People ask for"
    f" {', '.join(OFTEN_CHOSEN)}; the rules that `understudy rules` prints have more.",
)
@click.option(
    "--facts",
    type=click.Path(readable=False, path_type=Path),
    multiple=True,
    envvar="UNDERSTUDY_FACTS",
    show_envvar=True,
    metavar="FACTS.yaml",
    help="Behave as the deployment whose facts `understudy learn` wrote; --choose takes"
    " precedence. Repeatable.",
)
@click.option(
    "--user-info",
    is_flag=True,
    show_envvar=True,
    help="Serve /oauth2/userinfo at the authorization server, for clients that ask who signed in.",
)
@click.option(
    "--auto-approve",
    shell_complete=completion.people,
    metavar="SLUG",
    show_envvar=True,
    help="Person who approves every authorization at once, so that tests need no browser.",
)
@click.option(
    "--seed", default=0, show_envvar=True, help="Seed for generated identifiers and responses."
)
@click.option(
    "--validate-responses",
    "response_validation",
    type=click.Choice(["refuse", "warn", "off"]),
    envvar="UNDERSTUDY_VALIDATE_RESPONSES",
    show_envvar=True,
    help="What to do if a response of the mock itself breaks the document."
    "  [default: refuse, or warn with --document]",
)
@click.option(
    "--require-world",
    is_flag=True,
    show_envvar=True,
    help="Refuse requests that name no world, so that no test uses another test's world.",
)
@click.option(
    "--journal",
    type=click.IntRange(0),
    default=1000,
    show_envvar=True,
    help="Exchanges that each world keeps in its journal.",
)
@click.option(
    "--state",
    type=STATE,
    metavar="DIR|URL",
    show_envvar=True,
    help="Directory that keeps the worlds when the process ends, or the URL of a store that several"
    " processes share, such as valkey://host/0.  [default: in memory]",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_envvar=True,
    help="Processes that serve the same ports; more than one need --state with the URL of a store.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=5,
    metavar="SECONDS",
    show_envvar=True,
    help="Seconds in which requests in flight are finished after SIGINT or SIGTERM; the rest get 503."
    "  A second signal ends at once.",
)
@click.option(
    "--state-repair",
    is_flag=True,
    show_envvar=True,
    help="Set rows of the state that cannot be read aside in a file, instead of refusing to start.",
)
@click.option(
    "--admin-token",
    metavar="TOKEN",
    show_envvar=True,
    help="Token that other machines need for the admin API; generated if --host is not loopback.",
)
@click.option(
    "--admin-host",
    "admin_hosts",
    multiple=True,
    callback=_lower_case,
    envvar="UNDERSTUDY_ADMIN_HOST",
    metavar="NAME",
    show_envvar=True,
    help="Host name that callers of the admin API may use too, such as mock.test; repeatable.",
)
@click.option(
    "--tls",
    type=click.Path(readable=False, path_type=Path, file_okay=False),
    metavar="DIR",
    show_envvar=True,
    help="Serve https with cert.pem and key.pem of this directory; made there, with ca.pem to"
    " trust, if it has none.",
)
@click.option(
    "--public-url",
    metavar="URL",
    type=URL,
    show_envvar=True,
    help="Address at which clients reach the resource API, for links behind a proxy or tunnel."
    "  [default: as each client names it]",
)
@click.option(
    "--public-auth-url",
    metavar="URL",
    type=URL,
    show_envvar=True,
    help="Address at which clients reach the authorization server."
    "  [default: the host of the mock, with --auth-port]",
)
@click.option(
    "--ready-file",
    type=click.Path(readable=False, path_type=Path),
    show_envvar=True,
    help="File to write one line of JSON with the addresses to, once the mock is ready.",
)
def serve(**options: Any) -> None:
    """Run the mock until Ctrl-C."""
    choices, options["facts"] = _learnt(options["facts"])
    options["choices"] = choices | options["choices"]
    # They take 0.3 s to import, which other commands need not wait for.
    from understudy.cli.serve import run
    from understudy.mock.settings import Settings

    run(Settings(**options))
