"""Methods of OpenAPI 3.2 are served, and only what lost a reference is left open."""

import asyncio

import httpx
import pytest

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

DOCUMENT = """
openapi: 3.2.0
info: {title: a, version: '1'}
security: [{key: []}]
paths:
  /a/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    query:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object}}}}
      responses: {200: {description: a, content: {application/json: {example: {hit: 1}}}}}
    additionalOperations:
      COPY: {security: [], responses: {204: {description: copied}}}
    post: {responses: {200: {$ref: gone.yaml}}}
components: {securitySchemes: {key: {type: apiKey, name: key, in: header}}}
"""


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Mock:
    path = tmp_path_factory.mktemp("breaks") / "api.yaml"
    path.write_text(DOCUMENT)
    return Mock(Settings(document=path))


def send(mock: Mock, method: str, path: str, **request: object) -> httpx.Response:
    async def response() -> httpx.Response:
        transport = httpx.ASGITransport(mock.resource, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, **request)  # type: ignore[arg-type]  # as given

    return asyncio.run(response())


def test_a_query_is_answered_and_its_body_judged(mock: Mock) -> None:
    assert send(mock, "QUERY", "/a/1", json={}).json() == {"hit": 1}
    assert send(mock, "QUERY", "/a/1", json=[]).status_code == 400


def test_an_additional_operation_is_answered(mock: Mock) -> None:
    assert send(mock, "COPY", "/a/1").status_code == 204
    assert send(mock, "COPY", "/a/one").status_code == 400


def test_methods_of_3_2_are_allowed_where_another_is_not(mock: Mock) -> None:
    assert send(mock, "GET", "/a/1").headers["allow"] == "COPY, POST, QUERY"


def test_an_operation_whose_response_lost_its_reference_is_held_to_the_rest(mock: Mock) -> None:
    assert send(mock, "POST", "/a/1").status_code == 401
    assert send(mock, "POST", "/a/one", headers={"key": "any"}).status_code == 400
    assert send(mock, "POST", "/a/1", headers={"key": "any"}).status_code == 200
