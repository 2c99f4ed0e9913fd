"""Writes a report as JUnit XML: a test case for each rule, or for each case that was sent.

JUnit XML has no standard; this report is valid by Ant's and by Jenkins's schema, and so has one
failure per test, however many findings a rule has.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from understudy.reports.content import Cause, Report, RuleLine


def junit(report: Report) -> str:
    """Returns a report as JUnit XML."""
    causes = [
        listed
        for section in report.sections
        if not section.is_note
        for cause in section.causes
        for listed in (cause, *cause.consequences)
    ]
    rules = report.rules or tuple(line for line, _ in report.cases) or _rules_of(causes)
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", _numbers(report, rules))
    properties = SubElement(suite, "properties")
    values = {"target": report.title, **report.numbers}
    for name in ("target", "seed", "requests"):
        value = {"name": name, "value": _printable(values.get(name, ""))}
        SubElement(properties, "property", value)
    for line, cause in report.cases:
        _case(suite, line, [] if cause is None else [cause])
    for rule in () if report.cases else rules:
        _case(suite, rule, [cause for cause in causes if cause.name == rule.name])
    SubElement(suite, "system-out").text = report.verdict
    SubElement(suite, "system-err").text = _printable("\n".join(report.alarms))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True)


def _numbers(report: Report, rules: Sequence[RuleLine]) -> dict[str, str]:
    return {
        "name": report.tool,
        "package": "understudy",
        "id": "0",
        "hostname": "localhost",
        "timestamp": report.numbers.get("started", "1970-01-01T00:00:00"),
        "time": report.numbers.get("seconds", "0"),
        "tests": str(len(rules)),
        "failures": str(sum(rule.status == "failed" for rule in rules)),
        "errors": "0",
        "skipped": str(sum(rule.status == "not_checked" for rule in rules)),
    }


def _rules_of(causes: Sequence[Cause]) -> tuple[RuleLine, ...]:
    """Returns a failed rule for each cause, for a report that does not judge rules one by one."""
    named = {cause.name: cause for cause in causes}
    return tuple(
        RuleLine(name, cause.statement, "drift", "failed", "stated", 1, "")
        for name, cause in named.items()
    )


def _case(suite: Element, rule: RuleLine, causes: Sequence[Cause]) -> None:
    names = {"name": rule.name, "classname": f"understudy.{rule.section}", "time": "0"}
    case = SubElement(suite, "testcase", names)
    if rule.status == "not_checked":
        SubElement(case, "skipped", {"message": _printable(rule.reason)})
    entries = [entry for cause in causes for entry in cause.entries]
    if entries:
        more = f" (and {len(entries) - 1} more)" if entries[1:] else ""
        message = _printable(f"{entries[0].summary}{more}")
        failure = SubElement(case, "failure", {"type": "finding", "message": message})
        texts = [
            "\n".join([rule.statement, entry.summary, "", *(it.commands for it in entry.sides)])
            for entry in entries
        ]
        failure.text = _printable("\n\n".join(texts))


def _printable(text: str) -> str:
    """Returns a text with the characters that XML cannot hold replaced."""
    return "".join(c if c in "\n\t" or (c.isprintable() and c < "\ud800") else "?" for c in text)
