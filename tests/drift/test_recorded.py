"""Recorded requests are sent to both deployments, each with what is issued there."""

import json
from contextlib import closing

import pytest
from click.testing import CliRunner
from tests.proofs.drifting import deployment

from understudy.cli import main
from understudy.drift.mock_beside import comparison_phases, drift, mock_beside
from understudy.errors import StartupError
from understudy.verify.pictures import picture
from understudy.verify.probe_client import ProbeClient
from understudy.verify.reports import traffic_archive
from understudy.verify.run import Run, RunOptions
from understudy.verify.runner import carry_out

RULES = ("qr-default-size",)


def use(run: Run) -> None:
    """Uploads an avatar, renames it and deletes it, as an app would."""
    client = ProbeClient(run.gateway, "app")
    upload = client.send("POST", "/me/avatars", "owner", files={"data": ("a.png", picture())})
    path = f"/me/avatars/{upload.json_object['image_id']}"
    client.send("PATCH", path, "owner", json={"alt_text": "A hat"})
    client.send("DELETE", path, "owner")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    with closing(deployment()) as opened:
        outcome = carry_out(opened, RunOptions(rules=RULES, phases=(("app", use),)))
        secrets = opened.target.secrets()
    path = tmp_path_factory.mktemp("recorded") / "app.har"
    path.write_text(traffic_archive(outcome, secrets), encoding="utf-8")
    return path


def recorded_at(archive, choices):
    """Returns what differs at a deployment with choices, and what its recorded requests were."""
    ours = deployment(choices=choices)
    phases = comparison_phases(ours, number=0, archive=archive)
    result = drift(ours, mock_beside(ours), RunOptions(rules=RULES, phases=phases))
    replayed = [it for it in result.first.exchanges if it.source == "replay"]
    return {cause.rule for cause in result.causes}, replayed


def test_the_requests_of_an_app_show_where_deployments_part(archive):
    causes, replayed = recorded_at(archive, {"avatar-delete-status": "200"})
    assert causes == {"avatar-delete-status"}
    writes = [it for it in replayed if it.request.method != "GET"]
    assert [(it.operation, it.response.is_success) for it in writes] == [
        ("POST /me/avatars", True),
        ("PATCH /me/avatars/{}", True),
        ("DELETE /me/avatars/{}", True),
    ]


def test_generated_requests_that_nobody_sent_yet_are_sent(tmp_path):
    path = tmp_path / "cases.har"
    sent = {"method": "GET", "url": "http://127.0.0.1:8080/v3/qr-code/ada", "headers": []}
    response = {"status": 0, "headers": []}
    moment = "2030-01-01T00:00:00Z"
    entry = {"request": sent, "response": response, "startedDateTime": moment}
    path.write_text(json.dumps({"log": {"entries": [entry]}}), encoding="utf-8")
    _, replayed = recorded_at(path, {})
    assert [(it.operation, it.status) for it in replayed] == [("GET /qr-code/{}", 200)]


def test_an_archive_without_exchanges_is_refused_before_anything_is_sent(tmp_path):
    path = tmp_path / "empty.har"
    path.write_text('{"log": {"entries": []}}')
    with closing(deployment()) as opened, pytest.raises(StartupError, match="no exchange"):
        comparison_phases(opened, number=0, archive=path)


def test_an_archive_that_is_none_is_refused_before_anything_is_sent(tmp_path):
    path = tmp_path / "none.har"
    path.write_text("{}", encoding="utf-8")
    with closing(deployment()) as opened, pytest.raises(StartupError, match="HTTP archive"):
        comparison_phases(opened, number=0, archive=path)


def test_variables_of_generated_requests_are_filled_with_the_credentials_of_the_target(tmp_path):
    path = tmp_path / "cases.har"
    headers = [{"name": "Authorization", "value": "Bearer {{TOKEN}}"}]
    sent = {"method": "GET", "url": "http://127.0.0.1:8080/v3/me/profile", "headers": headers}
    entry = {"request": sent, "response": {"status": 0, "headers": []}}
    entry["startedDateTime"] = "2030-01-01T00:00:00Z"
    path.write_text(json.dumps({"log": {"entries": [entry]}}), encoding="utf-8")
    _, replayed = recorded_at(path, {})
    assert [(it.identity.name, it.status) for it in replayed] == [("owner", 200)]


def test_a_value_that_a_generated_request_obtains_is_filled_into_the_next(tmp_path):
    path = tmp_path / "cases.har"
    words = ["generate", "deleteAvatar", "--format", "har", "--out", str(path), "--count", "3"]
    assert CliRunner().invoke(main, words).exit_code == 0
    _, replayed = recorded_at(path, {})
    deleted = [it for it in replayed if it.operation == "DELETE /me/avatars/{}"]
    assert deleted
    assert not [it.path for it in replayed if "AVATAR_ID" in it.path]
    assert {204} <= {it.status for it in deleted}


def test_an_archive_of_another_address_is_refused_with_that_address(archive, tmp_path):
    path = tmp_path / "other.har"
    path.write_text(archive.read_text().replace("127.0.0.1:8080", "staging.example:8443"))
    with closing(deployment()) as opened, pytest.raises(StartupError, match=r"staging\.example"):
        comparison_phases(opened, number=0, archive=path)
