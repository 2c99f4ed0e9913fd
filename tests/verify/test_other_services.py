"""The document of another service is judged by what it says alone: no rule or request is ours."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from msgspec import structs

from understudy.api.judging import judge, phases_of, verify
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.cli import main
from understudy.collections.rules import INFERRED
from understudy.errors import StartupError
from understudy.verify.findings import Event, Exchanged, Outcome
from understudy.verify.run import RunOptions
from understudy.verify.target import Mode

TASKS = """
openapi: 3.0.3
info: {title: Tasks, version: "1"}
servers: [{url: /tasks/v1}]
paths:
  /tasks:
    post:
      security: [{}, {token: []}]
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {"201": {description: Made.}, "4XX": {description: Refused.}}
  /me/profile:
    get:
      responses:
        "200":
          description: The profile of a member of the team.
          content:
            application/json:
              schema: {type: object, required: [team], properties: {team: {type: string}}}
"""

BEDS = """
openapi: 3.0.3
info: {title: Beds, version: "1"}
paths:
  /beds:
    get:
      parameters: [{name: offset, in: query, schema: {type: integer, format: int32}}]
      responses: {"200": {description: All., content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Bed"}}}}}}
    post:
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Bed"}}}}
      responses: {"405": {description: Invalid.}}
  /beds/near:
    get:
      parameters: [{name: place, in: query, required: true, schema: {type: string}}]
      responses: {"200": {description: Near.}}
  /sheds//all:
    get: {responses: {"200": {description: All.}}}
  /beds/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer, minimum: 1, maximum: 5}}]
    get:
      responses: {"200": {description: One., content: {application/json: {schema: {$ref: "#/components/schemas/Bed"}}}}, "404": {description: None.}}
    post:
      requestBody:
        content:
          application/x-www-form-urlencoded: {schema: {type: object, required: [crop], properties: {crop: {type: string}}}}
          multipart/form-data: {schema: {type: object, properties: {crop: {type: string}}}}
      responses: {"200": {description: Sown.}}
components:
  schemas:
    Bed: {type: object, properties: {id: {type: integer, readOnly: true}, crop: {type: string}}}
"""

PETS = """
openapi: 3.0.3
info: {title: Pets, version: "1"}
paths:
  /pets:
    post:
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
      responses: {"405": {description: Invalid.}}
  /pets/{petId}:
    parameters: [{name: petId, in: path, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: One., content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}, "404": {description: None.}}}
    delete: {responses: {"204": {description: Gone.}, "404": {description: None.}}}
  /orders:
    post:
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}
      responses: {"200": {description: Made., content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}}
  /orders/{orderId}:
    parameters: [{name: orderId, in: path, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: One., content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}, "404": {description: None.}}}
    delete: {responses: {"204": {description: Gone.}, "404": {description: None.}}}
components:
  schemas:
    Pet: {type: object, required: [name], properties: {id: {type: integer, format: int64}, name: {type: string}}}
    Order: {type: object, properties: {id: {type: integer, format: int64}, petId: {type: integer, format: int64}, quantity: {type: integer}}}
"""
"""As in the best-known example of all documents, POST of a pet declares an error alone."""

LABELS = """
openapi: 3.0.3
info: {title: Labels, version: "1"}
security: [{key: [], secret: []}]
paths:
  /labels/{id}:
    parameters: [{name: key, in: query, required: true, schema: {type: string}}, {name: secret, in: query, required: true, schema: {type: string}}]
    put:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Label"}}}}
      responses: {"200": {description: Kept., content: {application/json: {schema: {$ref: "#/components/schemas/Label"}}}}}
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: One., content: {application/json: {schema: {$ref: "#/components/schemas/Label"}}}}}
components:
  securitySchemes: {key: {type: apiKey, in: query, name: key}, secret: {type: apiKey, in: query, name: secret}}
  schemas:
    Label: {type: object, properties: {id: {type: integer}, text: {type: string, nullable: true}}}
