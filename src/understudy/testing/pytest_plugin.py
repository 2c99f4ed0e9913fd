"""The pytest plugin: ``understudy`` is a mock, ``understudy_world`` a fresh world for each test.

Under pytest-xdist the controller's process runs the one mock of all workers. pytest loads this
module in every environment that has understudy, so heavy modules are imported only when needed.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MARKER = "understudy"
FAULT_MARKER = "understudy_fault"
STUB_MARKER = "understudy_stub"
IDLE_SECONDS = 3600
"""Time without a request after which the mock deletes a world, such as that of a killed worker."""

_URL_KEY = "understudy_url"
_RUNNING = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("understudy", "understudy, a mock of the avatar and profile service")
    group.addoption(
        "--understudy-url",
        metavar="URL",
        help="Use the mock at this address instead of starting one.",
    )
    group.addoption(
        "--understudy-admin-token",
        metavar="TOKEN",
        help="Admin token of the mock at --understudy-url. [default: $UNDERSTUDY_ADMIN_TOKEN]",
    )
    group.addoption(
        "--understudy-fixtures",
        type=Path,
        metavar="DIR",
        help="Fixtures of the mock that is started, instead of the bundled ones.",
    )
    group.addoption(
        "--understudy-document",
        type=Path,
        metavar="FILE",
        help="OpenAPI document of the service to mock, instead of the bundled one.",
    )
    group.addoption(
        "--understudy-like",
        type=Path,
        metavar="YAML",
        help="Profile of the deployment that the mock that is started is like, as of `serve --like`.",
    )
    group.addoption(
        "--understudy-exercised",
        type=float,
        metavar="PERCENT",
        help="Show which parts of the contract the tests used; fail below this percentage.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Registers the markers."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(people=…, seed=…, snapshot=…, choices=…, freeze=…): options of the test's world.",
    )
    config.addinivalue_line(
        "markers",
        f"{FAULT_MARKER}(operation, status=…, effect=…, …): a fault in the test's world.",
    )
    config.addinivalue_line(
        "markers",
        f"{STUB_MARKER}(operation, merge=…, body=…, person=…, …): a stub in the test's world.",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Passes the address of the mock to a worker of pytest-xdist."""
    node.workerinput[_URL_KEY] = _url(node.config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stops the mock."""
    running = config.stash.get(_RUNNING, None)
    if running is not None:
        running.stop()


def _url(config: pytest.Config) -> str:
    """Returns the address of the mock; starts one if none runs yet."""
    url = config.getoption("--understudy-url")
    workerinput = getattr(config, "workerinput", None)
    if url is not None:
        return str(url)
    if workerinput is not None:
        return str(workerinput[_URL_KEY])
    if _RUNNING not in config.stash:
        from understudy.mock.settings import Settings, settings_like
        from understudy.testing.background import Background

        like = config.getoption("--understudy-like")
        files = {
            name: config.getoption(f"--understudy-{name}") for name in ("fixtures", "document")
        }
        given: dict[str, Any] = {"log": "off"} | {name: it for name, it in files.items() if it}
        settings = settings_like(like, **given) if like else Settings(**given)
        config.stash[_RUNNING] = Background(settings)
    return str(config.stash[_RUNNING].url)


def _client(config: pytest.Config) -> Any:
    """Returns an ``AdminClient`` of the mock."""
    from understudy.verify.admin_client import AdminClient

    token = config.getoption("--understudy-admin-token") or os.environ.get("UNDERSTUDY_ADMIN_TOKEN")
    return AdminClient(_url(config), token=token, option="--understudy-url")


@pytest.fixture(scope="session")
def understudy(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The ``AdminClient`` of a mock: this run's own, or that of ``--understudy-url``."""
    from understudy.errors import StartupError

    client = _client(request.config)
    try:
        client.expect_mock()
    except StartupError as error:
        running = request.config.stash.get(_RUNNING, None)
        failure = None if running is None else running.failure
        raise pytest.fail.Exception(str(failure or error), pytrace=False) from None
    yield client
    client.close()


@pytest.fixture
def understudy_world(request: pytest.FixtureRequest, understudy: Any) -> Iterator[Any]:
    """A fresh ``MockWorld``, with the options, faults and stubs of the test's markers."""
    from understudy.errors import StartupError

    try:
        world = _world(request.node, understudy)
    except StartupError as error:
        msg = f"{request.node.name}: {error}"
        raise pytest.fail.Exception(msg, pytrace=False) from None
    try:
        yield world
    finally:
        world.close()


def _world(test: pytest.Item, mock: Any) -> Any:
    """Creates the world that a test's markers describe.

    Raises:
        StartupError: A marker is misspelt, or the mock refuses an option, a fault or a stub.
    """
    from understudy.errors import StartupError
    from understudy.testing.world import MockWorld

    _expect_known(test)
    options: dict[str, Any] = {}
    for marker in reversed(list(test.iter_markers(MARKER))):
        options |= marker.kwargs
    instant = options.pop("freeze", None)
    world = MockWorld(mock, idle_seconds=IDLE_SECONDS, **options)
    try:
        if instant is not None:
            world.freeze(instant)
        for marker in test.iter_markers(FAULT_MARKER):
            world.fault(*marker.args, **marker.kwargs)
        for marker in test.iter_markers(STUB_MARKER):
            world.stub(*marker.args, **marker.kwargs)
    except StartupError:
        world.close()
        raise
    return world


def _expect_known(test: pytest.Item) -> None:
    """Checks for misspelt markers, which would let a test pass for the wrong reason.

    Raises:
        StartupError: A marker is not one of ours, nor one that the project has registered.
    """
    from understudy.errors import StartupError, nearest

    ours = (MARKER, FAULT_MARKER, STUB_MARKER)
    registered = {re.split(r"\W", line, maxsplit=1)[0] for line in test.config.getini("markers")}
    for marker in test.iter_markers():
        if marker.name.startswith(MARKER) and marker.name not in registered:
            hint = nearest(marker.name, ours) or f"; there are {', '.join(ours)}."
            msg = f"there is no marker {marker.name!r}{hint}"
            raise StartupError(msg)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Iterator[None]:
    """Adds the requests that the mock received to the report of a test that failed."""
    report: pytest.TestReport = yield  # type: ignore[assignment]  # pluggy sends the result
    world = getattr(item, "funcargs", {}).get("understudy_world")
    if call.when == "call" and report.failed and world is not None:
        report.sections.append((f"understudy: world {world.name}", _requests(world)))
    return report  # type: ignore[return-value]  # as above


def _requests(world: Any) -> str:
    from understudy.errors import StartupError

    try:
        journal = world.journal() or ["The mock received no request."]
        return "\n".join([*journal, *world.unused_stubs()])
    except StartupError as error:
        return str(error)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a run that used less of the contract than ``--understudy-exercised``."""
    report = _exercised(session.config)
    if report is None:
        return
    wanted = session.config.getoption("--understudy-exercised")
    if report["share"] * 100 < wanted and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Shows which parts of the contract were used, with ``--understudy-exercised``."""
    report = _exercised(config)
    if report is None:
        return
    terminalreporter.section("understudy: exercised parts of the contract")
    wanted = config.getoption("--understudy-exercised")
    count = f"{report['exercised']} of {report['declared']} parts, {report['share']:.0%}"
    terminalreporter.line(f"{count}; {wanted:g}% are required")
    for operation in report["operations"]:
        never = [part for part, used in operation["parts"].items() if not used]
        if never:
            terminalreporter.line(f"{operation['operation']}: never {', '.join(never)}")
    if report["share"] * 100 < wanted:
        terminalreporter.line(f"Failed: {report['share']:.1%} is less than {wanted:g}%.", red=True)


def _exercised(config: pytest.Config) -> Any:
    """Returns the report with ``--understudy-exercised``; None in a worker, as the controller shows it."""
    if config.getoption("--understudy-exercised") is None or hasattr(config, "workerinput"):
        return None
    client = _client(config)
    try:
        return client.call("GET", "/exercised", params={"worlds": "all"})
    finally:
        client.close()
