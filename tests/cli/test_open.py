"""``understudy open`` without a running mock: it starts one, which replays the capsule."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import patient
from tests.cli.conftest import Running
from tests.mock.service.test_image_processing import picture

from understudy.cli import main
from understudy.mock.settings import Settings
from understudy.testing.background import Background

ADA = {"Authorization": "Bearer ada-full"}


@contextmanager
def opened(directory: Path, file: Path) -> Iterator[Running]:
    """A mock that ``understudy open`` started."""

    class Opened(Running):
        command = ("open", str(file))

    running = Opened(directory)
    try:
        yield running
    finally:
        running.stop()


def sent(url: str) -> list[tuple[int, bytes]]:
    """Sends two changes, and returns what a client sees of their responses."""
    responses = (
        patient.patch(f"{url}/v3/me/profile", json={"location": "Elsewhere"}, headers=ADA),
        patient.post(f"{url}/v3/me/avatars", files={"data": ("a.png", picture())}, headers=ADA),
    )
    return [(it.status_code, it.content.replace(url.encode(), b"URL")) for it in responses]


@pytest.mark.parametrize("world", ["default", "checkout"])
def test_a_mock_is_started_at_that_moment_and_responds_with_the_same_bytes(
    tmp_path: Path, world: str
) -> None:
    file = tmp_path / "bug.capsule.zip"
    mock = Background(Settings(seed=7, log="off"))
    site = mock.url
    if world != "default":
        patient.post(f"{site}/__admin/worlds", json={"name": world, "seed": 7})
        site = f"{site}/__world/{world}"
    patient.request(
        "PUT", f"{site}/__admin/clock", json={"now": "2026-03-01T12:00:00Z", "frozen": True}
    )
    patient.get(f"{site}/v3/profiles/ada")
    recorded = sent(site)
    file.write_bytes(patient.get(f"{site}/__admin/capsule?request=2").content)
    mock.stop()
    with opened(tmp_path, file) as running:
        url = running.base_url.removesuffix("/v3") + site[len(mock.url) :]
        assert f"Console: {url}/__console#/traffic/2" in running.said()
        assert sent(url) == recorded
    assert [status for status, _ in recorded] == [200, 200]


def test_a_file_that_is_no_capsule_starts_nothing(tmp_path: Path) -> None:
    file = tmp_path / "bug.capsule.zip"
    file.write_bytes(b"no capsule")
    refused = CliRunner().invoke(main, ["open", str(file), "--port", "0"])
    assert (refused.exit_code, "is not a capsule" in refused.stderr) == (2, True)
