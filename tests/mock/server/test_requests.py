"""What a request may look like: everything odd is a clear refusal that names the field."""

import gzip
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from understudy.mock.server import bodies
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.json_bodies import read_json

JSON = {"content-type": "application/json"}
DEEP = 10_000


def message(response: httpx.Response, status: int = 400) -> str:
    """Returns the message of a refusal, which is in the API's error shape."""
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error", "code"}
    text: str = response.json()["error"]
    return text


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("size=7", {"size": 7}),
        ("ratio=1e2", {"ratio": 100.0}),
        ("ratio=7", {"ratio": 7}),
        ("starred=true", {"starred": True}),
        ("starred=", {"starred": None}),
        ("search=1_0", {"search": "1_0"}),
        ("search=", {"search": ""}),
        ("search=a+b%20c", {"search": "a b c"}),
        ("tag=1&tag=2", {"tag": [1, 2]}),
        ("ids=1,2,3", {"ids": [1, 2, 3]}),
        ("filter={%22a%22:[1]}", {"filter_": {"a": [1]}}),
        ("scope[0]=a&scope[1]=2", {"scope": {"0": "a", "1": 2}}),
        ("source=app&size=1", {"size": 1}),
    ],
)
def test_a_query_parameter_is_read_as_the_document_types_it(
    notes, query: str, read: dict[str, Any]
) -> None:
    assert notes.get(f"/v1/notes?{query}").json() == read


def test_headers_and_cookies_are_read_as_the_document_types_them(notes) -> None:
    response = notes.get("/v1/notes", headers={"X-Depth": "3", "Cookie": "a=b; theme=dark"})
    assert response.json() == {"x_depth": 3, "theme": "dark"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (b"size=1_0", "Query parameter 'size': \"1_0\" is not of type"),
        (b"size=+5", "'size'"),
        (b"size=%2B5", "'size'"),
        (b"size=05", "'size'"),
        (b"size=1.0", "'size'"),
        (b"size=", "'size'"),
        (b"size=0", "'size': 0 is less than the minimum of 1"),
        (b"size=" + b"9" * 5_000, "'size'"),
        (b"size=%D9%A3", "'size'"),
        (b"size=1&size=2", "'size' is given 2 times; give it once"),
        (b"ratio=NaN", "'ratio'"),
        (b"ratio=inf", "'ratio'"),
        (b"ratio=1e999", "'ratio'"),
        (b"ratio=-1e999", "'ratio'"),
        (b"starred=True", "'starred'"),
        (b"starred=1", "'starred'"),
        (b"colour=green", "'colour': \"green\" is not one of"),
        (b"colour=<string>", "'colour'"),
        (b"tag=1&tag=b", "'tag': 1: \"b\" is not of type"),
        (b"ids=1,,2", "'ids'"),
        (b"filter={", "'filter' is not JSON"),
        (b"filter=NaN", "'filter' is not JSON"),
        (b"filter=" + b"[" * DEEP, "'filter' is not JSON"),
        (b"scope[9]=a", "'scope'"),
        (b"scope[1]=b", "'scope': 1: \"b\" is not of type"),
        (b"scope[0]=a&scope[0]=b", "'scope[0]' is given 2 times"),
        (b"search=%FF", "query string is not percent-encoded UTF-8"),
        (b"search=%ED%A0%80", "query string is not percent-encoded UTF-8"),
        (b"\xff=\xfe", "query string is not percent-encoded UTF-8"),
    ],
)
def test_a_query_parameter_that_is_not_as_documented_is_named(
    notes, query: bytes, words: str
) -> None:
    assert words in message(notes.bare("GET", "/v1/notes", query))


def test_a_path_parameter_is_judged_like_any_other(notes) -> None:
    assert notes.get("/v1/notes/12").json() == {"id": 12}
    assert "Path parameter 'note-id': \"x\"" in message(notes.get("/v1/notes/x"))


