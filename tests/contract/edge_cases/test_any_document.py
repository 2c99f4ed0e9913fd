"""The generic part works for a document that understudy has never seen, in 3.0 and in 3.1."""

import re
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


HARD = """
openapi: 3.1.0
info: {title: Hard, version: '1'}
paths:
  /a/{id}:
    get:
      parameters:
        - {name: id, in: path, required: true, schema: {type: string, format: uuid}}
        - {name: q, in: query, required: true, schema: {type: [string, 'null'], maxLength: 5}}
        - name: t
          in: query
          schema: {type: array, items: {enum: [x, y]}, uniqueItems: true, maxItems: 3}
        - {name: c, in: cookie, required: true, schema: {type: string}}
        - {name: X-H, in: header, required: true, schema: {type: string, pattern: '^[a-z]{3,5}$'}}
      responses: {'200': {description: a}}
    put:
      security: [{k: []}]
      requestBody:
        content:
          application/json:
            schema:
              oneOf:
                - {type: object, required: [kind], properties: {kind: {const: a}, tree: {$ref: '#/components/schemas/Tree'}}}
                - {type: object, required: [kind, n], properties: {kind: {const: b}, n: {type: integer, maximum: 9}}}
      responses: {'204': {description: a}}
components:
  securitySchemes: {k: {type: apiKey, in: query, name: key}}
  schemas:
    Tree: {type: object, properties: {kids: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}
"""


@pytest.fixture
def hard(tmp_path: Path) -> list[Case]:
    (tmp_path / "hard.yaml").write_text(HARD)
    planner = Planner(load(tmp_path / "hard.yaml"), "resource", Subjects())
    found = []
    for operation in planner.operations:
        found += list(islice(cases(planner.plan(operation), 0, KINDS), 600))
    return found


def test_what_is_required_is_in_every_valid_case(hard: list[Case]):
    valid = [case.request for case in hard if case.kind == "valid"]
    reads = [request for request in valid if request.method == "GET"]
    assert len(reads) > 50
    assert all(any(n == "Cookie" and t.startswith("c=") for n, t in r.headers) for r in reads)
    assert all(re.search("X-H', '[a-z]{3,5}'", str(r.headers)) for r in reads)
    writes = [request for request in valid if request.method == "PUT"]
    assert all(request.query[0] == ("key", "~~credential_encoded~~") for request in writes)


@pytest.mark.parametrize(
    ("description", "kind"),
    [
        ("t: the value y", "valid"),
        ("t: one item twice", "invalid"),
        ("t: y in the other case", "invalid"),
        ("q: 6 characters, 5 allowed", "invalid"),
        ("n: 10, with maximum 9", "valid"),
        ("body: none at all", "valid"),
    ],
)
def test_lists_lengths_and_alternatives_are_tried(hard: list[Case], description: str, kind: str):
    found = {case.kind for case in hard if case.description == description}
    assert found == {kind}
