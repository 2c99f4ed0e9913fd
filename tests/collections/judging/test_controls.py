"""The mock keeps what is inferred from the documents of the tests: there is no finding and no note."""

from pathlib import Path

import httpx
import orjson
import pytest
from tests.collections.judging.service import OWNER, Service
from tests.collections.judging.verifying import target, verified

from understudy.api.judging import judge
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.collections.bodies import read_names
from understudy.collections.inference import find_resources
from understudy.collections.rules import CREATE_READABLE, INFERRED
from understudy.openapi.loader import load
from understudy.openapi.schemas import Schemas
from understudy.verify.run import RunOptions

TESTS = Path(__file__).parents[2]
LABELLED = [
    path
    for path in sorted((TESTS / "collections" / "inference" / "labelled").glob("*.yaml"))
    if path.stem != "labels"
]
STATEFUL = ("12-directions", "34-envelopes", "38-shared-parts", "50-everyday")
UNJUDGED = ("account", "catalogue", "exports", "files", "uploads")
CORPUS = [TESTS / "proofs" / "corpus" / "documents" / f"{name}.yaml" for name in STATEFUL]
CORPUS.append(TESTS / "proofs" / "corpus" / "lives" / "12-orders.yaml")  # changed by JSON patches


@pytest.mark.parametrize("path", [*LABELLED, *CORPUS], ids=lambda path: path.stem)
def test_the_mock_keeps_what_is_inferred_from_a_document(path):
    deployment = open_deployment(DeploymentOptions(document=path), {})
    outcome = judge(deployment, RunOptions())
    assert [it.summary for it in (*outcome.findings, *outcome.notes)] == []
    assert (outcome.not_restored, outcome.internal_errors) == ((), ())
    passed = {it.rule.id for it in outcome.rules if it.status == "passed"}
    # some of these create nothing that is read, or only files and jobs, which are not judged
    assert CREATE_READABLE in passed or path in CORPUS or path.stem in UNJUDGED
    assert INFERRED.keys() & passed or path.stem in UNJUDGED


BERTHS = """
openapi: 3.0.3
info: {title: Berths, version: '1'}
paths:
  /berths:
    get: {responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: &berth
      {type: object, required: [id, ship], properties: {id: {type: string}, ship: {type: string}, side: {type: string}}}}}}}}}
    post:
      requestBody: &sent {required: true, content: {application/json: {schema: {type: object, required: [ship], properties: {ship: {type: string}}}}}}
      responses: {'201': {description: made, content: {application/json: {schema: *berth}}}}
  /berths/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': &one {description: one, content: {application/json: {schema: *berth}}}, '404': {description: none}}}
    put: {requestBody: *sent, responses: {'202': *one, '404': {description: none}}}
    delete: {responses: {'204': {description: gone}, '404': {description: none}}}
"""


def test_a_change_that_is_carried_out_at_an_unknown_time_is_no_finding(tmp_path):
    path = tmp_path / "berths.yaml"
    path.write_text(BERTHS)
    outcome = judge(open_deployment(DeploymentOptions(document=path), {}), RunOptions())
    assert [it.summary for it in (*outcome.findings, *outcome.notes)] == []
    assert CREATE_READABLE in {it.rule.id for it in outcome.rules if it.status == "passed"}


def test_an_identifier_that_a_creation_shows_as_text_is_the_number_that_is_read(tmp_path):
    made = "{description: made, content: {application/json: {schema: "
    as_text = "{type: object, required: [id], properties: {id: {type: string}}}"
    numbered = BERTHS.replace("{id: {type: string}", "{id: {type: integer}")
    path = tmp_path / "berths.yaml"
    path.write_text(numbered.replace(f"{made}*berth", f"{made}{as_text}"))
    outcome = judge(open_deployment(DeploymentOptions(document=path), {}), RunOptions())
    assert [it.summary for it in (*outcome.findings, *outcome.notes)] == []
    assert CREATE_READABLE in {it.rule.id for it in outcome.rules if it.status == "passed"}


def test_a_put_that_names_its_item_in_the_body_creates_none(tmp_path):
    lines = [it for it in BERTHS.splitlines() if not it.startswith("    put:")]
    path = tmp_path / "berths.yaml"
    text = "\n".join(lines).replace("    post:", "    put:").replace("'201'", "'200'")
    path.write_text(
        text.replace("required: [ship], properties: {", "properties: {id: {type: string}, ")
    )
    outcome = judge(
        open_deployment(DeploymentOptions(document=path), {}), RunOptions(rules=(CREATE_READABLE,))
    )
    assert (outcome.findings, outcome.internal_errors) == ((), ())


def test_an_object_that_says_nothing_is_not_taken_by_a_service_that_shows_more(tmp_path):
    crew = "crew: {type: array, items: {type: object, properties: {sailor: {type: object, properties: {age: {type: integer}}}}}}"
    path = tmp_path / "berths.yaml"
    path.write_text(
        BERTHS.replace("side: {type: string}", crew).replace("[id, ship]", "[id, ship, crew]")
    )
    outcome = judge(open_deployment(DeploymentOptions(document=path), {}), RunOptions())
    assert [it.summary for it in outcome.findings] == []


