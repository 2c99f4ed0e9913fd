"""Makes the report of a run's outcome, and its JSON and HAR for programs."""

import base64
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import orjson

import understudy
from understudy.exchange import har
from understudy.exchange.masking import masked_exchange, shown
from understudy.exchange.messages import LARGEST_REPORTED, Exchange
from understudy.interface.rules import Rule
from understudy.reports.content import (
    Cause,
    Coverage,
    Entry,
    FileLine,
    Report,
    RuleLine,
    Section,
    Severity,
    ShownSide,
)
from understudy.terminal import counted
from understudy.verify.findings import ANSWERS, GENERAL, Finding, Outcome
from understudy.verify.repetitions import GUESSES
from understudy.verify.reproducing import commands, made_variables, snippet
from understudy.verify.target import key_of_variable

Secrets = Mapping[str, str]
"""Each secret, and the variable that replaces it."""

NOTES: Final = (
    "Notes: assumptions that a deployment need not share, rules inferred from its document, or "
    "demands of the bundled document "
    "alone. They do not change the exit code."
)
"""The introduction of the notes."""

SEVERITIES: Final[Mapping[str, Severity]] = {
    "stated": "major",
    "implied": "moderate",
    "assumed": "minor",
    "inferred": "minor",
}
"""The severity of a rule by who states it: the interface, a standard, or understudy."""


@dataclass(frozen=True, slots=True)
class FindingsOfCause:
    """The findings of one rule, and their consequences.

    Attributes:
        findings: The findings of the rule, at least one.
        consequences: The findings of other rules with the same cause.
        words: The cause in words; empty if it is not known.
    """

    findings: list[Finding]
    consequences: list[Finding] = field(default_factory=list)
    words: str = ""

    @property
    def rules(self) -> set[str]:
        """Ids of the rules that are broken."""
        return {it.rule.id for it in (*self.findings, *self.consequences)}

    def heading(self, secrets: Secrets) -> str:
        """Returns the cause in words; if it is not known, the first finding in a sentence."""
        return self.words or in_words(self.findings[0], secrets)


_STATUS: Final = re.compile(r"status (\d{3})\b(?! is )")  # not "status 201 is not in the document"
_DEEDS: Final[Mapping[int, str]] = {2: "was answered", 3: "was answered", 4: "was refused"}
_SENTENCE: Final = 160
"""Most characters of the request, and of the response, in a sentence."""
_NAMED: Final = 3
"""Most names of a long list in a sentence."""


