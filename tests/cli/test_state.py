"""A mock that is killed at any moment has lost nothing that it answered."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random  # noqa: TID251 - when to kill is drawn from a seed

import httpx
import pytest
from tests.cli.conftest import Running

KILLS = int(os.environ.get("UNDERSTUDY_KILLS", "3"))
"""Three in a common run; ``make durability`` kills fifty times."""


class Writer(threading.Thread):
    """Writes one field as fast as it can, and remembers what was answered."""

    def __init__(self, base_url: str, token: str, first: int) -> None:
        super().__init__()
        self._url = f"{base_url}/me/profile"
        self._token = token
        self.sent = self.answered = first

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        with httpx.Client(headers=headers, trust_env=False) as client:
            while True:
                try:
                    self.sent += 1
                    body = {"location": str(self.sent), "company": str(self.sent)}
                    client.patch(self._url, json=body).raise_for_status()
                    self.answered = self.sent
                except httpx.HTTPError:
                    return


def kept(base_url: str, slug: str) -> tuple[int, int]:
    said = httpx.get(f"{base_url}/profiles/{slug}", trust_env=False).json()
    return int(said["location"] or 0), int(said["company"] or 0)


def test_kill_9_loses_nothing_that_was_answered(
    serve: Callable[..., Running], tmp_path: Path
) -> None:
    chance = Random(5)
    reached = {"ben": 0, "vera": 0}
    options = ("--state", str(tmp_path / "state"), "--choose", "rate-limits=off", "--log", "off")
    for slug in reached:
        running = serve(*options)
        blank = {"location": "0", "company": "0"}
        headers = {"Authorization": f"Bearer {slug}-full"}
        httpx.patch(f"{running.base_url}/me/profile", json=blank, headers=headers, trust_env=False)
        running.stop()
    for _ in range(KILLS):
        running = serve(*options)
        writers = {slug: Writer(running.base_url, f"{slug}-full", n) for slug, n in reached.items()}
        for writer in writers.values():
            writer.start()
        threading.Event().wait(chance.uniform(0.05, 0.6))
        running.process.kill()
        running.process.wait()
        for writer in writers.values():
            writer.join()
        running = serve(*options)
        for slug, writer in writers.items():
            location, company = kept(running.base_url, slug)
            assert location == company, "half of a change was kept"
            assert writer.answered <= location <= writer.sent
            reached[slug] = location
        running.stop()
    assert min(reached.values()) > KILLS


def test_a_directory_in_use_is_said_in_one_line(
    serve: Callable[..., Running], tmp_path: Path
) -> None:
    serve("--state", str(tmp_path))
    with pytest.raises(AssertionError, match="Does another mock use it"):
        serve("--state", str(tmp_path))
