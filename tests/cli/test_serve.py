"""``understudy serve`` as a process."""

import json
import os
import shlex
import shutil
import signal
import socket
import stat
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests import patient
from tests.cli.conftest import UNDERSTUDY

from understudy import plugins
from understudy.cli import main
from understudy.openapi.bundled import fixtures_directory, openapi_directory

pytestmark = pytest.mark.usefixtures("measured_children")


def test_the_mock_answers_at_both_addresses_once_the_ready_file_is_there(serve):
    mock = serve()
    assert patient.get(f"{mock.base_url}/profiles/ada").json()["display_name"] == "Ada Merrowdale"
    assert "Trail Journal" in patient.get(mock.auth_url).text


def test_paths_are_served_without_the_base_path_too(serve):
    mock = serve()
    site = mock.base_url.removesuffix("/v3")
    assert (
        patient.get(f"{site}/profiles/ada").json()
        == patient.get(f"{mock.base_url}/profiles/ada").json()
    )


def test_the_banner_says_where_what_to_type_and_whom_to_ask_for(serve):
    said = serve().said
    text = said()
    for told in ("resource API", "curl http", "Bearer ada-full", "ada, aurelia", "Ctrl-C stops"):
        assert told in text


def test_the_first_screen_fits_a_terminal(serve):
    shown = serve("--admin-token", "t").said().rstrip("\n").splitlines()
    assert len(shown) <= 24
    assert max(map(len, shown)) <= 80


PETSTORE = Path(__file__).parents[1] / "mock" / "petstore.yaml"


