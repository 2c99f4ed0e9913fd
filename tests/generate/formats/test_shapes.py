"""Formats without a tool of their own are held to what describes them, and to the requests themselves."""

import base64
import json
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.generate.formats.conftest import generate
from tests.verify.packages import har_faults

import understudy.generate.formats.jsonl
from understudy.cases import selection
from understudy.cases.model import Case, CaseRequest, ExpectedResponse
from understudy.cases.selection import edge_cases
from understudy.cases.test_data import AVATAR_ID, SECRETS, TestData
from understudy.errors import StartupError
from understudy.generate.formats.export import (
    SET_UP,
    ExportSettings,
    OmittedCase,
    OutputPiece,
    save,
)
from understudy.generate.formats.export_formats import FORMATS

SCHEMA = Path(understudy.generate.formats.jsonl.__file__).with_name("case.schema.json")
JOB = ExportSettings(
    {"resource": "http://127.0.0.1:8080/v3", "authorization": "http://127.0.0.1:8081"}
)


def some(count: int = 60) -> list[Case]:
    plans = selection.plans(selection.planners(None, TestData()))
    return list(selection.generate(plans, count, 0, selection.WORDS["all"]))


def written(form: str, cases: list[Case]) -> tuple[bytes, list[OmittedCase]]:
    pieces = list(FORMATS[form].write(cases, JOB))
    content = b"".join(p.content for p in pieces if isinstance(p, OutputPiece) and not p.name)
    return content, [piece for piece in pieces if isinstance(piece, OmittedCase)]


def odd(**request: Any) -> Case:
    sent = CaseRequest("resource", "POST", "/a", **request)
    return Case(
        "a-1", "a", "odd", "text", "body", "type", "valid", sent, ExpectedResponse(("2XX",), "#")
    )


def test_json_lines_hold_every_case_as_the_schema_describes():
    cases = some()
    content, left = written("jsonl", cases)
    validator = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text()))
    lines = [json.loads(line) for line in content.splitlines()]
    assert [line["id"] for line in lines] == [case.id for case in cases]
    assert left == []
    for line, case in zip(lines, cases, strict=True):
        validator.validate(line)
        assert sent(line["request"]["body"]) == braced(case.request.body or b"")


def braced(body: bytes) -> bytes:
    """Writes variables as the file does."""
    return re.sub(rb"~~([A-Z_]+)~~", rb"{{\1}}", body)


def sent(body: dict[str, Any] | None) -> bytes:
    """Reads a body as the schema describes it."""
    if body is None or "text" in body:
        return str(body["text"]).encode() if body else b""
    pieces = body.get("pieces", [{**body, "times": 1}])
    return b"".join(base64.b64decode(piece["base64"]) * piece["times"] for piece in pieces)


def of_megabytes() -> list[Case]:
    made = edge_cases("uploadAvatar", count=200)
    return [case for case in made if len(case.request.body or b"") > 9_000_000]


def test_uploads_around_ten_megabytes_are_among_the_cases():
    found = {case.kind: case for case in of_megabytes()}
    assert set(found) == {"valid", "open", "invalid"}
    assert found["invalid"].expected.statuses == ("413",)


@pytest.mark.parametrize("form", ["curl", "k6", "pytest", "jsonl"])
def test_ten_megabytes_of_zeros_take_kilobytes_in_a_file(form: str):
    cases = of_megabytes()
    content, left = written(form, cases)
    assert left == []
    assert len(content) < 15_000


def test_ten_megabytes_in_pieces_are_the_same_bytes():
    cases = of_megabytes()
    content, _ = written("jsonl", cases)
    for line, case in zip(content.splitlines(), cases, strict=True):
        assert sent(json.loads(line)["request"]["body"]) == case.request.body


@pytest.mark.parametrize("form", ["http", "postman"])
def test_ten_megabytes_lie_in_a_file_beside(form: str):
    cases = of_megabytes()
    pieces = list(FORMATS[form].write(cases, JOB))
    beside = [piece.content for piece in pieces if isinstance(piece, OutputPiece) and piece.name]
    assert beside == [case.request.body for case in cases]