def test_a_value_that_no_response_can_show_is_not_expected_of_one(tmp_path):
    path = tmp_path / "berths.yaml"
    told = BERTHS.replace("side: {type: string}", "side: {type: string, enum: [port]}")
    both = "ship: {type: string}, side: {type: string, enum: [astern, port]}"
    path.write_text(told.replace("properties: {ship: {type: string}}", f"properties: {{{both}}}"))
    outcome = judge(open_deployment(DeploymentOptions(document=path), {}), RunOptions())
    assert [it.summary for it in (*outcome.findings, *outcome.notes)] == []


@pytest.mark.parametrize(
    ("shown", "sent", "is_read"),
    [
        ("{type: string, format: date-time}", "{type: string}", False),
        ("{type: integer, format: int64}", "{type: integer}", True),
        ("{type: string, pattern: '^[a-z]$'}", "{type: string}", False),
        ("{type: string}", "{type: string, maxLength: 9}", True),
        ("{$ref: '#/components/schemas/Links'}", "{$ref: '#/components/schemas/Links'}", False),
    ],
)
def test_a_member_is_compared_that_responses_show_as_it_was_sent(tmp_path, shown, sent, is_read):
    path = tmp_path / "berths.yaml"
    told = BERTHS.replace("side: {type: string}", f"side: {shown}")
    both = f"properties: {{ship: {{type: string}}, side: {sent}}}"
    members = "{self: {type: string, readOnly: true}}"
    path.write_text(
        told.replace("properties: {ship: {type: string}}", both)
        + f"components: {{schemas: {{Links: {{type: object, properties: {members}}}}}}}"
    )
    document = load(path)
    (berths,) = find_resources(document).collections
    creation = next(it for it in berths.operations if it.role == "create")
    assert ("side" in read_names(Schemas(document), creation, berths)) is is_read


def test_a_client_may_send_the_example_of_an_identifier_and_the_times_that_a_service_keeps(
    tmp_path,
):
    path = tmp_path / "berths.yaml"
    example = "{type: string, format: uuid, example: 7d5aa4f0-4b73-4d5c-9e4c-0a1f5b8f3a11}"
    kept = "updated_at: {type: integer, format: int64, example: 1576300370}"
    whole = f"{{type: object, required: [id, ship], properties: {{id: {example}, ship: {{type: string}}, {kept}}}}}"
    sent = "{type: object, required: [ship], properties: {ship: {type: string}}}"
    told = BERTHS.replace("side: {type: string}", kept).replace("'202'", "'200'")
    path.write_text(
        told.replace("properties: {id: {type: string}", f"properties: {{id: {example}").replace(
            sent, whole
        )
    )
    outcome = judge(open_deployment(DeploymentOptions(document=path), {}), RunOptions())
    assert [it.summary for it in (*outcome.findings, *outcome.notes)] == []


def test_an_open_object_may_have_every_member_of_an_item_that_is_not_read_only(tmp_path):
    path = tmp_path / "berths.yaml"
    sent = "{type: object, required: [ship], properties: {ship: {type: string}}}"
    path.write_text(BERTHS.replace(sent, "{type: object}").replace("[id, ship]", "[id]"))
    outcome = judge(open_deployment(DeploymentOptions(document=path), {}), RunOptions())
    assert [it.summary for it in (*outcome.findings, *outcome.notes)] == []


BERTHS_OF_HARBOURS = """
openapi: 3.0.3
info: {title: Berths, version: '1'}
servers: [{url: /v1}]
paths:
  LIST:
    PARAMETERS
    get:
      responses:
        '200': {description: all, content: {application/json: {schema: {type: array, items: &berth {$ref: '#/components/schemas/Berth'}}}}}
  /berths/{harbour}/{berthId}:
    parameters:
      - {name: harbour, in: path, required: true, schema: {type: string}}
      - {name: berthId, in: path, required: true, schema: {type: string}}
    get: {responses: &shown {'200': {description: one, content: {application/json: {schema: *berth}}}, '404': {description: none}}}
    put:
      requestBody: {required: true, content: {application/json: {schema: *berth}}}
      responses: *shown
components:
  schemas:
    Berth: {type: object, required: [berthId], properties: {berthId: {type: string}, name: {type: string}}}
"""


class Twice(Service):
    """Lists the items of two parents, which have the same identifiers."""

    def respond(self, request):
        path = request.url.path.removeprefix("/v1")
        if request.method == "PUT":
            self.singles[OWNER, path] = orjson.loads(request.content)
        berths = [self.singles[key] for key in self.singles if key[1].startswith(path)]
        is_item = path.count("/") == 3
        if is_item and not berths:
            return httpx.Response(404)
        return httpx.Response(200, json=berths[0] if is_item else berths * 2)


@pytest.mark.parametrize(("path", "broken"), [("/berths", 0), ("/berths/{harbour}", 1)])
def test_identifiers_repeat_in_a_list_of_the_items_of_several_parents_alone(tmp_path, path, broken):
    parameters = "parameters: [{name: harbour, in: path, required: true, schema: {type: string}}]"
    text = BERTHS_OF_HARBOURS.replace("LIST", path).replace(
        "PARAMETERS", parameters if broken else ""
    )
    (tmp_path / "berths.yaml").write_text(text)
    rules = ("inferred-list-once", "inferred-create-readable")
    outcome = verified(Twice(), tmp_path / "berths.yaml", target(mode="full"), rules=rules)
    broken_rules = [it.rule.id for it in (*outcome.findings, *outcome.notes)]
    assert broken_rules == ["inferred-list-once"] * broken
    (created,) = (it for it in outcome.rules if it.rule.id == "inferred-create-readable")
    assert created.status == "passed"
