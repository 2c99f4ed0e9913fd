"""``generate --document X --send``: the mock serves X, and a deployment without X passes nothing."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.cli.conftest import Running

from understudy.api import opening
from understudy.cli import main

SHOP = """
openapi: 3.1.0
info: {title: Shop, version: '1'}
servers: [{url: https://shop.example/api}]
paths:
  /orders:
    get:
      operationId: listOrders
      parameters: [{name: page, in: query, schema: {type: integer, minimum: 1}}]
      responses: {'200': {description: a}, '4XX': {description: b}}
    post:
      operationId: createOrder
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [sku]
              properties: {sku: {type: string, pattern: '^[A-Z]{3}-[0-9]{4}$'}}
      responses: {'201': {description: a}, '4XX': {description: b}}
  /orders/{id}:
    get:
      operationId: getOrder
      parameters: [{name: id, in: path, required: true, schema: {type: string, format: uuid}}]
      responses: {'200': {description: a}, '4XX': {description: b}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP)
    return path


@pytest.fixture
def other_service(tmp_path: Path) -> Iterator[str]:
    """A deployment that knows no operation of the shop; every path of it is a 404."""
    running = Running(tmp_path, "--log", "off")
    yield running.base_url
    running.stop()


def send(*words: object) -> tuple[Result, list[dict[str, Any]]]:
    sent = ["generate", "--send", "--format", "jsonl", *map(str, words)]
    done = CliRunner().invoke(main, sent)
    return done, [json.loads(line) for line in done.stdout.split("\n") if line]


@pytest.mark.parametrize(
    ("servers", "base_path"),
    [
        ("[{url: https://shop.example/api}]", "/api"),
        ("[{url: '/{v}/', variables: {v: {default: v2}}}]", "/v2"),
        ("[]", ""),
    ],
)
def test_cases_are_addressed_by_the_documents_own_base_path(tmp_path, servers: str, base_path):
    document = tmp_path / "shop.yaml"
    document.write_text(SHOP.replace("[{url: https://shop.example/api}]", servers))
    words = ["generate", "listOrders", "--document", str(document), "--count", "1"]
    written = CliRunner().invoke(main, words).stdout
    assert f"BASE_URL='http://127.0.0.1:8080{base_path}'" in written


def test_without_a_target_the_mock_serves_the_document(shop: Path):
    done, lines = send("--document", shop, "--count", 40)
    assert done.exit_code == 0, [line for line in lines if line["outcome"].startswith("failed")]
    passed = {line["outcome"] for line in lines if line["kind"] == "valid"} - {
        "not sent: the HTTP client would normalise its URL"
    }
    assert passed == {"passed: 200", "passed: 201"}


@pytest.mark.parametrize("kind", ["all", "invalid"])
def test_a_404_of_an_unknown_path_passes_nothing(shop: Path, other_service: str, kind: str):
    words = ("--document", shop, "--base-url", other_service, "--kind", kind, "--count", 30)
    _, lines = send(*words)
    assert len(lines) == 90
    assert {line["outcome"].partition(":")[0] for line in lines} <= {
        "failed",
        "not judged",
        "not sent",
    }
    plain_too = "not judged: the plain request of getOrder is answered with 404 too"
    assert plain_too in {line["outcome"] for line in lines}


@pytest.mark.parametrize(
    ("scheme", "missing"),
    [
        ("{type: http, scheme: basic}", '`[application]` and below it `username = "…"`'),
        ("{type: http, scheme: bearer}", '`[credentials]` and below it `api_key = "…"`'),
    ],
)
def test_the_credential_that_every_case_lacks_is_named(tmp_path: Path, scheme: str, missing: str):
    path = tmp_path / "shop.yaml"
    path.write_text(
        f"{SHOP}security: [{{it: []}}]\ncomponents: {{securitySchemes: {{it: {scheme}}}}}\n"
    )
    base = ("--base-url", "http://127.0.0.1:9/api", "--kind", "valid", "--count", 2)
    done, _ = send("getOrder", "--document", path, *base)
    assert done.exit_code == 2
    assert missing in " ".join(done.stderr.split())


def test_the_base_url_names_where_cases_are_sent(shop: Path, other_service: str):
    _, lines = send("createOrder", "--document", shop, "--base-url", other_service, "--count", 3)
    assert {line["request"]["url"].partition("?")[0] for line in lines} == {
        f"{other_service}/orders"
    }


def test_every_case_is_sent_however_many_requests_a_run_of_verify_may_send(
    shop: Path, other_service: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(opening, "LEAST_REQUESTS", 4)
    monkeypatch.setattr(opening, "REQUESTS_OF_OPERATION", 1)
    monkeypatch.setattr(opening, "MOST_TIME", timedelta(microseconds=1))
    _, lines = send("createOrder", "--document", shop, "--base-url", other_service, "--count", 9)
    assert [line["outcome"] for line in lines if line["outcome"].startswith("not sent")] == []


PETSTORE = Path(__file__).parents[1] / "mock" / "petstore.yaml"


def test_the_mock_of_another_document_gets_credentials_of_every_kind():
    done, cases = send("--document", PETSTORE, "--count", 12)
    assert done.exit_code == 0
    sent = [case for case in cases if not case["outcome"].startswith("not sent")]
    assert {case["operation"] for case in sent} == {case["operation"] for case in cases}
    assert [case for case in cases if "CREDENTIAL" in case["outcome"]] == []
    refused = [case["outcome"] for case in cases if case["source"] == "bearer-header"]
    assert "passed: 401" in refused


GUARDED = """
openapi: 3.1.0
info: {title: Guarded, version: '1'}
paths:
  /both: {get: {security: [{token: [], key: []}], responses: &ok {'200': {description: ok}, '4XX': {description: no}}}}
  /one-header: {get: {security: [{token: [], basic: [], key: []}], responses: *ok}}
  /key-or-token: {get: {security: [{key: []}, {token: []}], responses: *ok}}
  /certificate: {get: {security: [{certificate: []}], responses: *ok}}
  /certificate-or-token: {get: {security: [{certificate: []}, {token: []}], responses: *ok}}
  /token-or-certificate: {get: {security: [{token: []}, {certificate: []}], responses: *ok}}
  /refused: {get: {responses: {'409': {description: always}}}}
components:
  securitySchemes:
    token: {type: oauth2, flows: {}}
    key: {type: apiKey, in: header, name: X-Key}
    basic: {type: http, scheme: basic}
    certificate: {type: mutualTLS}
"""


def test_every_credential_of_an_alternative_is_sent_and_a_token_that_is_not_needed_is_none(
    tmp_path: Path,
):
    path = tmp_path / "guarded.yaml"
    path.write_text(GUARDED)
    _, lines = send("--document", path, "--count", 4)
    failed = [line for line in lines if line["outcome"].startswith("failed")]
    assert failed == []
    plain = {line["operation"]: line["outcome"] for line in lines if line["kind"] == "valid"}
    assert plain.pop("GET /refused") == "passed: 409"
    assert set(plain.values()) == {"passed: 200"}