def test_a_header_parameter_that_is_not_as_documented_is_named(notes) -> None:
    huge = {"X-Depth": "9" * 60_000}
    assert "Header parameter 'X-Depth'" in message(notes.get("/v1/notes", headers=huge))


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "application/json ; charset=utf-8",
        'application/json;charset="UTF-8"',
        "application/json; charset=us-ascii",
        "",
    ],
)
def test_json_is_judged_however_its_type_is_written(notes, content_type: str) -> None:
    headers = {"content-type": content_type} if content_type else {}
    assert notes.post("/v1/notes", content=b'{"text": "a"}', headers=headers).status_code == 201
    assert "text" in message(notes.post("/v1/notes", content=b'{"text": 1}', headers=headers))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "not JSON"),
        (b'{"text": "\xff"}', "not JSON"),
        (b'{"text": "\\ud800"}', "not JSON"),
        (b'{"text": "a", "stars": NaN}', "not JSON"),
        (b'\xef\xbb\xbf{"text": "a"}', "not JSON"),
        ("{}".encode("utf-16"), "not JSON"),
        (b"[" * DEEP + b"]" * DEEP, "not JSON"),
        (b'{"parts": ' * DEEP, "not JSON"),
        (b"null", "is not of type"),
        (b"[]", "is not of type"),
        (b"{}", '"text" is a required property'),
        (b'{"text": "a", "stars": 9}', "stars: 9 is greater than the maximum of 5"),
        (b'{"text": "a", "stars": ' + b"9" * 5_000 + b"}", "line 1 column 24"),
        (b'{"text": "a", "stars": 1e400}', "line 1 column 24"),
        (b'{"text": "a", "parts": [{"text": "b"}, {"text": 1}]}', "parts.1.text"),
        (b'{"txet": "a"}', "Did you mean 'text'?"),
        (b'{"text": "a", "zzz": 1}', "Known here: text, stars, parts, extra."),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_json_body_that_is_not_as_documented_is_named(notes, body: bytes, words: str) -> None:
    assert words in message(notes.post("/v1/notes", content=body, headers=JSON))


