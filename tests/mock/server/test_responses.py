"""The mock's own answers are held to the document, and yield to it where they can."""

import logging
from pathlib import Path
from typing import Any

import pytest

from understudy.mock.server.api import Api
from understudy.mock.server.call import Call, HandlerResponse, SharedBody
from understudy.mock.server.completion import Completion
from understudy.mock.server.endpoint import endpoints
from understudy.openapi.loader import load

TYPED = "/v1/typed"


def answering(serve, answer: HandlerResponse, path: str = "/typed", **site: Any):
    def handler(_call: Call) -> HandlerResponse:
        return answer

    return serve(api={"handlers": {("GET", path): handler}}, site=site)


def test_an_answer_that_keeps_to_the_document_is_sent_as_it_is(serve) -> None:
    response = answering(serve, HandlerResponse({"id": 1, "title": "a"})).get(TYPED)
    assert response.json() == {"id": 1, "title": "a"}
    assert response.headers["content-type"] == "application/json"
    assert response.headers["content-length"] == str(len(response.content))


def test_an_answer_that_lacks_what_the_document_requires_is_completed(serve) -> None:
    service = answering(serve, HandlerResponse({"id": 1}))
    first = service.get(TYPED).json()
    assert first["id"] == 1
    assert isinstance(first["title"], str)
    assert service.get(TYPED).json() == first
    assert '"title" is a required property' in service.recorded[0].notes[0]


def test_a_shared_body_is_completed_once_and_says_so_each_time(serve, monkeypatch) -> None:
    body = SharedBody({"id": 1})
    service = answering(serve, HandlerResponse(body))
    first = service.get(TYPED).json()
    monkeypatch.delattr(Completion, "completed")  # fails where it is called again
    assert service.get(TYPED).json() == first
    assert [bool(it.notes) for it in service.recorded] == [True, True]
    assert body.value == {"id": 1}


def test_a_shared_body_is_completed_anew_for_other_arguments() -> None:
    document = load(Path(__file__).with_name("notes.yaml"))
    found = endpoints(Api(document, document.base_path, {}, lambda _problem: HandlerResponse()))
    (validator,) = (it.validator for it in found if it.operation.path == "/typed")
    response = HandlerResponse(SharedBody({"id": 1}))
    one, again, other = (
        validator.completed(response, seed, arguments).body
        for seed, arguments in ((0, {}), (0, {}), (0, {"title": "Argument"}))
    )
    assert one is again
    assert other.value["title"] == "Argument" != one.value["title"]


BREAKING = HandlerResponse({"id": "one", "title": "a"})


def test_an_answer_that_breaks_the_document_is_refused_as_a_problem_of_the_mock(serve) -> None:
    response = answering(serve, BREAKING).get(TYPED)
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    expected = 'the response to GET /typed breaks the document: id: "one" is not of type "integer".'
    assert response.json()["detail"] == expected


def test_an_answer_that_breaks_the_document_is_marked_where_it_may_pass(serve) -> None:
    service = answering(serve, BREAKING, response_validation="warn")
    response = service.get(TYPED)
    assert (response.status_code, response.json()) == (200, BREAKING.body)
    assert response.headers["x-mock-violation"] == "response"
    assert "breaks the document" in service.recorded[0].notes[0]


def test_nothing_is_held_where_that_is_off(serve) -> None:
    response = answering(serve, BREAKING, response_validation="off").get(TYPED)
    assert response.json() == BREAKING.body
    assert "x-mock-violation" not in response.headers


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (HandlerResponse({"error": "x"}, 418), "status 418 is not in the document"),
        (
            HandlerResponse(b"a", 200, "text/plain"),
            "text/plain is not among application/json at #/paths",
        ),
        (HandlerResponse([]), 'is not of type "object"'),
    ],
)
def test_every_way_to_break_the_document_is_told(
    serve, answer: HandlerResponse, fault: str
) -> None:
    assert fault in answering(serve, answer).get(TYPED).json()["detail"]


