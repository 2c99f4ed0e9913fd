"""Settings of all tests: what is measured, what may be left, what is said of tools that are missing.

Coverage measures the tests' own process, and child processes where a test says so: tracing makes a
process three times as slow, and most of what children run is measured elsewhere.
"""

import gc
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings
from tests.leftovers import Leftovers, Orphans
from tests.needs import closing_line

settings.register_profile(
    "fresh", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("house", settings.get_profile("fresh"), derandomize=True)
settings.load_profile("house")  # one commit is judged alike on every machine

os.environ.setdefault(
    "HYPOTHESIS_STORAGE_DIRECTORY", str(Path(__file__).parents[1] / "build" / "hypothesis")
)  # so that a run of verify in a test leaves nothing in the cache of whoever runs the tests

CONFIGURATION = "COVERAGE_PROCESS_CONFIG"
"""The variable by which ``coverage run`` has child processes measured (``patch = subprocess``)."""

SKIPPED = Path(__file__).parents[1] / "build" / "skipped-tests.txt"
"""The tests that the last run has skipped, for a run that has what they were missing.

A reason that begins with ``this`` is of the system: no other run has what is missing there.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds an option to run what an earlier run has skipped.

    Write it with an equals sign: before this file is read, pytest takes a value that stands apart for a path of tests.
    """
    about = (
        "run only the tests that stand in FILE, as build/skipped-tests.txt lists them: --only=FILE"
    )
    parser.addoption("--only", type=Path, metavar="FILE", help=about)


def pytest_configure(config: pytest.Config) -> None:
    """Watches for what tests leave behind: threads and children in each worker, orphans in the first."""
    gc.set_threshold(50_000)  # a worker's documents and applications are looked through less often
    config.pluginmanager.register(Leftovers())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Orphans())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what the file of ``--only`` does not name."""
    file = config.getoption("only")
    if file is None:
        return
    named = set(file.read_text().splitlines())
    config.hook.pytest_deselected(items=[it for it in items if it.nodeid not in named])
    items[:] = [it for it in items if it.nodeid in named]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Saves what a worker has measured, as xdist kills one that takes more than ten seconds to exit."""
    coverage = Coverage.current()
    if coverage is not None and hasattr(session.config, "workerinput"):
        coverage.stop()
        coverage.save()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Says in one last line what skipped tests were missing, and writes their names down."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return
    skipped = reporter.stats.get("skipped", [])
    SKIPPED.parent.mkdir(exist_ok=True)
    curable = (it for it in skipped if "'Skipped: this " not in str(it.longrepr))
    SKIPPED.write_text("".join(f"{report.nodeid}\n" for report in curable))
    line = closing_line(str(report.longrepr) for report in skipped)
    if line is not None:
        reporter.write_line(line, yellow=True)


@pytest.fixture(autouse=True)
def restored_log() -> Iterator[None]:
    """Gives the log the level back that it had before a test, as some proofs silence it."""
    log = logging.getLogger("understudy")
    level = log.level
    yield
    log.setLevel(level)


@pytest.fixture(scope="session", autouse=True)
def configuration_of_coverage() -> str | None:
    """Takes coverage out of the environment that child processes inherit."""
    return os.environ.pop(CONFIGURATION, None)


@pytest.fixture
def measured_children(configuration_of_coverage: str | None) -> Iterator[None]:
    """Measures child processes too, for tests that run code which runs in no other way."""
    with pytest.MonkeyPatch.context() as patch:
        if configuration_of_coverage is not None:
            patch.setenv(CONFIGURATION, configuration_of_coverage)
        yield


@contextmanager
def paused_coverage() -> Iterator[None]:
    """Pauses coverage, such as for building a mock, which a few tests measure for all."""
    coverage = Coverage.current()
    if coverage is None:
        yield
        return
    inherited = os.environ.get(CONFIGURATION)
    coverage.stop()
    try:
        yield
    finally:
        coverage.start()  # which has child processes measured, whether or not they were before
        if inherited is None:
            os.environ.pop(CONFIGURATION, None)


@pytest.fixture(scope="module")
def unmeasured() -> Iterator[None]:
    """Pauses coverage, for modules that repeat at length what other tests run once."""
    with paused_coverage():
        yield
