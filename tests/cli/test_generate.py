"""``understudy generate``, as its users call it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from understudy.cases.selection import WORDS
from understudy.cli import main
from understudy.cli.options import FORMAT_NAME
from understudy.generate.formats.export_formats import FORMATS
from understudy.mock.app import Mock
from understudy.mock.server.listing import ANY_CREDENTIALS
from understudy.mock.settings import Settings


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["generate", *map(str, words)])


def test_every_format_is_offered():
    assert (*FORMATS, "msw") == FORMAT_NAME.choices
    assert set(WORDS) == {"valid", "invalid", "all"}


def test_the_same_seed_gives_the_same_bytes_and_another_others():
    words = ("updateOwnProfile", "--count", 300, "--format", "jsonl", "--seed")
    assert run(*words, 3).stdout == run(*words, 3).stdout != run(*words, 4).stdout


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("getQrCode",), "EXPIRED_TOKEN=… sh {}"),
        (("updateOwnProfile",), "TOKEN=… READ_TOKEN=… sh {}"),
        (("updateOwnProfile", "--include-secrets"), "sh {}"),
        (("updateOwnProfile", "--format", "k6"), "k6 run -e TOKEN=… -e READ_TOKEN=… {}"),
        (("issueToken",), "CLIENT_SECRET=… PASSWORD=… sh {}"),
    ],
)
def test_the_next_command_sets_the_secrets_that_the_cases_need(tmp_path, words, command: str):
    out = tmp_path / "cases"
    said = run(*words, "--count", 40, "--out", out)
    assert said.stderr.endswith(f"Next: {command.format(out)}\n")


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_a_kind_is_that_kind(kind):
    said = run("getQrCode", "--kind", kind, "--count", 80, "--format", "jsonl")
    assert {json.loads(line)["kind"] for line in said.stdout.splitlines()} == {kind}


HUGE = """
openapi: 3.1.0
info: {title: Huge, version: "1"}
paths:
  /huge:
    post:
      operationId: huge
      parameters:
        - {name: q, in: query, required: true, schema: &huge {type: string, minLength: 3000000}}
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [s], properties: {s: *huge}}}}
      responses: {"200": {description: fine, content: {application/json: {schema: *huge}}}}
"""


def test_outputs_of_one_stem_keep_their_own_bodies(tmp_path):
    upload = ("uploadAvatar", "--count", 3, "--base-url", "http://127.0.0.1:8080/v3")
    for name, form in (("cases.json", "postman"), ("cases.js", "k6")):
        assert run(*upload, "--format", form, "--out", tmp_path / name).exit_code == 0
    assert list((tmp_path / "cases.json.bodies").iterdir())


def test_an_operation_that_wants_more_than_a_sample_holds_has_cases_and_a_mock(tmp_path):
    document = tmp_path / "huge.yaml"
    document.write_text(HUGE)
    said = run("--document", document, "--count", 5, "--format", "jsonl")
    assert (said.exit_code, len(said.stdout.splitlines())) == (0, 5)
    assert "no value was found" in said.stderr
    listing = Mock(Settings(document=document)).listing
    assert listing is not None
    (operation,) = listing.operations("http://127.0.0.1:8080", ANY_CREDENTIALS)
    assert len(operation.command) < 300


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("updateProfile", "'updateOwnProfile'"),
        ("GET /profiles/ada", "'getProfile', which is GET /profiles/{profileIdentifier}"),
    ],
)
def test_an_operation_that_there_is_not_is_answered_with_the_nearest(named: str, meant: str):
    refused = run(named)
    assert refused.exit_code == 2
    assert f"{named!r}; did you mean {meant}?\n" in refused.stderr


def test_cases_go_to_the_addresses_that_were_given():
    words = ("getProfile", "authorize", "--format", "jsonl", "--count", 5)
    said = run(*words, "--base-url", "https://a.example/v3/", "--auth-url", "https://b.example")
    urls = [json.loads(line)["request"]["url"] for line in said.stdout.splitlines()]
    assert {url.split("?")[0][:29] for url in urls[:5]} == {"https://a.example/v3/profiles"}
    assert all(url.startswith("https://b.example/oauth2/") for url in urls[5:])


def test_any_document_will_do(tmp_path: Path):
    notes = Path(__file__).parents[1] / "mock" / "server" / "notes.yaml"
    said = run("--document", notes, "--format", "jsonl", "--count", 20)
    operations = {json.loads(line)["operation"] for line in said.stdout.splitlines()}
    assert {"GET /notes", "POST /notes", "POST /forms"} <= operations
    assert run("--document", tmp_path / "none.yaml").exit_code == 2


def test_a_small_set_covers_most_and_says_how_much(tmp_path: Path):
    out = tmp_path / "cases.jsonl"
    said = run("--minimize-set", 40, "--count", 100, "--format", "jsonl", "--out", out)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 40
    assert "40 cases cover " in said.stderr
    assert "and 14 of 14 operations." in said.stderr
    assert len({line["operation"] for line in lines}) == 14


def test_ten_thousand_cases_take_no_more_memory_than_a_few(tmp_path: Path):
    program = (
        "import resource, sys; from understudy.cli import main\n"
        "try: main()\n"
        "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for count in (150, 720):  # the first few hold one body of ten megabytes already
        words = ["generate", "--count", str(count), "--format", "jsonl"]
        out = ["--out", str(tmp_path / f"{count}.jsonl")]
        ran = [sys.executable, "-c", program, *words, *out]
        done = subprocess.run(ran, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert len((tmp_path / "720.jsonl").read_bytes().splitlines()) == 10_080
    assert peaks[1] < peaks[0] * 1.15
