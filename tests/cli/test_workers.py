"""Several workers serve the same ports and worlds, and none of them is missed when it is killed."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests import patient
from tests.cli.conftest import Running
from tests.store_server import StoreServer, store_server

from understudy.cli.workers import WorkerLink

KILLS = int(os.environ.get("UNDERSTUDY_KILLS", "2"))
"""Workers that are killed under load; ``make fleet`` kills more."""

PAUSE = 0.005
"""Seconds between two writes of one thread, of which each is looked for in the end."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StoreServer]:
    with store_server(tmp_path) as server:
        yield server


@pytest.fixture
def fleet(tmp_path: Path, store: StoreServer) -> Iterator[Running]:
    unlimited = ("--choose", "rate-limits=off")  # however many tokens are looked for
    options = ("--state", store.url(), "--workers", "3", "--log", "off", *unlimited)
    running = Running(tmp_path, *options)
    yield running
    assert running.stop() == 0


def workers(fleet: Running) -> list[int]:
    """Returns the processes that serve, the oldest first."""
    pid = fleet.process.pid
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return sorted(map(int, text.split()))


class Writer:
    """Issues tokens one after another, and keeps those that were answered."""

    def __init__(self, url: str) -> None:
        self.answered: list[str] = []
        self._url = url
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self) -> None:
        while not self._is_over.wait(PAUSE):
            try:
                response = patient.post(self._url, json={"person": "ada"})
            except httpx.TransportError:  # of the worker that was killed: nobody knows
                continue
            if response.status_code == 201:
                self.answered.append(response.json()["token"])

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()


def test_nothing_that_was_answered_is_lost_when_workers_are_killed(fleet: Running) -> None:
    site = fleet.base_url.removesuffix("/v3")
    writers = [Writer(f"{site}/__admin/tokens") for _ in range(2)]
    try:
        for _ in range(KILLS):
            before = workers(fleet)
            enough = sum(len(writer.answered) for writer in writers) + 5
            fleet.wait_for(lambda: sum(len(it.answered) for it in writers) >= enough)  # noqa: B023 - waited for at once
            os.kill(before[0], signal.SIGKILL)
            fleet.wait_for(lambda: len(set(workers(fleet)) - set(before)) == 1)  # noqa: B023 - as above
    finally:
        for writer in writers:
            writer.stop()
    answered = [token for writer in writers for token in writer.answered]
    assert len(set(answered)) == len(answered) >= 5 * KILLS
    statuses = {
        patient.get(
            f"{fleet.base_url}/me/profile", headers={"Authorization": f"Bearer {it}"}
        ).status_code
        for it in answered
    }
    assert statuses == {200}


def test_the_workers_share_one_journal_in_order(fleet: Running) -> None:
    for _ in range(6):
        patient.get(f"{fleet.base_url}/profiles/ada")
    site = fleet.base_url.removesuffix("/v3")
    listed = patient.get(f"{site}/__admin/requests").json()["requests"]
    assert [entry["id"] for entry in listed] == [6, 5, 4, 3, 2, 1]
    assert len(workers(fleet)) == 3


def test_workers_without_a_store_are_refused_with_what_is_needed(run) -> None:
    ended = run("serve", "--workers", "2")
    assert ended.returncode == 2
    needed = "--workers 2 needs a store that the processes share: add --state valkey://host/0."
    assert needed in ended.stderr


def test_a_worker_tells_its_addresses_once_and_stops_when_its_supervisor_is_gone() -> None:
    announcements, announced = os.pipe()
    lifeline, supervisor = os.pipe()

    async def work() -> None:
        stopped = asyncio.Event()
        link = WorkerLink(announced, lifeline, is_first=True)
        link.announce({"base_url": "http://127.0.0.1:9/v3"}, stopped.set)
        with os.fdopen(announcements, "rb") as pipe:
            assert pipe.read() == b'{"base_url":"http://127.0.0.1:9/v3"}'
        assert not stopped.is_set()
        os.close(supervisor)
        await stopped.wait()
        asyncio.get_running_loop().remove_reader(lifeline)

    asyncio.run(work())
    os.close(lifeline)


@pytest.mark.usefixtures("measured_children")
def test_workers_whose_store_is_not_there_say_so_once(run) -> None:
    ended = run(
        "serve",
        "--workers",
        "2",
        "--port",
        "0",
        "--auth-port",
        "0",
        "--state",
        "valkey://127.0.0.1:1/0",
    )
    assert ended.returncode == 2
    assert ended.stderr.count("does not respond: Connection refused.") == 1
