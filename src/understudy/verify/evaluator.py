"""Judges each exchange by every check, and keeps a record of the results of each rule."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.facts import Fact
from understudy.interface.operations import Routes
from understudy.interface.rules import Rule
from understudy.openapi.operations import Operation
from understudy.reports.content import Coverage
from understudy.verify.causes import first_alike
from understudy.verify.checks import (
    CHECKS,
    CheckResult,
    InternalError,
    Unmet,
    check_results,
    checks_for,
    expect,
    is_not_modified,
    judged,
    message_of,
    wants_length,
)
from understudy.verify.document_checks import (
    UNDECLARED,
    Departures,
    DocumentValidator,
    response_key,
)
from understudy.verify.findings import (
    ANSWERS,
    DOCUMENT,
    GENERATED,
    PLAIN,
    Finding,
    RuleOutcome,
    internals_in,
    key_of,
    steps_of,
)
from understudy.verify.history import History
from understudy.verify.item_undo import is_of_deleted
from understudy.verify.readings import binds, contradictions
from understudy.verify.shapes import EDITABLE, length_rule
from understudy.verify.value_texts import as_json

# The steps of a finding. A check names the exchanges that it compares, but its conditions read more
# of the history. The others are found by judging again: without an exchange that matters, the rule
# is not broken.


_READABLE: Final = 300
"""Characters of the longest request that a person reads; a shorter one of the same finding is shown."""


def _size(exchange: Exchange) -> int:
    return len(exchange.request.url) + len(exchange.request.body)


def reproducing_steps(
    rule: str, exchange: Exchange, evidence: Iterable[Exchange], history: History
) -> tuple[Exchange, ...]:
    """Returns the evidence of a broken rule and the fewest other exchanges that reproduce it.

    Args:
        rule: The rule's id.
        exchange: The decisive exchange.
        evidence: The exchanges that the check names.
        history: The exchanges before it.

    Returns:
        The steps in order, the decisive one last; just the evidence if no check finds the rule
        broken in the whole history either, such as after a difference from a scenario's model.
    """

    def complete(more: Iterable[Exchange]) -> tuple[Exchange, ...]:
        return steps_of(exchange, history.with_origins((*more, exchange)))

    earlier, steps = history.exchanges, complete(evidence)
    if not is_shown(rule, (*earlier, exchange), history):
        return steps
    while not is_shown(rule, steps, history):
        low, high = 0, len(earlier)  # with all from `low` on it is shown, from `high` on it is not
        while high - low > 1:
            middle = (low + high) // 2
            is_enough = is_shown(rule, complete((*earlier[middle:], *steps)), history)
            low, high = (middle, high) if is_enough else (low, middle)
        if earlier[low] in steps:
            break
        steps = complete((earlier[low], *steps))
    return steps


def is_shown(rule: str, steps: Sequence[Exchange], history: History) -> bool:
    """Tells whether the last of these exchanges breaks a rule when the others are its history.

    Args:
        rule: The rule's id.
        steps: The exchanges, in order.
        history: A history of the same deployment.
    """
    *earlier, exchange = steps
    alone = history.emptied(*earlier)
    results = (
        judged(check, exchange, alone) for check in checks_for(exchange) if rule in check.rules
    )
    return any(isinstance(result, CheckResult) and not result.holds for result in results)


def needs_time(rule: str, steps: Sequence[Exchange], history: History) -> bool:
    """Tells whether a finding is seen only because of the time that passed between its steps.

    Args:
        rule: The rule's id.
        steps: The steps of the finding.
        history: A history of the same deployment.
    """
    at_once = [replace(step, at=steps[-1].at) for step in steps]
    return is_shown(rule, steps, history) and not is_shown(rule, at_once, history)


_DASHBOARD: Final = "the interface gives the developer dashboard no URL to send a request to"

_BY_FACTS: Final = "understudy learn tries the number, and verify --facts judges by it"

# Rules that verify cannot judge, with the reason that reports give.
UNJUDGED: Final[Mapping[str, str]] = {
    "application-has-id-and-secret": _DASHBOARD,
    "dashboard-redirect-urls": _DASHBOARD,
    "api-key-by-application": _DASHBOARD,
    "application-deletion-ends-tokens": _DASHBOARD,
    **dict.fromkeys(map(length_rule, EDITABLE), _BY_FACTS),
    **dict.fromkeys(("upload-largest-side", "avatars-most", "qr-smallest-size"), _BY_FACTS),
    "token-constant-time": "over a network the differences are smaller than its noise",
}

SHOWN = 5
"""Exchanges that a report names for each rule."""

NO_OCCASION = {GENERATED.id: "no cases were generated (--cases)"}

_MINUTE: Final = timedelta(minutes=1)


def repeats(exchange: Exchange, before: Exchange) -> bool:
    """Tells whether a read and its response are those of an exchange less than a minute earlier.

    The date and numbers in headers may differ, as those of limits do.
    """
    return (
        exchange.request == before.request
        and exchange.request.method == "GET"
        and exchange.identity == before.identity
        and timedelta(0) <= exchange.at - before.at < _MINUTE
        and response_key(exchange) == response_key(before)
    )


@dataclass
class RuleRecord:
    """The check results of one rule so far.

    Attributes:
        checks: Number of results.
        binds: Whether a result binds the target, as it judges no assumption of understudy.
        exchanges: The first few exchanges that were judged.
        findings: Findings and notes.
    """

    checks: int = 0
    binds: bool = False
    exchanges: list[int] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


@dataclass
class Evaluator:
    """Judges the exchanges of a run.

    Attributes:
        rules: The catalogue, or the part of it that the run is limited to.
        history: The exchanges so far.
        routes: The operations of the documents, by name and path.
        documents: The validator of each site's document.
        is_held_to_assumptions: Whether an assumption that fails is a finding.
        records: The check results of each rule so far, by its id.
        internal_errors: Failures of checks and of other parts of verify.
        differences: Responses that the two document validators judge differently.
        departures: Differences of another document in force; None under the bundled document.
        is_foreign: Whether the document in force describes another service than the interface's.
        coverage: The operations and statuses that the exchanges cover.
        broken: The rules that the last exchange breaks, with the results, also if reported before.
    """

    rules: dict[str, Rule]
    history: History
    routes: Routes
    documents: dict[str, DocumentValidator]
    is_held_to_assumptions: bool
    departures: Departures | None = None
    is_foreign: bool = False
    records: dict[str, RuleRecord] = field(default_factory=dict)
    internal_errors: list[str] = field(default_factory=list)
    differences: dict[str, None] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)
    broken: list[tuple[str, CheckResult]] = field(default_factory=list)
    _unmet: dict[str, Unmet] = field(default_factory=dict)
    _places: dict[tuple[object, ...], tuple[str, int]] = field(default_factory=dict)
    _fully_judged: Exchange | None = None
    _is_settled: bool = False

    def evaluate(self, exchange: Exchange) -> list[Finding]:
        """Judges an exchange, adds it to the history, and returns the findings that are new.

        To use up a limit, the same read is sent a thousand times. After two equal responses that
        break no rule, only the checks of limits judge further ones, for a minute.
        """
        self.broken.clear()
        is_repeated = self._fully_judged is not None and repeats(exchange, self._fully_judged)
        if is_repeated and self._is_settled:
            new = self._by_checks(exchange, of_limits=True)
        else:
            self._fully_judged = exchange
            new = self._by_checks(exchange)
            if exchange.site != "elsewhere":
                new += self._by_document(exchange)
            self._is_settled = is_repeated and not self.broken
        self.history.add(exchange)
        self.coverage.add(exchange)
        return new

    def _by_checks(self, exchange: Exchange, *, of_limits: bool = False) -> list[Finding]:
        new = []
        for checked in check_results(
            exchange, self.history, self.rules.keys(), of_limits=of_limits
        ):
            if isinstance(checked, Unmet):
                self._wait(checked)
                continue
            if isinstance(checked, InternalError):
                self.fail(f"{exchange.operation} {exchange.status}: {checked}")
                continue
            rule, result = checked
            if rule in self.rules:
                new += self._note(self.rules[rule], result, exchange)
        for rule, result in contradictions(exchange, self.history, self.facts):
            if rule in self.rules:
                new += self._note(self.rules[rule], result, exchange)
        return new

    def results(
        self, exchange: Exchange, history: History, rules: Collection[str]
    ) -> Iterator[tuple[Rule, CheckResult]]:
        """Yields the results of checks, facts and the document without recording them.

        Args:
            exchange: The exchange.
            history: The exchanges before it.
            rules: Ids of the rules to judge.
        """
        for checked in check_results(exchange, history, dict.fromkeys(rules).keys()):
            if not isinstance(checked, (Unmet, InternalError)) and checked[0] in rules:
                yield self.rules[checked[0]], checked[1]
        for name, result in contradictions(exchange, history, self.facts):
            if name in rules:
                yield self.rules[name], result
        operation = self.routes.operation(exchange.operation)
        judge = self.documents.get(exchange.site)
        if operation is not None and judge is not None and DOCUMENT.id in rules:
            error = judge.error(exchange, operation)
            yield DOCUMENT, expect(not error, "a response that the document allows", error)

    def unanswered(self, exchange: Exchange, reason: str) -> list[Finding]:
        """Records a request that got no response."""
        result = expect(condition=False, expected="an answer", actual=reason)
        return self.judge(ANSWERS.id, result, exchange)

    def generated(
        self, exchange: Exchange, actual: str | None, *, is_undecided: bool = False
    ) -> list[Finding]:
        """Records the failure that Schemathesis' checks report, or None if they pass.

        A request that the schemas allow may still be refused, such as one for an avatar that does
        not exist. The interface leaves the status open, so that a refusal is only a note.

        Args:
            exchange: The exchange.
            actual: The failure.
            is_undecided: Whether the interface leaves open what the request gets.
        """
        result = expect(actual is None, "what the document says of such a request", actual or "")
        is_refused = exchange.response.is_refusal and "positive_data_acceptance" in (actual or "")
        result = result._replace(is_choice=is_refused or is_undecided)
        return self.judge(GENERATED.id, result, exchange)

    def judge(self, rule: str, result: CheckResult, exchange: Exchange) -> list[Finding]:
        """Records a result that does not come from a check; returns the finding if it is new."""
        return self._note(self.rules[rule], result, exchange) if rule in self.rules else []

    def disagree(self, rule: str, exchange: Exchange, expected: str, actual: str) -> list[Finding]:
        """Records that a response differs from what a scenario's model expects."""
        result = expect(condition=False, expected=expected[:200], actual=actual)
        return self.judge(rule, result, exchange)

    def shorten(self, rule: str, steps: tuple[Exchange, ...]) -> None:
        """Replaces the steps of a rule's findings by the shortest failing sequence of a scenario."""
        record = self.records.get(rule, RuleRecord())
        last = steps[-1]
        record.findings = [
            replace(finding, steps=steps)
            if finding.exchange.operation == last.operation
            and finding.exchange.source == last.source
            else finding
            for finding in record.findings
        ]

    @property
    def facts(self) -> Mapping[str, Fact]:
        """The facts of the target, by rule: it is held to them instead of assumptions."""
        return self.history.facts

    @property
    def settled(self) -> int:
        """The number of rules that have a result."""
        return len(self.records.keys() & self.rules.keys())

    @property
    def findings(self) -> list[Finding]:
        """All findings and notes, in the order of the rules' first results."""
        return [finding for record in self.records.values() for finding in record.findings]

    def outcomes(self, reasons: dict[str, str], checkable: Iterable[str]) -> list[RuleOutcome]:
        """Returns how each rule ended.

        Args:
            reasons: By rule, why none of its probes could run.
            checkable: Rules that the target would allow to check.
        """
        could = set(checkable)
        return [self._outcome(rule, reasons, could) for rule in self.rules.values()]

    def _outcome(self, rule: Rule, reasons: dict[str, str], could: set[str]) -> RuleOutcome:
        record = self.records.get(rule.id)
        if record is None:
            why = UNJUDGED.get(rule.id) or reasons.get(rule.id) or NO_OCCASION.get(rule.id)
            why = why or self._lacking(rule.id)
            return RuleOutcome(rule, "not_checked", why, could_be=rule.id in could)
        failed = [finding for finding in record.findings if not finding.is_note]
        noted = [finding.actual for finding in record.findings if finding.is_note]
        if noted and not failed and not record.binds:
            why = f"{self._excuse(rule)}: {noted[0]}"
            return RuleOutcome(rule, "not_checked", why, record.checks, tuple(record.exchanges))
        return RuleOutcome(
            rule, "failed" if failed else "passed", "", record.checks, tuple(record.exchanges)
        )

    def _note(
        self, rule: Rule, result: CheckResult, exchange: Exchange, cause: str = ""
    ) -> list[Finding]:
        """Records a result; failures of one cause are one finding for all operations."""
        record = self.records.setdefault(rule.id, RuleRecord())
        record.checks += 1
        if len(record.exchanges) < SHOWN:
            record.exchanges.append(exchange.number)
        if result.holds:
            # most results hold: whether they bind is asked only until one does
            record.binds = record.binds or not self.is_open(rule, result, exchange)
            return []
        is_open = self.is_open(rule, result, exchange)
        if not is_open:
            record.binds = True
            self.broken.append((rule.id, result))
        key = (is_open, *((rule.id, cause) if cause else key_of(rule.id, exchange, result)))
        if key in self._places:
            place = self._places[key][1]
            repeated = record.findings[place]
            record.findings[place] = replace(repeated, count=repeated.count + 1)
            # causes of the interface's findings are found by the first exchange of each
            if self.is_foreign and _size(exchange) < _size(repeated.exchange) > _READABLE:
                shorter = self._finding(rule, result, exchange, is_open=is_open)
                if len(shorter.steps) <= len(repeated.steps):
                    record.findings[place] = replace(shorter, count=repeated.count + 1)
            return []
        finding = self._finding(rule, result, exchange, is_open=is_open)
        self._places[key] = (rule.id, len(record.findings))
        record.findings.append(finding)
        return [finding]

    def _finding(
        self, rule: Rule, result: CheckResult, exchange: Exchange, *, is_open: bool
    ) -> Finding:
        evidence = (*result.evidence, *first_alike(exchange, self.history))
        steps = reproducing_steps(rule.id, exchange, evidence, self.history)
        return Finding(
            rule,
            result.expected,
            result.actual,
            steps,
            is_note=is_open,
            attempts=result.attempts,
            needs_time=result.is_timed or needs_time(rule.id, steps, self.history),
            where=result.where,
        )

    def _excuse(self, rule: Rule) -> str:
        """Returns why a breach of a rule is a note."""
        if rule.id in self.history.target.accept:
            return "accepted by the target file"
        if fact := self.facts.get(rule.id):
            return f"otherwise than understudy assumes, as learnt on {fact.learnt}"
        if self.is_foreign and rule.status == "stated":
            return "many documents leave it open"
        if rule.status == "stated" and self.departures is not None:
            return "the document in force has it otherwise than the interface"
        if rule.status == "inferred":
            return "inferred from the document, and this deployment differs"
        return "assumed by understudy, and this deployment differs"

    def is_open(self, rule: Rule, result: CheckResult, exchange: Exchange) -> bool:
        """Tells whether a failure is only a note: it is assumed, or the target accepts it."""
        target = self.history.target
        if rule.id in target.accept_as_stated:
            return rule.id in target.accept
        if result.is_choice and (self.is_foreign or self.departures is not None):
            return True  # nothing but its document binds another service, or a newer one
        is_assumed = rule.status in {"assumed", "inferred"} or result.is_choice
        # the authorization server publishes no document: only the bundled one describes it
        is_assumed |= rule.id == DOCUMENT.id and exchange.site == "authorization"
        if rule.id in target.accept or self._is_decided_by_document(result, exchange):
            return True
        return is_assumed and not self._is_held(rule, result)

    def _is_held(self, rule: Rule, result: CheckResult) -> bool:
        """Tells whether the target must meet an assumption: it is the mock, or known to share it."""
        if result.is_learnt or rule.id not in self.facts:
            return self.is_held_to_assumptions or result.is_learnt
        return binds(self.facts[rule.id], rule, result)

    def _is_decided_by_document(self, result: CheckResult, exchange: Exchange) -> bool:
        """Tells whether the document in force allows the response, and the bundled one does not."""
        operation = self.routes.operation(exchange.operation)
        validator = self.documents.get(exchange.site)
        if operation is None or validator is None or self.departures is None:
            return False
        if result.is_shape and validator.declares(exchange, operation):
            return True
        error = validator.error(exchange, operation)
        is_allowed = not error or self._leaves_out(operation, exchange, error)
        return is_allowed and any(
            self.departures.has(each, is_of_status=result.is_of_status)
            for each in (exchange, *result.evidence)
        )

    def _leaves_out(self, operation: Operation, exchange: Exchange, error: str) -> bool:
        """Tells whether an error is only an omission of the document, noted once per run.

        Many documents omit refusals, or declare nothing else. A newer document of the interface may
        omit the status of a refusal, but the media types that it declares are binding.
        """
        is_refusal = exchange.response.is_refusal
        if self.is_foreign:
            is_success_named = any(status[0] in "23d" for status in operation.responses)
            return error.endswith(UNDECLARED) and (is_refusal or not is_success_named)
        is_of_status = error == f"status {exchange.status} {UNDECLARED}"
        return is_of_status and is_refusal and self.departures is not None

    def _wait(self, unmet: Unmet) -> None:
        """Remembers, for each rule, the check without a result that met most of its conditions."""
        for rule in unmet.check.rules:
            if rule not in self._unmet or unmet.reached > self._unmet[rule].reached:
                self._unmet[rule] = unmet

    def _lacking(self, rule: str) -> str:
        """Describes the exchange that a rule needs and that was not seen."""
        if rule in self._unmet:
            unmet = self._unmet[rule]
            return unmet.check.occasion(unmet.reached, self.routes.title)
        operations = {name for check in CHECKS if rule in check.rules for name in check.operations}
        return f"no {' or '.join(map(self.routes.title, sorted(operations))) or 'request'} was seen"

    def fail(self, line: str) -> None:
        """Records an internal error, once."""
        if line not in self.internal_errors:
            self.internal_errors.append(line)

    def _by_document(self, exchange: Exchange) -> list[Finding]:
        new: list[Finding] = []
        operation = self.routes.operation(exchange.operation)
        if ANSWERS.id in self.rules:
            # a server that knows no such method may say so (RFC 9110, 15.6.2)
            is_unknown = operation is None and exchange.status == HTTPStatus.NOT_IMPLEMENTED
            is_failure = exchange.status >= HTTPStatus.INTERNAL_SERVER_ERROR and not is_unknown
            shown = message_of(exchange) if is_failure else ""
            actual = f"status {exchange.status}{shown and f', {shown}'}"
            result = expect(not is_failure, "no failure", actual)
            new += self._note(ANSWERS, result, exchange)
        if PLAIN.id in self.rules and exchange.response.is_refusal:
            shown = internals_in(exchange)
            result = expect(not shown, "a message for clients", f"a stack or statement: {shown}")
            new += self._note(PLAIN, result, exchange)
        judge = self.documents.get(exchange.site)
        if operation is None or judge is None or DOCUMENT.id not in self.rules:
            return new
        if is_not_modified(exchange) or wants_length(exchange):
            return new
        # a finding by itself
        is_failure = self.is_foreign and exchange.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        if is_failure or is_of_deleted(exchange, operation):
            return new
        errors = judge.judge(exchange, operation)
        if not errors.agrees:
            own_error, other_error = errors.validator or "valid", errors.openapi_core or "valid"
            disagreement = (
                f"understudy says {as_json(own_error)}, openapi-core {as_json(other_error)}"
            )
            line = f"{exchange.operation} {exchange.status}: {disagreement}"
            self.differences |= {line: None}
        result = expect(
            not errors.validator, "an answer that the document allows", errors.validator
        )
        is_left_out = self._leaves_out(operation, exchange, errors.validator)
        cause = errors.validator if is_left_out else ""
        return new + self._note(DOCUMENT, result._replace(is_choice=is_left_out), exchange, cause)
