"""The fixtures of the contract suite: judges a deployment by the contract, a test for each rule.

``pytest --pyargs understudy.testing.contract --understudy-target staging.toml``; without a target the
mock in this process is judged. pytest loads this module in every environment that has understudy, so
heavy modules are imported only when a test needs them.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from understudy import plugins


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("understudy", "understudy's contract suite")
    group.addoption(
        "--understudy-target", help="Target file of the contract suite. [default: the mock]"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Registers the suite's marker, and reads the target file.

    Raises:
        UsageError: The target file cannot be used.
    """
    config.addinivalue_line("markers", "xdist_group(name): tests that share one run")
    path = config.getoption("--understudy-target")
    if path is not None:
        _expect_target(Path(path))


def _expect_target(path: Path) -> None:
    from understudy.api.options import DeploymentOptions, target_from
    from understudy.errors import StartupError

    try:
        target_from(DeploymentOptions(path), os.environ)
    except StartupError as error:
        msg = f"--understudy-target {error}"
        raise pytest.UsageError(msg) from error


@pytest.fixture(scope="session")
def understudy_deployment(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The deployment that is judged."""
    from understudy.api.opening import open_deployment
    from understudy.api.options import DeploymentOptions
    from understudy.errors import StartupError

    try:
        deployment = open_deployment(DeploymentOptions(_target_file(request)), os.environ)
    except StartupError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    with closing(deployment):
        yield deployment


def _target_file(request: pytest.FixtureRequest) -> Path | None:
    path = request.config.getoption("--understudy-target")
    return Path(path) if path else None


@pytest.fixture(scope="session")
def understudy_people(request: pytest.FixtureRequest, understudy_deployment: Any) -> Any:
    """Replaces the values of the deployment's people by pseudonyms; None for a mock."""
    return plugins.find("people", "record")(understudy_deployment, _target_file(request))


@pytest.fixture(scope="session")
def understudy_run(understudy_deployment: Any, understudy_people: Any) -> Iterator[Any]:
    """The run that the suite's tests share; everything is undone at the end of the session."""
    from understudy.errors import StartupError
    from understudy.verify.deployment import locked
    from understudy.verify.run import RunOptions, start

    with ExitStack() as stack:
        try:
            stack.enter_context(locked(understudy_deployment))
            people = understudy_people
            options = RunOptions() if people is None else RunOptions(listen=people.listen)
            run = start(understudy_deployment, options)
            stack.enter_context(closing(run.gateway.ledger))
        except StartupError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        yield run
        left = run.undo.restore()
        if left:
            shown = str if understudy_people is None else understudy_people.hidden
            pytest.fail("\n".join(map(shown, left)), pytrace=False)


@pytest.fixture(scope="session")
def understudy_outcome(understudy_run: Any, understudy_people: Any) -> Any:
    """The outcome of the probes, with pseudonyms in place of the values on people's profiles."""
    from understudy.verify.runner import run_phases

    outcome = run_phases(understudy_run)
    return outcome if understudy_people is None else understudy_people.hidden_outcome(outcome)


@pytest.fixture(scope="session")
def understudy_secrets(understudy_run: Any) -> dict[str, str]:
    """The secrets that a report must not show, with the names that replace them."""
    secrets: dict[str, str] = understudy_run.deployment.target.secrets()
    return secrets
