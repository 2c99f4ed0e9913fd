"""A small document asks for no more than a bounded time and memory, counted in a child process."""

import json
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import httpx
import pytest
from tests.mock.server import hostile_documents
from tests.mock.server.conftest import Serve
from tests.mock.server.hostile_documents import IDENTIFIER

from understudy.api.bundled_target import SITE
from understudy.api.in_process import InProcess, mock
from understudy.mock.settings import Settings

BERTHS = Path(__file__).parents[3] / "examples" / "berths.yaml"
SERVING = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
from pathlib import Path
from tests.mock.server import hostile_documents
from tests.mock.server.conftest import Service
service = Service(hostile_documents.{made}, Path({directory!r}), api={{"handlers": {{}}}})
resource.setrlimit(resource.RLIMIT_AS, ({memory} << 20, {memory} << 20))
"""


def serving(
    directory: Path, made: str, requests: str, seconds: int = 30, memory: int = 2048
) -> str:
    """Serves a document in a process with so much processor time and memory; returns what it prints."""
    code = SERVING.format(made=made, directory=str(directory), seconds=seconds, memory=memory)
    child = [sys.executable, "-c", code + requests]
    return subprocess.run(child, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_path_of_many_parameters_is_matched_at_once(tmp_path: Path, slash: str) -> None:
    target = f"/a/{'-' * 60}{slash}"
    requests = f"print(*[service.get({target!r}).status_code for _ in range(20)])"
    assert set(serving(tmp_path, "dashes()", requests).split()) == {"404"}


def test_a_schema_of_many_alternatives_is_tried_once_and_then_refused(tmp_path: Path) -> None:
    requests = "print(*[service.get('/s').headers['x-mock-limit'] for _ in range(20)])"
    found = serving(tmp_path, "alternatives()", requests).split()
    assert found == [found[0]] * 20


def test_a_schema_of_many_levels_is_sampled(tmp_path: Path) -> None:
    requests = "print(*[service.get('/s').status_code for _ in range(20)])"
    assert set(serving(tmp_path, "levels()", requests).split()) == {"200"}


def test_schemas_in_circles_are_compiled_for_what_is_asked(tmp_path: Path) -> None:
    """Of 1,200 schemas that refer to one another, each compiled one would take 50 MB."""
    requests = f"""
for number in range(0, 80, 2):
    assert service.get(f"/things{{number}}").status_code == 200
    body = {{"id": "{IDENTIFIER}", "link0": {{"id": 1}}}}
    refused = service.post(f"/things{{number + 1}}", json=body)
    assert refused.status_code == 400, refused.text
    assert "link0.id" in refused.text
print("done")
"""
    assert serving(tmp_path, "circles()", requests, memory=1024).strip() == "done"


def test_what_breaks_a_schema_of_itself_is_not_listed_without_end(tmp_path: Path) -> None:
    requests = """
