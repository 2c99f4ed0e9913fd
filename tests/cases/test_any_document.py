"""The generic part works for a document that understudy has never seen, in 3.0 and in 3.1."""

import json
import re
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.mock.server.conftest import NOTES, NOTES_31, Service

from understudy.cases.model import Case
from understudy.cases.plans import Planner
from understudy.cases.selection import KINDS, cases
from understudy.cases.test_data import TestData
from understudy.openapi.loader import load

SECRETS = {"TOKEN": "ada-token", "CREDENTIAL": "any"}


@pytest.fixture(params=[NOTES, NOTES_31], ids=["3.0", "3.1"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Service:
    return Service(request.param, tmp_path, api={"limited": frozenset()})


def fault(service: Service, case: Case) -> str:
    request = case.request.filled(SECRETS)
    headers = [(b"host", b"127.0.0.1")]
    headers += [(name.lower().encode(), text.encode("latin-1")) for name, text in request.headers]
    body = request.body or b""
    if request.body is not None:
        headers.append((b"content-length", str(len(body)).encode()))
    query = request.target.partition("?")[2].encode()
    answer = service.bare(
        request.method, f"/v1{unquote(request.path)}", query, tuple(headers), body
    )
    if "exceeds 64-bit" in answer.text:  # these handlers echo what no JSON of ours can say
        return ""
    said = case.expected.mismatch(answer.status_code)
    target = f"{request.method} {request.target[:150]}"
    return f"{case.kind} {case.description}: {target}: {said}: {answer.text[:200]}" if said else ""


def test_a_service_of_notes_answers_as_announced(service: Service):
    planner = Planner(load(service.directory / "notes.yaml"), "resource", TestData())
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
    planner = Planner(load(tmp_path / "hard.yaml"), "resource", TestData())
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
    assert all(request.query[0] == ("key", "~~CREDENTIAL_ENCODED~~") for request in writes)


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


@pytest.mark.parametrize(("kind", "is_tried"), [("number", False), ("integer", True)])
def test_the_neighbours_of_a_bound_that_a_double_cannot_tell_from_it_are_not_tried(
    tmp_path: Path, kind: str, *, is_tried: bool
):
    schema = f"{{type: {kind}, maximum: 9223372036854774784}}"
    (tmp_path / "wide.yaml").write_text(
        "openapi: 3.0.3\ninfo: {title: Wide, version: '1'}\npaths:\n  /a:\n    get:\n"
        f"      parameters: [{{name: n, in: query, schema: {schema}}}]\n"
        "      responses: {'200': {description: a}}\n"
    )
    planner = Planner(load(tmp_path / "wide.yaml"), "resource", TestData())
    (operation,) = planner.operations
    found = {it.description for it in islice(cases(planner.plan(operation), 0, KINDS), 200)}
    bound = "with maximum 9223372036854774784"
    assert f"n: 9223372036854774784, {bound}" in found
    assert (f"n: 9223372036854774785, {bound}" in found) is is_tried


ALIKE = """
openapi: 3.0.3
info: {title: Alike, version: '1'}
paths:
  /a/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get: {operationId: by id, responses: {'200': {description: a}}}
    put: {operationId: put, responses: {'200': {description: a}}}
  /a/{slug}:
    parameters: [{name: slug, in: path, required: true, schema: {type: string}}]
    get: {operationId: by slug, responses: {'200': {description: a}}}
  /b?kind=new:
    get: {operationId: new, responses: {'200': {description: a}}}
  /b?kind=old:
    get: {operationId: old, responses: {'200': {description: a}}}
  /self:
    get: {operationId: single, responses: {'200': {description: a}}}
    delete: {operationId: delete, responses: {'204': {description: gone}}}
"""


def test_requests_of_two_operations_are_open_and_what_can_be_deleted_may_be_absent(tmp_path: Path):
    (tmp_path / "alike.yaml").write_text(ALIKE)
    planner = Planner(load(tmp_path / "alike.yaml"), "resource", TestData())
    plans = {it.operation_id: planner.plan(it) for it in planner.operations}
    kinds = {n: {it.kind for it in islice(cases(p, 0, KINDS), 9)} for n, p in plans.items()}
    assert {name for name, found in kinds.items() if found == {"open"}} == {"by id", "by slug"}
    absent = [name for name, plan in plans.items() if "404" in plan.context.success.statuses]
    assert absent == ["by id", "put", "by slug", "single", "delete"]


ODD = """
openapi: 3.0.3
info: {title: Odd, version: '1'}
paths:
  /a/{ids}:
    get:
      operationId: read / all
      parameters:
        - {name: ids, in: path, required: true, schema: {type: array, items: {type: integer, minimum: 1}}}
        - {name: f, in: query, style: deepObject, required: true, schema: {type: object, required: [a], properties: {a: {type: string, maxLength: 4}, b: {type: integer, minimum: 3}}}}
        - {name: pair, in: query, explode: false, required: true, schema: {type: array, items: {enum: [x, y]}, minItems: 2}}
        - {name: s, in: cookie, required: true, schema: {type: string, maxLength: 3}}
        - {name: re, in: query, schema: {type: string, pattern: '^(?<y>[a-c]+)$'}}
      responses: {'200': {description: a}}
    put:
      parameters: [{name: ids, in: path, required: true, schema: {type: string}}]
      requestBody:
        content:
          application/vnd.odd+json: {schema: {$ref: '#/components/schemas/Node'}}
          application/xml: {}
      responses: {'200': {description: a}}
  /endless:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Endless'}}}}
      responses: {'200': {description: a}}
components:
  schemas:
    Node:
      type: object
      required: [name]
      properties:
        id: {type: string, readOnly: true}
        name: {type: string}
        inner: {allOf: [{$ref: '#/components/schemas/Node'}]}
      oneOf: [{required: [a], properties: {a: {type: integer}}}, {required: [b]}]
    Endless: {type: object, required: [more], properties: {more: {$ref: '#/components/schemas/Endless'}}}
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Case]]:
    path = tmp_path_factory.mktemp("odd") / "odd.yaml"
    path.write_text(ODD)
    planner = Planner(load(path), "resource", TestData())
    plans = [planner.plan(operation) for operation in planner.operations]
    return {plan.name: list(islice(cases(plan, 0, KINDS), 1500)) for plan in plans}


def told(found: list[Case], description: str) -> tuple[str, str]:
    case = next(case for case in found if case.description == description)
    cookie = dict(case.request.headers).get("Cookie", "")
    return case.kind, f"{unquote(case.request.target)} {cookie}".strip()


@pytest.mark.parametrize(
    ("description", "kind", "sent"),
    [
        ("a plain request", "valid", "/a/1?f[a]=Lind&f[b]=3&pair=x,y s=Lin"),
        ("f[a]: 5 characters, 4 allowed", "invalid", "/a/1?f[a]=abcde&f[b]=3&pair=x,y s=Lin"),
        ("f[b]: 2, with minimum 3", "invalid", "/a/1?f[a]=Lind&f[b]=2&pair=x,y s=Lin"),
        ("pair: the value y", "valid", "/a/1?f[a]=Lind&f[b]=3&pair=y,y s=Lin"),
        ("cookie s left out", "invalid", "/a/1?f[a]=Lind&f[b]=3&pair=x,y"),
    ],
)
def test_lists_objects_and_cookies_are_written_in_their_styles(odd, description, kind, sent):
    found_kind, found = told(odd["read / all"], description)
    assert (found_kind, found) == (kind, sent)


def test_a_member_of_an_object_is_sent_with_those_that_the_object_requires(tmp_path: Path):
    path = tmp_path / "where.yaml"
    path.write_text(
        "openapi: 3.0.3\ninfo: {title: Where, version: '1'}\npaths: {/a: {get: {operationId: get, responses:"
        " {200: {description: ''}}, parameters: [{name: where, in: query, style: deepObject, schema: {type: object,"
        " required: [a], properties: {a: {type: integer}, b: {type: integer}}}}]}}}"
    )
    planner = Planner(load(path), "resource", TestData())
    (plan,) = [planner.plan(operation) for operation in planner.operations]
    found = [it for it in islice(cases(plan, 0, KINDS), 500) if it.description.startswith("where[")]
    assert {"where[a]=" in unquote(it.request.target) for it in found if it.kind == "valid"} == {
        True
    }
    assert told(found, "where[a] left out") == ("invalid", "/a?where[b]=1")


def test_a_case_s_id_can_be_the_name_of_a_file(odd: dict[str, list[Case]]):
    assert all(re.fullmatch(r"[\w.-]+", case.id) for found in odd.values() for case in found)


def test_json_of_any_name_is_json_and_what_is_declared_is_not_refused(odd):
    found = odd["PUT /a/{ids}"]
    plain = next(case for case in found if case.description == "a plain request")
    assert plain.kind == "valid"
    body = json.loads(plain.request.body or b"")
    assert "name" in body
    assert "id" not in body  # only answers have it
    assert "a" in body or "b" in body
    refused = {case.description for case in found if case.kind == "invalid"}
    assert "Content-Type image/png, which is not declared" in refused
    assert not [said for said in refused if "application/xml" in said]


def test_a_member_within_an_object_deviates_alone(odd: dict[str, list[Case]]):
    told = {case.description: case for case in odd["PUT /a/{ids}"]}
    assert told["inner.name: true instead of string"].kind == "invalid"
    assert told["inner.name: 1 character"].kind == "valid"


def test_where_no_value_is_known_to_be_right_all_is_open(odd: dict[str, list[Case]]):
    found = odd["POST /endless"]
    assert {case.kind for case in found} == {"open"}
    assert "schema of body" in found[0].expected.because


SHARED = """
openapi: 3.0.3
info: {title: Shared, version: '1'}
paths:
  /users/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    delete: {responses: {'204': {description: Gone}}}
  /users/me:
    get: {responses: {'200': {description: Me}}}
  /orders:
    post:
      requestBody:
        required: true
        content:
          application/x-www-form-urlencoded:
            schema: &order
              type: object
              required: [where, lines, tags]
              properties:
                id: {type: string, readOnly: true}
                where: {type: object, required: [x], properties: {x: {type: integer}}}
                lines: {type: array, minItems: 2, items: {type: integer}}
                tags: {type: array, items: {type: string}}
            encoding: {where: {style: deepObject}, lines: {style: form, explode: false}}
      responses: {'200': {description: OK}}
  /labels:
    post:
      parameters:
        - {name: by, in: query, required: true, schema: {type: object, additionalProperties: {type: integer}}}
      requestBody:
        content:
          text/xml: {schema: {type: object, required: [size], properties: {size: {type: integer, xml: {name: Size}}}, xml: {name: Label}}}
      responses: {'200': {description: OK}}
  /pings:
    post:
      requestBody: {content: {text/plain: {example: ''}}}
      responses: {'200': {description: OK}}
  /parts:
    post:
      requestBody: {required: true, content: {multipart/form-data: {schema: *order}}}
      responses: {'200': {description: OK}}
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Case]]:
    path = tmp_path_factory.mktemp("shared") / "shared.yaml"
    path.write_text(SHARED)
    planner = Planner(load(path), "resource", TestData())
    plans = [planner.plan(operation) for operation in planner.operations]
    return {plan.name: list(islice(cases(plan, 0, KINDS), 400)) for plan in plans}


