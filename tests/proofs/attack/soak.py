"""Soaks a mock in hostile requests and files: ``python -m tests.proofs.attack.soak --seconds 900``.

Another client asks for a profile meanwhile. How long it waits is the processor time of the mock's
event loop between its request and the response, so that other programs do not count.
"""

import argparse
import asyncio
import io
import itertools
import json
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from random import Random  # noqa: TID251 - seeded
from time import monotonic
from typing import Any, NamedTuple

import httpx
from tests.cli.conftest import Running
from tests.proofs.attack.by_socket import HOSTILE, response_of
from tests.proofs.attack.files import archives, capsules, pictures
from tests.proofs.attack.requests import Attacker

LONG_WAIT = 0.1
"""Seconds of processor time that no request of another client should wait."""

WARM_UP = 0.25
"""The part of the run after which memory should be flat: until then modules and caches are filled."""

AT_REST = 1.2
"""Memory after the soak to memory before, at most."""


@cache
def _made(make: Callable[[], bytes]) -> bytes:
    """Returns a hostile file, which is made when it is first sent."""
    return make()


class Wait(NamedTuple):
    """What another client waited, and what was sent last."""

    seconds: float
    sent: str


class Soaked(NamedTuple):
    """What came of a run.

    Attributes:
        sent: Kind of attack to how many were sent.
        waits: Of another client, each.
        before: Resident megabytes at rest after the warm-up.
        after: Resident megabytes after the last one, and a reset.
        problems: What should not have been.
    """

    sent: Counter[str]
    waits: list[Wait]
    before: float
    after: float
    problems: list[str]


