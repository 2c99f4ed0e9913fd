"""Recorded traffic: a run's own archive is judged like the run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import time_of
from understudy.reports.formats import FORMATS
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Outcome
from understudy.verify.recorded_traffic import judge_recorded
from understudy.verify.reports import report_of
from understudy.verify.target import Permit

pytestmark = pytest.mark.usefixtures("unmeasured")


def test_the_archive_of_a_clean_run_is_judged_clean(
    verify: Callable[..., Outcome], mock: Any, wire: Any, tmp_path: Path
) -> None:
    target = replace(TARGET, permit=Permit(uploads=True, tokens=True))
    sent = verify(target)
    assert sent.findings == ()
    path = tmp_path / "run.har"
    path.write_text(FORMATS["har"](report_of(sent, target.secrets())))
    recorded = judge_recorded(path, Deployment(target, wire, time_of(mock)), ())
    assert [finding.summary for finding in (*recorded.findings, *recorded.notes)] == []
    assert recorded.count("passed") > 0.9 * sent.count("passed")
