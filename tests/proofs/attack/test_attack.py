"""A short attack: no failure, no connection left hanging, and nobody else kept waiting for it."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.proofs.attack.by_socket import HOSTILE, attack_by_socket
from tests.proofs.attack.files.attempts import run_apart
from tests.proofs.attack.in_process import attack
from tests.proofs.attack.requests import Attacker
from tests.proofs.attack.soak import soak

REQUESTS = int(os.environ.get("UNDERSTUDY_ATTACK", "1500"))


@pytest.mark.parametrize("seed", [1, 2])
def test_no_request_makes_the_mock_fail(seed: int) -> None:
    result = asyncio.run(attack(REQUESTS, seed))
    assert result.failures == []
    assert sum(result.statuses.values()) == REQUESTS
    assert len(result.statuses) > 8  # it reaches more than the door


def test_no_connection_is_left_hanging() -> None:
    waits, problems = asyncio.run(attack_by_socket(len(HOSTILE), 1))
    assert problems == []
    assert waits


def test_one_seed_makes_the_same_requests() -> None:
    first, second = Attacker(7), Attacker(7)
    assert [first.next() for _ in range(50)] == [second.next() for _ in range(50)]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("capsules", 40),
        ("archives", 25),
        ("calls", 42),
        ("served", 20),
        ("states", 25),
        ("targets", 200),
    ],
)
def test_no_file_leaves_a_mock_broken(name: str, count: int) -> None:
    assert run_apart(name, count, 1).failures == []


@pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this system does not tell a thread's time"
)
def test_another_client_is_answered_while_a_mock_is_soaked_in_attacks() -> None:
    actual = soak(0.5, seed=7)
    assert actual.problems == []
    assert actual.sent["requests"] > 0
    assert actual.waits
