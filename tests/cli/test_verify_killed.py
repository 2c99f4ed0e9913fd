"""A run of verify that is ended in the middle puts everything back; one that is killed leaves a
journal, and cleanup does.
"""

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from tests.cli.conftest import PATIENCE, UNDERSTUDY, Running
from tests.cli.test_verify_others import MOCK

from understudy.cli import main
from understudy.verify.admin_client import AdminClient

OWNER = {"Authorization": "Bearer ada-full"}
REQUESTS = 120
"""Requests after which a run is ended: in the probes of all rules, and behind those of a few."""
FEW = "profile-patch-partial"


def state(base_url: str) -> Any:
    """Returns what verify may change of the account that the target names."""
    with httpx.Client(
        base_url=base_url, headers=OWNER, trust_env=False, timeout=PATIENCE
    ) as client:
        profile = client.get("/me/profile").json()
        avatars = client.get("/me/avatars").json()
        profile.pop("last_profile_edit")  # time goes on
        return profile, [
            (a["image_id"], a["rating"], a["alt_text"], a["selected"]) for a in avatars
        ]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    directory = tmp_path_factory.mktemp("killed")
    running = Running(directory, "--log", "off", "--choose", "rate-limits=off")
    yield running
    running.stop()


def test_what_a_killed_run_left_changed_is_put_back(running: Running, tmp_path: Path) -> None:
    target = tmp_path / "target.toml"
    target.write_text(MOCK.format(site=running.base_url.removesuffix("/v3")))
    before = state(running.base_url)
    command = [str(UNDERSTUDY), "verify", "--target", str(target), "--quiet", "--cases", "20"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as run:
        journal = target.with_suffix(".journal")
        while run.poll() is None and not (journal.exists() and journal.stat().st_size):
            threading.Event().wait(0.01)
        run.kill()
    assert journal.stat().st_size > 0, "nothing was written yet"
    done = CliRunner().invoke(main, ["cleanup", str(journal)])
    assert done.exit_code == 0, done.output
    assert state(running.base_url) == before


@pytest.mark.parametrize(
    ("options", "number"),
    [((), signal.SIGTERM), (("--rules", FEW), signal.SIGINT)],
    ids=["probes", "generated cases"],
)
def test_a_run_that_is_ended_puts_everything_back_and_reports(
    running: Running, tmp_path: Path, options: tuple[str, ...], number: signal.Signals
) -> None:
    site = running.base_url.removesuffix("/v3")
    target = tmp_path / "target.toml"
    target.write_text(MOCK.format(site=site))
    before = state(running.base_url)
    command = [str(UNDERSTUDY), "verify", "--target", str(target), "--quiet", "--cases", "60"]
    run = subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with run, closing(AdminClient(site)) as admin:
        first = count(admin)
        while run.poll() is None and count(admin) - first < REQUESTS:
            threading.Event().wait(0.02)
        run.send_signal(number)
        said, wrong = run.communicate(timeout=2 * PATIENCE)
    assert run.returncode in {1, 3}, said + wrong
    assert "stopped by Ctrl-C or SIGTERM" in said
    assert "Traceback" not in wrong
    assert state(running.base_url) == before
    assert not target.with_suffix(".journal").exists()


def count(admin: AdminClient) -> int:
    return int(admin.call("POST", "/requests/count", json={})["count"])