def test_the_commands_shown_for_another_document_work(serve):
    mock = serve("--document", str(PETSTORE), "--log", "off")
    shown = mock.said()
    assert "serves Petstore" in shown
    assert len(shown.splitlines()) <= 24
    assert "ada, aurelia" not in shown
    commands = [line.strip() for line in shown.splitlines() if line.startswith("  curl ")]
    assert len(commands) == 5
    for command in commands:
        words = [*shlex.split(command), "-s", "-o", "/dev/null", "-w", "%{http_code}"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert done.stdout.startswith("2"), command


def test_a_log_of_json_has_nothing_else_on_standard_output(tmp_path):
    command = [str(UNDERSTUDY), "serve", "--log", "json", "--port", "0", "--auth-port", "0"]
    ready = tmp_path / "ready.json"
    with subprocess.Popen(
        [*command, "--ready-file", str(ready)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not ready.exists():
            assert process.poll() is None
        patient.get(f"{json.loads(ready.read_text())['base_url']}/profiles/ada")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
    assert [json.loads(line)["status"] for line in output.splitlines()] == [200]
    assert "Ctrl-C stops." in errors


def test_ctrl_c_stops_with_a_request_under_way(serve):
    mock = serve()
    host, port = mock.base_url.split("/")[2].split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"POST /v3/me/avatars HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
        assert mock.stop() == 0


def test_every_option_has_an_environment_twin(serve):
    chosen = {"UNDERSTUDY_CHOOSE": "avatar-delete-status=200 rate-limits=off"}
    mock = serve(UNDERSTUDY_LOG="json", **chosen)
    token = {"Authorization": "Bearer ada-full"}
    avatars = patient.get(f"{mock.base_url}/me/avatars", headers=token).json()
    gone = patient.delete(f"{mock.base_url}/me/avatars/{avatars[0]['image_id']}", headers=token)
    assert gone.status_code == 200
    mock.wait_for(lambda: "deleteAvatar" in mock.said())
    line = json.loads(mock.said().splitlines()[-1])
    assert (line["operation"], line["status"], line["person"]) == ("deleteAvatar", 200, "ada")


def test_one_port_is_enough(serve):
    mock = serve("--single-port")
    assert mock.base_url == f"{mock.auth_url}/v3"
    form = {
        "grant_type": "password",
        "client_id": "server-app",
        "client_secret": "server-app-secret",
        "username": "ada",
        "password": "ada-password",
    }
    token = patient.post(f"{mock.auth_url}/oauth2/token", data=form).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert patient.get(f"{mock.base_url}/me/profile", headers=headers).status_code == 200


def test_a_test_without_a_browser_follows_one_redirect(serve):
    mock = serve("--auto-approve", "olu")
    query = {
        "client_id": "server-app",
        "redirect_uri": "http://127.0.0.1:5000/callback",
        "response_type": "code",
        "scope[0]": "auth",
    }
    answer = patient.get(f"{mock.auth_url}/oauth2/authorize", params=query)
    assert answer.headers["location"].startswith("http://127.0.0.1:5000/callback?code=")


def test_a_reload_takes_new_fixtures_and_keeps_the_state(serve, tmp_path):
    fixtures = tmp_path / "fixtures"
    shutil.copytree(fixtures_directory(), fixtures)
    mock = serve("--reload", "--fixtures", str(fixtures), "--log", "off")
    headers = {"Authorization": "Bearer ada-full"}
    patient.patch(f"{mock.base_url}/me/profile", headers=headers, json={"location": "Here"})
    newcomer = "slug: una\nabout: New.\nemails: [{email: una@example.com}]\n"
    (fixtures / "people" / "una.yaml").write_text(newcomer)
    mock.wait_for(lambda: patient.get(f"{mock.base_url}/profiles/una").status_code == 200)
    assert patient.get(f"{mock.base_url}/profiles/ada").json()["location"] == "Here"
    (fixtures / "people" / "una.yaml").write_text("slug: una\nabuot: Typo.\n")
    mock.wait_for(lambda: "did you mean 'about'" in mock.said())
    assert patient.get(f"{mock.base_url}/profiles/una").status_code == 200


@pytest.mark.parametrize("is_made", [False, True], ids=["alone", "under make"])
def test_a_port_in_use_is_said_in_one_line(run, monkeypatch, is_made: bool):
    monkeypatch.setenv("UNDERSTUDY_STARTED_BY", "make serve" if is_made else "")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = run("serve", "--port", str(port), "--auth-port", "0")
    assert ran.returncode == 2
    other = f'make serve ARGS="--port {port + 1}"' if is_made else "--port"
    assert ran.stderr == (
        f"Error (exit code 2): Port {port} is in use; stop what runs there, or choose another with {other}.\n"
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--document", "missing.yaml"), "missing.yaml cannot be read"),
        (("--fixtures", "missing"), "missing"),
        (("--choose", "rate-limit=off"), "did you mean 'rate-limits'?"),
        (("--choose", "rate-limits=of"), "did you mean 'off'?"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(options, says):
    words = ["serve", "--port", "0", "--auth-port", "0", *options]
    refused = CliRunner().invoke(main, words)
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)
    assert says in refused.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--auto-approve", "adda"), "did you mean 'ada'?"),
        (("--ready-file", "/nowhere/ready.json"), "/nowhere/ready.json cannot be written"),
        (("--host", "192.0.2.1"), "Cannot listen on 192.0.2.1"),
    ],
)
def test_what_a_process_refuses_as_it_starts_is_said_in_one_line(run, options, says):
    ran = run("serve", "--port", "0", "--auth-port", "0", *options)
    assert (ran.returncode, len(ran.stderr.splitlines())) == (2, 1)
    assert says in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads what nobody may")
def test_an_unreadable_document_is_said_in_one_line(run, tmp_path):
    document = tmp_path / "document.yaml"
    document.write_text("openapi: 3.0.3")
    document.chmod(stat.S_IWUSR)
    ran = run("serve", "--port", "0", "--auth-port", "0", "--document", str(document))
    assert (ran.returncode, "cannot be read" in ran.stderr) == (2, True)


def test_what_permissions_refuse_is_said_in_one_line(monkeypatch):
    def refused():
        raise PermissionError(13, "Permission denied", "people/ada.yaml")

    command = click.Command("serve", callback=refused)
    monkeypatch.setattr(plugins, "find", lambda _kind, _name: command)
    done = CliRunner().invoke(main, ["serve"])
    told = "people/ada.yaml cannot be used: Permission denied. Check the path and its permissions."
    assert (done.exit_code, done.stderr) == (2, f"Error (exit code 2): {told}\n")


def test_another_document_can_be_put_in_force(serve, tmp_path):
    text = (openapi_directory() / "service.yaml").read_text()
    newer = tmp_path / "newer.yaml"
    experiment = (
        "paths:\n"
        "  /experiments:\n"
        "    get:\n"
        "      responses:\n"
        "        '200':\n"
        "          description: Made up.\n"
        "          content: {application/json: {schema: {$ref: '#/components/schemas/Link'}}}\n"
    )
    newer.write_text(text.replace("\npaths:\n", f"\n{experiment}", 1))
    mock = serve("--document", str(newer))
    assert set(patient.get(f"{mock.base_url}/experiments").json()) == {"label", "url"}
    assert patient.get(f"{mock.base_url}/profiles/ada").status_code == 200
    assert "/experiments" in patient.get(f"{mock.base_url}/openapi").json()["paths"]
