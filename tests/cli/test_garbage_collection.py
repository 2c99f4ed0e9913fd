"""Garbage is collected but for the start, whose objects stay."""

import gc
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from understudy.cli import main
from understudy.cli.serve import _settle_memory


@pytest.fixture
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("thawed")
def test_a_mock_that_could_not_start_leaves_garbage_collection_on(tmp_path) -> None:
    failed = CliRunner().invoke(main, ["serve", "--fixtures", str(tmp_path / "nowhere")])
    assert failed.exit_code == 2
    assert gc.isenabled()


@pytest.mark.usefixtures("thawed")
def test_a_mock_that_has_started_collects_garbage_among_what_is_new() -> None:
    gc.disable()
    _settle_memory()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000
    assert len(gc.get_objects()) < 10_000


@pytest.mark.usefixtures("thawed")
def test_a_run_of_verify_collects_no_garbage_among_its_modules() -> None:
    threshold = gc.get_threshold()
    try:
        assert CliRunner().invoke(main, ["verify", "--template"]).exit_code == 0
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.set_threshold(*threshold)