def test_a_refused_body_is_read_once(notes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 10,000 values, read again for the list of what is wrong, kept the loop for 0.2 s."""
    read: list[bytes] = []

    def reading(content: bytes, declared: frozenset[str]) -> Any:
        read.append(content)
        return read_json(content, declared)

    monkeypatch.setattr(bodies, "read_json", reading)
    message(notes.post("/v1/notes", content=b"[]", headers=JSON))
    assert read == [b"[]"]


def test_a_message_stays_short_whatever_came(notes) -> None:
    assert len(message(notes.post("/v1/notes", json={"text": "a" * 100_000}))) < 500


def test_a_missing_body_says_what_to_send(notes) -> None:
    assert "The body is missing; send application/json" in message(notes.post("/v1/notes"))


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"content-type": "text/plain"}, "'text/plain' is not taken here; send application/json"),
        ({"content-type": "application/json; charset=klingon"}, "charset 'klingon'"),
        ({"content-type": "application/json; charset=utf-16"}, "charset 'utf-16'"),
        ({"content-type": "\xff/\xfe"}, "not taken here"),
        ({**JSON, "content-encoding": "gzip"}, "send it without Content-Encoding"),
    ],
)
def test_a_body_of_another_kind_is_415(notes, headers: dict[str, str], words: str) -> None:
    body = gzip.compress(b'{"text": "a"}')
    latin = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    assert words in message(notes.post("/v1/notes", content=body, headers=latin), 415)


def test_an_identity_encoding_is_no_encoding(notes) -> None:
    headers = {**JSON, "content-encoding": "identity"}
    assert notes.post("/v1/notes", content=b'{"text": "a"}', headers=headers).status_code == 201


def test_a_chunked_body_is_read_whole(notes) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b'{"text":'
        yield b' "a"}'

    response = notes.post("/v1/notes", content=chunks(), headers=JSON)
    assert response.json() == {"body": {"text": "a"}}


def test_a_get_with_a_content_type_and_no_body_is_answered(notes) -> None:
    assert notes.get("/v1/notes/12", headers=JSON).status_code == 200


def test_an_answer_in_a_type_that_the_client_does_not_take_is_406(notes) -> None:
    response = notes.get("/v1/notes", headers={"Accept": "image/png;q=1, text/*"})
    assert "This answers application/json" in message(response, 406)


@pytest.mark.parametrize(
    "accept",
    [
        "*/*",
        "application/*",
        "text/html, application/json;q=0.5",
        "APPLICATION/JSON",
        "",
        "a, */*;q=0.1",
    ],
)
def test_an_answer_in_a_type_that_the_client_takes_is_sent(notes, accept: str) -> None:
    assert notes.get("/v1/notes", headers={"Accept": accept}).status_code == 200


def test_a_type_of_quality_zero_is_not_taken(notes) -> None:
    message(notes.get("/v1/notes", headers={"Accept": "application/json;q=0"}), 406)


def test_undeclared_query_parameters_pass_and_are_noted(serve) -> None:
    service = serve()
    service.get("/v1/notes?source=app&size=1")
    service.get("/v1/notes/latest?source=app")
    assert [context.undeclared_query for context in service.recorded] == [("source",)] * 2
    assert "source" in service.recorded[0].notes[0]


def test_members_beyond_the_document_can_be_ignored_by_choice(notes) -> None:
    headers = {"X-Mock-Choose": "unknown-profile-members=ignore"}
    body = {"text": "a", "more": 1, "stars": 9}
    assert "stars" in message(notes.post("/v1/notes", json=body, headers=headers))
    del body["stars"]
    response = notes.post("/v1/notes", json=body, headers=headers)
    assert response.json() == {"body": {"text": "a"}}


OWN = """
openapi: 3.0.3
paths:
  /a:
    post:
      parameters:
        - {name: q, in: query, required: true, schema: {type: string}}
        - {name: X-Ids, in: header, schema: {type: array, items: {type: integer}}}
        - {name: piped, in: query, style: pipeDelimited, explode: false, schema: {type: array}}
      requestBody: {content: {text/*: {}, application/vnd.a+json: {schema: {type: integer}}}}
      responses: {'200': {description: ok}}
"""


def everything(
    _call: Call, *, q: str, x_ids: Any = (), piped: Any = (), body: Any = b""
) -> HandlerResponse:
    raw = body.hex() if isinstance(body, bytes) else body
    return HandlerResponse({"q": q, "ids": x_ids, "piped": piped, "body": raw})


@pytest.fixture
def own(serve):
    return serve(OWN, api={"handlers": {("POST", "/a"): everything}})


def test_a_missing_parameter_that_is_required_is_named(own) -> None:
    assert message(own.post("/a")) == "Query parameter 'q' is missing; it is required."


def test_what_a_handler_needs_is_asked_for_even_where_the_document_does_not(serve) -> None:
    def needy(_call: Call, *, q: str, body: Any) -> HandlerResponse:
        return HandlerResponse([q, body])

    text = OWN.replace("required: true, ", "")
    service = serve(text, api={"handlers": {("POST", "/a"): needy}})
    assert message(service.post("/a")).startswith("body, q: missing")
    assert message(service.post("/a?q=b")).startswith("body: missing")


def test_lists_are_taken_apart_as_their_style_has_it(own) -> None:
    response = own.post("/a?q=&piped=x|y", headers={"X-Ids": "1, 2,3"})
    assert response.json() == {"q": "", "ids": [1, 2, 3], "piped": ["x", "y"], "body": ""}


@pytest.mark.parametrize(
    ("content_type", "body", "read"),
    [("text/plain", b"\xff", "ff"), ("application/vnd.a+json", b"7", 7)],
)
def test_a_body_that_is_no_form_is_read_by_its_type(own, content_type, body, read) -> None:
    response = own.post("/a?q=b", content=body, headers={"content-type": content_type})
    assert response.json()["body"] == read


def test_a_body_that_is_nested_beyond_judging_is_refused(notes):
    nested = b"[" * 500 + b"]" * 500
    refused = notes.post("/v1/notes", content=nested, headers={"content-type": "application/json"})
    assert refused.status_code == 400
    assert refused.json()["error"] == "json-depth: At most 100 levels of nested JSON."
