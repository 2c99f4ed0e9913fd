"""The generic part works for a document that understudy has never seen, in 3.0 and in 3.1."""

from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.engine.conftest import NOTES, NOTES_31, Service

from understudy.contract.edge_cases.case import Case
from understudy.contract.edge_cases.plans import Planner
from understudy.contract.edge_cases.stream import KINDS, cases
from understudy.contract.edge_cases.subjects import Subjects
from understudy.document.loader import load

SECRETS = {"token": "ada-token", "credential": "any"}


@pytest.fixture(params=[NOTES, NOTES_31], ids=["3.0", "3.1"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Service:
    return Service(request.param, tmp_path, api={"limited": frozenset()})


def fault(service: Service, case: Case) -> str:
    request = case.request.filled(SECRETS)
    headers = [(name.lower().encode(), text.encode("latin-1")) for name, text in request.headers]
    body = request.body or b""
    if request.body is not None:
        headers.append((b"content-length", str(len(body)).encode()))
    query = request.target.partition("?")[2].encode()
    answer = service.bare(
        request.method, f"/v1{unquote(request.path)}", query, tuple(headers), body
    )
    if "exceeds 64-bit" in answer.text:  # these handlers echo what no JSON of ours can say
        return ""
    said = case.expected.fault(answer.status_code)
    target = f"{request.method} {request.target[:150]}"
    return f"{case.kind} {case.description}: {target}: {said}: {answer.text[:200]}" if said else ""


def test_a_service_of_notes_answers_as_announced(service: Service):
    planner = Planner(load(service.directory / "notes.yaml"), "resource", Subjects())
    found = []
    for operation in planner.operations:
        if operation.path == "/failing":
            continue
        made = list(islice(cases(planner.plan(operation), 0, KINDS), 120))
        found += [said for case in made if (said := fault(service, case))]
    assert found == []
