"""Makes the JUnit XML report: one test case per rule, named by the rule's id.

JUnit XML has no standard; this report is valid by Ant's and by Jenkins's schema, and so has one
failure per test, however many findings a rule has.
"""

from collections.abc import Mapping
from datetime import UTC
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome, RuleOutcome
from understudy.verify.reports.terminal import sum_of
from understudy.verify.reproducing import commands


def junit(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the report as JUnit XML."""
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", _numbers(outcome))
    values = {"target": outcome.target, "seed": outcome.seed, "requests": outcome.requests}
    properties = SubElement(suite, "properties")
    for name, value in values.items():
        SubElement(properties, "property", {"name": name, "value": _printable(str(value))})
    for rule_outcome in outcome.rules:
        _case(suite, rule_outcome, outcome, secrets)
    SubElement(suite, "system-out").text = sum_of(outcome)
    not_restored = [f"not restored: {line}" for line in outcome.not_restored]
    SubElement(suite, "system-err").text = _printable("\n".join([outcome.stopped, *not_restored]))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True)


def _numbers(outcome: Outcome) -> dict[str, str]:
    return {
        "name": "understudy verify",
        "package": "understudy",
        "id": "0",
        "hostname": "localhost",
        "timestamp": outcome.started.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        "time": f"{outcome.seconds:.3f}",
        "tests": str(len(outcome.rules)),
        "failures": str(outcome.count("failed")),
        "errors": "0",
        "skipped": str(outcome.count("not_checked")),
    }


def _case(
    suite: Element, rule_outcome: RuleOutcome, outcome: Outcome, secrets: Mapping[str, str]
) -> None:
    names = {
        "name": rule_outcome.rule.id,
        "classname": f"understudy.{rule_outcome.rule.section}",
        "time": "0",
    }
    case = SubElement(suite, "testcase", names)
    if rule_outcome.status == "not_checked":
        SubElement(case, "skipped", {"message": _printable(rule_outcome.reason)})
    findings = [finding for finding in outcome.findings if finding.rule.id == rule_outcome.rule.id]
    if findings:
        more = f" (and {len(findings) - 1} more)" if findings[1:] else ""
        message = _printable(f"{findings[0].summary}{more}")
        failure = SubElement(case, "failure", {"type": "finding", "message": message})
        failure.text = _printable("\n\n".join(_text(finding, secrets) for finding in findings))


def _text(finding: Finding, secrets: Mapping[str, str]) -> str:
    lines = [finding.rule.statement, finding.summary, ""]
    return "\n".join([*lines, *commands(finding, secrets)])


def _printable(text: str) -> str:
    """Returns a text with the characters that XML cannot hold replaced."""
    return "".join(c if c in "\n\t" or (c.isprintable() and c < "\ud800") else "?" for c in text)