def test_a_method_that_another_template_takes_is_no_deviation(shared) -> None:
    tried = {case.request.method for case in shared["GET /users/me"] if case.kind == "invalid"}
    assert "PUT" in tried
    assert "DELETE" not in tried


def test_members_of_this_interface_are_not_tried_elsewhere(shared) -> None:
    assert not [
        it for found in shared.values() for it in found if "only answers have" in it.description
    ]


def test_fields_are_written_by_their_encoding(shared) -> None:
    plain = next(it for it in shared["POST /orders"] if it.description == "a plain request")
    assert unquote(bytes(plain.request.body or b"").decode()) == "where[x]=1&lines=1,2&tags=Lindry"
    parts = next(it for it in shared["POST /parts"] if it.description == "a plain request")
    body = bytes(parts.request.body or b"").decode()
    assert 'name="where"\r\nContent-Type: application/json\r\n\r\n{"x": 1}' in body
    assert body.count('name="lines"') == 2


def test_xml_is_written_by_its_schema_and_an_object_as_parameters_of_its_members(shared) -> None:
    told = {it.description: it for it in shared["POST /labels"]}
    plain, left_out = told["a plain request"], told["by left out"]
    assert bytes(plain.request.body or b"").endswith(b"<Label><Size>1</Size></Label>")
    assert (plain.kind, plain.request.target) == ("valid", "/labels?member_1=1")
    assert (left_out.kind, left_out.request.target) == ("open", "/labels")