def test_bruno_takes_no_part_behind_a_file_for_its_content():
    parts = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\nx\r\n"
        b'--b\r\nContent-Disposition: form-data; name="note"\r\n\r\ny\r\n--b--\r\n'
    )
    headers = (("content-type", "multipart/form-data; boundary=b"),)
    _, left = written("bruno", [odd(headers=headers, body=parts)])
    assert [it.reason for it in left] == ["Bruno writes multipart bodies by itself"]


def test_har_leaves_ten_megabytes_out_and_says_so():
    _, left = written("har", of_megabytes())
    assert {said.reason for said in left} == {
        "a body of megabytes, which a HAR would hold in base64"
    }


def test_har_is_har():
    cases = some(30)
    content, left = written("har", cases)
    entries = json.loads(content)["log"]["entries"]
    of_cases = [entry for entry in entries if "_case" in entry]
    assert len(of_cases) == len(cases) - len(left)
    assert {entry["comment"] for entry in entries if entry not in of_cases} == {SET_UP}
    assert har_faults(content) == ""


@pytest.mark.parametrize(
    ("form", "case", "reason"),
    [
        ("postman", odd(headers=(("A", "1"), ("a", "2"))), "Postman joins the two headers a"),
        ("bruno", odd(headers=(("A", "1 "),)), "a header that Bruno trims, or reads as a variable"),
        (
            "http",
            odd(query=(("a", "%zz"),)),
            "editors refuse an address that is not percent-encoded UTF-8",
        ),
        ("k6", odd(body=b"~~TOKEN~~\x00"), "a secret in a body that is not plain text"),
        ("curl", odd(body=b"~~TOKEN~~\xff"), "a secret in a body that is not plain text"),
    ],
)
def test_what_a_tool_has_no_words_for_is_left_out_with_its_reason(form, case, reason):
    _, left = written(form, [case])
    assert left == [OmittedCase(case, reason)]


def test_an_output_is_replaced_only_by_force(tmp_path: Path):
    out = tmp_path / "cases.sh"
    out.write_text("mine")
    refused = generate("getProfile", "--out", out)
    assert refused.exit_code == 2
    assert refused.stderr.endswith("give --out a new name, or replace it with --force.\n")
    assert out.read_text() == "mine"
    assert generate("getProfile", "--out", out, "--force").exit_code == 0
    assert out.read_text().startswith("#!/bin/sh")


def test_force_replaces_a_collection_and_no_other_directory(tmp_path: Path):
    mine, collection = tmp_path / "mine", tmp_path / "collection"
    mine.mkdir()
    (mine / "letter.txt").write_text("mine")
    words = ("getProfile", "--format", "bruno", "--count", 3, "--out")
    refused = generate(*words, mine, "--force")
    assert refused.stderr.endswith("that generate did not write; give --out a new name.\n")
    assert (mine / "letter.txt").exists()
    for seed in (1, 2):
        assert generate(*words, collection, "--force", "--seed", seed).exit_code == 0
    assert len([*(collection / "getProfile").iterdir()]) == 3


def test_force_keeps_what_others_added_to_a_collection(tmp_path: Path):
    words = ("getProfile", "--format", "bruno", "--out", tmp_path / "cases", "--count")
    assert generate(*words, 5).exit_code == 0
    mine = [tmp_path / "cases" / name for name in ("mine.txt", "environments/My.bru")]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    assert generate(*words, 2, "--force").exit_code == 0
    assert [path.read_text() for path in mine] == ["mine", "mine"]
    assert len([*(tmp_path / "cases" / "getProfile").iterdir()]) == 2


