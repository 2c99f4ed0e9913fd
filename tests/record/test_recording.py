"""A recording holds what an app needs of a deployment, and nothing of its people."""

import gc
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import yaml
from tests.record.canaries import (
    CANARY,
    PIXEL,
    CanaryDeployment,
    Flock,
    found_in,
    pixels_in,
    send_canaries,
)
from tests.record.proxied import ADA, AUTH_PROXY, PROXY, MockedDeployment, Session, proxied
from tests.record.proxied import TARGET as TARGET_OF_APP

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import InProcess, mock_deployment, time_of
from understudy.api.in_process import mock as mock_in_process
from understudy.cli.exit_codes import ExitCode
from understudy.cli.record import finished, line_of, report, silent_loggers, write
from understudy.drift.comparing import compare
from understudy.errors import StartupError
from understudy.exchange.messages import ANONYMOUS_IDENTITY, Exchange, Request, Response
from understudy.mock.settings import Settings, settings_like
from understudy.openapi.loader import load
from understudy.openapi.operations import operations
from understudy.record.anonymising import Anonymiser
from understudy.record.proxy import Proxy
from understudy.record.pseudonyms import PictureForm, form_of
from understudy.record.recorded_fixtures import RecordedStubs
from understudy.record.recorder import expect_new, write_whole
from understudy.record.traffic_judge import TrafficJudge
from understudy.verify.deployment import Deployment
from understudy.verify.recorded_traffic import judge_recorded
from understudy.verify.run import RunOptions
from understudy.verify.target import email_hash, load_target

KEY = b"k" * 32
OLU = {"Authorization": "Bearer olu-full"}
"""A token that the target does not name, such as one of a sign-in."""


