"""A generated response is written as its media type has it, and as the client wants it."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.document_responses import Sampling, sample_file
from understudy.openapi.loader import Document
from understudy.openapi.operations import operations
from understudy.openapi.schemas import Schemas

PET = {
    "type": "object",
    "xml": {"name": "pet", "prefix": "p", "namespace": "urn:pets"},
    "properties": {
        "id": {"type": "integer", "xml": {"attribute": True}, "example": 7},
        "tags": {
            "type": "array",
            "xml": {"name": "labels", "wrapped": True},
            "items": {"type": "string", "xml": {"name": "label"}},
            "example": ["a", "b"],
        },
        "toys": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            "example": [{"name": "ball & bone"}],
        },
    },
}
PAIR = {"type": "object", "properties": {"a": {"enum": [1]}, "b": {"enum": ["x,y"]}}}


def answer(content: dict[str, Any], accept: str = "", **response: Any) -> HandlerResponse:
    responses = {"200": {"description": "ok", "content": content, **response}}
    raw = {"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": responses}}}}
    raw["components"] = {"schemas": {"Pet": PET}}
    document = Document(Path("api.yaml"), raw)
    return Sampling(operations(document)[0], Schemas(document), 7, accept).principal()


def test_xml_has_the_names_attributes_wrappers_and_namespaces_of_its_schema() -> None:
    body = answer({"application/xml": {"schema": {"$ref": "#/components/schemas/Pet"}}}).body
    assert body.decode().partition("\n")[2] == (
        '<p:pet xmlns:p="urn:pets" id="7"><labels><label>a</label><label>b</label></labels>'
        "<toys><name>ball &amp; bone</name></toys></p:pet>"
    )


@pytest.mark.parametrize(
    ("media_type", "media", "expected"),
    [
        ("application/x-ndjson", {"schema": {"type": "array", "items": PAIR}}, b'{"a":1,"b":"x,y"}\n'),
        ("application/jsonl", {"itemSchema": PAIR}, b'{"a":1,"b":"x,y"}\n'),
        ("application/json-seq", {"schema": PAIR}, b'\x1e{"a":1,"b":"x,y"}\n'),
        ("text/event-stream", {"schema": PAIR}, b'data: {"a":1,"b":"x,y"}\n\n'),
        ("text/event-stream", {"example": "event: tick\ndata: 1"}, b"event: tick\ndata: 1\n\n"),
        (
            "text/event-stream",
            {"example": [{"event": "tick", "data": "a\nb", "id": "1"}]},
            b"event: tick\ndata: a\ndata: b\nid: 1\n\n",
        ),
        ("text/csv", {"schema": {"type": "array", "items": PAIR}}, b'a,b\r\n1,"x,y"\r\n'),
        ("text/html", {"example": "a < b"}, b"<!DOCTYPE html><title>a &lt; b</title><p>a &lt; b</p>"),
        ("application/xml", {"example": "<a/>", "schema": PAIR}, b"<a/>"),
        ("application/yaml", {"schema": PAIR}, b"a: 1\nb: x,y\n"),
        ("application/x-www-form-urlencoded", {"schema": PAIR}, b"a=1&b=x%2Cy"),
        ("text/plain", {}, b"understudy"),
    ],
)  # fmt: skip
def test_a_body_is_written_in_its_notation(
    media_type: str, media: dict[str, Any], expected
) -> None:
    made = answer({media_type: media})
    assert (made.body, made.media_type) == (expected, media_type)


@pytest.mark.parametrize(
    ("declared", "sent", "form"),
    [
        ("image/*", "image/png", "PNG"),
        ("image/jpeg", "image/jpeg", "JPEG"),
        ("image/webp", "image/webp", "WEBP"),
    ],
)
def test_a_picture_can_be_decoded(declared: str, sent: str, form: str) -> None:
    made = answer({declared: {"schema": {"type": "string", "format": "binary"}}})
    assert made.media_type == sent
    with Image.open(io.BytesIO(made.body)) as picture:
        picture.load()
        assert picture.format == form


def test_an_archive_can_be_opened() -> None:
    with zipfile.ZipFile(io.BytesIO(answer({"application/zip": {}}).body)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["note.txt"]


def test_a_pdf_begins_and_ends_as_one_and_is_the_same_every_time() -> None:
    first = sample_file("application/pdf") or b""
    sample_file.cache_clear()
    assert first.startswith(b"%PDF-")
    assert b"%%EOF" in first
    assert sample_file("application/pdf") == first


THREE = {"text/plain": {"example": "a"}, "application/json": {"example": 1}, "image/*": {}}


@pytest.mark.parametrize(
    ("accept", "sent"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/plain", "text/plain"),
        ("text/*;q=0.5, application/json;q=0.4", "text/plain"),
        ("application/json;q=0, */*;q=0.1", "text/plain"),
        ("image/webp,*/*;q=0.8", "image/webp"),
        ("audio/mpeg", "application/json"),
        ("nonsense;q=x, text/plain;q=x", "text/plain"),
    ],
)
def test_the_client_chooses_among_the_declared_types(accept: str, sent: str) -> None:
    assert answer(THREE, accept).media_type == sent


def test_a_media_type_keeps_the_options_that_the_document_gives_it() -> None:
    made = answer({"application/json; charset=utf-8": {"schema": PAIR}})
    assert made.media_type == "application/json; charset=utf-8"


def test_a_range_becomes_a_type() -> None:
    assert answer({"*/*": {"schema": PAIR}}).media_type == "application/json"
    assert answer({"text/*": {"example": "a"}}).body == b"a"


def test_declared_headers_are_sent() -> None:
    declared = {
        "X-Total": {"schema": {"type": "integer", "minimum": 5, "maximum": 5}},
        "X-Tags": {"schema": {"type": "array", "items": {"enum": ["x"]}, "minItems": 2}},
        "X-Flags": {"content": {"application/json": {"schema": {"enum": [{"a": True}]}}}},
        "ETag": {"schema": {"type": "string"}},
        "Retry-After": {"schema": {"type": "integer"}},
        "Location": {"schema": {"type": "string", "format": "uri", "enum": ["https://a.test/"]}},
        "Content-Length": {"schema": {"type": "integer"}},
        "Content-Encoding": {"schema": {"type": "string"}},
    }
    assert answer({}, headers=declared).headers == (
        ("x-total", "5"),
        ("x-tags", "x,x"),
        ("x-flags", '{"a":true}'),
        ("etag", '"3f2b6c1e"'),
        ("retry-after", "1"),
        ("location", "https://a.test/"),
    )


def test_an_example_that_breaks_its_schema_is_replaced_and_noted() -> None:
    raw = yaml.safe_load(
        "{openapi: 3.0.3, paths: {/a: {get: {responses: {'200': {content: {application/json:"
        " {example: {a: 2}, schema: {type: object, properties: {a: {enum: [1]}}}}}}}}}}}"
    )
    document = Document(Path("api.yaml"), raw)
    sampling = Sampling(operations(document)[0], Schemas(document), 7)
    assert sampling.principal().body == {"a": 1}
    assert "the application/json example 'example' of GET /a breaks its schema" in sampling.notes[0]


def test_what_the_client_does_not_accept_is_sent_unless_the_document_has_a_406(serve) -> None:
    text = "{openapi: 3.0.3, paths: {/a: {get: {responses: {'200': {content: {application/json: {}}}%s}}}}}"
    only = {"Accept": "text/plain"}
    assert serve(text % "", api={"handlers": {}}).get("/a", headers=only).status_code == 200
    declared = serve(text % ", '406': {description: no}", api={"handlers": {}})
    assert declared.get("/a", headers=only).status_code == 406


def test_a_sent_file_is_not_the_value_of_a_member_that_a_response_has(serve) -> None:
    picture = (
        "{type: object, properties: {note: {type: string}, file: {type: string, format: binary}}}"
    )
    post = f"requestBody: {{content: {{multipart/form-data: {{schema: {picture}}}}}}}"
    answered = f"responses: {{'200': {{content: {{application/json: {{schema: {picture}}}}}}}}}"
    service = serve(
        f"{{openapi: 3.0.3, paths: {{/a: {{post: {{{post}, {answered}}}}}}}}}", api={"handlers": {}}
    )
    sent = {"note": (None, "mine"), "file": ("a.png", b"\x89PNG")}
    response = service.post("/a", files=sent)
    assert response.status_code == 200
    assert response.json()["note"] == "mine"
    assert isinstance(response.json()["file"], str)
