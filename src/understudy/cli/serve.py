"""``understudy serve``: runs the mock."""

import gc
from pathlib import Path
from typing import Any

import click

from understudy.cli import completion
from understudy.cli.options import PORT, STATE, URL


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
    type=click.Path(path_type=Path),
    show_envvar=True,
    help="OpenAPI (3.0 to 3.2) or Swagger 2.0 document to serve instead of the bundled one.",
)
@click.option(
    "--overlay",
    "overlays",
    multiple=True,
    type=click.Path(path_type=Path),
    envvar="UNDERSTUDY_OVERLAY",
    show_envvar=True,
    help="Overlay file (1.0 or 1.1) that changes the document first; repeatable.",
)
@click.option(
    "--vocabulary",
    type=click.Path(path_type=Path),
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
    type=click.Path(path_type=Path),
    metavar="YAML",
    show_envvar=True,
    help="State-model file that corrects what is inferred; `understudy infer --write` writes one.",
)
@click.option(
    "--seed-data",
    type=click.Path(path_type=Path),
    metavar="PATH",
    show_envvar=True,
    help="JSON, YAML or CSV file, or directory of such files, of the items that inferred collections"
    " begin with.  [default: three items, made up]",
)
@click.option(
    "--fixtures",
    type=click.Path(path_type=Path),
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
    help="Choose another reading of the interface, such as rate-limits=off; repeatable.",
)
@click.option(
    "--facts",
    type=click.Path(path_type=Path),
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
    type=click.Path(path_type=Path, file_okay=False),
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
    type=click.Path(path_type=Path),
    show_envvar=True,
    help="File to write one line of JSON with the addresses to, once the mock is ready.",
)
def serve(**options: Any) -> None:
    """Run the mock until Ctrl-C."""
    choices, options["facts"] = _learnt(options["facts"])
    options["choices"] = choices | options["choices"]
    gc.disable()  # a tenth of the start; next to nothing is garbage before ``run`` enables it again
    try:
        # they take 0.3 s to import, which other commands need not wait for
        from understudy.cli.serving import run
        from understudy.mock.settings import Settings

        run(Settings(**options))
    finally:
        gc.enable()
