"""A mock that is started again and again on the same directory."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.mock.admin.conftest import Driver, Time

from understudy.mock.settings import Settings
from understudy.mock.store.sqlite import FILE, SqliteStore


def end_store(driver: Driver) -> None:
    store = driver.mock.worlds.store
    assert isinstance(store, SqliteStore)
    store.close()


@pytest.fixture
def started(tmp_path: Path):
    """Starts a mock on the same directory, after the one before it has let go."""
    drivers: list[Driver] = []

    def start() -> Driver:
        if drivers:
            end(drivers[-1])
        drivers.append(Driver(Settings(state=tmp_path), Time()))
        return drivers[-1]

    def end(driver: Driver) -> None:
        end_store(driver)
        driver.close()

    yield start
    end(drivers[-1])


def written(tmp_path: Path, statement: str, *values: object) -> None:
    """Changes the database behind the mock's back."""
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute(statement, values)
    database.close()
