"""Garbage is collected but for the start, whose objects stay."""

import gc
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from understudy.cli import main


@pytest.fixture
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("thawed")
def test_a_run_of_verify_collects_no_garbage_among_its_modules() -> None:
    threshold = gc.get_threshold()
    try:
        assert CliRunner().invoke(main, ["verify", "--template"]).exit_code == 0
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.set_threshold(*threshold)
