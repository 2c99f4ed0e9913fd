"""The reference over real sockets, fresh for each test, with a clock that a test may move."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from tests.patient import PATIENCE
from tests.proofs.reference.in_process import MovableClock
from tests.proofs.reference.serving import served

Client = Callable[..., httpx.Client]


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def addresses(clock):
    with served(clock=clock) as found:
        yield found


@pytest.fixture
def client(addresses) -> Iterator[Client]:
    """Makes a client of the resource API, with a bearer token or without."""
    made = []

    def make(token: str | None = None) -> httpx.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        made.append(httpx.Client(base_url=addresses.base_url, headers=headers, timeout=PATIENCE))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def nobody(client):
    return client()
