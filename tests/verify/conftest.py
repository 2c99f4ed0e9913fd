"""Runs of verify against the mock in this process, and a wire that remembers what went over it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import pytest

from understudy.cli import in_process
from understudy.deployments.ledger import Ledger
from understudy.deployments.target import Target
from understudy.mock.engine.clock import machine_time
from understudy.verify.gateway import Allowance, Gateway
from understudy.verify.outcome import Outcome
from understudy.verify.run import Plan, routes_of
from understudy.verify.runner import carry_out
from understudy.verify.shapes import bundled

PATIENT = Allowance(pause=timedelta(hours=2))


@dataclass
class Wire(httpx.BaseTransport):
    """The server's side: remembers every request that reaches it."""

    inner: httpx.BaseTransport
    seen: list[httpx.Request] = field(default_factory=list)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        return self.inner.handle_request(request)


@pytest.fixture
def mock() -> Any:
    return in_process.mock()


@pytest.fixture
def wire(mock: Any) -> Iterator[Wire]:
    inner = in_process.InProcess(mock)
    yield Wire(inner)
    inner.close()


@pytest.fixture
def verify(mock: Any, wire: Wire) -> Callable[..., Outcome]:
    def run(target: Target = in_process.TARGET, **options: Any) -> Outcome:
        given = {"allowance": PATIENT, **options}
        return carry_out(Plan(target, wire, in_process.time_of(mock), machine_time, **given))

    return run


@pytest.fixture
def gateway(mock: Any, wire: Wire) -> Callable[..., Gateway]:
    def make(target: Target = in_process.TARGET, **options: Any) -> Gateway:
        time = in_process.time_of(mock)
        routes = routes_of(target, bundled("service.yaml"))
        return Gateway(target, routes, wire, time, Ledger(None, time.now()), **options)

    return make
