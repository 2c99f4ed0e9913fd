"""``make soak``: full load on mixed operations with faults on; memory flat, nothing lost.

wrk asks as fast as the mock answers, while a few clients write, read back what they wrote, upload
and delete, sign in, make worlds and break them on purpose. Each client owns its person, so that any
answer that is not its own last write is a lost update.
"""

import argparse
import itertools
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from tests.cli.conftest import Running

WARM_UP = 0.25
"""The part of the run after which memory should be flat."""

FLAT = 1.05
"""Memory at the end to memory after the warm-up, at most."""

CALLBACK = "http://127.0.0.1:5000/callback"


class Soaked(NamedTuple):
    """What came of a run.

    Attributes:
        seconds: How long it took.
        reads: Look-ups by wrk.
        steps: Name of a client to the rounds it went.
        faults: What went wrong that nobody asked for.
        memory: Resident megabytes, sampled once a second.
    """

    seconds: float
    reads: int
    steps: Counter[str]
    faults: list[str]
    memory: list[float]

    @property
    def growth(self) -> float:
        """Memory at the end to memory after the warm-up."""
        settled = self.memory[int(len(self.memory) * WARM_UP) :]
        part = max(1, len(settled) // 4)
        return statistics.median(settled[-part:]) / statistics.median(settled[:part])


class Soak:
    """A mock under load.

    Args:
        running: The mock.
        seconds: How long.
    """

    def __init__(self, running: Running, seconds: float) -> None:
        self._running = running
        self._seconds = seconds
        self._over = threading.Event()
        self._steps: Counter[str] = Counter()
        self._faults: list[str] = []
        self._site = running.base_url.removesuffix("/v3")

    def run(self) -> Soaked:
        """Puts the load on, and tells what came of it."""
        clients = [self._edit, self._upload, self._sign_in, self._break]
        threads = [threading.Thread(target=self._loop, args=(client,)) for client in clients]
        begun = time.monotonic()
        load = [
            subprocess.Popen(
                ["wrk", "-t1", "-c8", f"-d{self._seconds:.0f}s", f"{self._running.base_url}{path}"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for path in ("/profiles/ada", "/qr-code/ada?size=120")
        ]
        for thread in threads:
            thread.start()
        memory = list(self._memory(begun))
        self._over.set()
        for thread in threads:
            thread.join()
        reads = 0
        for each in load:
            said, _ = each.communicate()
            reads += int(re.findall(r"(\d+) requests in", said)[0])
            if "Non-2xx" in said or "Socket errors" in said:
                self._faults.append(said.strip())
        return Soaked(time.monotonic() - begun, reads, self._steps, self._faults, memory)

    def _memory(self, begun: float) -> Iterator[float]:
        status = Path(f"/proc/{self._running.process.pid}/status")
        while time.monotonic() - begun < self._seconds:
            kilobytes = re.findall(r"VmRSS:\s+(\d+)", status.read_text())[0]
            yield int(kilobytes) / 1024
            time.sleep(1)  # noqa: TID251 - samples a process

    def _loop(self, client: Callable[[httpx.Client, int], None]) -> None:
        with httpx.Client(trust_env=False, timeout=60) as session:
            for number in itertools.count(1):
                try:
                    client(session, number)
                    self._steps[client.__name__.strip("_")] += 1
                except (AssertionError, httpx.HTTPError, KeyError, ValueError) as error:
                    self._faults.append(f"{client.__name__}: {error!r}")
                if self._over.is_set():
                    return

    def _edit(self, session: httpx.Client, number: int) -> None:
        headers = {"Authorization": "Bearer ben-full"}
        url = f"{self._running.base_url}/me/profile"
        answer = session.patch(url, json={"location": str(number)}, headers=headers)
        assert answer.status_code == 200, answer.text
        found = session.get(f"{self._running.base_url}/profiles/ben").json()["location"]
        assert found == str(number), f"lost update: wrote {number}, found {found}"

    def _upload(self, session: httpx.Client, number: int) -> None:
        headers = {"Authorization": "Bearer vera-full"}
        avatars = f"{self._running.base_url}/me/avatars"
        picture = session.get(
            f"{self._running.base_url}/qr-code/vera?size={80 + number % 40}"
        ).content
        before = len(session.get(avatars, headers=headers).json())
        made = session.post(avatars, files={"image": ("a.png", picture)}, headers=headers)
        assert made.is_success, made.text
        identifier = made.json()["image_id"]
        assert session.get(made.json()["image_url"]).is_success
        assert session.delete(f"{avatars}/{identifier}", headers=headers).is_success
        assert len(session.get(avatars, headers=headers).json()) == before

    def _sign_in(self, session: httpx.Client, _number: int) -> None:
        query = {
            "client_id": "server-app",
            "redirect_uri": CALLBACK,
            "response_type": "code",
            "scope[0]": "auth",
            "mock_approve": "olu",
        }
        sent = session.get(f"{self._running.auth_url}/oauth2/authorize", params=query)
        form = {
            "grant_type": "authorization_code",
            "client_id": "server-app",
            "client_secret": "server-app-secret",
            "redirect_uri": CALLBACK,
            "code": httpx.URL(sent.headers["location"]).params["code"],
        }
        issued = session.post(f"{self._running.auth_url}/oauth2/token", data=form)
        token = issued.json()["access_token"]
        answer = session.get(
            f"{self._running.base_url}/profiles/olu", headers={"Authorization": f"Bearer {token}"}
        )
        assert "first_name" in answer.json() or answer.status_code == 200
        ended = session.delete(f"{self._site}/__admin/tokens", params={"token": token})
        assert ended.status_code == 204, ended.text

    def _break(self, session: httpx.Client, number: int) -> None:
        """Makes a world, breaks it on purpose, and sees to it that nothing else is broken."""
        world = session.post(f"{self._site}/__admin/worlds", json={"seed": number}).json()
        faults: list[dict[str, Any]] = [
            {"status": 503, "times": 1},
            {"effect": "malformed-json", "times": 1},
            {"delay": {"milliseconds": 5}, "times": 1},
        ]
        for fault in faults:
            session.post(f"{world['admin_url']}/faults", json=fault).raise_for_status()
        ada = f"{world['base_url']}/profiles/ada"
        statuses = [session.get(ada).status_code for _ in range(4)]
        assert statuses == [503, 200, 200, 200], statuses
        assert session.get(ada).json()["display_name"] == "Ada Merrowdale"
        session.delete(f"{self._site}/__admin/worlds/{world['name']}").raise_for_status()


def soak(seconds: float) -> Soaked:
    """Starts a mock, soaks it, and tells what came of it."""
    with tempfile.TemporaryDirectory() as place:
        running = Running(Path(place), "--log", "off", "--choose", "rate-limits=off")
        try:
            return Soak(running, seconds).run()
        finally:
            running.stop()


def main() -> None:
    """Soaks, prints the figures, and ends with 1 where something was not as it should be."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    seconds = parser.parse_args().seconds
    if shutil.which("wrk") is None:
        sys.exit("wrk is wanted: apt-get install wrk")
    actual = soak(seconds)
    rounds = ", ".join(f"{name} {count:,}" for name, count in sorted(actual.steps.items()))
    say = sys.stdout.write
    say(f"{actual.seconds:.0f} s: {actual.reads:,} look-ups and QR codes; rounds: {rounds}\n")
    say(f"memory: {actual.memory[0]:.0f} MB at first, {actual.memory[-1]:.0f} MB at the end, ")
    say(f"{actual.growth:.3f} times what it was after the warm-up (at most {FLAT})\n")
    say(f"faults that nobody asked for: {len(actual.faults)}\n")
    for fault in actual.faults[:10]:
        say(f"  {fault}\n")
    if actual.faults or actual.growth > FLAT:
        sys.exit(1)


if __name__ == "__main__":
    main()
