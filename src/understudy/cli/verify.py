"""``understudy verify``: judges a deployment by the contract."""

import os
import sys
from pathlib import Path
from typing import Any

import click

FAIL_ON = ("findings", "not-checked", "notes", "nothing")


def _rules(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _reports(
    _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[tuple[str, Path], ...]:
    from understudy.errors import nearest
    from understudy.verify.reports import FORMATS

    found = []
    for text in texts:
        name, equals, path = text.partition("=")
        if name not in FORMATS or not equals or not path:
            hint = nearest(name, list(FORMATS)) or f"; formats are {', '.join(FORMATS)}"
            msg = f"{text!r} is not FORMAT=FILE{hint}"
            raise click.BadParameter(msg)
        found.append((name, Path(path)))
    return tuple(found)


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_VERIFY", "show_default": True})
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="File that says what to judge and what is permitted; left out, the mock is judged.",
)
@click.option("--base-url", help="Of the resource API, in place of the file's.")
@click.option("--auth-url", help="Of the authorization server, in place of the file's.")
@click.option(
    "--document",
    type=click.Path(path_type=Path),
    help="OpenAPI document to judge by, in place of the file's; published for the deployment's own.",
)
@click.option("--rules", callback=_rules, metavar="ID,…", help="Only these rules.")
@click.option(
    "--report",
    "reports",
    multiple=True,
    callback=_reports,
    metavar="FORMAT=FILE",
    help="Also json, junit, html, sarif, har or gitlab into a file; may be given again.",
)
@click.option("--seed", default=0, help="Of generated cases; the same seed, the same cases.")
@click.option("--max-requests", type=click.IntRange(1), help="Send no more than so many.")
@click.option("--max-time", type=click.FloatRange(0, min_open=True), help="Seconds to take.")
@click.option(
    "--workers", type=click.IntRange(1, 16), default=1, help="Threads of generated cases."
)
@click.option(
    "--mode",
    type=click.Choice(["observe", "own", "full"]),
    help="What may be written: nothing, the named account, anything.",
)
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="What makes the exit code other than 0; may be given again."
    "  [default: findings, and in CI not-checked]",
)
@click.option(
    "--baseline", type=click.Path(path_type=Path), help="Known findings, each accepted until a day."
)
@click.option(
    "--cases",
    type=click.IntRange(0),
    default=None,
    help="Generated cases an operation; 0 for none.  [default: 10 for the mock, else 0]",
)
@click.option(
    "--har", type=click.Path(path_type=Path), help="Judge recorded traffic; send nothing."
)
@click.option("--plan", "is_plan", is_flag=True, help="Print what would be sent, and send nothing.")
@click.option("--init", "is_init", is_flag=True, help="Ask, and write a target file to --target.")
@click.option("--quiet", is_flag=True, help="Print findings and the sum, and no progress.")
def verify(**options: Any) -> None:
    """Judge a deployment by the contract, documents and prose alike.

    Exit codes: 0 all judged rules hold, 1 findings, 2 could not run, 3 rules were left unchecked
    that could have been checked, or the run was stopped.
    """
    # Schemathesis and openapi-core take a second to import, which other commands need not wait for.
    from understudy.cli import verifying

    if options["is_init"]:
        from understudy.cli.init_target import ask_for_target

        ask_for_target(options["target"] or Path("target.toml"))
        return
    typed = verifying.typed(options)
    if options["is_plan"]:
        verifying.print_plan(typed, os.environ)
        return
    sys.exit(verifying.verify(typed, os.environ))