@pytest.mark.parametrize(
    ("declared", "chosen", "sent"),
    [
        ("{'200': {description: a}}", 204, 200),
        ("{'204': {description: a}}", 200, 204),
        ("{'201': {description: a}, '200': {description: b}}", 200, 200),
        ("{'201': {description: a}, '202': {description: b}}", 200, 201),
        ("{2XX: {description: a}}", 204, 204),
        ("{default: {description: a}}", 204, 204),
        ("{'404': {description: a}, default: {description: b}}", 404, 404),
    ],
)
def test_a_success_yields_to_the_statuses_of_the_document_in_force(
    serve, declared: str, chosen: int, sent: int
) -> None:
    text = f"openapi: 3.0.3\npaths: {{/a: {{get: {{responses: {declared}}}}}}}"
    handlers = {("GET", "/a"): lambda _call: HandlerResponse({"a": 1}, chosen)}
    response = serve(text, api={"handlers": handlers}).get("/a")
    assert response.status_code == sent
    assert (response.content == b"") is (sent == 204)


@pytest.mark.parametrize("declared", ["image/*", "'*/*'", "image/png", "'IMAGE/PNG; q=1'"])
def test_bytes_are_taken_by_their_media_type(serve, declared: str) -> None:
    text = f"""
openapi: 3.0.3
paths: {{/a: {{get: {{responses: {{'200': {{description: a, content: {{{declared}: {{}}}}}}}}}}}}}}
"""
    handlers = {
        ("GET", "/a"): lambda _call: HandlerResponse(b"\x89PNG", 200, "image/png", (("x-a", "b"),))
    }
    response = serve(text, api={"handlers": handlers}).get("/a")
    assert (response.status_code, response.content) == (200, b"\x89PNG")
    assert response.headers["content-type"] == "image/png"
    assert response.headers["x-a"] == "b"


def test_an_operation_without_a_handler_is_answered_the_same_every_time(serve) -> None:
    one, other = serve().get(TYPED).json(), serve().get(TYPED).json()
    assert one == other
    assert isinstance(one["id"], int)


def test_a_document_with_a_schema_that_is_none_is_served_without_that_schema(serve) -> None:
    text = "openapi: 3.0.3\npaths: {/a: {get: {responses: {200: {content: {application/json: {schema: {type: x}}}}}}}}"
    assert serve(text, api={"handlers": {}}).get("/a").status_code == 200


def test_what_json_cannot_say_is_a_failure_with_a_traceback(serve, caplog) -> None:
    with caplog.at_level(logging.CRITICAL):
        response = answering(serve, HandlerResponse({"a": object()}), "/notes/latest").get(
            "/notes/latest"
        )
    assert response.status_code == 500
    assert response.json()["code"] == "internal_server_error"


PAGE_MAKING = """
openapi: 3.1.0
info: {title: Pages, version: '1'}
paths:
  /page:
    get:
      responses:
        '200':
          description: A page, and a policy that would let it do anything.
          headers:
            Content-Security-Policy: {schema: {const: "script-src * 'unsafe-inline'"}, required: true}
            X-Content-Type-Options: {schema: {const: 'off'}, required: true}
          content: {text/html: {example: '<script>fetch("/__admin/worlds")</script>'}}
        '404': {description: no page, content: {text/html: {schema: {type: string}}}}
"""


@pytest.mark.parametrize(
    ("method", "path", "prefer"),
    [
        ("GET", "/page", ""),
        ("GET", "/page", "code=404"),
        ("PUT", "/page", ""),
        ("GET", "/other", ""),
    ],
)
def test_no_response_of_a_document_can_run_a_script_at_the_origin_of_the_mock(
    serve, method: str, path: str, prefer: str
) -> None:
    headers = (
        serve(PAGE_MAKING, api={"handlers": {}})
        .ask(method, path, headers={"Prefer": prefer} if prefer else {})
        .headers
    )
    assert headers.get_list("content-security-policy")[0] == "sandbox"
    assert headers.get_list("x-content-type-options")[0] == "nosniff"


def test_a_response_that_a_fault_turns_into_a_page_is_held_likewise(serve) -> None:
    service = answering(serve, HandlerResponse({"id": 1, "title": "<script>1</script>"}))
    response = service.get(TYPED, headers={"Prefer": "fault=wrong-content-type"})
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["content-security-policy"] == "sandbox"
