"""``understudy exercised``: what of the contract a test suite has used."""

from typing import Any

import click
import orjson

from understudy.cli.mock_options import client, mock_options


@click.command()
@mock_options
@click.option(
    "--threshold",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="End with 1 where less of the contract was used.",
)
@click.option("--json", "is_json", is_flag=True, help="The report as JSON.")
def exercised(
    url: str,
    world: str | None,
    admin_token: str | None,
    threshold: float | None,
    *,
    is_json: bool,
) -> None:
    """Tell which operations, statuses and identities a running mock has seen.

    Without --world every world counts, those that have ended among them.
    """
    wanted = {"worlds": "this" if world else "all"}
    report = client(url, world, admin_token).call("GET", "/exercised", params=wanted)
    if is_json:
        click.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    else:
        for line in lines(report):
            click.echo(line)
    if threshold is not None and report["share"] * 100 < threshold:
        click.secho(f"less than the {threshold:g} % that --threshold wants", fg="red", err=True)
        raise SystemExit(1)


def lines(report: Any) -> list[str]:
    """Returns the report as a person reads it."""
    share = f"{report['exercised']} of {report['declared']} ({report['share']:.0%})"
    said = [f"{click.style('Exercised', bold=True)}  {share} of the contract's parts", ""]
    for operation in report["operations"]:
        missing = [part for part, used in operation["parts"].items() if not used]
        count = f"{operation['requests']:>6} x"
        left = click.style("never " + ", ".join(missing), dim=True) if missing else "all"
        said.append(f"{count}  {operation['operation']:<20} {left}")
    return said
