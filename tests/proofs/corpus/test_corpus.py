"""The engine serves every document of the corpus; ``make corpus`` runs the whole mock and its peers."""

from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from tests.proofs.corpus.cases import DOCUMENTS, CorpusDocument, CorpusRequest, read
from tests.proofs.corpus.judge import Judge, refusal_fault
from tests.proofs.corpus.mocks import engine_alone
from tests.proofs.corpus.scores import score
from tests.proofs.corpus.sequences import LIVES, faults, inference, sequences

from understudy.cli import main

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "query"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_is_served_as_it_says(path) -> None:
    result = score([read(path)], lambda document: engine_alone(document.path))
    assert result.faults == []
    assert result.failures == 0


def test_every_operation_has_a_valid_request() -> None:
    judged = 0
    for path in DOCUMENTS:
        document = read(path)
        operations = {
            f"{pointer}/{method}"
            for template in document.raw["paths"]
            if template.startswith("/")
            for pointer, item in [Judge(document).followed(template)]
            for method in item.keys() & METHODS
        }
        sent = {Judge(document).operation_of(request) for request in document.requests}
        assert operations <= sent, path.stem
        judged += len(operations)
    assert len(DOCUMENTS) == 51
    assert judged > 90


ITEM = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
CONTENT = {"application/json": {"schema": ITEM}, "image/png": {}}
HEADERS = {"X-A": {"required": True, "schema": {"type": "integer", "minimum": 1}}}
RESPONSES = {"200": {"description": "ok", "headers": HEADERS, "content": CONTENT}}
RAW: dict[str, Any] = {"openapi": "3.0.3", "paths": {"/a/{b}": {"get": {"responses": RESPONSES}}}}


@pytest.mark.parametrize(
    ("status", "headers", "content", "fault"),
    [
        (200, {"x-a": "1"}, b'{"id": 1}', ""),
        (200, {"x-a": "1"}, b'{"id": "1"}', "id: '1' is not of type 'integer'"),
        (200, {"x-a": "1"}, b"{", "not application/json"),
        (200, {"x-a": "0"}, b'{"id": 1}', "header X-A"),
        (200, {}, b'{"id": 1}', "header X-A is missing"),
        (201, {"x-a": "1"}, b'{"id": 1}', "status 201 is not documented"),
        (200, {"x-a": "1", "content-type": "text/plain"}, b"", "'text/plain' is not among"),
        (200, {"x-a": "1", "content-type": "image/png"}, b"no picture", "not image/png"),
    ],
)
def test_the_judge_finds_what_is_wrong(status, headers, content, fault: str) -> None:
    judge = Judge(CorpusDocument(DOCUMENTS[0], RAW, ()))
    response = httpx.Response(
        status, headers={"content-type": "application/json", **headers}, content=content
    )
    faults = judge.faults(CorpusRequest("GET", "/a/5?c=d"), response)
    assert bool(faults) == bool(fault)
    assert fault in "".join(faults)


@pytest.mark.parametrize(
    ("status", "text", "fault"),
    [(400, "limit: too large", ""), (400, "no", "'limit' is not named: no"), (200, "{}", "status 200 instead of 4XX: {}")],
)  # fmt: skip
def test_a_refusal_has_to_name_its_reason(status: int, text: str, fault: str) -> None:
    request = CorpusRequest("GET", "/a", refused="limit")
    assert refusal_fault(request, httpx.Response(status, text=text)) == fault


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_the_cases_of_a_document_are_green_on_its_mock(path) -> None:
    command = ["generate", "--document", str(path), "--send", "--count", "15", "--only-failing"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("path", LIVES, ids=lambda path: path.stem)
def test_a_document_has_the_state_that_its_sequences_expect(path) -> None:
    assert {kind for kind, fault in faults(path) if fault} <= NOT_KEPT
    found = inference(path)
    assert found.claimed <= found.labelled, "wrongly inferred"


NOT_KEPT = {
    "a picture that exists once",
    "a search that is sent",
    "any value under a key",
    "what was marked as deleted is restored",
}
"""Kinds of sequences that do not behave; ``make corpus`` prints what each shows."""


def test_nine_tenths_of_the_sequences_behave() -> None:
    kinds = [kind for path in LIVES for kind, _ in sequences(path)]
    assert len(kinds) - len(NOT_KEPT & set(kinds)) >= 0.9 * len(kinds)
    assert len(kinds) == len(set(kinds)) == 77


def test_the_steps_of_a_sequence_find_what_does_not_behave(tmp_path) -> None:
    path = tmp_path / "wrong.yaml"
    steps = "[{send: GET /currencies/QQQ, status: 200}]"
    head = (LIVES[9].read_text()).partition("x-sequences:")[0]
    path.write_text(f"{head}x-sequences: [{{kind: a, steps: {steps}}}]\n")
    assert [fault[:40] for _, fault in faults(path)] == ["GET /currencies/QQQ: status 404 instead "]
