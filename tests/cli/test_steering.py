"""The commands that speak to a mock that runs, and the one that brings its own."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
from click.testing import CliRunner, Result
from tests import patient
from tests.cli.conftest import PATIENCE, UNDERSTUDY, Running
from tests.proofs.reference import broken
from tests.verify.byte_server import Server

from understudy.cli import main
from understudy.mock.settings import Settings
from understudy.testing.background import Background
from understudy.verify import admin_client
from understudy.verify.admin_client import AdminClient


class Steered:
    """Commands at a world of a running mock that got three requests.

    Attributes:
        site: The address of the world, as ``--mock`` takes it.
    """

    def __init__(self, site: str) -> None:
        self.site = site
        with httpx.Client(
            base_url=f"{site}/v3", trust_env=False, timeout=patient.PATIENCE
        ) as client:
            ada = {"Authorization": "Bearer ada-full"}
            client.get("/profiles/ada")
            client.patch("/me/profile", json={"location": 7}, headers=ada)
            client.get("/profile/ada")

    def __call__(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments, "--mock", self.site])


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdminClient]:
    running = Running(tmp_path_factory.mktemp("steered"), "--log", "off")
    with closing(AdminClient(running.base_url.removesuffix("/v3"))) as client:
        yield client
    running.stop()


@pytest.fixture
def run(admin: AdminClient) -> Steered:
    world = admin.call("POST", "/worlds", json={})
    return Steered(f"{admin.url}/__world/{world['name']}")


def test_the_journal_is_shown_oldest_first(run) -> None:
    lines = [line.split() for line in run("journal").stdout.splitlines()]
    entries = [line[0:3:2] for line in lines if line[0].isdecimal()]  # the others are reasons
    assert entries == [["1", "200"], ["2", "400"], ["3", "404"]]
    line, reason = run("journal", "--status", "4XX", "--person", "ada").stdout.splitlines()
    assert "PATCH  /v3/me/profile" in line
    assert "location" in reason
    (entry,) = run("journal", "--operation", "getProfile", "--json").stdout.splitlines()
    assert json.loads(entry)["operation"] == "getProfile"
    assert re.match(r"Next: understudy explain [23] --mock http", run("journal").stderr)


def test_an_export_of_another_service_is_served_with_its_document(tmp_path) -> None:
    document = Path(__file__).parents[1] / "mock" / "petstore.yaml"
    background = Background(Settings(document=document, log="off"))
    at = [str(tmp_path / "out"), "--mock", background.url]
    exported = CliRunner().invoke(main, ["export", *at])
    background.stop()
    assert "understudy serve --document DOCUMENT --fixtures " in exported.stdout


def test_a_limit_of_nothing_does_not_say_that_nothing_was_received(run) -> None:
    assert run("journal", "--limit", "0").output == ""


def test_a_person_that_does_not_exist_is_a_mistake_and_no_empty_journal(run) -> None:
    refused = run("journal", "--person", "adda")
    assert refused.exit_code == 2
    assert "--person adda: there is no such person; did you mean 'ada'?" in refused.stderr
    assert run("journal", "--person", "ben").exit_code == 0


def test_stubs_are_made_listed_and_deleted(run) -> None:
    assert run("stub").stderr.startswith("There is no stub")
    assert (
        run(
            "stub",
            "getProfile",
            "--merge",
            '{"location": "Elsewhere"}',
            "--path",
            "profileIdentifier=ben",
        ).stdout
        == "stub-1\n"
    )
    assert (
        run(
            "stub", "--stub", '{"operation": "getQrCode", "response": {"status": 404}, "times": 2}'
        ).stdout
        == "stub-2\n"
    )
    assert run("stub").stdout.splitlines() == [
        "stub-2  getQrCode  answered 0  2 more",
        "stub-1  getProfile  answered 0",
        "  The stub stub-1 answered no request of getProfile; in the nearest, request 1, "
        "path profileIdentifier is 'ada', not 'ben'.",
    ]
    ended = run("stub", "--delete", "all")
    assert (ended.exit_code, ended.stderr) == (0, "All stubs were deleted.\n")
    assert run("stub").stdout == ""


def test_the_stub_or_the_preference_that_decided_is_named(run) -> None:
    run("stub", "getProfile", "--status", "404")
    httpx.get(f"{run.site}/v3/profiles/ada")
    httpx.get(f"{run.site}/v3/qr-code/ada?__code=404")
    assert "stub  stub-1; `understudy stub` lists it" in run("explain", "4").stdout
    assert "preferred  code=404" in run("explain", "5").stdout
    assert "answered by stub-1" in run("journal").stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["getProfile", "--body", '{"display_name": 7}'], "/response/body/display_name"),
        (["getProfile", "--merge", "{"], "write JSON, @FILE, or - for standard input"),
        (["getProfile", "--path", "ben", "--status", "404"], "write it as NAME=TEXT"),
        (["getProfile"], "give a status, headers, a body, a merge or a delay"),
        (["--delete", "stub-9"], "There is no stub 'stub-9'"),
    ],
)
def test_a_stub_that_cannot_be_is_a_mistake_with_its_remedy(run, arguments, reason) -> None:
    refused = run("stub", *arguments)
    assert refused.exit_code == 2
    assert reason in " ".join(refused.stderr.split())


def test_the_journal_is_written_as_an_archive(run, tmp_path: Path) -> None:
    path = tmp_path / "asked.har"
    assert "3 exchanges" in run("journal", "--har", str(path)).stdout
    assert json.loads(path.read_text())["log"]["version"] == "1.2"
    refused = run("journal", "--har", "/no/such/place.har")
    assert "/no/such/place.har cannot be used: No such file or directory. Check" in refused.stderr
    assert refused.exit_code == 2


@pytest.mark.usefixtures("measured_children")
def test_the_journal_is_followed_until_the_mock_stops(serve: Callable[..., Running]) -> None:
    mock = serve("--log", "off")
    site = mock.base_url.removesuffix("/v3")
    command = [str(UNDERSTUDY), "journal", "--follow", "--limit", "0", "--mock", site]
    command += ["--operation", "GET /profiles/{slug}", "--status", "2xx"]
    seen = threading.Event()

    def ask() -> None:
        while not seen.wait(0.1):  # again and again: the first ones come before it listens
            for path in ("qr-code/ben", "profiles/nobody", "profiles/ben"):
                patient.get(f"{site}/v3/{path}")

    asking = threading.Thread(target=ask)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        asking.start()
        line = following.stdout.readline()
        seen.set()
        asking.join()
        mock.stop()
        assert following.wait(PATIENCE) == 0
    assert "/v3/profiles/ben" in line


def test_an_answer_is_explained(run) -> None:
    said = run("explain", "2").stdout
    assert "PATCH /v3/me/profile → 400" in said
    for line in ("where  /location", "actual  7", 'expected  "string"', "ada (oauth)"):
        assert line in said
    assert json.loads(run("explain", "2", "--json").stdout)["id"] == 2
    assert "it remembers 1 to 3" in run("explain", "99").stderr
    assert json.loads(run("explain", "last", "--json").stdout)["id"] == 3
    assert run("explain", "#2").stdout == said
    assert "'abc' is not the id of a request" in run("explain", "abc").stderr


def test_what_was_exercised_is_shown_and_held_to_a_threshold(run) -> None:
    said = run("exercised")
    assert said.exit_code == 0
    assert "of the contract's parts" in said.stdout
    assert json.loads(run("exercised", "--json").stdout)["exercised"] > 0
    short = run("exercised", "--threshold", "90")
    assert (short.exit_code, "and --threshold wants 90 %" in short.stderr) == (1, True)


def test_a_world_becomes_fixtures(run, tmp_path: Path) -> None:
    ben = {"Authorization": "Bearer ben-full"}
    url = f"{run.site}/v3/me/profile"
    patient.patch(url, json={"location": "By hand"}, headers=ben)
    out = tmp_path / "fixtures"
    assert f"serve --fixtures {out}" in run("export", str(out)).stdout
    assert "By hand" in (out / "people" / "ben.yaml").read_text()
    assert "already exists" in run("export", str(out)).stderr
    assert "/proc/nowhere cannot be used: No such file" in run("export", "/proc/nowhere").stderr


def test_a_mock_that_is_not_there_is_said_with_the_remedy() -> None:
    done = CliRunner().invoke(main, ["journal", "--mock", "http://127.0.0.1:9"])
    assert done.exit_code == 2
    assert "understudy serve" in done.stderr


SHOWS = (
    "import os; print(os.environ['UNDERSTUDY_BASE_URL'], os.environ['UNDERSTUDY_TOKEN_BEN_FULL'])"
)
ASKS = (
    "import os, httpx; "
    "print(httpx.get(os.environ['UNDERSTUDY_BASE_URL'] + '/profiles/hush').status_code)"
)


def execute(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [str(UNDERSTUDY), "exec", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("body", [b"{}", b"<!doctype html>", b"[" * 100_000])
@pytest.mark.parametrize(
    "command", ["journal", "journal --follow", "explain last", "exercised", "stub", "export away"]
)
def test_a_server_that_is_not_a_mock_is_said_to_be_none(command: str, body: bytes) -> None:
    responds = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with closing(Server(lambda _connection: responds)) as other:
        refused = CliRunner().invoke(main, [*command.split(), "--mock", other.address])
    assert refused.exit_code == 2
    assert f"{other.address}/__admin/health does not respond as a mock does" in refused.stderr


def test_a_server_that_responds_byte_by_byte_is_said_to_be_none(monkeypatch) -> None:
    monkeypatch.setattr(admin_client, "_TIMEOUT", timedelta(seconds=0.5))
    with broken.dripping() as addresses:
        refused = CliRunner().invoke(main, ["journal", "--mock", addresses.site])
    assert refused.exit_code == 2
    assert "the response took longer than 0.5 s and was cut" in refused.stderr


def test_a_command_finds_a_mock_of_its_own_in_its_environment(monkeypatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_URL", "http://127.0.0.1:9")
    done = execute("--", sys.executable, "-c", SHOWS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("/v3 ben-full\n")
    assert "UNDERSTUDY_URL is http://127.0.0.1:9; the command gets a mock" in done.stderr


@pytest.mark.usefixtures("measured_children")
def test_options_of_serve_stand_before_the_command() -> None:
    choose = ("--choose", "private-profile-lookup=404")
    assert execute(*choose, "--", sys.executable, "-c", ASKS).stdout == "404\n"


def test_the_exit_code_is_the_commands() -> None:
    assert execute("--", sys.executable, "-c", "raise SystemExit(7)").returncode == 7


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "write it after --"),
        (("--", "/no/such/command"), "cannot be run"),
        (("--seed", "x", "--", "true"), "'x' is not a whole number"),
        (("--auto-approve", "adda", "--", "true"), "did not start"),
    ],
)
def test_what_cannot_be_run_is_said(arguments: tuple[str, ...], reason: str) -> None:
    done = CliRunner().invoke(main, ["exec", *arguments])
    assert done.exit_code == 2
    assert reason in done.stderr


def test_help_is_given() -> None:
    assert "UNDERSTUDY_BASE_URL" in CliRunner().invoke(main, ["exec", "--help"]).stdout


def test_what_was_exercised_is_drawn(run, tmp_path: Path) -> None:
    file = tmp_path / "exercised.svg"
    report = json.loads(run("exercised", "--json", "--svg", str(file)).stdout)
    drawn = ElementTree.fromstring(file.read_text())
    titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    parts = [
        f"{operation['operation']}: {part}, {'exercised' if used else 'never'}"
        for operation in report["operations"]
        for part, used in operation["parts"].items()
    ]
    assert titles[1:] == parts
    assert f"{report['share']:.0%}" in str(titles[0])
    refused = run("exercised", "--svg", "/proc/nowhere")
    assert "/proc/nowhere cannot be used: No such file" in refused.stderr


def test_a_capsule_is_opened_and_what_follows_is_said(run, tmp_path: Path) -> None:
    file = tmp_path / "bug.capsule.zip"
    with closing(AdminClient(run.site)) as mock:
        file.write_bytes(mock.fetch("/capsule?request=2"))
    said = run("open", str(file))
    assert said.exit_code == 0, said.output
    assert "stands before request 2; its clock is frozen at " in said.stdout
    assert "understudy explain 2" in said.stdout
    assert "cannot be read" in run("open", str(tmp_path / "none")).stderr
    file.write_bytes(b"no capsule")
    assert "is not a capsule" in run("open", str(file)).stderr
