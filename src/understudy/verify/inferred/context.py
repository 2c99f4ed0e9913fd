"""Holds what every part of judging inferred state needs of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from understudy.exchange.messages import Exchange
from understudy.openapi.resources.model import ResourceModel
from understudy.verify.checks import CheckResult
from understudy.verify.clock import machine_time
from understudy.verify.events import Found
from understudy.verify.inferred.requests import RequestMaker
from understudy.verify.item_undo import ItemUndo
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import Run

OWNER = "owner"
OTHER = "other"


@dataclass
class InferredRun:
    """The inferred state of one run.

    Attributes:
        run: The run.
        model: What was inferred from its document.
    """

    run: Run
    model: ResourceModel

    @cached_property
    def maker(self) -> RequestMaker:
        """The maker of requests, whose texts no other run has."""
        token = f"{int(machine_time().timestamp() * 1000):x}"[-7:]
        return RequestMaker(self.run.document, self.run.options.seed, token)

    @property
    def undo(self) -> ItemUndo:
        """The undo of what is created."""
        return self.run.undo.items

    @property
    def who(self) -> str:
        """The credential that items are created with."""
        has_token = OWNER in self.run.deployment.target.identities()
        return OWNER if has_token else "anonymous"

    @property
    def other(self) -> str | None:
        """The credential of another account; None where the target gives none."""
        names = self.run.deployment.target.identities()
        return OTHER if {OWNER, OTHER} <= set(names) else None

    def client(self, source: str) -> ProbeClient:
        """Returns a client that sends as a named part of the run."""
        return ProbeClient(self.run.gateway, source)

    def note(self, rule: str, result: CheckResult, exchange: Exchange) -> None:
        """Records a judgement, and announces it if it is a new finding."""
        for finding in self.run.evaluator.judge(rule, result, exchange):
            self.run.announce(Found(finding))


def item_in(body: Any, steps: tuple[str, ...] | None) -> Mapping[str, Any] | None:
    """Returns the item at a place in a body, or None where there is none."""
    if steps is None:
        return None
    for step in steps:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body if isinstance(body, Mapping) else None
