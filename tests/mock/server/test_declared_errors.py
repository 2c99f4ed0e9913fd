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


@pytest.mark.parametrize("declared", ["'*/*'", "application/problem+json"])
def test_a_refusal_keeps_what_another_part_of_its_schema_fixes(serve, declared: str) -> None:
    partial = "{type: object, properties: {type: {type: string}, detail: {type: string}}}"
    fixed = "{properties: {type: {enum: ['https://e.example/invalid']}}, required: [type, detail]}"
    response = f"{{{declared}: {{schema: {{allOf: [{partial}, {fixed}, {{}}]}}}}}}"
    document = f"""
openapi: 3.0.3
info: {{title: Problems, version: '1'}}
paths:
  /shelf:
    get:
      parameters: [{{name: size, in: query, schema: {{type: integer}}}}]
      responses:
        '200': {{description: A page.}}
        '400': {{description: Wrong., content: {response}}}
"""
    body = serve(document, api={"handlers": {}}).get("/shelf?size=x").json()
    assert body["type"] == "https://e.example/invalid"
    assert "is not of type" in body["detail"]


def test_a_refusal_that_can_only_say_one_thing_has_its_reason_in_a_header(serve) -> None:
    fixed = NOTES.replace("string}", "string, enum: [Wrong]}")
    refused = serve(fixed).get("/v1/shelf?size=x")
    assert refused.json()["detail"] == "Wrong"
    assert refused.headers["x-mock-refusal"].startswith("Query parameter 'size'")


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


ORDERS = """
openapi: 3.1.0
info: {{title: Orders, version: '1'}}
paths:
  /orders:
    post:
      parameters: [{{name: notify, in: query, schema: {{type: boolean}}}}]
      requestBody:
        required: true
        content:
          application/json:
            schema: {body}
      responses:
        '204': {{description: Taken.}}
        '422':
          description: Wrong.
          content: {{application/json: {{schema: {schema}}}}}
"""
"""An operation whose schemas are filled in."""

ORDER = """
{type: object, required: [lines], properties: {
  lines: {type: array, items: {type: object, properties: {amount: {type: integer}}}},
  note: {type: string, maxLength: 3}}}
"""
CLOSED = "{type: object, required: [a], properties: {a: {}}, additionalProperties: false}"

PLACES = """
{type: object, properties: {detail: {type: array, items: {
  type: object, required: [loc, msg, type],
  properties: {loc: {type: array, items: {anyOf: [{type: string}, {type: integer}]}},
               msg: {type: string}, type: {type: string}}}}}}
"""
POINTERS = """
{type: object, required: [errors], properties: {errors: {type: array, items: {
  type: object, properties: {status: {type: string}, title: {type: string}, detail: {type: string},
                             in: {enum: [query, body]},
                             source: {type: object, properties: {pointer: {type: string}}}}}}}}
"""
TEXTS = "{type: object, properties: {code: {type: integer}, problems: {type: array, items: {type: string}}}}"
BARE = "{type: array, maxItems: 1, items: {type: string}}"

AMOUNT = 'lines.1.amount: "x" is not of type "integer".'
NOTE = 'note: "long" is longer than 3 characters.'
NOTIFY = """Query parameter 'notify': "maybe" is not of type "boolean"."""


@pytest.fixture
def refusal(serve):
    """Returns the body of the response to an order that breaks the document."""
    wrong = {"lines": [{"amount": 1}, {"amount": "x"}], "note": "long"}

    def refuse(schema: str, body: str = ORDER, order: Any = wrong, query: str = "") -> Any:
        schemas = {"schema": " ".join(schema.split()), "body": " ".join(body.split())}
        service = serve(ORDERS.format(**schemas), api={"handlers": {}})
        response = service.post(f"/orders?{query or 'notify=maybe'}", json=order)
        assert response.status_code == 422
        return response.json()

    return refuse


def test_every_violation_is_listed_with_its_place(refusal) -> None:
    violations = refusal(PLACES)["detail"]
    assert [(it["loc"], it["msg"]) for it in violations] == [
        (["query", "notify"], NOTIFY),
        (["body", "lines", 1, "amount"], AMOUNT),
        (["body", "note"], NOTE),
    ]
    assert {it["type"] for it in violations} == {"invalid_parameter"}


def test_a_violation_says_what_each_usual_name_is_for(refusal) -> None:
    first, second, _ = refusal(POINTERS)["errors"]
    assert (first["in"], second["in"]) == ("query", "body")
    assert (first["status"], first["detail"]) == ("422", NOTIFY)
    assert second["source"]["pointer"] == "/lines/1/amount"


