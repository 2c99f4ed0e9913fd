"""Runs of verify against the mock in this process, and a wire that remembers what went over it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from tests.mock.renewal import renew

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.openapi.loader import Document
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.findings import Outcome
from understudy.verify.gateway import Gateway
from understudy.verify.ledger import Ledger
from understudy.verify.run import RunOptions, routes_of
from understudy.verify.runner import carry_out
from understudy.verify.shapes import bundled
from understudy.verify.target import Target

PATIENT = Allowance(pause=timedelta(hours=2))


@dataclass
class Wire(httpx.BaseTransport):
    """The server's side: remembers every request that reaches it."""

    inner: httpx.BaseTransport
    seen: list[httpx.Request] = field(default_factory=list)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        return self.inner.handle_request(request)


@pytest.fixture(scope="session")
def built() -> Any:
    return in_process.mock()


@pytest.fixture
def mock(built: Any) -> Any:
    return renew(built)


@pytest.fixture
def wire(mock: Any) -> Iterator[Wire]:
    inner = in_process.InProcess(mock)
    yield Wire(inner)
    inner.close()


@pytest.fixture
def verify_on(mock: Any) -> Callable[..., Outcome]:
    def run(
        transport: httpx.BaseTransport,
        target: Target = TARGET,
        allowance: Allowance = PATIENT,
        document: Document | None = None,
        **options: Any,
    ) -> Outcome:
        time = in_process.time_of(mock)
        deployment = Deployment(target, transport, time, allowance, document=document)
        return carry_out(deployment, RunOptions(**options))

    return run


@pytest.fixture
def verify(wire: Wire, verify_on: Callable[..., Outcome]) -> Callable[..., Outcome]:
    return partial(verify_on, wire)


@pytest.fixture
def gateway(mock: Any, wire: Wire) -> Callable[..., Gateway]:
    def make(target: Target = TARGET, **options: Any) -> Gateway:
        time = in_process.time_of(mock)
        routes = routes_of(target, bundled("service.yaml"))
        return Gateway(target, routes, wire, time, Ledger(None, time.now()), **options)

    return make
