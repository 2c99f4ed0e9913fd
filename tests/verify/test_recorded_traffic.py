"""Recorded traffic: a run's own archive is judged like the run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import time_of
from understudy.openapi.loader import document_of
from understudy.reports.formats import FORMATS
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Outcome
from understudy.verify.recorded_traffic import judge_recorded, read_recording
from understudy.verify.reports import report_of
from understudy.verify.target import Credentials, Permit, Target

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


def test_a_caller_is_known_by_the_credential_that_the_document_declares(tmp_path: Path) -> None:
    schemes = {"own": {"type": "apiKey", "in": "header", "name": "X-Mark"}}
    operation = {"security": [{"own": []}], "responses": {"200": {"description": "All."}}}
    document = document_of(
        {
            "openapi": "3.0.3",
            "info": {"title": "Berths", "version": "1"},
            "paths": {"/berths": {"get": operation}},
            "components": {"securitySchemes": schemes},
        },
        Path("berths.yaml"),
    )
    headers = [{"name": "X-Mark", "value": "of-the-owner"}]
    sent = {"method": "GET", "url": "http://127.0.0.1:9/berths", "headers": headers}
    moment = "2030-01-01T00:00:00Z"
    response = {"status": 200, "headers": []}
    entry = {"request": sent, "response": response, "startedDateTime": moment}
    path = tmp_path / "app.har"
    path.write_text(json.dumps({"log": {"entries": [entry]}}))
    target = Target("http://127.0.0.1:9", credentials=Credentials(access_token="of-the-owner"))
    (read,) = read_recording(path, target, document)
    assert read.identity.name == "owner"
