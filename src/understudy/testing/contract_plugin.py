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
def understudy_run(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The run that the suite's tests share; everything is undone at the end of the session."""
    from understudy.api.opening import open_deployment
    from understudy.api.options import DeploymentOptions
    from understudy.verify.run import RunOptions, start

    path = request.config.getoption("--understudy-target")
    options = DeploymentOptions(target_file=Path(path) if path else None)
    deployment = open_deployment(options, os.environ)
    run = start(deployment, RunOptions())
    yield run
    left = run.undo.restore()
    deployment.close()
    assert left == []


@pytest.fixture(scope="session")
def understudy_outcome(understudy_run: Any) -> Any:
    """The outcome of the probes."""
    from understudy.verify.runner import run_phases

    return run_phases(understudy_run)


@pytest.fixture(scope="session")
def understudy_secrets(understudy_run: Any) -> dict[str, str]:
    """The secrets that a report must not show, with the names that stand for them."""
    secrets: dict[str, str] = understudy_run.deployment.target.secrets()
    return secrets