def use(session: Session) -> None:
    """Does what an app does with the worked examples of the interface."""
    own = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA).json()
    session.request("GET", f"{PROXY}/v3/profiles/{own['hash']}")
    session.request("GET", f"{PROXY}/v3/profiles/nora")
    session.request("GET", f"{PROXY}/v3/profiles/nora", headers=ADA)
    session.request("GET", f"{PROXY}/v3/profiles/hush")
    session.request("GET", f"{PROXY}/v3/profiles/nobody-has-this")
    session.request("GET", f"{PROXY}/v3/me/profile", headers={"Authorization": "Bearer wrong"})
    avatars = session.request("GET", f"{PROXY}/v3/me/avatars", headers=ADA).json()
    session.request("GET", f"{avatars[0]['image_url']}?size=200")
    query = f"?email_hash={own['hash']}"
    session.request("GET", f"{PROXY}/v3/me/associated-email{query}", headers=ADA)
    stranger = session.request("GET", f"{PROXY}/v3/me/profile", headers=OLU).json()
    for address in (email_hash("olu.work@example.com"), stranger["hash"]):
        query = f"?selected_email_hash={address}"
        session.request("GET", f"{PROXY}/v3/me/avatars{query}", headers=OLU)
    session.request("GET", f"{PROXY}/v3/qr-code/{own['hash']}")
    session.request("GET", f"{PROXY}/v3/openapi")
    changes = {"location": "Somewhere else"}
    session.request("PATCH", f"{PROXY}/v3/me/profile", headers=ADA, json=changes)
    session.request("GET", f"{AUTH_PROXY}/oauth2/token-info?client_id=browser-app&token=ada-full")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of a session with a mock that plays the deployment."""
    out = tmp_path_factory.mktemp("recorded") / "staging"
    with proxied(key=KEY) as session:
        use(session)
    assert session.recording.judge.proxy_failures == {}
    assert session.recording.recorder is not None
    write_whole(session.recording.recorder.files(), out)
    return out


def served(recording: Path) -> Deployment:
    """Returns the mock that serves a recording, as a deployment."""
    mock = mock_in_process(Settings(fixtures=recording))
    target = load_target(recording / "target.toml", {})
    return Deployment(target, InProcess(mock), time_of(mock))


def test_the_requests_of_a_recording_get_the_same_statuses_from_the_mock_that_serves_it(recording):
    entries = json.loads((recording / "traffic.har").read_bytes())["log"]["entries"]
    with proxied(MockedDeployment(fixtures=recording)) as session:
        for entry in entries:
            sent = entry["request"]
            url = sent["url"].replace("http://127.0.0.1:8080", PROXY)
            headers = {pair["name"]: pair["value"] for pair in sent["headers"]}
            content = sent.get("postData", {}).get("text", "").encode()
            again = session.request(sent["method"], url, headers=headers, content=content)
            response = entry["response"]
            assert (url, again.status_code) == (url, response["status"])
            if response["content"]["mimeType"] == "application/json":
                assert shape(again.json()) == shape(json.loads(response["content"]["text"]))
    assert len(entries) == 15


def shape(value: Any) -> Any:
    """Returns a JSON value without its texts and numbers."""
    if isinstance(value, dict):
        # the code of an error is the mock's own word, where the contract gives none
        return {name: shape(value[name]) for name in sorted(value) if name != "code"}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return value if isinstance(value, bool) else type(value)


def test_a_recording_is_judged_without_a_finding(recording):
    deployment = served(recording)
    outcome = judge_recorded(recording / "traffic.har", deployment, ())
    deployment.close()
    assert [finding.summary for finding in outcome.findings] == []
    assert outcome.count("passed") > 20


def test_the_mock_that_serves_a_recording_does_not_differ_from_its_source(recording):
    source = mock_deployment(msgspec.structs.replace(TARGET, is_mock=False))
    copy = served(recording)
    rules = ("profile-private", "profile-unknown-404", "own-profile-is-full", "qr-default-size")
    edits = ("profile-patch-seven-fields", "own-profile-disabled-404")
    drift = compare(source, copy, RunOptions(rules=(*rules, *edits)))
    source.close()
    copy.close()
    assert [difference for cause in drift.causes for difference in cause.differences] == []
    assert drift.requests > 0
    assert "were sent to one side only" in "".join(drift.not_compared)


def test_a_profile_that_its_owner_reads_and_others_are_refused_is_private():
    with proxied(key=KEY) as session:
        session.request("GET", f"{PROXY}/v3/profiles/hush")
        token = {"Authorization": "Bearer hush-full"}
        session.request("GET", f"{PROXY}/v3/me/profile", headers=token)
    assert session.recording.recorder is not None
    files = session.recording.recorder.files()
    (person,) = (text for name, text in files.items() if name.startswith("people/"))
    assert b"visibility: private" in person


def test_an_address_and_its_hash_lead_to_the_same_pseudonym():
    with proxied(key=KEY) as session:
        recorder = session.recording.recorder
    assert recorder is not None
    pseudonyms = recorder.pseudonyms
    assert email_hash(pseudonyms.email("Ada@Example.com")) == pseudonyms.hash(
        email_hash("ada@example.com")
    )
    assert pseudonyms.text("") == ""


def test_another_key_gives_other_pseudonyms_and_the_same_key_the_same(recording):
    def person(key: bytes) -> set[str]:
        with proxied(key=key) as session:
            session.request("GET", f"{PROXY}/v3/profiles/nora")
        assert session.recording.recorder is not None
        return {name for name in session.recording.recorder.files() if name.startswith("people/")}

    kept = {f"people/{path.name}" for path in (recording / "people").iterdir()}
    assert person(KEY) < kept
    assert not person(b"o" * 32) & kept


def test_a_picture_is_drawn_in_the_kind_and_size_of_the_one_that_was_seen(recording):
    drawn = {form_of(path.read_bytes()) for path in (recording / "images").iterdir()}
    assert PictureForm("PNG", 200, 200) in drawn


def test_what_traffic_settled_is_written_as_facts():
    with proxied(key=KEY) as session:
        file = ("me.png", Flock().picture())
        avatar = session.request(
            "POST", f"{PROXY}/v3/me/avatars", headers=ADA, files={"data": file}
        ).json()
        session.request("DELETE", f"{PROXY}/v3/me/avatars/{avatar['image_id']}", headers=ADA)
    assert session.recording.recorder is not None
    facts = session.recording.recorder.files()["facts.yaml"].decode()
    assert "rule: avatar-upload-status\n  reading: '200'" in facts
    assert "DELETE /me/avatars/{imageHash} as owner: 204" in facts


def test_an_update_with_another_member_is_taken_from_the_app_where_the_deployment_took_it(tmp_path):
    changes = {"location": "Turin", "nickname": "Olu"}
    deployment = MockedDeployment(choices={"unknown-profile-members": "ignore"})
    with proxied(deployment, key=KEY) as session:
        update = {"headers": OLU, "json": changes}
        session.request("PATCH", f"{PROXY}/v3/me/profile", **update)
    assert session.recording.recorder is not None
    write(session.recording.recorder, tmp_path / "staging")
    token = yaml.safe_load((tmp_path / "staging" / "tokens.yaml").read_text())[0]["token"]
    mock = mock_in_process(settings_like(tmp_path / "staging" / "deployment.yaml"))
    authorized = {"Authorization": f"Bearer {token}"}
    with httpx.Client(transport=InProcess(mock), base_url=TARGET.base_url) as app:
        answer = app.patch("me/profile", headers=authorized, json=changes)
    assert (answer.status_code, answer.json()["location"]) == (200, "Turin")


def app_session(send: Callable[..., httpx.Response]) -> list[tuple[int, str | None]]:
    """Does what an app does that names people, an address and its token itself."""
    own, changes = email_hash("ada@example.com"), {"location": "Turin", "nickname": "Olu"}
    avatars = send("GET", "me/avatars", headers=ADA).json()
    avatar = f"me/avatars/{avatars[0]['image_id']}"
    responses = [
        send("GET", f"profiles/{own}", headers=ADA),
        send("PATCH", "me/profile", headers=ADA, json=changes),
        send("GET", "profiles/ada"),
        send("POST", f"{avatar}/email", headers=ADA, json={"email_hash": own}),
        send("PATCH", avatar, headers=ADA, json={"alt_text": "A portrait"}),
        send("GET", f"me/associated-email?email_hash={own}", headers=ADA),
        send("GET", "profiles/nobody-has-this"),
        send("GET", "me/profile", headers={"Authorization": "Bearer wrong"}),
        send("GET", "me/profile", headers=ADA),
    ]
    bodies = [it.json() if it.content else {} for it in responses]
    return [(it.status_code, body.get("hash")) for it, body in zip(responses, bodies, strict=True)]


@pytest.fixture(scope="module")
def kept_session(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """The recording of such an app, its key beside it, and what the app saw."""
    out = tmp_path_factory.mktemp("app") / "staging"
    deployment = MockedDeployment(choices={"unknown-profile-members": "ignore"})
    with proxied(deployment, key=KEY) as session:
        seen = app_session(
            lambda how, path, **more: session.request(how, f"{PROXY}/v3/{path}", **more)
        )
    assert session.recording.recorder is not None
    key = out.with_suffix(".key")
    key.write_text(f"{KEY.hex()}\n")
    key.chmod(0o600)
    write(session.recording.recorder, out, key)
    return out, seen


def test_an_app_runs_unchanged_from_its_recording(kept_session):
    out, seen = kept_session
    mock = mock_in_process(settings_like(out / "deployment.yaml"))
    with httpx.Client(transport=InProcess(mock), base_url=TARGET.base_url) as app:
        assert app_session(app.request) == seen
        profile = app.get("me/profile", headers=ADA).json()
    assert profile["location"] == "Turin"
    assert profile["profile_url"].endswith("/ada")
    assert [status for status, _ in seen] == [200, 200, 200, 204, 200, 200, 404, 401, 200]


def test_a_recording_is_served_without_its_key_too_and_knows_pseudonyms_alone(kept_session):
    settings = replace(
        settings_like(kept_session[0] / "deployment.yaml"), recording_key=Path("gone")
    )
    mock = mock_in_process(settings)
    with httpx.Client(transport=InProcess(mock), base_url=TARGET.base_url) as app:
        assert app.get("me/profile", headers=ADA).status_code == 401
        (person,) = (kept_session[0] / "people").iterdir()
        assert app.get(f"profiles/{person.stem}").status_code == 200


def test_values_of_other_types_than_the_document_s_keep_no_recording_from_being_served(tmp_path):
    wrong: dict[str, object] = {"links": {}, "interests": [{"id": "7", "name": 7}]}
    wrong |= {"languages": [7], "payments": []}
    wrong |= {"contact_info": 7, "gallery": "g", "is_organization": "yes", "timezone": 7}

    def scrambled(_request: httpx.Request, response: httpx.Response) -> httpx.Response:
        return httpx.Response(200, json={**response.json(), **wrong})

    with proxied(MockedDeployment(scrambled), key=KEY) as session:
        session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
    assert session.recording.recorder is not None
    write_whole(session.recording.recorder.files(), tmp_path / "staging")
    served(tmp_path / "staging").close()


def test_no_canary_is_in_any_file_or_line(tmp_path, capsys):
    flock, out = Flock(), tmp_path / "staging"
    with proxied(CanaryDeployment(flock), key=KEY) as session:
        send_canaries(session, flock)
    assert flock.count > 200
    recording = session.recording
    assert recording.judge.proxy_failures == {}
    assert recording.recorder is not None
    report(recording)
    write(recording.recorder, out)
    output = "".join(capsys.readouterr())
    assert found_in(output.encode()) == []
    paths = [path for path in out.rglob("*") if path.is_file()]
    assert {path.name: found for path in paths if (found := found_in(path.read_bytes()))} == {}
    assert [path for path in out.rglob("*") if CANARY.lower() in path.name.lower()] == []
    assert PIXEL not in pixels_in(out)
    served(out).close()


@pytest.mark.parametrize(
    ("part", "name"), [(Anonymiser, "anonymous"), (TrafficJudge, "_judge"), (Proxy, "_pass_on")]
)
def test_no_canary_is_printed_or_logged_when_a_part_crashes(
    part, name, monkeypatch, capsys, caplog
):
    def crash(*values: object, **_more: object) -> None:
        msg = f"{CANARY} {values}"
        raise RuntimeError(msg)

    flock = Flock()
    monkeypatch.setattr(part, name, crash)
    with caplog.at_level("DEBUG"), proxied(CanaryDeployment(flock), key=KEY) as session:
        send_canaries(session, flock)
    gc.collect()  # an error that nobody has read is logged when its future is collected
    code = finished(session.recording, None)
    output = "".join(capsys.readouterr()) + caplog.text
    assert "The proxy itself failed: RuntimeError in " in output
    assert code != ExitCode.DONE
    assert found_in(output.encode()) == []


def test_no_logger_writes_while_a_proxy_runs(caplog):
    names = ("understudy.mock.server.protocol.uvicorn", "httpx", "asyncio", "any.other")
    with silent_loggers():
        for name in names:
            logging.getLogger(name).critical(CANARY)
    logging.getLogger("any.other").critical("after it")
    assert caplog.messages == ["after it"]


def test_a_line_says_why_there_was_no_response_and_no_value_of_the_request():
    def refuse(_request: httpx.Request, _response: httpx.Response) -> httpx.Response:
        raise httpx.ConnectError(CANARY)

    with proxied(MockedDeployment(refuse)) as session:
        session.request("GET", f"{PROXY}/v3/profiles/{CANARY}")
    (line,) = map(line_of, session.findings)
    assert line.startswith(
        "GET /profiles/{profileIdentifier} as anonymous: the deployment cannot be reached"
    )
    assert CANARY not in line


def test_a_recording_is_written_whole_or_not_at_all(tmp_path):
    with pytest.raises(StartupError, match="cannot be written"):
        write_whole({"people/a.yaml": b"", "people/a.yaml/b": b""}, tmp_path / "staging")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_files_is_not_overwritten(tmp_path):
    (tmp_path / "kept.txt").touch()
    with pytest.raises(StartupError, match="already exists"):
        expect_new(tmp_path)


def test_a_recording_of_nothing_that_can_be_served_ends_with_a_command(tmp_path, capsys):
    with proxied(MockedDeployment(), key=KEY) as session:
        session.request("GET", f"{PROXY}/v3/me/profile")
        session.request("GET", f"{PROXY}/v3/qr-code/ada")
    finished(session.recording, tmp_path / "staging", again=["--target", "staging.toml"])
    out = f"--out {tmp_path}/staging-again"
    assert f"Next: understudy record --target staging.toml {out} (" in capsys.readouterr().out


def test_what_an_operation_without_a_state_responded_is_a_stub(monkeypatch, tmp_path):
    document = Path(__file__).parents[1] / "mock/service/newer_service.yaml"
    monkeypatch.setitem(TARGET_OF_APP, "document", str(document))
    with proxied(MockedDeployment(document=document), key=KEY) as session:
        path = f"{PROXY}/v3/verified-accounts/services"
        listed = session.request("GET", path).json()
        session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
    assert session.recording.recorder is not None
    write(session.recording.recorder, tmp_path / "staging")
    mock = mock_in_process(settings_like(tmp_path / "staging" / "deployment.yaml"))
    with httpx.Client(transport=InProcess(mock), base_url=TARGET.base_url) as app:
        answer = app.get("verified-accounts/services")
        assert answer.headers["x-mock-stub"] == "stub-1"
        assert len(answer.json()) == len(listed)


def test_what_a_client_had_kept_is_no_stub_for_others():
    document = load(Path(__file__).parents[1] / "mock/service/newer_service.yaml")
    (listing,) = (it for it in operations(document) if it.path == "/verified-accounts/services")
    url = f"{TARGET.base_url}{listing.path}"
    at = datetime(2026, 3, 1, tzinfo=UTC)
    stubs = RecordedStubs([listing])
    for status, body in ((200, b"[]"), (304, b"")):
        request, response = Request("GET", url), Response(status, (), body)
        operation = f"GET {listing.path}"
        own = Exchange(1, "test", ANONYMOUS_IDENTITY, request, response, at, operation, "resource")
        stubs.add(own)
    (stub,) = stubs.stubs({})
    assert stub["response"] == {"status": 200, "body": []}