def test_an_output_of_less_needs_no_files_beside_it_any_more(tmp_path: Path):
    job = replace(JOB, beside="a.http.bodies")
    for cases, count in (([odd(body=b"\0" * 5000)], 2), ([odd()], 0)):
        save(
            FORMATS["http"].write(cases, job), FORMATS["http"], tmp_path / "a.http", is_forced=True
        )
        assert len(list(tmp_path.rglob("a.http.bodies/*"))) == count


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_at_the_end_is_said_in_a_line():
    refused = generate(
        "getProfile", "--count", 3, "--format", "jsonl", "--out", "/dev/full", "--force"
    )
    assert refused.stderr.endswith("/dev/full cannot be written: No space left on device.\n")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("bruno", "This format is a directory; name it with --out."),
        ("http", "name a file with --out"),
    ],
)
def test_what_takes_several_files_needs_a_place_for_them(form, words):
    with pytest.raises(StartupError, match=words):
        save(FORMATS[form].write(islice(some(), 600), JOB), FORMATS[form], None)


@pytest.mark.parametrize("form", FORMATS)
def test_what_came_of_a_case_stands_in_every_format(form: str):
    fired = replace(some(1)[0], outcome="failed: answered 418, expected 2XX")
    pieces = FORMATS[form].write([fired], JOB)
    content = b"".join(piece.content for piece in pieces if isinstance(piece, OutputPiece))
    assert b"failed: answered 418, expected 2XX" in content


def texts(case: Case) -> str:
    """Returns what a case sends, as one text."""
    requests = [case.request] if case.set_up is None else [case.set_up.request, case.request]
    return "\n".join(
        f"{it.target} {it.headers} {(it.body or b'').decode('latin-1')}" for it in requests
    )


def test_every_variable_is_spelt_as_the_formats_know_it():
    known = {*SECRETS, AVATAR_ID}
    names = {
        name.removesuffix("_ENCODED")
        for case in edge_cases("issueToken", "validateToken", "authorize", count=300)
        for name in re.findall("~~([A-Za-z_]+)~~", texts(case))
    }
    assert names - known == set()
    assert {"CLIENT_TOKEN", "CODE"} <= names


def test_codes_and_tokens_are_obtained_by_a_request_before():
    cases = list(edge_cases("issueToken", "validateToken", count=300))
    obtained = {
        it.set_up.variable: (it.set_up.member, it.set_up.is_shared) for it in cases if it.set_up
    }
    assert obtained == {"CODE": ("code", False), "CLIENT_TOKEN": ("access_token", True)}
    assert not any({"CODE", "CLIENT_TOKEN"} & set(case.variables) for case in cases)


def test_a_code_that_only_a_person_can_approve_is_a_secret():
    data = replace(TestData(), approval="")
    cases = list(edge_cases("issueToken", count=300, test_data=data))
    assert [case.set_up for case in cases if "CODE" in case.request.variables] != []
    assert {case.set_up for case in cases} == {None}


@pytest.mark.parametrize("form", ["bruno", "curl", "har", "http", "k6", "postman", "pytest"])
def test_cases_are_called_what_they_try_with_the_identifier_behind(form):
    refused = replace(odd(), description="text of 256 characters", kind="invalid")
    pieces = [it for it in FORMATS[form].write([refused], JOB) if isinstance(it, OutputPiece)]
    texts = "\n".join(f"{it.name}\n{it.content.decode()}" for it in pieces)
    assert "text of 256 characters is refused (a-1)" in texts
    assert [it.name for it in pieces if "a-1" in it.name and "is refused" not in it.name] == []


def test_folders_of_a_postman_collection_are_the_operations():
    cases = some(3)
    items = json.loads(written("postman", cases)[0])["item"]
    assert [it["name"] for it in items] == list(dict.fromkeys(case.operation for case in cases))
    titles = [case["name"] for folder in items for case in folder["item"]]
    assert set(titles) - {SET_UP} == {case.title for case in cases} & set(titles)


def test_a_postman_collection_without_cases_is_whole():
    assert json.loads(written("postman", [])[0])["item"] == []
