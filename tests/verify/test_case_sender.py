"""``generate --send``: what it sends, what it judges, and that everything is as before."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace
from tests import patient
from tests.cli.conftest import Running
from tests.conftest import paused_coverage

from understudy.api.bundled_target import TARGET as MOCK
from understudy.cases import test_data
from understudy.cases.selection import edge_cases
from understudy.cli import main
from understudy.verify.target import Known, data_for_target

TARGET = """
base_url = "{base_url}"
auth_url = "{auth_url}"
mode = "{mode}"
[credentials]
access_token = "ada-full"
read_only_token = "ada-read-only"
auth_only_token = "ada-auth-only"
expired_token = "ada-expired"
api_key = "ada-api-key"
[application]
client_id = "server-app"
client_secret = "server-app-secret"
redirect_uri = "http://127.0.0.1:5000/callback"
username = "ada"
password = "ada-password"
[known]
slug = "ada"
emails = ["ada@example.com", "ada.merrowdale@example.org"]
[permit]
uploads = true
tokens = true
[budget]
anonymous = 100000
token = 100000
"""

Start = Callable[..., tuple[Running, Path]]


def send(*words: object) -> tuple[Result, list[dict[str, Any]]]:
    given = ["generate", "--send", "--format", "jsonl", *map(str, words)]
    done = CliRunner().invoke(main, given)
    return done, [json.loads(line) for line in done.stdout.split("\n") if line]


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Start]:
    """Starts a mock, and writes a target file for it."""
    running: list[Running] = []

    def start(*options: str, mode: str = "own") -> tuple[Running, Path]:
        one = Running(tmp_path, "--log", "off", "--choose", "rate-limits=off", *options)
        running.append(one)
        path = tmp_path / "target.toml"
        path.write_text(TARGET.format(base_url=one.base_url, auth_url=one.auth_url, mode=mode))
        return one, path

    yield start
    for one in running:
        one.stop()


def own_state(one: Running) -> list[Any]:
    """Returns what a person has, but for the time of the last edit, which nobody can put back."""
    headers = {"Authorization": "Bearer ada-full"}
    found = [
        patient.get(f"{one.base_url}{path}", headers=headers).json()
        for path in ("/me/profile", "/me/avatars")
    ]
    found[0].pop("last_profile_edit")
    return [found[0], [{**avatar, "updated_date": ""} for avatar in found[1]]]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_mock_passes_every_case_when_one_is_sent_after_the_other(seed: int):
    with paused_coverage() if seed else nullcontext():  # the first seed shows what is run
        done, lines = send("--count", 60, "--seed", seed)
    assert done.exit_code == 0, [line for line in lines if line["outcome"].startswith("failed")]
    words = [line["outcome"].partition(":")[0] for line in lines]
    assert set(words) == {"passed", "not sent"}
    assert words.count("passed") > 750


def test_avatars_are_deleted_one_after_the_other():
    done, lines = send("deleteAvatar", "--kind", "valid", "--count", 30)
    assert done.exit_code == 0
    assert {line["outcome"] for line in lines} == {"passed: 204"}


def test_an_assumption_of_understudy_fails_no_other_deployment(deployed: Start):
    _, target = deployed("--choose", "scopes=ignored")
    done, lines = send("getOwnProfile", "--target", target, "--count", 150)
    assert done.exit_code == 0
    assert {line["outcome"] for line in lines if line["outcome"].startswith("not judged")} == {
        "not judged: rule scope-per-operation is assumed by understudy: answered 200, expected 403"
    }


def test_only_what_failed_is_kept_and_the_exit_code_is_1(deployed: Start):
    _, target = deployed("--choose", "scopes=ignored", "--choose", "unknown-profile-members=ignore")
    target.write_text(f"is_mock = true\n{target.read_text()}")
    done, lines = send("updateOwnProfile", "--target", target, "--count", 300, "--only-failing")
    assert done.exit_code == 1
    assert {line["outcome"] for line in lines} == {
        "failed: answered 200, expected 4XX",
        "failed: answered 200, expected 403",
    }
    assert f"Sent: {len(lines)} failed, " in done.stderr


def test_everything_is_put_back(deployed: Start):
    one, target = deployed()
    before = own_state(one)
    words = ("updateOwnProfile", "uploadAvatar", "updateAvatar", "setAvatarForEmail")
    done, lines = send(*words, "--target", target, "--kind", "valid", "--count", 25)
    assert done.exit_code == 0, done.stderr
    assert sum(line["outcome"].startswith("passed") for line in lines) == 100
    assert own_state(one) == before


def test_what_needs_an_address_that_the_target_does_not_give_is_not_sent(deployed: Start):
    one, target = deployed()
    text = target.read_text().replace(f'auth_url = "{one.auth_url}"', "")
    target.write_text(text.replace("[application]", '[application]\napprove = "mock_approve=ada"'))
    done, lines = send("issueToken", "--target", target, "--kind", "valid", "--count", 20)
    assert done.exit_code == 2, done.stderr
    assert "not sent: the target has no CODE" in {line["outcome"] for line in lines}


def test_what_the_target_does_not_permit_is_not_sent(deployed: Start):
    one, target = deployed(mode="observe")
    before = own_state(one)
    done, lines = send("updateOwnProfile", "--target", target, "--kind", "valid", "--count", 40)
    assert done.exit_code == 2
    assert {line["outcome"] for line in lines} == {
        "not sent: writing is not permitted: the mode is observe"
    }
    assert own_state(one) == before


def test_no_secret_of_the_target_is_written(deployed: Start):
    _, target = deployed()
    done, lines = send("getOwnProfile", "validateToken", "issueToken", "--target", target)
    assert len(lines) == 150
    for secret in ("ada-full", "server-app-secret", "ada-password", "ada-expired"):
        assert secret not in done.stdout


def test_subjects_are_those_of_the_target():
    found = data_for_target(MOCK)
    assert (found.slug, found.client_id, found.username) == ("ada", "server-app", "ada")
    assert found.secrets["READ_TOKEN"] == "ada-read-only"
    assert "CLIENT_TOKEN" not in found.secrets
    assert (found.private_slug, found.disabled_slug) == ("hush", "gone")
    assert found.second_hash == test_data.digest("ada.merrowdale@example.org")
    assert found.other_hash == test_data.digest("olu@example.com")


def test_there_are_no_cases_of_people_that_a_target_does_not_name():
    known = replace(MOCK, known=Known(slug="ada", emails=("ada@example.com",)))
    made = edge_cases(
        "getProfile", "setAvatarForEmail", count=250, test_data=data_for_target(known)
    )
    told = {case.description for case in made}
    assert "profileIdentifier: the hash of the e-mail" in told
    assert not [said for said in told if re.search("private profile|disabled|second e-mail", said)]


@pytest.mark.parametrize(
    ("description", "statuses"),
    [
        ("profileIdentifier: a private profile", ("403",)),
        ("profileIdentifier: a private profile, with its owner's token", ("2XX",)),
        ("profileIdentifier: a disabled profile", ("404",)),
        ("profileIdentifier: the hash of a second e-mail of that person", ("2XX",)),
    ],
)
def test_people_whose_profile_is_special_are_looked_up(description, statuses):
    found = {case.description: case for case in edge_cases("getProfile", count=250)}
    assert found[description].expected.statuses == statuses


def test_cases_that_are_only_sent_are_not_printed():
    sent = CliRunner().invoke(main, ["generate", "getProfile", "--count", "3", "--send"])
    assert (sent.exit_code, sent.stdout) == (0, ""), sent.output
    assert "3 cases of 1 operation were generated.\nSent: 3 passed." in sent.stderr


def test_the_page_of_a_report_is_the_next_thing_to_open(tmp_path: Path):
    page = tmp_path / "my report.html"
    words = ["generate", "getProfile", "--count", "3", "--send", "--report", f"html={page}"]
    sent = CliRunner().invoke(main, words)
    assert (sent.exit_code, page.exists()) == (0, True), sent.output
    assert sent.stderr.endswith(f"\nNext: open '{page}'\n")


def test_only_failing_without_send_is_refused():
    refused = CliRunner().invoke(main, ["generate", "--only-failing"])
    assert refused.exit_code == 2
    assert "--only-failing goes with --send" in refused.stderr


def size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # the place is tried out, and cleared again, before anything is sent
        return 0


def test_ctrl_c_ends_with_a_whole_file_of_what_was_sent(tmp_path: Path):
    out = tmp_path / "cases.har"
    words = ("generate", "--send", "--count", "3000", "--format", "har", "--out", str(out))
    ran = [sys.executable, "-m", "understudy", *words]
    with subprocess.Popen(ran, stderr=subprocess.PIPE, text=True) as sending:
        while not size(out):
            assert sending.poll() is None
        sending.send_signal(signal.SIGINT)
        said = sending.communicate()[1]
    assert sending.returncode == 3
    assert "Stopped early" in said
    entries = json.loads(out.read_bytes())["log"]["entries"]
    assert 0 < len(entries) < 3000
    assert all("passed" in entry["comment"] for entry in entries[:1])


def test_an_output_that_cannot_be_written_is_said_before_anything_is_sent(tmp_path: Path):
    gone = CliRunner().invoke(main, ["generate", "--send", "--out", str(tmp_path / "no" / "a.sh")])
    assert gone.exit_code == 2
    says = "a.sh cannot be written: No such file or directory; name a file in a directory that is there.\n"
    assert gone.stderr.endswith(says)
    assert "Sent" not in gone.stderr


def test_a_deployment_where_nothing_responds_is_one_line_and_no_cases(tmp_path: Path):
    target = tmp_path / "target.toml"
    unused = {"base_url": "http://127.0.0.1:9/v3", "auth_url": "http://127.0.0.1:9", "mode": "own"}
    target.write_text(TARGET.format(**unused))
    done, lines = send("getProfile", "--target", target, "--count", 12)
    assert (done.exit_code, lines) == (2, [])
    assert ": Nothing listens at 127.0.0.1:9. Is the deployment up?" in done.stderr
    assert done.stderr.endswith("name another with --base-url or --target.\n")


def test_a_run_that_could_judge_no_case_ends_with_2_and_names_what_is_missing(tmp_path: Path):
    target = tmp_path / "target.toml"
    target.write_text('base_url = "http://127.0.0.1:9/v3"\nmode = "observe"\n')
    done, _ = send("updateOwnProfile", "--target", target, "--count", 3)
    assert done.exit_code == 2
    assert "not sent or judged: the target has no [credentials] access_token." in done.stderr
    assert done.stderr.endswith("and name it with --target; or correct --base-url.\n")
