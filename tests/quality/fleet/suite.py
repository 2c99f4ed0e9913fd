"""``pytest -p tests.quality.fleet.suite``: runs tests of the mock on three replicas and a proxy.

Wherever a test makes a mock in this process, it gets replicas on a real store, behind a proxy that
sends each request to another one. ``one_process.yaml`` names the tests that cannot hold there.
"""

from collections import Counter

import pytest
from tests.mock import renewal
from tests.quality.fleet.exceptions import exceptions
from tests.quality.fleet.replicated import ReplicatedMock

from understudy.mock import app
from understudy.mock.app import Mock
from understudy.mock.engine.clock import Clock

app.Mock = ReplicatedMock  # type: ignore[misc,assignment]  # before any test imports it

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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Counts the tests that held on three replicas, and those that cannot, by the reason."""
    stats = terminalreporter.stats
    terminalreporter.write_line(f"held on three replicas: {len(stats.get('passed', []))} tests")
    reasons = Counter(report.wasxfail for report in stats.get("xfailed", []))
    for reason, number in reasons.most_common():
        terminalreporter.write_line(f"{number} cannot: {reason}")