def in_words(finding: Finding, secrets: Secrets) -> str:
    """Returns a sentence with a finding's request, the actual behaviour, and the expected one.

    Args:
        finding: The finding.
        secrets: Each secret, and the variable that replaces it.
    """
    request = masked_exchange(finding.exchange, secrets).request
    path, mark, query = request.url.partition("?")
    segments = path.split("/")[-finding.exchange.path.count("/") :]
    query = f"{mark}{query}" if finding.exchange.site == "resource" else ""
    what = _clipped(f"{request.method} /{'/'.join(segments)}{query}")
    where = f", where {finding.where}" if finding.where else ""
    received = _clipped(finding.received)
    if status := _STATUS.match(received):
        deed = _DEEDS.get(int(status[1]) // 100, "failed")
        text = f"{what} {deed} with {received.removeprefix('status ')}{where}"
    else:
        text = f"{what}{where}: {received}"
    return f"{text}; expected {finding.expected.removeprefix('status ')}"


def _clipped(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SENTENCE else f"{text[:_SENTENCE]}…"


def by_rule(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Returns the findings of each rule, in the order in which the rules first occur."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.rule.id, []).append(finding)
    return list(groups.values())


def by_cause(
    findings: Iterable[Finding], roots: Mapping[tuple[str, int], str] = MappingProxyType({})
) -> list[FindingsOfCause]:
    """Groups findings by their causes, each with its consequences, the most severe cause first.

    A finding is a consequence of another rule if it disappears when that rule's defect is repaired,
    or if all exchanges that decide its own rule also decide the other rule. Rules about every
    response, such as ``document``, are tried as causes last.

    Args:
        findings: The findings.
        roots: By rule and exchange number of a finding, the rule or guess that explains it; its own
            rule if it is known to be independent.
    """
    following = [(roots.get((it.rule.id, it.exchange.number), ""), it) for it in findings]
    left = [finding for root, finding in following if root in {"", finding.rule.id}]
    alone = {finding.rule.id for root, finding in following if root == finding.rule.id} - GENERAL
    known = list(_repeated(following))
    causes: list[FindingsOfCause] = []
    group = [it for it in left if it.rule.id == BEARER and lacks_access(*reversed(it.steps[-2:]))]
    if group:
        explained = [it for it in left if it not in group and is_in_lower_case(it.exchange)]
        known.append(FindingsOfCause(group, explained, BEARER_REFUSED))
        left = [it for it in left if it not in group and it not in explained]
    for group in by_rule(sorted(left, key=lambda finding: finding.rule.id in GENERAL)):
        numbers = _decisive(group)
        behind = next((it for it in causes if numbers <= _decisive(it.findings)), None)
        if behind is None or group[0].rule.id in alone:
            causes.append(FindingsOfCause(group))
        else:
            behind.consequences.extend(group)
    causes = known + causes
    for root, finding in following:
        if root not in {"", finding.rule.id, *GUESSES}:
            behind = next((it for it in causes if root in it.rules), causes[0])
            behind.consequences.append(finding)
    return sorted(causes, key=lambda it: GRAVEST_FIRST.index(severity_of(it.findings[0].rule)))


def _repeated(following: Iterable[tuple[str, Finding]]) -> Iterator[FindingsOfCause]:
    """Yields the cause that repeated responses are, headed by its earliest specific finding."""
    found = [(root, finding) for root, finding in following if root in GUESSES]
    found.sort(key=lambda it: (it[1].rule.id in GENERAL, it[1].exchange.number))
    if found:
        first, *others = by_rule(finding for _, finding in found)
        yield FindingsOfCause(first, [*chain(*others)], GUESSES[found[0][0]].statement)


BEARER: Final = "bearer-scheme-any-case"
"""The rule that explains findings of other rules: its requests differ in the scheme alone."""


BEARER_REFUSED: Final = "`bearer` in lower case is refused."
"""Heads the findings of that rule whose requests lack access."""


def is_in_lower_case(exchange: Exchange) -> bool:
    """Tells whether the scheme of a token was sent as ``bearer``, which some servers refuse."""
    return exchange.request.header("authorization").startswith("bearer ")


def lacks_access(exchange: Exchange, granted: Exchange | None = None) -> bool:
    """Tells whether a request was refused, or got fewer members than the same one that was not."""
    members = granted.json_object if granted is not None else {}
    return exchange.response.is_refusal or not members.keys() <= exchange.json_object.keys()


GRAVEST_FIRST: Final[Sequence[Severity]] = ("critical", "major", "moderate", "minor")


def severity_of(rule: Rule) -> Severity:
    """Returns the severity of breaking a rule."""
    return "critical" if rule.id == ANSWERS.id else SEVERITIES[rule.status]


def _decisive(findings: Iterable[Finding]) -> set[int]:
    return {finding.exchange.number for finding in findings}


def unchecked(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """Returns each reason with the rules that it kept from being checked, most rules first."""
    noted = {finding.rule.id for finding in outcome.notes}
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for result in outcome.rules:
        if result.status == "not_checked" and result.rule.id not in noted:
            reasons[result.reason].append(result.rule.id)
    return sorted(reasons.items(), key=lambda entry: -len(entry[1]))


def report_of(outcome: Outcome, secrets: Secrets) -> Report:
    """Returns the report of a run.

    Args:
        outcome: The outcome.
        secrets: Each secret, and the variable that replaces it.
    """
    filling = _Filling(outcome, secrets)
    findings = tuple(map(filling.headed, by_cause(outcome.findings, outcome.roots)))
    notes = tuple(filling.cause(group) for group in by_rule(outcome.notes))
    sections = [Section("Findings", findings)] if findings else []
    sections += [Section("Notes", notes, is_note=True, introduction=NOTES)] if notes else []
    alarms = [
        *(f"not restored: {line}" for line in outcome.not_restored),
        *(f"internal error: {line}" for line in outcome.internal_errors),
        *filter(None, [outcome.stopped]),
    ]
    return Report(
        tool="understudy verify",
        title=outcome.target,
        verdict=sum_of(outcome),
        is_bad=bool(outcome.findings or alarms),
        sections=tuple(sections),
        rules=tuple(
            RuleLine(
                it.rule.id,
                it.rule.statement,
                it.rule.section,
                it.status,
                it.rule.status,
                it.checks,
                it.reason,
            )
            for it in outcome.rules
        ),
        unchecked=tuple((reason, tuple(rules)) for reason, rules in unchecked(outcome)),
        alarms=tuple(alarms),
        remarks=tuple(_remarks(outcome)),
        details=tuple(f"document validators differ: {line}" for line in outcome.differences),
        variables=tuple(_variables(outcome, secrets)),
        coverage=outcome.coverage,
        numbers={
            "started": outcome.started.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
            "seconds": f"{outcome.seconds:.3f}",
            "seed": str(outcome.seed),
            "requests": str(outcome.requests),
        },
        records={
            "json": partial(json, outcome, secrets),
            "har": partial(traffic_archive, outcome, secrets),
        },
    )


def sum_of(outcome: Outcome) -> str:
    """Returns the verdict in a sentence, and the totals."""
    verdict = "No findings."
    if outcome.findings:
        causes = by_cause(outcome.findings, outcome.roots)
        broken = len(by_rule(outcome.findings))
        are = "is" if broken == 1 else "are"
        verdict = f"{counted(broken, 'rule')} {are} broken, for {counted(len(causes), 'cause')}."
    return (
        f"{verdict} {counted(outcome.count('passed'), 'rule')} passed, {outcome.count('failed')} failed, "
        f"{outcome.count('not_checked')} not checked; {counted(outcome.requests, 'request')} in "
        f"{outcome.seconds:.1f} s, seed {outcome.seed}"
    )


def _remarks(outcome: Outcome) -> Iterator[str]:
    if outcome.remaining and not outcome.not_restored:
        remaining = " and ".join(outcome.remaining)
        yield f"All changes that can be undone were. These remain: {remaining}."
    if outcome.not_run:
        because = f", as {'; '.join(outcome.spent)}" if outcome.spent else ""
        others = outcome.not_run[_NAMED:]
        more = (f"{len(others)} more (--report json=FILE lists them)",) if others else ()
        yield f"not run{because}: {', '.join((*outcome.not_run[:_NAMED], *more))}"


@dataclass(frozen=True, slots=True)
class _Filling:
    """Converts findings into the causes and entries of a report."""

    outcome: Outcome
    secrets: Secrets

    def headed(self, known: FindingsOfCause) -> Cause:
        """Returns a cause with its consequences and a heading in words."""
        cause = self.cause(known.findings, by_rule(known.consequences))
        return replace(cause, words=known.heading(self.secrets))

    def cause(
        self, findings: Iterable[Finding], consequences: Iterable[Iterable[Finding]] = ()
    ) -> Cause:
        """Returns a cause of the findings of one rule, and of the rules that are consequences."""
        group = tuple(findings)
        rule = group[0].rule
        return Cause(
            rule.id,
            rule.statement,
            tuple(map(self.entry, group)),
            consequences=tuple(map(self.cause, consequences)),
            severity=severity_of(rule),
        )

    def entry(self, finding: Finding) -> Entry:
        """Returns the entry of one finding."""
        exchanges = "\n\n".join(shown(exchange, self.secrets) for exchange in finding.steps)
        folded = (("Exchanges", exchanges), ("Python", snippet(finding, self.secrets)))
        facts = (
            *(("expected", finding.expected), ("actual", finding.received)),
            ("sent again", finding.again),
        )
        return Entry(
            label=_where(finding),
            summary=finding.summary,
            operation=finding.exchange.operation,
            fingerprint=finding.fingerprint,
            sides=(ShownSide("\n".join(commands(finding, self.secrets)), folded=folded),),
            facts=tuple((name, text) for name, text in facts if text),
            place=place_of(self.outcome, finding),
        )


def _where(finding: Finding) -> str:
    """Returns a finding's operation, identity and number of sightings."""
    exchange = finding.exchange
    operation = f"{exchange.request.method} {exchange.path:.120}"
    seen = f", seen {finding.count} times" if finding.count > 1 else ""
    return f"{operation} as {exchange.identity.name}{seen}"


def _variables(outcome: Outcome, secrets: Secrets) -> Iterator[tuple[str, str]]:
    """Yields the variables that the findings' commands read, with their keys in the target file."""
    text = "\n".join(line for each in outcome.findings for line in commands(each, secrets))
    made = {name for name, _, _ in made_variables(secrets)}
    for name in sorted(
        {name for name in secrets.values() if f"${name}" in text or f"${{{name}" in text} - made
    ):
        yield name, key_of_variable(name) if outcome.target_file is not None else ""


_PATH: Final = re.compile(r"""^\s*["']?(?P<path>/[^"':]*)["']?\s*:""")
_BASE_URL: Final = re.compile(r"^\s*base_url\s*=")
_PARAMETER: Final = re.compile(r"\{[^}]*\}")


def place_of(outcome: Outcome, finding: Finding) -> FileLine | None:
    """Returns the line of the finding's path in the user's document, or of the target's base URL.

    Returns:
        None if neither the document nor the target is a file of the user.
    """
    if outcome.document_file is not None:
        template = finding.exchange.operation.partition(" ")[2]
        lines = _lines_of_paths(outcome.document_file)
        return FileLine(outcome.document_file.as_posix(), lines.get(template, 1))
    if outcome.target_file is not None:
        return FileLine(outcome.target_file.as_posix(), _line_of_address(outcome.target_file))
    return None


@cache
def _lines_of_paths(document: Path) -> dict[str, int]:
    lines: dict[str, int] = {}
    for number, line in enumerate(_content(document).splitlines(), 1):
        match = _PATH.match(line)
        if match is not None:
            lines.setdefault(_PARAMETER.sub("{}", match["path"]), number)
    return lines


@cache
def _line_of_address(target: Path) -> int:
    lines = enumerate(_content(target).splitlines(), 1)
    return next((number for number, line in lines if _BASE_URL.match(line)), 1)


def _content(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""  # deleted during the run


VERSION: Final = 5
"""The version of the JSON report, which ``report.schema.json`` describes."""


def json(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the report as JSON."""
    return orjson.dumps(content(outcome, secrets), option=orjson.OPT_INDENT_2).decode()


def content(outcome: Outcome, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Returns the content of the JSON report."""
    return {
        "version": VERSION,
        "understudy": understudy.__version__,
        "contract": outcome.contract,
        "target": outcome.target,
        "seed": outcome.seed,
        "started": outcome.started.isoformat(),
        "seconds": outcome.seconds,
        "stopped": outcome.stopped,
        "not_restored": list(outcome.not_restored),
        "remaining": list(outcome.remaining),
        "rules": [
            {
                "id": rule_outcome.rule.id,
                "statement": rule_outcome.rule.statement,
                "assumed": rule_outcome.rule.status == "assumed",
                "status": rule_outcome.status,
                "reason": rule_outcome.reason,
                "checks": rule_outcome.checks,
                "exchanges": list(rule_outcome.exchanges),
                "could_be": rule_outcome.could_be,
            }
            for rule_outcome in outcome.rules
        ],
        "findings": [finding_record(finding, secrets) for finding in outcome.findings],
        "notes": [finding_record(finding, secrets) for finding in outcome.notes],
        "internal_errors": list(outcome.internal_errors),
        "validators_differ": list(outcome.differences),
        "coverage": _counts(outcome.coverage),
        "budget": {
            "requests": outcome.requests,
            "counted_in_the_hour": dict(outcome.counted),
            "not_run": list(outcome.not_run),
        },
        "variables": sorted(set(secrets.values())),
        "document_file": _file(outcome.document_file),
        "target_file": _file(outcome.target_file),
    }


def finding_record(finding: Finding, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Returns a finding for the JSON report."""
    return {
        "rule": finding.rule.id,
        "fingerprint": finding.fingerprint,
        "statement": finding.rule.statement,
        "summary": finding.summary,
        "expected": finding.expected,
        "actual": finding.received,
        "seen": finding.count,
        "steps": [shown(exchange, secrets) for exchange in finding.steps],
        "reproduce": {
            "curl": commands(finding, secrets),
            "python": snippet(finding, secrets),
        },
        "attempts": finding.attempts,
        "needs_time": finding.needs_time,
        "again": finding.again,
        "exchanges": [exchange_record(exchange, secrets) for exchange in finding.steps],
    }


def _file(file: Path | None) -> str | None:
    return None if file is None else file.as_posix()


def _counts(coverage: Coverage) -> list[dict[str, Any]]:
    operations = sorted({operation for operation, _ in coverage.statuses})
    return [
        {
            "operation": operation,
            "statuses": {
                str(status): count
                for (name, status), count in sorted(coverage.statuses.items())
                if name == operation
            },
            "parameters": {
                parameter: count
                for (name, parameter), count in sorted(coverage.parameters.items())
                if name == operation
            },
        }
        for operation in operations
    ]


def exchange_record(exchange: Exchange, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Returns an exchange for the JSON report, without secrets.

    Args:
        exchange: The exchange.
        secrets: Each secret, and the variable that replaces it.
    """
    exchange = masked_exchange(exchange, secrets)
    request, response, identity = exchange.request, exchange.response, exchange.identity
    return {
        "number": exchange.number,
        "source": exchange.source,
        "identity": identity.name,
        "kind": identity.kind,
        "account": identity.account,
        "scopes": None if identity.scopes is None else sorted(identity.scopes),
        "method": request.method,
        "url": request.url,
        "request_headers": request.headers,
        "request_body": _body_record(request.body),
        "status": response.status,
        "response_headers": response.headers,
        "response_body": _body_record(response.body),
        "at": exchange.at.isoformat(),
        "operation": exchange.operation,
        "site": exchange.site,
        "path": exchange.path,
        "values": exchange.values,
        "elapsed_ms": round(exchange.elapsed_ms, 3),
    }


def _body_record(body: bytes) -> dict[str, str]:
    if len(body) > LARGEST_REPORTED:
        return {}
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def traffic_archive(outcome: Outcome, secrets: Secrets) -> str:
    """Returns all traffic of a run as an HTTP archive (HAR 1.2)."""
    entries = (_entry(masked_exchange(exchange, secrets)) for exchange in outcome.exchanges)
    log = har.archive("understudy verify", entries)
    return orjson.dumps(log, option=orjson.OPT_INDENT_2).decode()


def _entry(exchange: Exchange) -> dict[str, Any]:
    identity = exchange.identity
    entry = har.entry_of(exchange, _source=exchange.source, _identity=identity.name)
    return entry if identity.scopes is None else {**entry, "_scopes": sorted(identity.scopes)}