refused = service.ask("POST", "/s", content="[" * 40 + "1" + "]" * 40, headers={"content-type": "application/json"})
print(refused.status_code, refused.json()["error"])
"""
    found = serving(tmp_path, "itself()", requests, seconds=15).strip()
    assert found == "400 it breaks its schema, and is nested too deeply to say where."


def test_a_number_of_more_than_64_bits_is_sent(serve: Serve) -> None:
    schema = {"type": "integer", "multipleOf": 10**40, "minimum": 1}
    text = hostile_documents.document({"/s": {"get": hostile_documents.responding(schema)}}, {})
    response = serve(text, api={"handlers": {}}).get("/s")
    assert (response.status_code, json.loads(response.content)) == (200, 10**40)


@pytest.mark.parametrize(
    ("query", "status"), [("q" + "[a]" * 3000, 400), (f"q[{'9' * 5000}]", 200)]
)
def test_the_members_of_a_query_are_bounded(serve: Serve, query: str, status: int) -> None:
    parameter = {"name": "q", "in": "query", "style": "deepObject", "schema": {"type": "object"}}
    operation = {**hostile_documents.responding({}), "parameters": [parameter]}
    service = serve(
        hostile_documents.document({"/s": {"get": operation}}, {}), api={"handlers": {}}
    )
    assert service.get(f"/s?{query}=1").status_code == status


LARGE = {"type": "integer", "minimum": 10**30}
ODD: dict[str, Any] = {
    "half of a character": {"type": "string", "const": "\ud800"},
    "a number of 5,000 digits": {"type": "integer", "minimum": 10**4000},
    **{f"{it} of itself": {it: [{"$ref": "#/components/schemas/S"}]} for it in ("allOf", "oneOf")},
    "a reference of 100,000 characters": {"$ref": "a" * 100_000},
    "a reference to a link to itself": {"$ref": "loop.yaml"},
    "20,000 required members": {"type": "object", "required": [*map(str, range(20_000))]},
    "a pattern that counts far": {"type": "string", "pattern": "a{100000}"},
}
"""Name of a schema that only the part of a document suffers from that it stands in."""


@pytest.mark.parametrize("schema", ODD.values(), ids=ODD)
def test_an_odd_schema_stops_neither_the_mock_nor_a_response(
    serve: Serve, tmp_path: Path, schema: Any
) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    paths = {"/s": {"get": hostile_documents.responding({"$ref": "#/components/schemas/S"})}}
    started = process_time()
    response = serve(hostile_documents.document(paths, {"S": schema}), api={"handlers": {}}).get(
        "/s"
    )
    assert response.status_code == 200 or "x-mock-limit" in response.headers, response.text
    assert process_time() - started < 10  # a pattern once took minutes, on the event loop


@pytest.mark.parametrize("number", ["0o" + "7" * 5000, "0x" + "f" * 5000, "9" * 5000, "1e9999"])
def test_a_number_that_no_float_holds_is_sent(serve: Serve, number: str) -> None:
    written = json.dumps(
        {"description": "", "content": {"application/json": {"example": "NUMBER"}}}
    )
    head = "openapi: 3.0.3\ninfo: {title: Large, version: '1'}\n"
    paths = f"paths: {{/s: {{get: {{responses: {{'200': {written}}}}}}}}}"
    response = serve(head + paths.replace('"NUMBER"', number), api={"handlers": {}}).get("/s")
    assert (response.status_code, response.json() > 1e299) == (200, True)


@pytest.mark.parametrize("media_type", ["text/plain", "text/event-stream", "text/csv"])
def test_a_large_number_is_written_in_every_media_type(serve: Serve, media_type: str) -> None:
    content = {media_type: {"schema": LARGE}}
    ok = {
        "description": "",
        "content": content,
        "headers": {"X-A": {"required": True, "schema": LARGE}},
    }
    text = hostile_documents.document({"/s": {"get": {"responses": {"200": ok}}}}, {})
    response = serve(text, api={"handlers": {}}).get("/s")
    assert (response.status_code, int(response.headers["x-a"]) >= 10**30) == (200, True)


def test_the_name_of_a_key_may_hold_what_no_header_does(serve: Serve) -> None:
    key = {"type": "apiKey", "in": "header", "name": "x\r\nX-Other: ☃"}
    document = json.loads(
        hostile_documents.document({"/s": {"get": hostile_documents.responding({})}}, {})
    )
    document["components"]["securitySchemes"] = {"k": key}
    document["security"] = [{"k": []}]
    refused = serve(json.dumps(document), api={"handlers": {}}).get("/s")
    assert refused.status_code == 401
    assert "x-other" not in refused.headers


@pytest.mark.parametrize("keyword", ["example", "minimum", "maximum"])
def test_a_number_of_more_than_64_bits_may_stand_anywhere(tmp_path: Path, keyword: str) -> None:
    text = BERTHS.read_text()
    document = tmp_path / "berths.yaml"
    document.write_text(text.replace("readOnly: true", f"readOnly: true, {keyword}: {10**30}"))
    paths = ("/", "/berths", "/__admin/capsule")
    with InProcess(mock(Settings(document=document))) as wire:
        assert [httpx.Client(transport=wire).get(f"{SITE}{it}").status_code for it in paths] == [
            200
        ] * 3
