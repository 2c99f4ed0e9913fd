"""``pytest -p tests.proofs.fleet.suite``: runs tests of the mock on three replicas and a proxy.

Wherever a test makes a mock in this process, or starts one in a process of its own, it gets replicas on
a real store, behind a proxy that sends each request to another one. ``one_process.yaml`` names the
tests that cannot hold there.
"""

from collections import Counter
from collections.abc import Generator

import pytest
from tests.cli import conftest
from tests.mock import renewal
from tests.proofs.fleet.exceptions import exceptions
from tests.proofs.fleet.replicated import ReplicatedMock
from tests.proofs.fleet.running_fleet import RunningFleet, proxied

from understudy.mock import app
from understudy.mock.app import Mock
from understudy.mock.server.clock import Clock

app.Mock = ReplicatedMock  # type: ignore[misc,assignment]  # before any test imports it
conftest.Running = RunningFleet  # type: ignore[misc]  # as above

_BEFORE = pytest.StashKey[int]()
"""Requests that had been sent to processes when a test began."""

_renew = renewal.renew


def renew(mock: Mock | ReplicatedMock, clock: Clock | None = None) -> Mock | ReplicatedMock:
    """Returns a mock, or the replicas of one, as it began."""
    return mock.renew(clock) if isinstance(mock, ReplicatedMock) else _renew(mock, clock)


renewal.renew = renew  # type: ignore[assignment]  # stands for the mock that it is given


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expects the exceptions to fail; one that passes fails the run, as it is none any more."""
    reasons = exceptions()
    for item in items:
        reason = reasons.get(item.nodeid)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Notes how many requests were sent to replicas in processes of their own before a test."""
    item.stash[_BEFORE] = proxied()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Notes how many a test sent, its fixtures with it."""
    if call.when == "call":
        item.user_properties.append(("proxied", proxied() - item.stash[_BEFORE]))
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Counts the tests that held on three replicas, and those that cannot, by the reason."""
    stats = terminalreporter.stats
    passed = stats.get("passed", [])
    terminalreporter.write_line(f"held on three replicas: {len(passed)} tests")
    processes = sum(dict(report.user_properties).get("proxied", 0) > 0 for report in passed)
    terminalreporter.write_line(f"of these on three processes behind nginx: {processes}")
    reasons = Counter(report.wasxfail for report in stats.get("xfailed", []))
    for reason, number in reasons.most_common():
        terminalreporter.write_line(f"{number} cannot: {reason}")
