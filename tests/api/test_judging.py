"""The outcome that the public function returns."""

from typing import Any

import pytest
from msgspec.structs import replace

import understudy
from understudy.api import judging
from understudy.api.bundled_target import TARGET
from understudy.api.in_process import mock_deployment


@pytest.mark.parametrize("is_mock", [True, False])
def test_an_outcome_has_pseudonyms_of_the_people_of_a_deployment_that_is_no_mock(
    monkeypatch: Any, is_mock: bool
) -> None:
    deployment = mock_deployment(replace(TARGET, is_mock=is_mock))
    monkeypatch.setattr(judging, "open_deployment", lambda *_: deployment)
    outcome = understudy.verify(rules=("profile-patch-partial",), cases=0)
    assert [rule.status for rule in outcome.rules] == ["passed"]
    assert ("Lindry" in repr(outcome.exchanges)) == is_mock
