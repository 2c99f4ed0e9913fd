"""Runs of verify that are killed at a random request leave nothing behind that is not undone.

The suite kills a few; ``make kills`` kills 200, and UNDERSTUDY_VERIFY_KILLS any other number.
"""

import os
import random  # noqa: TID251 - chooses when a process is killed, not a value of a world
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner
from tests.cli.conftest import PATIENCE, UNDERSTUDY, Running
from tests.cli.test_verify_killed import count, state
from tests.cli.test_verify_others import MOCK

from understudy.cli import main
from understudy.verify.admin_client import AdminClient

KILLS = int(os.environ.get("UNDERSTUDY_VERIFY_KILLS", "3"))
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
REQUESTS = 300
"""Requests after which a run is killed at the latest."""


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(
        tmp_path_factory.mktemp("killed"), "--log", "off", "--choose", "rate-limits=off"
    )
    yield running
    running.stop()


def kill(target: Path, site: str, after: int, number: signal.Signals) -> None:
    """Runs verify, and sends it a signal after so many requests."""
    command = [str(UNDERSTUDY), "verify", "--target", str(target), "--quiet", "--cases", "5"]
    with closing(AdminClient(site)) as admin:
        first = count(admin)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            while run.poll() is None and count(admin) - first < after:
                Event().wait(0.005)
            run.send_signal(number)
            run.wait(PATIENCE)


@pytest.mark.parametrize("seed", range(KILLS))
def test_the_account_is_as_before_after_the_next_run_or_a_cleanup(
    mock: Running, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    site = mock.base_url.removesuffix("/v3")
    target = tmp_path / "target.toml"
    target.write_text(MOCK.format(site=site))
    journal = target.with_suffix(".journal")
    before = state(mock.base_url)
    kill(target, site, chance.randrange(20, REQUESTS), SIGNALS[seed % len(SIGNALS)])
    if journal.exists():
        cleanup = ["cleanup", str(journal)]
        next_run = ["verify", "--target", str(target), "--quiet", "--rules", "qr-default-size"]
        done = CliRunner().invoke(main, cleanup if chance.random() < 0.5 else next_run)
        assert done.exit_code == 0, done.output
    assert state(mock.base_url) == before
    assert not journal.exists()
