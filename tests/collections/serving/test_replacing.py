"""What a request may have of an item: what it declares, or where it declares nothing, what the item has."""

import asyncio
from pathlib import Path

import httpx
import pytest
from tests.collections.serving.conftest import document_with
from tests.mock.asking import asking

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

PATHS = """
  /rooms:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Room'}}}}
      responses: {'201': {description: Made., content: {application/json: {schema: {$ref: '#/components/schemas/Room'}}}}}
  /rooms/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get:
      responses: {'200': {description: One., content: {application/json: {schema: {$ref: '#/components/schemas/Room'}}}}}
    put:
      requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}
      responses: {'200': {description: Changed., content: {application/json: {schema: {$ref: '#/components/schemas/Room'}}}}}
"""
SCHEMAS = """
    Room:
      type: object
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string}
        members: {type: array, items: {type: integer}, example: [7, 8]}
"""


def test_what_a_replacement_does_not_declare_stays_as_it_was_created(tmp_path: Path):
    path = document_with(tmp_path, PATHS, SCHEMAS)
    rooms = Mock(Settings(document=path)).resource

    async def replaced() -> dict[str, object]:
        wire = httpx.ASGITransport(rooms)
        async with httpx.AsyncClient(transport=wire, base_url="http://127.0.0.1:8080") as client:
            made = await client.post("/rooms", json={"name": "Blue", "members": [3]})
            address = f"/rooms/{made.json()['id']}"
            await client.put(address, json={"name": "Red", "members": [4]})
            return dict((await client.get(address)).json())

    after = asyncio.run(replaced())
    assert (after["name"], after["members"]) == ("Red", [3])


NUMBERED = """
  /hosts/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: One., content: {application/json: {schema: {$ref: '#/components/schemas/Room'}}}}}
    put:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Room'}}}}
      responses: {'200': {description: Kept., content: {application/json: {schema: {$ref: '#/components/schemas/Room'}}}}}
"""


@pytest.mark.parametrize(("text", "status"), [("12", 200), ("twelve", 404)])
def test_an_item_is_put_where_its_own_type_takes_the_text_of_the_path(tmp_path, text, status):
    hosts = Mock(Settings(document=document_with(tmp_path, NUMBERED, SCHEMAS))).resource

    async def put() -> httpx.Response:
        wire = httpx.ASGITransport(hosts)
        async with httpx.AsyncClient(transport=wire, base_url="http://127.0.0.1:8080") as client:
            return await client.put(f"/hosts/{text}", json={"name": "Red"})

    response = asyncio.run(put())
    assert response.status_code == status
    assert response.json().get("id") == (12 if status == 200 else None)


BARE = """
  /logs:
    post:
      responses: {'201': {description: Made., content: {application/json: {schema: {$ref: '#/components/schemas/Log'}}}}}
  /logs/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: One., content: {application/json: {schema: {$ref: '#/components/schemas/Log'}}}}}
"""
LOG = """
    Log: {type: object, additionalProperties: false, required: [id, text], properties: {id: {type: integer}, text: {type: string}}}
"""


@pytest.mark.parametrize(
    ("content", "is_kept"),
    [(b'{"text": "Rain", "other": 1}', True), (b'{"text": 7}', False), (b"{", False)],
)
def test_a_creation_that_declares_no_body_keeps_what_an_item_can_have(tmp_path, content, is_kept):
    logs = Mock(Settings(document=document_with(tmp_path, BARE, LOG))).resource

    async def created() -> tuple[int, dict[str, object]]:
        wire = httpx.ASGITransport(logs)
        async with httpx.AsyncClient(transport=wire, base_url="http://127.0.0.1:8080") as client:
            headers = {"content-type": "application/json"}
            made = await client.post("/logs", content=content, headers=headers)
            read = await client.get(f"/logs/{made.json()['id']}")
            return made.status_code, dict(read.json())

    status, log = asyncio.run(created())
    assert status == 201
    assert log.keys() == {"id", "text"}
    assert (log["text"] == "Rain") is is_kept


