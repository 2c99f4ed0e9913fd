"""Tests, verify and mutants run on replicas as on one mock; ``make fleet-suite`` runs all of them."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from tests import patient
from tests.house.documentation import ROOT
from tests.mock.admin.conftest import Driver, Time
from tests.needs import program
from tests.proofs.fleet.exceptions import exceptions
from tests.proofs.fleet.mutants import fleet
from tests.proofs.fleet.replicated import ReplicatedMock
from tests.proofs.fleet.running_fleet import RunningFleet
from tests.proofs.mutants.comparing import drawn
from tests.proofs.mutants.edge import MUTANTS
from tests.proofs.mutants.verifying import ALONE, verified

from understudy.mock.app import Mock
from understudy.mock.server.clock import Clock
from understudy.mock.settings import Settings

OWN = "/v3/me/profile"
EDGE_CASES = "tests/cli/test_mock_edge_cases.py::test_every_case_is_sent_and_judged"
"""A replica that sends a case to itself must not wait for itself."""
CAPSULE = (
    "tests/mock/admin/test_capsules.py"
    "::test_an_opened_capsule_has_state_journal_and_time_of_its_moment"
)
"""What a replica forgets when it opens a capsule, every other one has to forget."""


@pytest.fixture(scope="module")
def replicated() -> ReplicatedMock:
    return ReplicatedMock(Settings())


@pytest.fixture
def driver(replicated: ReplicatedMock) -> Iterator[Driver]:
    time = Time()
    renewed = cast("Mock", replicated.renew(Clock(lambda: time.now)))
    driver = Driver(Settings(), time, renewed)
    yield driver
    driver.close()


def test_each_request_reaches_another_replica(
    replicated: ReplicatedMock, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[int] = []
    for number, mock in enumerate(replicated.replicas):
        site = mock.resource.site

        async def noted(*about: object, number: int = number, site: object = site) -> None:
            reached.append(number)
            await site(*about)  # type: ignore[operator]  # an ASGI application

        monkeypatch.setattr(mock.resource, "site", noted)
    for _ in range(6):
        driver.get("/v3/profiles/ada")
    assert sorted(reached[:3]) == [0, 1, 2]
    assert reached[3:] == reached[:3]


def test_a_test_reads_and_changes_the_world_that_the_replicas_serve(driver: Driver) -> None:
    assert driver.ask("PATCH", OWN, json={"location": "Quay"}, token="ada-full").is_success
    assert [entry.path for entry in driver.mock.world.journal] == [OWN]
    driver.mock.world.clock.advance(Time().now - Time().now.replace(hour=1))
    shown = {driver.admin("GET", "/clock")["now"] for _ in range(3)}
    assert shown == {"2026-06-01T17:00:00.000Z"}
    driver.mock.world.become(driver.mock.world.snapshot()._replace(overlay={}))
    places = {driver.get(OWN, token="ada-full").json()["location"] for _ in range(3)}
    assert places == {"Port Lindry"}


def test_verify_finds_of_a_mutant_that_is_a_fleet_what_it_finds_of_one_mock() -> None:
    (name,) = drawn(1, seed=1)
    mutant = next(it for it in MUTANTS if it.name == name)
    runs = [verified(mutant, mutant.rules, served=served) for served in (ALONE, fleet())]
    (alone, replicas) = (
        [(it.rule.id, it.exchange.number, it.actual) for it in run.findings] for run in runs
    )
    assert alone == replicas != []
    assert verified(None, mutant.rules, served=fleet()).findings == ()


def test_the_suite_runs_the_tests_of_the_mock_on_replicas() -> None:
    for name in ("redis-server", "nginx"):
        program(name)
    words = ("-q", "-n0", "-p", "no:cacheprovider", "-p", "tests.proofs.fleet.suite")
    tests = ("tests/mock/admin/test_people.py", f"{EDGE_CASES}[getProfile]", CAPSULE)
    command = [sys.executable, "-m", "pytest", *words, *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"^held on three replicas: [1-9]\d* tests$", done.stdout, re.MULTILINE)


def test_every_exception_is_a_test() -> None:
    parts = (test.partition("::") for test in exceptions())
    names = ((path, name.partition("[")[0]) for path, _, name in parts)
    assert [it for it in names if f"def {it[1]}(" not in (ROOT / it[0]).read_text()] == []


def test_each_request_reaches_another_process(tmp_path: Path) -> None:
    running = RunningFleet(tmp_path, "--log", "off")
    try:
        token = {"Authorization": "Bearer ada-full"}
        edit = {"location": "Quay"}
        url = f"{running.base_url}/me/profile"
        assert patient.patch(url, json=edit, headers=token).is_success
        read = [patient.get(url, headers=token).json()["location"] for _ in range(5)]
    finally:
        assert running.stop() == 0
    reached = running.requests.read_text().split()
    assert read == ["Quay"] * 5
    assert len(set(reached[:3])) == 3
    assert reached[3:] == reached[:3]