def test_a_body_without_a_byte_has_no_media_type_to_be_refused_for(shared) -> None:
    refused = [it.description for it in shared["POST /pings"] if it.kind == "invalid"]
    assert refused
    assert not [it for it in refused if it.startswith("Content-Type")]


VARIED = """
openapi: 3.1.0
info: {title: Varied, version: '1'}
paths:
  /drafts:
    get: {responses: {'200': {description: a}, '4XX': {description: b}}}
  /drafts?beta=true:
    get:
      parameters:
        - {name: beta, in: query, required: true, schema: {enum: ['true']}}
        - {name: size, in: query, required: true, schema: {type: integer}}
      responses: {'200': {description: a}, '4XX': {description: b}}
  /tags:
    get:
      parameters:
        - name: tag
          in: query
          schema: {oneOf: [{type: string}, {type: array, items: {type: string, pattern: '^[0-9]{3}$'}}]}
      responses: {'200': {description: a}, '4XX': {description: b}}
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [seed]
              properties: {seed: {type: integer, minimum: -9223372036854776000, maximum: 9223372036854776000}}
      responses: {'200': {description: a}, '4XX': {description: b}}
"""


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Case]]:
    path = tmp_path_factory.mktemp("varied") / "varied.yaml"
    path.write_text(VARIED)
    planner = Planner(load(path), "resource", TestData())
    return {
        it.operation_id: list(islice(cases(planner.plan(it), 0, KINDS), 400))
        for it in planner.operations
    }


def test_no_case_is_refused_for_lack_of_what_distinguishes_operations_of_one_path(varied):
    (name,) = (it for it in varied if "beta" in it)
    refused = {case.part for case in varied[name] if case.kind == "invalid"}
    assert "query size" in {case.part for case in varied[name]}
    assert refused & {"query beta", "query size"} == set()


def test_a_list_of_one_item_is_not_refused_where_a_text_is_allowed_too(varied):
    refused = [case.request.query for case in varied["GET /tags"] if case.kind == "invalid"]
    assert [query for query in refused if len([it for it in query if it[0] == "tag"]) == 1] == []


def test_plain_requests_keep_to_64_bits_where_the_bounds_of_a_document_are_beyond(varied):
    plain = varied["POST /tags"][0]
    assert abs(json.loads(plain.request.body)["seed"]) < 2**63