def test_no_item_has_a_number_that_no_json_of_ours_can_say(tmp_path: Path):
    declared = "responses: {'201': {description: Made.}, "
    paths = PATHS.replace("put:\n", "put:\n      operationId: put\n")
    one = "{'200': {description: Changed., content: {application/json: {schema: {$ref: '#/components/schemas/Room'}}}}}"
    path = document_with(
        tmp_path, paths.replace(f"responses: {one}", f"{declared}{one[1:]}"), SCHEMAS
    )
    rooms = Mock(Settings(document=path)).resource

    async def answer(identifier: int) -> int:
        wire = httpx.ASGITransport(rooms)
        async with httpx.AsyncClient(transport=wire, base_url="http://127.0.0.1:8080") as client:
            return (await client.put(f"/rooms/{identifier}", json={"name": "Red"})).status_code

    assert [asyncio.run(answer(it)) for it in (2**63 - 1, 2**63, 10**36)] == [201, 404, 404]


CREATED_TWICE = """
  /tags:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Tag'}}}}
      responses:
        '200': {description: Made., content: {application/json: {schema: {$ref: '#/components/schemas/Tag'}}}}
        '201': {description: Saved.}
  /tags/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: One., content: {application/json: {schema: {$ref: '#/components/schemas/Tag'}}}}}
"""
TAG = """
    Tag: {type: object, properties: {id: {type: string}, name: {type: string}}}
"""


@pytest.mark.parametrize("sent", [{"name": "blue"}, {"name": "blue", "id": ""}])
def test_a_creation_is_answered_so_that_the_item_can_be_read(tmp_path: Path, sent: dict[str, str]):
    tags = Mock(Settings(document=document_with(tmp_path, CREATED_TWICE, TAG))).resource

    async def read() -> object:
        wire = httpx.ASGITransport(tags)
        async with httpx.AsyncClient(transport=wire, base_url="http://127.0.0.1:8080") as client:
            made = (await client.post("/tags", json=sent)).json()
            return (await client.get(f"/tags/{made['id']}")).json()["name"]

    assert asyncio.run(read()) == "blue"


POINTS = """
  /v1/points:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Tag'}}}}
      responses:
        '201': {description: Made., headers: {Location: {schema: {type: string, pattern: '^/points/[a-z0-9]+$'}}}}
  /v1/points/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: One., content: {application/json: {schema: {$ref: '#/components/schemas/Tag'}}}}}
"""


def test_a_location_has_the_form_that_is_declared(tmp_path: Path):
    points = Mock(Settings(document=document_with(tmp_path, POINTS, TAG))).resource

    async def location() -> str:
        wire = httpx.ASGITransport(points)
        async with httpx.AsyncClient(transport=wire, base_url="http://127.0.0.1:8080") as client:
            return (await client.post("/v1/points", json={"id": "north"})).headers["location"]

    assert asyncio.run(location()) == "/points/north"


LABELS = """
  /labels/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      responses: {'200': {description: One., content: {application/json: {schema: {$ref: '#/components/schemas/Label'}}}}}
    put:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Label'}}}}
      responses: {'200': {description: Kept., content: {application/json: {schema: {$ref: '#/components/schemas/Label'}}}}}
"""
LABEL = "    Label: {type: object, properties: {id: {type: integer}, text: {type: string}}}"


@pytest.mark.parametrize(("number", "status"), [("7", 200), ("155998152397822263296", 404)])
def test_put_refuses_a_text_of_the_path_that_no_integer_of_an_item_can_be(tmp_path, number, status):
    ask = asking(Mock(Settings(document=document_with(tmp_path, LABELS, LABEL))))
    assert ask("PUT", f"/labels/{number}", json={"text": "Red"}).status_code == status
