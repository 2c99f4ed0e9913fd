"""What is at a path, what is not, and what may be done there."""

import logging

import pytest

from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.request_context import Addresses

DOUBLE = """
openapi: 3.0.3
paths:
  /a/{x}: {get: {responses: {'200': {description: ok}}}}
  /a/{y}: {put: {responses: {'200': {description: ok}}}}
  /a/b: {delete: {responses: {'200': {description: ok}}}}
  /a/{x}/{y}.{z}: {get: {responses: {'200': {description: ok}}}}
"""


def test_a_path_answers_with_and_without_the_base_path(notes) -> None:
    assert notes.get("/v1/notes?size=1").json() == notes.get("/notes?size=1").json() == {"size": 1}


def test_a_concrete_path_goes_before_a_template(notes) -> None:
    assert notes.get("/v1/notes/latest").json() == {}


@pytest.mark.parametrize("name", ["%0A", "x%0Ay", "x%0A", "x%0D%0Ay"])
def test_a_line_end_is_a_character_of_a_path(serve, name: str) -> None:
    assert serve(DOUBLE, api={"handlers": {}}).get(f"/a/{name}").status_code == 200


def test_a_path_that_leads_nowhere_is_404_with_a_hint(notes) -> None:
    response = notes.get("/v1/note")
    assert response.status_code == 404
    assert response.json() == {
        "error": "There is nothing at /v1/note; did you mean '/v1/notes'?",
        "code": "unknown_path",
    }


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v1//notes", "/v1/notes"),
        ("/v1/v1/notes/12", "/v1/notes/12"),
        ("/v1/notes/12/", "/v1/notes/12"),
        ("/notes//12", "/notes/12"),
        ("/v10/notes/12", "/v1/notes/12"),
        ("/api/v2/notes/12", "/v1/notes/12"),
    ],
)
def test_a_slash_or_a_base_path_too_many_is_taken_out_of_the_hint(notes, path: str, meant: str):
    assert notes.get(path).json()["error"].endswith(f"; did you mean {meant!r}?")


@pytest.mark.parametrize("path", ["/xyz", "/__note"])
def test_a_path_unlike_any_other_is_404_without_a_hint(notes, path: str) -> None:
    response = notes.get(path)
    assert response.status_code == 404
    assert response.json()["error"] == f"There is nothing at {path}."


@pytest.mark.parametrize("path", ["/v1/notes/", "/notes/", "/v1/notes/12/"])
def test_a_slash_at_the_end_is_404_and_no_redirect(notes, path: str) -> None:
    response = notes.get(path)
    assert response.status_code == 404
    assert "location" not in response.headers


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/notes", "GET, HEAD, POST"),
        ("PUT", "/notes", "GET, HEAD, POST"),
        ("POST", "/v1/notes/12", "DELETE, GET, HEAD"),
        ("OPTIONS", "/v1/forms", "POST"),
        ("GET", "/v1/forms", "POST"),
    ],
)
def test_a_method_that_is_not_documented_is_405_with_what_is(
    notes, method: str, path: str, allowed: str
) -> None:
    response = notes.ask(method, path)
    assert response.status_code == 405
    assert response.headers["allow"] == allowed
    assert response.json() == {
        "error": f"{method} is not allowed at {path}; it takes {allowed}.",
        "code": "method_not_allowed",
    }


def test_one_path_under_two_names_takes_the_methods_of_both(serve) -> None:
    service = serve(DOUBLE, api={"handlers": {}})
    assert service.get("/a/1").status_code == service.ask("PUT", "/a/1").status_code == 200
    assert service.ask("PATCH", "/a/1").headers["allow"] == "GET, HEAD, PUT"
    assert service.get("/a/1/2.3").status_code == 200


def test_a_template_answers_methods_that_the_concrete_path_lacks(serve) -> None:
    service = serve(DOUBLE, api={"handlers": {}})
    assert service.ask("DELETE", "/a/b").status_code == 200
    assert service.get("/a/b").status_code == 200


def test_head_is_answered_as_get(notes) -> None:
    get, head = notes.get("/v1/notes/12"), notes.ask("HEAD", "/v1/notes/12")
    assert (head.status_code, dict(head.headers)) == (get.status_code, dict(get.headers))


def test_an_answer_without_content_has_neither_body_nor_length(notes) -> None:
    response = notes.ask("DELETE", "/v1/notes/12")
    assert (response.status_code, response.content) == (204, b"")
    assert not {"content-length", "content-type"} & set(response.headers)


