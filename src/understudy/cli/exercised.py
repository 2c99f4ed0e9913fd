"""``understudy exercised``: which parts of the contract a test suite has used."""

from pathlib import Path
from typing import Any

import click
import orjson

from understudy.cli.command_options import RunningMock
from understudy.cli.exit_codes import last_lines
from understudy.cli.options import takes
from understudy.terminal import echo, printable_line


@click.command()
@takes(RunningMock)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if less of the contract was used.",
)
@click.option(
    "--svg",
    type=click.Path(readable=False, path_type=Path, dir_okay=False),
    help="Write the report as a picture, such as for a pull request.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the report as JSON.")
def exercised(
    running: RunningMock,
    threshold: float | None,
    svg: Path | None,
    *,
    is_json: bool,
) -> None:
    """Show which parts of the contract a running mock has seen.

    Parts are operations, statuses and identities. Without --world all worlds count, including those that were deleted.
    """
    wanted = {"worlds": "this" if running.world else "all"}
    report = running.client().call("GET", "/exercised", params=wanted)
    if svg is not None:
        from understudy.mock.admin.exercised import picture

        svg.write_text(picture(report), encoding="utf-8")
    if is_json:
        echo(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    else:
        for line in lines(report):
            click.echo(line)
    used = report["share"] * 100
    if threshold is not None and used < threshold:
        reason = f"{used:.0f} % of the contract was used, and --threshold wants {threshold:g} %"
        raise SystemExit(last_lines(reason, "understudy generate"))


def lines(report: Any) -> list[str]:
    """Returns the lines of the report."""
    share = f"{report['exercised']} of {report['declared']} ({report['share']:.0%})"
    lines = [f"{click.style('Exercised', bold=True)}  {share} of the contract's parts", ""]
    for operation in report["operations"]:
        missing = [part for part, used in operation["parts"].items() if not used]
        count = f"{operation['requests']:>6} x"
        left = (
            click.style("never " + printable_line(", ".join(missing)), dim=True)
            if missing
            else "all"
        )
        lines.append(f"{count}  {printable_line(operation['operation']):<20} {left}")
    return lines
