"""The two entrances of the mock respond alike, and the comparison sees where they would not."""

import asyncio
import os

import pytest
from tests.quality.entrances.comparison import compare

from understudy.mock.engine import direct

CONNECTIONS = int(os.environ.get("UNDERSTUDY_FUZZ", "400"))


@pytest.mark.parametrize("seed", [1, 2])
def test_both_entrances_respond_alike(seed: int):
    result = asyncio.run(compare(CONNECTIONS, seed))
    assert result.differences == []
    assert result.responses > CONNECTIONS


@pytest.mark.parametrize("name", ["expect_bounded_fields", "may_change_response", "note_response"])
def test_a_condition_that_one_entrance_lacks_is_a_difference(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(direct, name, lambda *_: None)
    assert asyncio.run(compare(CONNECTIONS, 1)).differences
