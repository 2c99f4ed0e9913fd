"""On a file system that is really full, writes are refused and undone, and reads go on."""

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.mock.admin.conftest import AUTHORIZATION, SITE
from tests.proofs.attack.registers import Register, Site
from tests.proofs.attack.writes import REGISTERS

from understudy.errors import StartupError
from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.mock.store.sqlite import SqliteStore


class SmallDisk:
    """A file system of two megabytes, with a file on it that fills it up."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def fill(self) -> None:
        with contextlib.suppress(OSError), self._ballast.open("wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(4096))

    def make_room(self) -> None:
        self._ballast.unlink()


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    path = tmp_path_factory.mktemp("small")
    mount = shutil.which("mount")
    if mount is None or os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root mounts a small file system")
    command = [mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody mount a tmpfs")
    yield SmallDisk(path)
    subprocess.run(["umount", str(path)], check=True)


@pytest.fixture(scope="module")
def mock(disk: SmallDisk) -> Iterator[Mock]:
    mock = Mock(Settings(state=disk.path))
    yield mock
    _close(mock)


def _close(mock: Mock) -> None:
    assert isinstance(mock.worlds.store, SqliteStore)
    mock.worlds.store.close()


def _client(mock: Mock) -> httpx.AsyncClient:
    mounts = {
        SITE: httpx.ASGITransport(mock.resource),
        AUTHORIZATION: httpx.ASGITransport(mock.authorization),
    }
    return httpx.AsyncClient(mounts=mounts)


def _name(register: Register) -> str:
    return f"r{REGISTERS.index(register)}"


@pytest.mark.parametrize("register", REGISTERS, ids=lambda register: register.name)
def test_a_write_is_507_and_undone_until_there_is_room(
    mock: Mock, disk: SmallDisk, register: Register
) -> None:
    async def try_it() -> None:
        async with _client(mock) as client:
            await client.post(f"{SITE}/__admin/worlds", json={"name": _name(register)})
            site = Site(client, SITE, AUTHORIZATION, _name(register))
            await register.write(site, 1)
            disk.fill()
            for _ in range(2):
                with pytest.raises(httpx.HTTPStatusError) as refusal:
                    await register.write(site, 2)
                _expect_own_shape(refusal.value.response)
                assert await register.read(site) == register.holds(1)
            disk.make_room()
            assert await register.read(site) == register.holds(1)
            await register.write(site, 2)
            assert await register.read(site) == register.holds(2)

    asyncio.run(try_it())


def _expect_own_shape(response: httpx.Response) -> None:
    assert response.status_code == 507, response.text
    path, body = response.url.path, response.json()
    if "/__admin/" in path:
        assert (body["status"], body.keys()) == (507, {"title", "status", "detail"})
    elif "/oauth2/" in path:
        assert body.keys() == {"error", "error_description"}
    else:
        assert (body["code"], body.keys()) == ("insufficient_storage", {"error", "code"})


def test_a_wrong_guess_that_cannot_be_counted_is_refused_as_every_write_is(
    mock: Mock, disk: SmallDisk
) -> None:
    form = {"grant_type": "password", "client_id": "server-app", "client_secret": "wrong"}

    async def guess() -> list[int]:
        async with _client(mock) as client:
            url = f"{AUTHORIZATION}/oauth2/token"
            return [(await client.post(url, data=form)).status_code for _ in range(2)]

    disk.fill()
    assert asyncio.run(guess()) == [507, 507]
    disk.make_room()
    assert asyncio.run(guess()) == [401, 401]


def test_what_was_written_around_a_full_disk_is_there_after_a_restart(disk: SmallDisk) -> None:
    state = disk.path / "restarted"

    async def write(mock: Mock, number: int) -> None:
        async with _client(mock) as client:
            body = {"location": str(number)}
            headers = {"Authorization": "Bearer ada-full"}
            await client.patch(f"{SITE}/v3/me/profile", json=body, headers=headers)

    mock = Mock(Settings(state=state))
    asyncio.run(write(mock, 1))
    disk.fill()
    asyncio.run(write(mock, 2))
    _close(mock)
    disk.make_room()
    restarted = Mock(Settings(state=state))
    people = restarted.world.snapshot().overlay["people"]
    _close(restarted)
    assert people["ada"].profile.location == "1"


def test_a_disk_that_is_full_at_the_start_is_said_in_one_line(disk: SmallDisk) -> None:
    disk.fill()
    with pytest.raises(StartupError, match=r"disk is full\. Make room there") as refusal:
        Mock(Settings(state=disk.path / "new"))
    disk.make_room()
    assert "\n" not in str(refusal.value)
