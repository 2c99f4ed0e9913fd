"""The state of a run: its document, gateway, evaluator, and what it has to undo."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from understudy import plugins
from understudy.cases.model import Case, CaseRequest
from understudy.errors import StartupError, nearest
from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.facts import Fact, load_facts
from understudy.interface.operations import DeclaredInputs, Routes
from understudy.interface.recognition import interface_operations
from understudy.openapi.loader import Document, document_of
from understudy.openapi.operations import operations, security_schemes
from understudy.openapi.yaml_files import parse_yaml
from understudy.verify.catalogue import catalogue, require_interface, rules_of, suggested_rules
from understudy.verify.clock import machine_time
from understudy.verify.credential_places import CredentialPlaces
from understudy.verify.deployment import Deployment, ledger_of, wording_of
from understudy.verify.document_checks import (
    DeclaredRequests,
    Departures,
    DocumentValidator,
    declared_inputs,
)
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import (
    Event,
    Exchanged,
    Finding,
    Found,
    Listener,
    Outcome,
    RuleOutcome,
    ignore,
)
from understudy.verify.gateway import Gateway
from understudy.verify.history import AGAIN, History
from understudy.verify.ledger import RequestLedger
from understudy.verify.permits import Refusal, Unreachable
from understudy.verify.probe_client import ProbeClient
from understudy.verify.shapes import bundled
from understudy.verify.target import PUBLISHED, Budget, Target
from understudy.verify.undo import Undo, undo_earlier_run
from understudy.verify.wording import as_on_the_wire

_NAME = Path("the published document")


class Unpublished(Exception):
    """A deployment publishes no document; the text says how it responds instead."""


def read_published(gateway: Gateway) -> Document:
    """Requests the deployment's document, by which the target asks to be judged.

    Raises:
        StartupError: The deployment does not respond with an OpenAPI 3.0 or 3.1 document.
    """
    try:
        return published_document(gateway)
    except Unpublished as error:
        hint = "" if isinstance(error.__cause__, Refusal) else "; name a file instead."
        msg = f'document = "{PUBLISHED}": {error}{hint}'
        raise StartupError(msg) from error


def published_document(gateway: Gateway) -> Document:
    """Requests the deployment's document.

    Raises:
        Unpublished: The deployment does not respond, or not with a document.
        StartupError: The document is not an OpenAPI 3.0 or 3.1 document.
    """
    url = f"{gateway.target.base_url.rstrip('/')}/openapi"
    try:
        response = ProbeClient(gateway, "document").get("/openapi").response
    except Refusal as refusal:
        msg = f"{url} does not respond: {refusal}."
        raise Unpublished(msg) from refusal
    if not response.is_success or response.media_type == "text/html":
        media_type = response.media_type or "no content type"
        msg = f"{url} responds {response.status} with {media_type}, not with an OpenAPI document"
        raise Unpublished(msg)
    content = parse_yaml(response.body, _NAME) if response.json is NO_JSON else response.json
    return document_of(content, _NAME)


GIVE_UP = 5
"""Requests in a row without a response, after which the run ends."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run.

    Attributes:
        rules: Ids of the rules to judge; empty for all.
        seed: Seed for generated cases.
        workers: Threads for generated cases.
        phases: Phases after the probes, by name.
        listen: Called with every event.
        is_preflighted: True to try each value of the target once, before anything else is sent.
        undisturbed: Returns a context in which undoing is not interrupted.
        needs_interface: True to refuse the document of another service, to which no rule applies;
            False if generated cases are sent to any service.
        examples: URL of the store that shares the examples that broke scenarios; None for none.
        bounds: Inputs whose bounds the requests keep to; None for those of the document in force.
        is_cross_checked: False to skip openapi-core, which takes a third of a run, if no report
            compares it with understudy's own validator.
    """

    rules: tuple[str, ...] = ()
    seed: int = 0
    workers: int = 1
    phases: Sequence[tuple[str, "Phase"]] = ()
    listen: Listener = ignore
    is_preflighted: bool = False
    undisturbed: Callable[[], AbstractContextManager[object]] = nullcontext
    needs_interface: bool = True
    examples: str | None = None
    bounds: DeclaredInputs | None = None
    is_cross_checked: bool = True


class ItemsForCases(Protocol):
    """Replaces made-up identifiers in cases by those of existing items."""

    def placed(self, case: Case) -> CaseRequest:
        """Returns the request of a case for an existing item.

        Raises:
            Refusal: The requests or the time are used up, or the deployment does not respond.
        """

    def take(self, case: Case, exchange: Exchange) -> None:
        """Records the exchange of a case, as it may have deleted its item."""


class StateJudge(Protocol):
    """Judges another service by the state that its document suggests."""

    @property
    def can_judge(self) -> bool:
        """True if the document suggests any state."""

    def judge(self, run: "Run") -> None:
        """Sends the requests by which each rule is judged, and undoes their changes.

        Raises:
            Refusal: The requests or the time are used up, or the deployment does not respond.
        """

    def items(self, run: "Run") -> "ItemsForCases":
        """Returns the existing items at which cases are sent."""

    def play(self, run: "Run", examples: int, steps: int) -> None:
        """Sends sequences of requests in any order, as scenarios of this interface do.

        Raises:
            Refusal: The requests or the time are used up, or the deployment does not respond.
        """


class RuleBroken(Exception):
    """A scenario has shown that a rule is broken.

    Attributes:
        rule: The rule's id.
        steps: The exchanges of the scenario so far.
    """

    def __init__(self, rule: str, expected: str, actual: str, steps: tuple[Exchange, ...]) -> None:
        super().__init__(f"{rule}: expected {expected}; actual {actual}")
        self.rule = rule
        self.steps = steps


@dataclass
class Run:
    """The state of a run, as its phases use it.

    Attributes:
        deployment: The deployment to judge.
        options: The options of the run.
        gateway: Sends the requests.
        evaluator: Judges the exchanges.
        document: The resource API's document in force.
        undo: Undoes the run's changes.
        state: Judges another service by the state that its document suggests; None for this one.
        reasons: By rule id, why none of its probes could run.
        checkable: Ids of the rules that the target allows to check.
        not_run: Names of probes and phases that the budget cut short.
        spent: The limits that cut them short.
        exchanges: All exchanges so far.
        lost: Requests without a response in a row.
        broken: The rule that the current scenario has shown to be broken.
    """

    deployment: Deployment
    options: RunOptions
    gateway: Gateway
    evaluator: Evaluator
    document: Document
    undo: Undo
    state: StateJudge | None = None
    reasons: dict[str, str] = field(default_factory=dict)
    checkable: set[str] = field(default_factory=set)
    not_run: list[str] = field(default_factory=list)
    spent: dict[str, None] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)
    lost: int = 0
    broken: RuleBroken | None = None

    @property
    def contract(self) -> str:
        """A digest of the documents and rules that the run judges by."""
        documents = [self.document.raw, bundled("authorization.yaml").raw]
        rules = [(rule.id, rule.statement) for rule in self.evaluator.rules.values()]
        target = self.deployment.target
        parts = [documents, rules, target.accept, target.accept_as_stated]
        return sha256(repr(parts).encode()).hexdigest()[:16]

    @cached_property  # read for each generated case, and computed from the whole document
    def has_interface(self) -> bool:
        """True if the document in force describes this interface, and not another service."""
        return bool(interface_operations(self.document))

    def forget(self) -> None:
        """Clears the broken rule of the previous scenario."""
        self.broken = None

    def lose(self, refusal: Unreachable) -> None:
        """Records a request without a response.

        Raises:
            Unreachable: There were too many in a row.
        """
        self.report(self.evaluator.unanswered(refusal.exchange, str(refusal)))
        self.lost += 1
        if self.lost >= GIVE_UP:
            raise refusal

    def fail(self, part: str, error: Exception) -> None:
        """Records an internal error of a part of verify."""
        self.evaluator.fail(f"{part}: {one_line(error)}")

    def announce(self, event: Event) -> None:
        """Passes an event to the listener."""
        self.options.listen(event)

    def report(self, findings: Iterable[Finding]) -> None:
        """Announces findings that were made for the first time."""
        for finding in findings:
            self.announce(Found(finding))
            # each step, and for those that change something, the requests that undo it
            self.gateway.budget.keep(0 if finding.is_note else 3 * len(finding.steps))


Phase = Callable[[Run], None]


def start(deployment: Deployment, options: RunOptions) -> Run:
    """Builds a run; sends at most GET /openapi, and requests that undo changes of an earlier run.

    Raises:
        StartupError: A document, the ledger or a rule is invalid, or an earlier run left changes
            that cannot be undone.
    """
    ledger = ledger_of(deployment)
    document = deployment.document or bundled("service.yaml")
    reading: Gateway | None = None
    if deployment.is_published:
        reading = gateway_of(deployment, document, ledger)
        document = read_published(reading)
    state = _state_judge(deployment.target, document)
    can_judge = state is not None and state.can_judge
    if options.needs_interface and not (options.phases or can_judge):
        require_interface(document)
    gateway = gateway_of(deployment, document, ledger)
    if options.bounds is not None:
        gateway.routes.inputs = gateway.routes.inputs.with_bounds_of(options.bounds)
    gateway.budget.sent = reading.sent if reading is not None else 0
    evaluator = evaluator_of(deployment.target, document, options.rules)
    for validator in evaluator.documents.values():
        validator.is_cross_checked = options.is_cross_checked
    undo_earlier_run(gateway, deployment.journal)
    undo = Undo(gateway, deployment.journal)
    run = Run(deployment, options, gateway, evaluator, document, undo, state)

    def evaluate(exchange: Exchange) -> None:
        run.exchanges.append(exchange)
        if exchange.source == AGAIN:
            evaluator.history.add(exchange)
        run.report(evaluated(evaluator, exchange) if exchange.source != AGAIN else ())
        most = deployment.allowance.requests
        allowed = None if most is None else most - gateway.sent
        settled, rules, left = evaluator.settled, len(evaluator.rules), gateway.budget.left(None)
        run.announce(Exchanged(exchange, settled, rules, left, allowed))

    gateway.listeners.append(evaluate)
    return run


def _state_judge(target: Target, document: Document) -> StateJudge | None:
    """Returns the plugin that judges another service by its state; None for this interface.

    Raises:
        StartupError: The state-model file of the target is not valid.
    """
    if interface_operations(document):
        return None
    judge: StateJudge = plugins.find("judges", "collections")(target, document)
    return judge


def evaluated(evaluator: Evaluator, exchange: Exchange) -> list[Finding]:
    """Returns the new findings of an exchange; an exception is recorded as an internal error."""
    try:
        return evaluator.evaluate(exchange)
    except Exception as error:  # a defect must not end a run, least of all while it is undone
        evaluator.fail(f"judging {exchange.operation} {exchange.status}: {one_line(error)}")
        return []


def one_line(error: Exception) -> str:
    """Returns an unexpected error as one line."""
    return f"{type(error).__name__}: {str(error)[:300]}"


def gateway_of(deployment: Deployment, document: Document, ledger: RequestLedger) -> Gateway:
    """Returns the gateway that sends all requests of a run, by the document in force."""
    routes = routes_of(deployment.target, document)
    transport, time = deployment.transport, deployment.time
    return Gateway(
        deployment.target,
        routes,
        transport,
        time,
        ledger,
        deployment.allowance,
        wording_of(deployment.target, document) if deployment.is_published else deployment.wording,
        # The hour's limit is the interface's; another service has one where its target file says so.
        is_counting=bool(interface_operations(document)) or deployment.target.budget != Budget(),
        places=places_of(document),
    )


def places_of(document: Document) -> CredentialPlaces:
    """Returns the places of credentials in requests; the interface's are always bearer tokens."""
    return CredentialPlaces({} if interface_operations(document) else security_schemes(document))


