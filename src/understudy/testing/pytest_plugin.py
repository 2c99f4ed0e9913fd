"""The pytest plugin: ``understudy`` is a mock, ``understudy_world`` a fresh world for each test.

Under pytest-xdist the controller's process holds the one mock of all workers. pytest loads this for
every run on the machine, so what is heavy is imported when a test asks for it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MARKER = "understudy"
FAULT_MARKER = "understudy_fault"
IDLE_SECONDS = 3600
"""A world that a killed worker left behind ends after so long without a request."""

_URL_KEY = "understudy_url"
_RUNNING = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("understudy", "understudy, a mock of the avatar and profile service")
    group.addoption(
        "--understudy-url",
        metavar="URL",
        help="Use the mock that runs there instead of starting one.",
    )
    group.addoption(
        "--understudy-fixtures",
        type=Path,
        metavar="DIR",
        help="People, tokens and pictures of the mock that is started.",
    )
    group.addoption(
        "--understudy-exercised",
        type=float,
        metavar="PERCENT",
        help="Show what of the contract the tests used; fail where it is less than this.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Explains the markers."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(people=…, seed=…, snapshot=…, choices=…, freeze=…): what the test's world is.",
    )
    config.addinivalue_line(
        "markers",
        f"{FAULT_MARKER}(operation, status=…, effect=…, …): a fault in the test's world.",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker of pytest-xdist where the mock is."""
    node.workerinput[_URL_KEY] = _url(node.config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stops the mock."""
    running = config.stash.get(_RUNNING, None)
    if running is not None:
        running.stop()


def _url(config: pytest.Config) -> str:
    """Returns the mock's address; starts one where there is none yet."""
    given = config.getoption("--understudy-url")
    workerinput = getattr(config, "workerinput", None)
    if given is not None:
        return str(given)
    if workerinput is not None:
        return str(workerinput[_URL_KEY])
    if _RUNNING not in config.stash:
        from understudy.mock.settings import Settings
        from understudy.testing.background import Background

        settings = Settings(log="off", fixtures=config.getoption("--understudy-fixtures"))
        config.stash[_RUNNING] = Background(settings)
    return str(config.stash[_RUNNING].url)


@pytest.fixture(scope="session")
def understudy(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The ``AdminClient`` of a mock: one of this run's own, or that of ``--understudy-url``."""
    from understudy.deployments.admin_client import AdminClient
    from understudy.errors import StartupError

    client = AdminClient(_url(request.config))
    try:
        client.call("GET", "/health")
    except StartupError as error:
        pytest.fail(str(error), pytrace=False)
    yield client
    client.close()


@pytest.fixture
def understudy_world(request: pytest.FixtureRequest, understudy: Any) -> Iterator[Any]:
    """A fresh ``MockWorld``; ``understudy`` and ``understudy_fault`` mark what is in it."""
    from understudy.testing.world import MockWorld

    wanted: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers(MARKER))):
        wanted |= marker.kwargs
    instant = wanted.pop("freeze", None)
    world = MockWorld(understudy, idle_seconds=IDLE_SECONDS, **wanted)
    try:
        if instant is not None:
            world.freeze(instant)
        for marker in request.node.iter_markers(FAULT_MARKER):
            world.fault(*marker.args, **marker.kwargs)
        yield world
    finally:
        world.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Iterator[None]:
    """Puts what the mock was asked into the report of a test that failed."""
    report: pytest.TestReport = yield  # type: ignore[assignment]  # pluggy sends the result
    world = getattr(item, "funcargs", {}).get("understudy_world")
    if call.when == "call" and report.failed and world is not None:
        report.sections.append((f"understudy: world {world.name}", _told(world)))
    return report  # type: ignore[return-value]  # as above


def _told(world: Any) -> str:
    from understudy.errors import StartupError

    try:
        return "\n".join(world.journal()) or "no request came"
    except StartupError as error:
        return str(error)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a run that used less of the contract than was wanted."""
    report = _exercised(session.config)
    if report is None:
        return
    wanted = session.config.getoption("--understudy-exercised")
    if report["share"] * 100 < wanted and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Shows what of the contract was used, if that was asked for."""
    report = _exercised(config)
    if report is None:
        return
    terminalreporter.section("understudy: exercised of the contract")
    wanted = config.getoption("--understudy-exercised")
    count = f"{report['exercised']} of {report['declared']} parts, {report['share']:.0%}"
    terminalreporter.line(f"{count}; {wanted:g} % are wanted")
    for operation in report["operations"]:
        never = [part for part, used in operation["parts"].items() if not used]
        if never:
            terminalreporter.line(f"{operation['operation']}: never {', '.join(never)}")


def _exercised(config: pytest.Config) -> Any:
    """Returns the report where it was asked for; a worker leaves it to the controller."""
    if config.getoption("--understudy-exercised") is None or hasattr(config, "workerinput"):
        return None
    from understudy.deployments.admin_client import AdminClient

    client = AdminClient(_url(config))
    try:
        return client.call("GET", "/exercised", params={"worlds": "all"})
    finally:
        client.close()