"""


def test_the_mock_is_clean_where_keys_are_parameters_and_identifiers_are_of_two_types(tmp_path):
    path = tmp_path / "labels.yaml"
    path.write_text(LABELS)
    opened = open_deployment(DeploymentOptions(document=path), {})
    deployment = replace(opened, target=structs.replace(opened.target, is_mock=False))
    phases = phases_of(10, deployment.document, is_mock=True)
    outcome = judge(deployment, RunOptions(phases=phases))
    assert [it.summary for it in outcome.findings] == []
    sent = CliRunner().invoke(main, ["generate", "--document", str(path), "--send"])
    assert sent.exit_code == 0, sent.output


def test_the_mock_of_a_document_is_clean_where_schemathesis_takes_valid_requests_for_invalid(
    tmp_path,
):
    path = tmp_path / "beds.yaml"
    path.write_text(BEDS)
    deployment = open_deployment(DeploymentOptions(document=path), {})
    phases = phases_of(5, deployment.document, is_mock=True)[:2]
    outcome = judge(deployment, RunOptions(phases=phases))
    assert [it.summary for it in outcome.findings] == []


TOKENS = """
openapi: 3.0.3
info: {title: Tokens, version: "1"}
paths:
  /oauth2/token:
    post: {responses: {"200": {description: A token.}}}
  /things:
    get: {responses: {"200": {description: All.}}}
"""


def test_a_document_may_have_a_path_of_the_authorization_server(tmp_path) -> None:
    path = tmp_path / "tokens.yaml"
    path.write_text(TOKENS)
    deployment = open_deployment(DeploymentOptions(document=path), {})
    phases = phases_of(1, deployment.document, is_mock=True)[:1]
    outcome = judge(deployment, RunOptions(phases=phases))
    assert (outcome.internal_errors, outcome.findings) == ((), ())
    assert any(it.operation == "POST /oauth2/token" for it in outcome.exchanges)


HEADERS = """
openapi: 3.1.0
info: {title: Headers, version: "1"}
paths:
  /a:
    get:
      responses:
        "200":
          description: All.
          headers:
            Numbers: {schema: {type: array, items: {type: integer}}}
            Pair: {schema: {type: object, properties: {a: {type: integer}}}}
            Nothing: {schema: {type: object}}
