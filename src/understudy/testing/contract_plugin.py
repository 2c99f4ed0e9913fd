"""The pytest plugin: judges a deployment by the contract, a test for each rule.

``pytest --pyargs understudy.testing.contract --understudy-target staging.toml``; without a target the
mock is judged, in the same process. Loaded with every pytest, so that it imports nothing until asked.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("understudy", "understudy's contract suite")
    group.addoption("--understudy-target", help="target file; left out, the mock is judged")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the suite's mark known, where xdist is not there to do so."""
    config.addinivalue_line("markers", "xdist_group(name): tests that share one run")


@pytest.fixture(scope="session")
def _understudy(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Any]]:
    """Starts a run, and puts everything back at the end of the session."""
    from understudy.cli import verifying
    from understudy.verify.run import start

    path = request.config.getoption("--understudy-target")
    options = {**verifying.DEFAULTS, "target": Path(path) if path else None, "cases": 0}
    wish = verifying.preferences_of(options, os.environ)
    plan = verifying.plan_of(wish, lambda _event: None)
    run = start(plan)
    yield run, wish
    left = run.undo.restore()
    plan.transport.close()
    assert left == []


@pytest.fixture(scope="session")
def understudy_run(_understudy: tuple[Any, Any]) -> Any:
    """The run that the suite's tests share."""
    return _understudy[0]


@pytest.fixture(scope="session")
def understudy_outcome(_understudy: tuple[Any, Any]) -> Any:
    """What the probes came to."""
    from understudy.verify.runner import run_phases

    return run_phases(_understudy[0])


@pytest.fixture(scope="session")
def understudy_secrets(_understudy: tuple[Any, Any]) -> dict[str, str]:
    """What a report must not show."""
    secrets: dict[str, str] = _understudy[1].target.secrets()
    return secrets
