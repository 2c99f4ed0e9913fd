"""A run under way: what it was asked for, its gateway, its evaluator, and what it can put back."""

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
from understudy.verify.document_checks import DocumentJudge
from understudy.verify.evaluator import Evaluator
from understudy.verify.events import Event, Exchanged, Found, Listen, nobody
from understudy.verify.findings import ANSWERS, DOCUMENT, GENERATED
from understudy.verify.gateway import Allowance, Gateway
from understudy.verify.history import History
from understudy.verify.published import read_published
from understudy.verify.shapes import bundled
from understudy.verify.undo import Undo

GIVE_UP = 5
"""Probes in a row that nobody answered, after which nobody is asked any more."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run was asked for.

    Attributes:
        target: What is judged.
        transport: The wire.
        time: The deployment's time.
        machine_time: The machine's, for the report.
        rules: Ids to judge; all where none is named.
        document: The resource API's document in force; ours where none is given.
        is_published: Whether the deployment's own is asked for instead.
        seed: Of generated cases.
        allowance: What may be used.
        journal: File for a cleanup after a kill.
        ledger: File that keeps the count of the hour.
        workers: Threads for generated cases.
        phases: What else is run after the probes, by name.
        listen: Gets what happens.
        undisturbed: Opens a block in which things are put back, for whoever would interrupt it.
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
    listen: Listen = nobody
    undisturbed: Callable[[], AbstractContextManager[object]] = nullcontext


class Broken(Exception):
    """A scenario came upon a broken rule.

    Attributes:
        rule: Its id.
        steps: What was exchanged until then.
    """

    def __init__(self, rule: str, expected: str, actual: str, steps: tuple[Exchange, ...]) -> None:
        super().__init__(f"{rule}: expected {expected}; came {actual}")
        self.rule = rule
        self.steps = steps


@dataclass
class Run:
    """A run under way: what phases work with.

    Attributes:
        plan: What was asked for.
        gateway: The way onto the wire.
        evaluator: The judge of what comes back.
        document: The resource API's document in force.
        undone: Puts back what was changed.
        reasons: Rule to why no probe of it could run.
    """

    plan: Plan
    gateway: Gateway
    evaluator: Evaluator
    document: Document
    undone: Undo
    reasons: dict[str, str] = field(default_factory=dict)
    checkable: set[str] = field(default_factory=set)
    more: list[str] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    lost: int = 0
    broken: Broken | None = None

    def forget(self) -> None:
        """Begins a scenario that has broken nothing yet."""
        self.broken = None

    def lose(self, refusal: Unreachable) -> None:
        """Notes that nobody answered.

        Raises:
            Unreachable: It happened too often in a row.
        """
        for finding in self.evaluator.unanswered(refusal.exchange, str(refusal)):
            self.tell(Found(finding))
        self.lost += 1
        if self.lost >= GIVE_UP:
            raise refusal

    def tell(self, event: Event) -> None:
        """Tells whoever listens."""
        self.plan.listen(event)


Phase = Callable[[Run], None]


def catalogue(wanted: Sequence[str] = ()) -> dict[str, Rule]:
    """Returns the rules to judge by id, with the three that are of no catalogue.

    Raises:
        StartupError: A rule is named that there is not.
    """
    rules = {rule.id: rule for rule in load_rules(openapi_directory() / "rules.yaml")}
    rules |= {rule.id: rule for rule in (ANSWERS, DOCUMENT, GENERATED)}
    for name in wanted:
        if name not in rules:
            msg = f"--rules {name}: there is no such rule{nearest(name, list(rules))}."
            raise StartupError(msg)
    return {name: rules[name] for name in rules if not wanted or name in wanted}


def start(plan: Plan) -> Run:
    """Puts the parts of a run together; nothing is sent but a wish for the published document.

    Raises:
        StartupError: A document, the ledger or a rule is not as it must be.
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
    judges = {"resource": DocumentJudge(document, target.base_url)}
    if target.auth_url is not None:
        judges["authorization"] = DocumentJudge(bundled("authorization.yaml"), target.auth_url)
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
    """Returns what finds the operation of a request."""
    authorization = operations(bundled("authorization.yaml"))
    return Routes(target.base_url, target.auth_url, operations(document), authorization)
