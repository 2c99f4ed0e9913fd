"""The report that every CI reads: a test case a rule, with the rule's id as its name."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from understudy.contract.findings import Finding, curl
from understudy.contract.outcome import Outcome, RuleOutcome


def junit(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the report as JUnit XML."""
    failed = outcome.count("failed")
    skipped = outcome.count("not_checked")
    numbers = {"tests": str(len(outcome.rules)), "failures": str(failed), "skipped": str(skipped)}
    root = Element("testsuites", numbers)
    seconds = f"{outcome.took.total_seconds():.3f}"
    suite = SubElement(root, "testsuite", {"name": "understudy verify", "time": seconds, **numbers})
    suite.set("timestamp", outcome.started.isoformat(timespec="seconds"))
    for found in outcome.rules:
        _case(suite, found, outcome, secrets)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True)


def _case(suite: Element, found: RuleOutcome, outcome: Outcome, secrets: Mapping[str, str]) -> None:
    names = {"name": found.rule.id, "classname": f"understudy.{found.rule.section}", "time": "0"}
    case = SubElement(suite, "testcase", names)
    if found.status == "not_checked":
        SubElement(case, "skipped", {"message": found.reason})
    for finding in outcome.findings:
        if finding.rule.id == found.rule.id:
            failure = SubElement(case, "failure", {"message": _printable(finding.summary)})
            failure.text = _printable(_text(finding, secrets))


def _text(finding: Finding, secrets: Mapping[str, str]) -> str:
    commands = [curl(exchange.request, secrets) for exchange in finding.steps]
    return "\n".join([finding.rule.statement, finding.summary, "", *commands])


def _printable(text: str) -> str:
    """Returns a text without what XML cannot hold."""
    return "".join(c if c in "\n\t" or (c.isprintable() and c < "\ud800") else "?" for c in text)
