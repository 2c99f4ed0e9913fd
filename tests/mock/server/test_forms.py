"""URL-encoded forms are read as the document types them; what is wrong is named."""

from urllib.parse import urlencode

import httpx
import pytest

from understudy.openapi.schemas import Schemas

FORM = {"content-type": "application/x-www-form-urlencoded"}


def message(response: httpx.Response) -> str:
    assert response.status_code == 400, response.text
    text: str = response.json()["error"]
    return text


def test_a_form_is_read_as_the_document_types_it(notes) -> None:
    response = notes.post("/v1/forms", data={"name": "a", "age": "7", "more": "b"})
    assert response.json() == {"body": {"name": "a", "age": 7, "more": "b"}}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"age=7", '"name" is a required property'),
        (b"name=a&age=x", "age"),
        (b"name=a&name=b", "name: given more than once"),
        (b"name=%FF", "not percent-encoded UTF-8"),
        (b"\xff", "not percent-encoded UTF-8"),
        (b"name=a&age=" + b"1" * 5_000, "age"),
    ],
)
def test_a_form_that_is_not_as_documented_is_named(notes, body: bytes, words: str) -> None:
    assert words in message(notes.post("/v1/forms", content=body, headers=FORM))


def test_an_optional_body_may_be_left_out(notes) -> None:
    assert notes.post("/v1/forms").json() == {"body": None}
    assert notes.post("/v1/forms", headers=FORM).json() == {"body": None}


def test_no_request_looks_a_form_up_in_the_document(serve, monkeypatch) -> None:
    service = serve()
    form = {"name": "a", "age": "7"}
    expected = service.post("/v1/forms", data=form).json()

    def refuse(*_arguments: object) -> None:
        raise AssertionError

    for lookup in ("members", "items", "types", "follow"):
        monkeypatch.setattr(Schemas, lookup, refuse)
    assert service.post("/v1/forms", data=form).json() == expected


SWAGGER = """
swagger: '2.0'
info: {title: Lists, version: '1'}
consumes: [KIND]
paths:
  /lists:
    post:
      parameters:
        - {name: c, in: formData, type: array, items: {type: integer}}
        - {name: p, in: formData, type: array, items: {type: integer}, collectionFormat: pipes}
        - {name: m, in: formData, type: array, items: {type: integer}, collectionFormat: multi}
      responses: {'200': {description: fine, schema: {type: object}}}
"""


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"c": "1,2", "p": "1|2"}, 200),
        ({"m": ["1", "2"]}, 200),
        ({"c": "1|2"}, 400),
        ({"p": "1,x"}, 400),
    ],
)
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_list_in_a_form_of_swagger_is_written_as_its_format_says(serve, kind, form, status):
    service = serve(SWAGGER.replace("KIND", kind), api={"handlers": {}})
    fields = [
        (n, t) for n, texts in form.items() for t in ([texts] if isinstance(texts, str) else texts)
    ]
    if kind.startswith("multipart"):
        answer = service.post("/lists", files=[(name, (None, text)) for name, text in fields])
    else:
        headers = {"content-type": kind}
        answer = service.post("/lists", content=urlencode(fields), headers=headers)
    assert answer.status_code == status, answer.text
