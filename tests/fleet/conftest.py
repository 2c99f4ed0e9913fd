"""Replicas of one fleet in this process, and the server that they share."""

from collections.abc import Iterator

import pytest
from tests.mock.admin.conftest import Driver, Time
from tests.store_server import StoreServer, store_server

from understudy.mock.app import Mock
from understudy.mock.settings import Settings


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with store_server(tmp_path_factory.mktemp("store")) as started:
        yield started


@pytest.fixture(scope="session")
def mocks(server: StoreServer) -> tuple[Mock, Mock]:
    """Two replicas, which tests share: building one takes as long as fifty requests."""
    server.send("FLUSHALL")  # a test before may have left a fleet that these do not fit into
    settings = Settings(state=server.url(), auto_approve="ada")
    return Mock(settings), Mock(settings)


@pytest.fixture
def replicas(
    server: StoreServer, mocks: tuple[Mock, Mock], time: Time
) -> Iterator[tuple[Driver, Driver]]:
    """Two replicas of a fleet whose worlds are as they begin."""
    server.send("FLUSHALL")
    drivers = (Driver(Settings(), time, mocks[0]), Driver(Settings(), time, mocks[1]))
    yield drivers
    for driver in drivers:
        driver.end_store()
        driver.close()


@pytest.fixture
def time() -> Time:
    return Time()
