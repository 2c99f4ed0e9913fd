"""Errors come in the shape of the document in force, and headers by the names it gives them."""

from typing import Any

import pytest

NOTES = """
openapi: 3.0.3
info: {title: Strict notes, version: '1'}
servers: [{url: /v1}]
paths:
  /shelf:
    get:
      parameters: [{name: size, in: query, schema: {type: integer}}]
      responses:
        '200':
          description: A page.
          headers: {RateLimit-Limit: {schema: {type: integer}}}
          content: {application/json: {schema: {type: object}}}
        '422':
          description: Wrong.
          content:
            application/problem+json:
              schema:
                type: object
                required: [status, detail, violations]
                properties:
                  status: {type: integer}
                  detail: {type: string}
                  violations: {type: array, minItems: 1, items: {type: string}}
                additionalProperties: false
        '429':
          description: Too many.
          headers: {X-Rate-Limit-Limit: {schema: {type: integer}}}
          content: {application/json: {example: {reason: slow down}}}
  /drawings:
    get:
      responses:
        '200': {description: A drawing., content: {image/png: {}}}
        '404': {description: None., content: {application/json: {}}}
"""


def test_a_refusal_has_the_status_and_schema_that_the_document_declares(serve) -> None:
    refused = serve(NOTES).get("/v1/shelf?size=x")
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = refused.json()
    assert body["status"] == 422
    assert body["detail"] == """Query parameter 'size': "x" is not of type "integer"."""
    assert body["violations"]


def test_a_header_is_sent_by_the_name_that_the_document_declares(serve) -> None:
    service = serve(NOTES)
    answers = [service.get("/v1/shelf") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[0].headers["ratelimit-limit"] == "3"
    assert answers[3].headers["x-rate-limit-limit"] == "3"


@pytest.mark.parametrize("accept", ["application/json", "image/png", "image/*"])
def test_any_media_type_of_any_status_is_acceptable(serve, accept: str) -> None:
    assert serve(NOTES).get("/v1/drawings", headers={"Accept": accept}).status_code == 200


def test_a_preferred_status_is_answered_by_the_documents_example(serve) -> None:
    preferred = serve(NOTES).get("/v1/shelf", headers={"Prefer": "code=429"})
    assert (preferred.status_code, preferred.json()) == (429, {"reason": "slow down"})
    assert preferred.headers["preference-applied"] == "code=429"


def test_a_response_that_no_handler_gave_is_marked(serve) -> None:
    service = serve(NOTES)
    assert service.get("/v1/drawings").headers["x-mock-response"] == "generated"
    assert "x-mock-response" not in service.get("/v1/shelf").headers
    assert "generated from the document" in service.recorded[0].notes[0]
    assert service.recorded[1].notes == []
