"""An item is replaced in what the request declares; what only a creation has stays."""

import asyncio
from pathlib import Path

import httpx
from tests.collections.serving.conftest import document_with

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