"""


def test_lists_and_objects_in_headers_of_the_mock_are_no_findings(tmp_path) -> None:
    path = tmp_path / "headers.yaml"
    path.write_text(HEADERS)
    deployment = open_deployment(DeploymentOptions(document=path), {})
    phases = phases_of(1, deployment.document, is_mock=True)[:1]
    outcome = judge(deployment, RunOptions(phases=phases))
    assert [it.summary for it in outcome.findings] == []


def test_an_item_without_a_known_identifier_is_created_once_and_ends_no_run(tmp_path) -> None:
    path = tmp_path / "pets.yaml"
    path.write_text(PETS)
    deployment = open_deployment(DeploymentOptions(document=path), {})
    sources = []

    def listen(event: Event) -> None:
        if isinstance(event, Exchanged) and event.exchange.request.url.endswith("/pets"):
            sources.append(event.exchange.source)

    phases = phases_of(5, deployment.document, is_mock=True)
    outcome = judge(deployment, RunOptions(phases=phases, listen=listen))
    assert [it.summary for it in outcome.findings] == []
    assert outcome.internal_errors == ()
    assert len([it for it in sources if "state" in it or "scenario" in it]) == 1
    assert outcome.remaining == ("an item of /pets, whose response has no identifier",)


def test_a_document_of_webhooks_alone_has_nothing_to_judge(tmp_path):
    path = tmp_path / "hooks.yaml"
    path.write_text(
        "openapi: 3.1.0\ninfo: {title: Hooks, version: '1'}\n"
        "webhooks: {sown: {post: {responses: {'200': {description: Taken.}}}}}\n"
    )
    outcome = CliRunner().invoke(main, ["verify", "--document", str(path)])
    assert outcome.exit_code == 2
    assert "internal error" not in outcome.output


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.yaml"
    path.write_text(TASKS)
    return path


@pytest.fixture
def outcome(document: Path) -> Outcome:
    return verify(document=document, cases=2)


def test_its_own_operations_are_judged_by_its_document_alone(outcome: Outcome) -> None:
    assert [(it.rule.id, it.status) for it in outcome.rules if it.rule.id not in INFERRED] == [
        ("answers", "passed"),
        ("document", "passed"),
        ("generated", "passed"),
        ("plain-errors", "passed"),
    ]
    assert {it.source for it in outcome.exchanges} == {
        "edge case",
        "generated as owner",
        "generated as anonymous",
    }
    profiles = [it for it in outcome.exchanges if it.operation and it.request.method == "GET"]
    assert profiles
    assert all("team" in it.json_object for it in profiles if it.response.is_success)


@pytest.mark.parametrize(("mode", "expected"), [("own", {"GET"}), ("full", {"GET", "POST"})])
def test_only_mode_full_writes_where_nothing_is_known_to_undo(
    document: Path, mode: Mode, expected: set[str]
) -> None:
    options = DeploymentOptions(document=document, mode=mode)
    outcome = judge(open_deployment(options, {}), RunOptions(phases=phases_of(2, is_mock=True)))
    declared = {"GET /me/profile", "POST /tasks"}
    sent = {it.request.method for it in outcome.exchanges if it.operation in declared}
    assert sent == expected


def test_nothing_is_sent_to_the_authorization_server_of_this_service(outcome: Outcome) -> None:
    assert {urlsplit(it.request.url).netloc for it in outcome.exchanges} == {"127.0.0.1:8080"}


def test_rules_of_state_are_not_checked_where_no_state_is_inferred(outcome: Outcome) -> None:
    inferred = [it for it in outcome.rules if it.rule.id in INFERRED]
    assert {it.status for it in inferred} == {"not_checked"}
    assert len(inferred) == len(INFERRED)
    assert {it.reason for it in inferred} == {
        "the document has no collection whose items are created and read",
        "the document has no resource that exists once",
        "no operation that reads takes any text",
    }


def test_its_plan_has_no_probe_and_says_what_is_judged(document: Path) -> None:
    done = CliRunner().invoke(main, ["verify", "--document", str(document), "--plan"])
    plan = " ".join(done.output.split())
    assert "describes another service: its 2 operations are judged by two validators" in plan
    assert "up to 10 random ones" in plan
    assert "about 0 requests" in plan


def test_its_plan_at_an_address_names_the_most_requests_that_a_run_sends(document: Path) -> None:
    where = ["--document", str(document), "--base-url", "http://127.0.0.1:9"]
    done = CliRunner().invoke(main, ["verify", *where, "--plan"])
    assert "at most 400 requests to http://127.0.0.1:9 (--max-requests)" in done.output


def test_a_rule_of_the_interface_is_refused_for_it(document: Path) -> None:
    with pytest.raises(StartupError, match=r"--rules qr-default-size: .* another service"):
        verify(document=document, rules=["qr-default-size"])


def test_the_plan_counts_the_preflight(tmp_path: Path) -> None:
    target = tmp_path / "t.toml"
    target.write_text(
        'base_url = "http://127.0.0.1:9/v3"\nmode = "observe"\n[known]\nslug = "ada"\n'
    )
    done = CliRunner().invoke(main, ["verify", "--target", str(target), "--plan"])
    assert " 2 requests  preflight: each credential, slug and secret once" in done.output


def test_an_operation_without_responses_has_none_that_could_break_the_document(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bare.yaml"
    path.write_text(
        "openapi: 3.1.0\ninfo: {title: a, version: '1'}\npaths: {/things: {get: {tags: [a]}}}\n"
    )
    assert verify(document=path, cases=2).findings == ()