def evaluator_of(target: Target, document: Document, rules: Sequence[str]) -> Evaluator:
    """Returns the evaluator of exchanges with a target, for a document and the named rules.

    Raises:
        StartupError: A named rule, or one that the target accepts, does not exist.
    """
    _expect_rules("accept", target.accept, catalogue())
    _expect_rules("accept_as_stated", target.accept_as_stated, suggested_rules())
    validators = {"resource": DocumentValidator(document, target.base_url)}
    if target.auth_url is not None:
        authorization = bundled("authorization.yaml")
        validators["authorization"] = DocumentValidator(authorization, target.auth_url)
    routes = routes_of(target, document)
    own = bundled("service.yaml")
    allows = None if document is own else DeclaredRequests(document).allows
    history = History(target, inputs=routes.inputs, allows=allows, facts=_facts_of(target))
    return Evaluator(
        rules_of(document, rules),
        history,
        routes,
        validators,
        target.is_mock,
        departures=None if document is own else Departures(document, own),
        is_foreign=not interface_operations(document),
    )


def outcome_of(
    deployment: Deployment,
    evaluator: Evaluator,
    exchanges: Iterable[Exchange],
    started: datetime,
    rules: Iterable[RuleOutcome],
    **more: Any,
) -> Outcome:
    """Returns the outcome of a run or a recording, with exchanges as they were sent and received.

    Args:
        deployment: The deployment that was judged.
        evaluator: The evaluator that judged it.
        exchanges: All exchanges.
        started: When it began, in the machine's time.
        rules: The outcome of each rule.
        more: Further members of ``Outcome``.
    """
    return Outcome(
        target=deployment.target.base_url,
        started=started,
        took=machine_time() - started,
        rules=tuple(rules),
        findings=tuple(it.on_the_wire() for it in evaluator.findings if not it.is_note),
        notes=tuple(it.on_the_wire() for it in evaluator.findings if it.is_note),
        internal_errors=tuple(evaluator.internal_errors),
        differences=tuple(evaluator.differences),
        document_file=deployment.document_file,
        target_file=deployment.target_file,
        coverage=evaluator.coverage,
        exchanges=tuple(map(as_on_the_wire, exchanges)),
        **more,
    )


def _facts_of(target: Target) -> dict[str, Fact]:
    """Returns the learned facts of a target, by rule.

    Raises:
        StartupError: The facts file cannot be read.
    """
    if target.facts is None:
        return {}
    return load_facts(Path(target.facts), catalogue().values()).by_rule()


def _expect_rules(key: str, names: Sequence[str], known: Collection[str]) -> None:
    """Checks that a key of the target file names existing rules.

    Raises:
        StartupError: A rule does not exist.
    """
    for name in names:
        if name not in known:
            msg = f"{key}: there is no rule '{name}'{nearest(name, list(known)) or '.'}"
            raise StartupError(msg)


def routes_of(target: Target, document: Document) -> Routes:
    """Returns the routes that find a request's operation."""
    authorization = operations(bundled("authorization.yaml"))
    return Routes(
        target.base_url,
        target.auth_url,
        operations(document),
        authorization,
        declared_inputs(document),
    )
