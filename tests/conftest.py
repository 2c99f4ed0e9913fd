"""Settings of all tests: what coverage measures, and how patient Hypothesis is.

Coverage measures the tests' own process, and child processes where a test says so: tracing makes a
process three times as slow, and most of what children run is measured elsewhere.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

CONFIGURATION = "COVERAGE_PROCESS_CONFIG"
"""The variable by which ``coverage run`` has child processes measured (``patch = subprocess``)."""


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