def test_what_no_document_knows_is_answered_elsewhere(serve) -> None:
    async def elsewhere(_scope, _receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a page"})

    def decide(_call, query: bytes) -> HandlerResponse | None:
        return HandlerResponse(b"no page") if query == b"known" else None

    service = serve(site={"elsewhere": elsewhere}, api={"pages": {("POST", "/forms"): decide}})
    assert service.get("/front").text == "a page"
    assert service.post("/v1/forms", content=b"judged by nobody").text == "a page"
    assert service.post("/v1/forms?known", content=b"judged by nobody").text == "no page"


ORIGIN = {"Origin": "http://app.example.com"}


def test_a_browser_may_ask_before_it_asks(notes) -> None:
    asked = {"Access-Control-Request-Method": "DELETE", "Access-Control-Request-Headers": "x-a"}
    response = notes.ask("OPTIONS", "/v1/notes/12", headers={**ORIGIN, **asked})
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "*"
    assert "DELETE" in response.headers["access-control-allow-methods"]


@pytest.mark.parametrize("path", ["/v1/notes", "/v1/nothing", "/v1/notes/x", "/v1/shelf/own"])
def test_pages_of_any_origin_may_read_answers_and_refusals(notes, path: str) -> None:
    assert notes.get(path, headers=ORIGIN).headers["access-control-allow-origin"] == "*"


def test_without_an_origin_there_are_no_cross_origin_headers(notes) -> None:
    assert "access-control-allow-origin" not in notes.get("/v1/notes").headers


def test_a_closed_path_tells_browsers_nothing(serve) -> None:
    service = serve(site={"closed": ("/v1/shelf",)})
    for path in ("/v1/shelf", "/v1/shelf/own"):
        assert "access-control-allow-origin" not in service.get(path, headers=ORIGIN).headers
    assert "access-control-allow-origin" in service.get("/v1/notes", headers=ORIGIN).headers


def test_a_failure_is_500_in_the_error_shape_and_its_traceback_is_logged(notes, caplog) -> None:
    with caplog.at_level(logging.ERROR):
        response = notes.get("/v1/failing", headers=ORIGIN)
    assert response.status_code == 500
    assert response.json() == {
        "error": "The mock failed: RuntimeError: a shelf fell down. Its log has the traceback.",
        "code": "internal_server_error",
    }
    assert response.headers["access-control-allow-origin"] == "*"
    assert caplog.records[0].getMessage() == "GET /v1/failing failed inside the mock"
    assert caplog.records[0].exc_info is not None


def test_a_failure_in_the_middle_of_an_answer_leaves_it_cut_off(serve) -> None:
    async def elsewhere(_scope, _receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        msg = "the pen broke"
        raise RuntimeError(msg)

    response = serve(site={"elsewhere": elsewhere}).bare("GET", "/page")
    assert (response.status_code, response.content) == (200, b"")


def test_links_point_to_the_host_that_was_asked(notes) -> None:
    headers = {"Host": "localhost:9"}
    assert notes.get("/v1/shelf", headers=headers).json()["site"] == "http://localhost:9"
    without_host = notes.bare(
        "GET", "/v1/shelf", headers=((b"Accept", b"*/*"),), http_version="1.0"
    )
    assert without_host.json()["site"] == "http://127.0.0.1:8080"


def test_links_point_to_the_site_of_people_where_that_is_another(serve) -> None:
    service = serve(site={"addresses": Addresses("http://people.test")})
    assert service.get("/v1/shelf").json()["site"] == "http://people.test"


def test_every_exchange_is_recorded_with_its_status(serve) -> None:
    service = serve()
    service.get("/v1/notes")
    service.get("/v1/nothing")
    service.get("/v1/failing")
    recorded = [(e.method, e.path, e.status) for e in service.recorded]
    assert recorded == [
        ("GET", "/v1/notes", 200),
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/failing", 500),
    ]


def test_a_single_request_chooses_another_reading(serve) -> None:
    service = serve(choices={"scopes": "ignored"})
    service.get("/v1/notes", headers={"X-Mock-Choose": "rate-limits=off, , scopes=checked"})
    service.get("/v1/notes")
    chosen = [dict(context.choices) for context in service.recorded]
    assert chosen == [{"rate-limits": "off", "scopes": "checked"}, {"scopes": "ignored"}]


@pytest.mark.parametrize("choice", ["scopez=ignored", "scopes=maybe", "scopes", "\xff=\xfe"])
def test_a_choice_that_is_none_is_a_problem_of_the_mock_and_not_of_the_api(
    notes, choice: str
) -> None:
    response = notes.get("/v1/notes", headers={"X-Mock-Choose": choice.encode("latin-1")})
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["title"] == "No such choice"
    offers = {"scopez=ignored": "did you mean 'scopes'?", "\xff=\xfe": "`understudy rules` lists"}
    offer = offers.get(choice, "There are")
    assert offer in response.json()["detail"]
