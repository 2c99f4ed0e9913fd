"""What broke a scenario on one machine is tried first on the others."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import redis
from click.testing import CliRunner
from tests.proofs.mutants.edge import OWN, Edge, asking, at, json_of
from tests.verify.conftest import PATIENT
from tests.verify.ledger_store import served

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.cli import main
from understudy.verify.deployment import Deployment
from understudy.verify.run import Run, RunOptions, start
from understudy.verify.scenarios import play

SEED = 2
PREFIX = f"understudy:examples:{TARGET.base_url}:profile-edits:"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with (
        served(tmp_path_factory.mktemp("store")) as (address, _),
        closing(redis.Redis.from_url(f"redis://{address}/0")) as store,
    ):
        yield store


@pytest.fixture
def machine(mock: Any, wire: Any, store: Any) -> Any:
    """Begins a run of another machine at a broken deployment."""
    url = f"valkey://127.0.0.1:{store.connection_pool.connection_kwargs['port']}/0"

    def begin(*, is_sharing: bool) -> Run:
        outer = Edge(wire, loses_the_company)
        deployment = Deployment(TARGET, outer, in_process.time_of(mock), PATIENT)
        return start(deployment, RunOptions(seed=SEED, examples=url if is_sharing else None))

    return begin


def loses_the_company(request: Any, send: Any) -> Any:
    """Forgets an update of the company to another text than the scenario begins with."""
    body = json_of(request) if at(request, "PATCH", OWN) else None
    is_lost = isinstance(body, dict) and body.get("company", "Before") != "Before"
    return send(asking(request, body=b"{}") if is_lost else request)


def test_what_one_machine_found_another_finds_with_its_first_sequence(machine, store):
    first = machine(is_sharing=True)
    assert play(first, "profile-edits", examples=60, steps=3).startswith("profile-patch")
    assert store.keys(f"{PREFIX}*")
    alone = machine(is_sharing=False)
    assert play(alone, "profile-edits", examples=1, steps=3) == ""
    second = machine(is_sharing=True)
    assert play(second, "profile-edits", examples=1, steps=3).startswith("profile-patch")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("staging.ledger", "is not the URL of a store"),
        ("valkey://127.0.0.1:9/0", "valkey://127.0.0.1:9/0 cannot be used"),
    ],
)
def test_a_store_for_examples_that_cannot_be_used_is_said_at_start(url, reason):
    result = CliRunner().invoke(main, ["verify", "--cases", "1"], env={"UNDERSTUDY_EXAMPLES": url})
    assert result.exit_code == 2
    assert reason in result.output
