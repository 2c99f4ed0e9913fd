"""``understudy rules``: prints all rules, with their results in a run or their facts."""

from collections import ChainMap, Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from understudy import plugins
from understudy.cli.options import FILE
from understudy.terminal import counted, echo


@click.command(context_settings={"show_default": True})
@click.option(
    "--coverage",
    type=FILE,
    metavar="REPORT.json",
    help="Print how each rule ended in a run, read from its JSON report.",
)
@click.option(
    "--facts",
    type=FILE,
    multiple=True,
    metavar="FACTS.yaml",
    help="Print beside each rule what `understudy learn` wrote of a deployment; may be repeated.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the rules as JSON.")
def rules(coverage: Path | None, facts: tuple[Path, ...], *, is_json: bool) -> None:
    """Print every rule with its id and status.

    Those of the interface come first, then those of state that is inferred of any document,
    then those of other packages.
    """
    # The catalogue's reader takes 30 ms to import, which other commands need not wait for.
    from understudy.collections.rules import INFERRED
    from understudy.interface.facts import contradictory, load_facts
    from understudy.interface.rules import bundled_rules
    from understudy.reports.earlier_run import read_report

    report = {"rules": ()} if coverage is None else read_report(coverage, "--coverage")
    ended = {rule["id"]: rule["status"] for rule in report["rules"]}
    bundled = bundled_rules()
    foreign = (rule for rules in plugins.every("rules").values() for rule in rules)
    known = (*bundled, *INFERRED.values(), *foreign)
    files = [load_facts(path, bundled) for path in facts]
    if is_json:
        from understudy.cli.output_records import print_record

        latest = dict(ChainMap(*(each.by_rule() for each in reversed(files))))
        print_record([_printed(rule, ended, latest) for rule in known])
        return
    for rule in known:
        outcome = ended.get(rule.id, "not in the report" if coverage else rule.status)
        how = outcome.replace("_", " ")
        columns = "".join(f"{_reading(rule.id, each):14} " for each in files)
        echo(f"{rule.id:42} {how:12} {columns}{rule.statement.strip()}")
    words = Counter(
        ended.get(it.id, "not in the report") if coverage else it.status for it in known
    )
    counts = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in words.most_common())
    echo(f"{counted(len(known), 'rule')}: {counts}.", err=True)
    for line in contradictory(files):
        echo(f"The facts differ: {line}", err=True)


def _reading(rule: str, facts: Any) -> str:
    """Returns the reading of a rule by a deployment, with a mark if it was seen only once."""
    fact = facts.by_rule().get(rule)
    return "-" if fact is None else fact.reading + " (once)" * (fact.sure == "seen once")


def _printed(rule: Any, ended: Mapping[str, str], facts: Mapping[str, Any]) -> Any:
    from understudy.cli.output_records import PrintedRule

    fact = facts.get(rule.id)
    return PrintedRule(
        rule.id,
        rule.status,
        rule.section,
        rule.statement.strip(),
        ended.get(rule.id),
        fact and fact.reading,
        (fact and fact.sure) or None,
    )
