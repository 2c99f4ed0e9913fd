"""The state of a run: its plan, gateway, evaluator, and what it has to undo."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import httpx

from understudy.deployments.clock import Time
from understudy.deployments.exchange import Exchange
from understudy.deployments.ledger import Ledger
from understudy.deployments.refusals import Unreachable
from understudy.deployments.target import Target
from understudy.errors import StartupError, nearest
from understudy.interface.operations import Routes
from understudy.interface.rules import Rule, load_rules
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import Document
from understudy.openapi.operations import operations
from understudy.verify.document_checks import DocumentValidator
from understudy.verify.evaluator import Evaluator
from understudy.verify.events import Event, Exchanged, Found, Listener, ignore
from understudy.verify.findings import ANSWERS, DOCUMENT, GENERATED
from understudy.verify.gateway import Allowance, Gateway
from understudy.verify.history import History
from understudy.verify.published import read_published
from understudy.verify.shapes import bundled
from understudy.verify.undo import Undo

GIVE_UP = 5
"""Requests in a row without a response, after which the run ends."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The options of a run.

    Attributes:
        target: The deployment to judge.
        transport: The HTTP transport.
        time: The deployment's time.
        machine_time: Returns the machine's time, for the report.
        rules: Ids of the rules to judge; empty for all.
        document: The resource API's document in force; None for the bundled one.
        is_published: True to judge by the document that the deployment publishes.
        seed: Seed for generated cases.
        allowance: The requests and the time that may be used.
        journal: The undo journal for a cleanup after a kill.
        ledger: The file that counts the hour's requests.
        workers: Threads for generated cases.
        phases: Phases after the probes, by name.
        listen: Called with every event.
        undisturbed: Returns a context in which undoing is not interrupted.
    """

    target: Target
    transport: httpx.BaseTransport
    time: Time
    machine_time: Callable[[], datetime]
    rules: tuple[str, ...] = ()
    document: Document | None = None
    is_published: bool = False
    seed: int = 0
    allowance: Allowance = field(default_factory=Allowance)
    journal: Path | None = None
    ledger: Path | None = None
    workers: int = 1
    phases: Sequence[tuple[str, "Phase"]] = ()
    listen: Listener = ignore
    undisturbed: Callable[[], AbstractContextManager[object]] = nullcontext


class RuleBroken(Exception):
    """A scenario found a broken rule.

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
        plan: The run's options.
        gateway: Sends the requests.
        evaluator: Judges the exchanges.
        document: The resource API's document in force.
        undo: Undoes the run's changes.
        reasons: Rule id to the reason why no probe of it could run.
        checkable: Ids of the rules that the target allows to check.
        not_run: Names of probes and phases that the budget cut short.
        exchanges: All exchanges so far.
        lost: Requests without a response in a row.
        broken: The rule that the current scenario found broken.
    """

    plan: Plan
    gateway: Gateway
    evaluator: Evaluator
    document: Document
    undo: Undo
    reasons: dict[str, str] = field(default_factory=dict)
    checkable: set[str] = field(default_factory=set)
    not_run: list[str] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    lost: int = 0
    broken: RuleBroken | None = None

    def forget(self) -> None:
        """Clears the broken rule of the previous scenario."""
        self.broken = None

    def lose(self, refusal: Unreachable) -> None:
        """Records a request without a response.

        Raises:
            Unreachable: There were too many in a row.
        """
        for finding in self.evaluator.unanswered(refusal.exchange, str(refusal)):
            self.tell(Found(finding))
        self.lost += 1
        if self.lost >= GIVE_UP:
            raise refusal

    def tell(self, event: Event) -> None:
        """Passes an event to the listener."""
        self.plan.listen(event)


Phase = Callable[[Run], None]


def catalogue(wanted: Sequence[str] = ()) -> dict[str, Rule]:
    """Returns the rules to judge by id, with the three that are not in the catalogue.

    Raises:
        StartupError: A wanted rule does not exist.
    """
    rules = {rule.id: rule for rule in load_rules(openapi_directory() / "rules.yaml")}
    rules |= {rule.id: rule for rule in (ANSWERS, DOCUMENT, GENERATED)}
    for name in wanted:
        if name not in rules:
            hint = nearest(name, list(rules)) or "; `understudy rules` lists them"
            msg = f"--rules {name}: there is no such rule{hint}."
            raise StartupError(msg)
    return {name: rules[name] for name in rules if not wanted or name in wanted}


def start(plan: Plan) -> Run:
    """Builds a run; sends at most GET /openapi.

    Raises:
        StartupError: A document, the ledger or a rule is invalid.
    """
    target = plan.target
    ledger = Ledger(plan.ledger, plan.time.now())
    document = plan.document or bundled("service.yaml")
    if plan.is_published:
        asking = routes_of(target, document)
        document = read_published(
            Gateway(target, asking, plan.transport, plan.time, ledger, plan.allowance)
        )
    routes = routes_of(target, document)
    gateway = Gateway(target, routes, plan.transport, plan.time, ledger, plan.allowance)
    judges = {"resource": DocumentValidator(document, target.base_url)}
    if target.auth_url is not None:
        judges["authorization"] = DocumentValidator(bundled("authorization.yaml"), target.auth_url)
    evaluator = Evaluator(catalogue(plan.rules), History(target), routes, judges, target.ours)
    run = Run(plan, gateway, evaluator, document, Undo(gateway, plan.journal))

    def evaluate(exchange: Exchange) -> None:
        run.exchanges.append(exchange)
        for finding in evaluator.evaluate(exchange):
            run.tell(Found(finding))
        run.tell(Exchanged(exchange, evaluator.settled, gateway.left(None)))

    gateway.listeners.append(evaluate)
    return run


def routes_of(target: Target, document: Document) -> Routes:
    """Returns the routes that find a request's operation."""
    authorization = operations(bundled("authorization.yaml"))
    return Routes(target.base_url, target.auth_url, operations(document), authorization)