class _Soak:
    def __init__(self, running: Running, seconds: float, seed: int) -> None:
        self._mock = running
        self._site = running.base_url.removesuffix("/v3")
        self._port = httpx.URL(self._site).port or 0
        self._seconds, self._chance = seconds, Random(seed)
        self._attacker = Attacker(seed)
        self._sent: Counter[str] = Counter()
        self._latest = ""
        self._problems: list[str] = []
        self._waits: list[Wait] = []

    async def run(self) -> Soaked:
        """Attacks for the time that was asked for."""
        async with httpx.AsyncClient(base_url=self._site, timeout=120, trust_env=False) as client:
            await client.post("/__admin/worlds", json={"name": "watch"})
            kinds = await self._kinds(client)
            await self._keep_attacking(kinds, monotonic() + WARM_UP * self._seconds, 0)
            before = await self._at_rest(client)
            watching = asyncio.ensure_future(self._watch())
            until = monotonic() + self._seconds
            attacks = [self._keep_attacking(kinds, until, number) for number in range(3)]
            await asyncio.gather(*attacks)
            watching.cancel()
            await asyncio.wait({watching})
            after = await self._at_rest(client)
        return Soaked(self._sent, self._waits, before, after, self._problems)

    async def _keep_attacking(self, kinds: Any, until: float, number: int) -> None:
        names = [*["requests"] * 60, *["bytes"] * 20, *["capsules", "archives"] * 3, "pictures"]
        for kind in itertools.islice(itertools.cycle(names), number * 29, None):
            if monotonic() > until:
                return
            await self._attack(kind, kinds[kind])

    async def _attack(self, kind: str, attack: Callable[[], Any]) -> None:
        self._sent[kind] += 1
        await attack()

    async def _kinds(self, client: httpx.AsyncClient) -> dict[str, Callable[[], Any]]:
        capsule = await client.get("/__admin/capsule")
        with zipfile.ZipFile(io.BytesIO(capsule.content)) as archive:
            content = json.loads(archive.read("capsule.json"))
        spots = list(capsules.places(content))
        return {
            "requests": partial(self._request, client),
            "bytes": self._bytes,
            "capsules": partial(self._capsule, client, content, spots),
            "archives": partial(self._archive, client),
            "pictures": partial(self._picture, client),
        }

    async def _request(self, client: httpx.AsyncClient) -> None:
        request = self._attacker.next()
        content = request.on_the_wire()
        self._latest = repr(content[:150])
        answer = await response_of(self._port, content, self._latest, self._problems)
        if answer and answer.startswith(b"HTTP/1.1 5") and not request.asks_for_failure:
            await client.delete("/__admin/faults")  # one that a request before injected
            answer = await response_of(self._port, content, self._latest, self._problems)
            if answer and answer.startswith(b"HTTP/1.1 5"):
                self._problems.append(f"{self._latest}: {answer[:150]!r}")

    async def _bytes(self) -> None:
        self._latest = self._chance.choice(list(HOSTILE))
        content = HOSTILE[self._latest](self._chance)
        await response_of(self._port, content, self._latest, self._problems)

    async def _capsule(self, client: httpx.AsyncClient, content: Any, spots: Any) -> None:
        what, changed = capsules.mutated(content, spots, self._chance)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("capsule.json", json.dumps(changed))
        await self._post(client, "/__admin/capsule", f"capsule {what}", content=packed.getvalue())

    async def _archive(self, client: httpx.AsyncClient) -> None:
        name, make = self._chance.choice(list(archives.KINDS.items()))
        await self._post(client, "/__admin/import", f"archive {name}", content=_made(make))

    async def _picture(self, client: httpx.AsyncClient) -> None:
        name = self._chance.choice(("progressive CMYK JPEG", "GIF"))
        files = {"data": ("a", _made(pictures.FILES_BY_NAME[name]))}
        path = "/v3/me/avatars"
        made = await self._post(client, path, "picture", files=files, headers=pictures.ADA)
        if made.is_success:
            name = made.json()["image_id"]
            await client.get(f"/avatar/{name}.png?s={self._chance.randrange(80, 2000)}")
            await client.delete(f"{path}/{name}", headers=pictures.ADA)

    async def _post(
        self, client: httpx.AsyncClient, path: str, named: str, **content: Any
    ) -> httpx.Response:
        self._latest = named
        headers = capsules.ZIP if "content" in content else {}
        answer = await client.post(path, **{"headers": headers, **content})
        if answer.status_code >= 500:
            await client.delete("/__admin/faults")
            answer = await client.post(path, **{"headers": headers, **content})
        if answer.status_code >= 500:
            self._problems.append(f"{named}: {answer.status_code} {answer.text[:150]}")
        return answer

    async def _watch(self) -> None:
        """Asks for a profile in a world of its own, where nobody injects a fault."""
        async with httpx.AsyncClient(base_url=self._site, timeout=120, trust_env=False) as client:
            headers = {"X-Mock-Choose": "rate-limits=off"}
            while True:
                begun = self._loop_seconds()
                answer = await client.get("/__world/watch/v3/profiles/ada", headers=headers)
                self._waits.append(Wait(self._loop_seconds() - begun, self._latest))
                if answer.status_code != 200:
                    self._problems.append(
                        f"another client: {answer.status_code} {answer.text[:80]}"
                    )
                await asyncio.sleep(0.02)

    def _loop_seconds(self) -> float:
        """Returns the processor time of the mock's first thread, which is its event loop."""
        pid = self._mock.process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9

    async def _at_rest(self, client: httpx.AsyncClient) -> float:
        """Returns the resident megabytes after a reset, once what is old was collected."""
        for world in (await client.get("/__admin/worlds")).json():
            if world["name"] not in {"watch", "default"}:
                await client.delete(f"/__admin/worlds/{world['name']}")
        await client.delete("/__admin/faults")
        await client.post("/__admin/reset")
        for world in ("default", "watch"):
            await client.delete(f"/__world/{world}/__admin/requests")
        await asyncio.sleep(min(5, self._seconds))
        status = Path(f"/proc/{self._mock.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def soak(seconds: float, seed: int) -> Soaked:
    """Starts a mock, attacks it, and tells what came of it."""

    with tempfile.TemporaryDirectory() as place:
        running = Running(Path(place), "--log", "off", "--choose", "rate-limits=off")
        try:
            return asyncio.run(_Soak(running, seconds, seed).run())
        finally:
            running.stop()


def lines(actual: Soaked) -> Iterator[str]:
    """Yields what came of a run, as lines."""
    sent = ", ".join(f"{count:,} {kind}" for kind, count in sorted(actual.sent.items()))
    worst = sorted(actual.waits)[::-1]
    long = [it for it in worst if it.seconds > LONG_WAIT]
    yield f"sent: {sent}"
    yield f"{len(actual.waits):,} requests of another client; {len(long)} waited over {LONG_WAIT} s"
    yield from (f"  {it.seconds:.3f} s beside {it.sent}" for it in worst[:5])
    ratio = actual.after / actual.before
    yield f"memory at rest: {actual.before:.0f} MB, then {actual.after:.0f} MB: {ratio:.2f}"
    yield f"{len(actual.problems)} problems"
    yield from (f"  {problem}" for problem in actual.problems[:10])


def main() -> int:
    """Soaks, prints the figures, and returns 1 where something was not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    actual = soak(options.seconds, options.seed)
    sys.stdout.writelines(f"{line}\n" for line in lines(actual))
    is_long = any(it.seconds > LONG_WAIT for it in actual.waits)
    return bool(actual.problems or is_long or actual.after > AT_REST * actual.before)


if __name__ == "__main__":
    sys.exit(main())