def test_a_pointer_escapes_what_rfc_6901_reserves(refusal) -> None:
    body = "{type: object, properties: {a/b~c: {type: integer}}}"
    (violation,) = refusal(POINTERS, body, {"a/b~c": "x"}, "notify=true")["errors"]
    assert violation["source"]["pointer"] == "/a~1b~0c"


def test_violations_are_texts_where_the_document_lists_texts(refusal) -> None:
    assert refusal(TEXTS)["problems"] == [NOTIFY, AMOUNT, NOTE]


def test_as_many_violations_are_listed_as_the_document_has_room_for(refusal) -> None:
    assert refusal(BARE) == [NOTIFY]


def test_a_missing_or_unknown_member_is_its_own_place(refusal) -> None:
    violations = refusal(PLACES, CLOSED, {"b": 1}, "notify=true")["detail"]
    assert sorted(it["loc"] for it in violations) == [["body", "a"], ["body", "b"]]


NEIGHBOURS = """
openapi: 3.1.0
paths:
  /a: {get: {security: [{key: []}], responses: {'200': {description: ok}}}}
  /b: {get: {responses: {'404': &error {$ref: '#/components/responses/Error'}, '500': *error}}}
  /c: {get: {responses: {'409': {description: x, content: {application/json: {schema: {required: [no]}}}}}}}
  /d: {get: {security: [{key: []}], responses: {default: {description: anything}}}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}
  responses:
    Error:
      description: An error.
      content:
        application/problem+json:
          schema: {type: object, required: [message], properties: {message: {type: string}}}
"""


def test_an_error_that_is_not_declared_looks_like_those_of_the_other_operations(serve) -> None:
    service = serve(NEIGHBOURS, api={"handlers": {}})
    refused = service.get("/a")
    assert (refused.status_code, list(refused.json())) == (401, ["message"])
    assert refused.headers["content-type"] == "application/problem+json"
    assert list(service.get("/d").json()) == ["message"]  # declared, and not how it looks


def test_an_operation_that_declares_server_errors_alone_succeeds(serve) -> None:
    """Such as that of a service's health: nothing says what it responds with while it is well."""
    service = serve(
        "{openapi: 3.1.0, paths: {/a: {get: {responses: {'500': {description: ill}}}}}}"
    )
    fine = service.get("/a")
    assert (fine.status_code, fine.content) == (200, b"")


def test_the_shape_of_another_error_is_not_taken_where_the_reason_has_no_place_in_it(serve) -> None:
    full = "{type: object, required: [limit], properties: {limit: {type: integer}}}"
    content = f"{{application/json: {{schema: {full}}}}}"
    service = serve(f"""
openapi: 3.1.0
paths:
  /a: {{get: {{responses: {{'413': {{description: full, content: {content}}}}}}}}}
  /b:
    get:
      parameters: [{{name: q, in: query, required: true, schema: {{type: integer}}}}]
      responses: {{'200': {{description: ok}}}}
""")
    refused = service.get("/b")
    assert (refused.status_code, list(refused.json())) == (400, ["error", "code"])


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/z", 404), ("PUT", "/a", 405)])
def test_so_does_the_refusal_of_a_path_without_an_operation(serve, method, path, status) -> None:
    service = serve(NEIGHBOURS, api={"handlers": {}, "has_usual_errors": True})
    refused = service.ask(method, path)
    assert (refused.status_code, list(refused.json())) == (status, ["message"])
    assert path in refused.json()["message"]
    own = serve(NEIGHBOURS, api={"handlers": {}}).ask(method, path)
    assert (own.status_code, list(own.json())) == (status, ["error", "code"])


@pytest.mark.parametrize(
    ("declared", "status"),
    [("'415', '400'", 415), ("'400', '422'", 400), ("'422'", 422), ("4XX, '400'", 415), ("", 415)],
)
def test_another_media_type_is_refused_by_a_status_that_is_declared(serve, declared, status):
    errors = ", ".join(f"{it}: {{description: no}}" for it in declared.split(", ") if it)
    paths = f"""
  /texts:
    post:
      requestBody: {{required: true, content: {{application/json: {{schema: {{type: object}}}}}}}}
      responses: {{'204': {{description: ok}}{"," if errors else ""} {errors}}}
"""
    document = f"openapi: 3.0.3\ninfo: {{title: a, version: '1'}}\npaths:{paths}"
    response = serve(document).post("/texts", content=b"a", headers={"content-type": "text/plain"})
    assert response.status_code == status, response.text
