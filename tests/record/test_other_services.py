"""An app of a service that has no people runs unchanged from its recording, and follows its links."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import httpx
import pytest
import yaml
from tests.record.proxied import PROXY, RESOURCE, MockedDeployment, proxied
from tests.record.proxied import TARGET as TARGET_OF_APP

from understudy.api.in_process import InProcess
from understudy.api.in_process import mock as mock_in_process
from understudy.cli.record import write
from understudy.mock.settings import settings_like
from understudy.record.pseudonyms import PictureForm, drawn

KEY = b"k" * 32
DOCUMENT = """
openapi: 3.0.3
info: {title: Items, version: "1"}
servers: [{url: /api}]
components:
  securitySchemes: {token: {type: http, scheme: bearer}}
  schemas:
    Item:
      type: object
      properties: {id: {type: string}, name: {type: string}, price: {type: integer}}
    NewItem:
      type: object
      additionalProperties: false
      properties: {name: {type: string}, price: {type: integer}}
paths:
  /items:
    get:
      operationId: listItems
      parameters:
        - {name: page, in: query, schema: {type: integer}}
        - {name: q, in: query, schema: {type: string}}
      responses:
        '200':
          description: ok
          headers: {X-Total: {schema: {type: integer}}, Link: {schema: {type: string}}}
          content:
            application/json:
              schema:
                type: object
                properties:
                  items: {type: array, items: {$ref: '#/components/schemas/Item'}}
                  next: {type: string, nullable: true}
    post:
      operationId: createItem
      security: [{token: []}]
      requestBody:
        content: {application/json: {schema: {$ref: '#/components/schemas/NewItem'}}}
      responses:
        '201':
          description: made
          headers: {Location: {schema: {type: string}}}
          content: {application/json: {schema: {$ref: '#/components/schemas/Item'}}}
  /items/{itemId}:
    parameters: [{name: itemId, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getItem
      responses:
        '200':
          description: ok
          content: {application/json: {schema: {$ref: '#/components/schemas/Item'}}}
        '404': {description: none}
    patch:
      operationId: changeItem
      security: [{token: []}]
      requestBody:
        content: {application/json: {schema: {$ref: '#/components/schemas/NewItem'}}}
      responses:
        '200':
          description: ok
          content: {application/json: {schema: {$ref: '#/components/schemas/Item'}}}
  /items/{itemId}/note:
    parameters: [{name: itemId, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getNote
      responses: {'200': {description: ok, content: {text/plain: {schema: {type: string}}}}}
"""


class Shop(MockedDeployment):
    """A service with items, two a page."""

    def __init__(self) -> None:
        super().__init__()
        self.items = {str(n): {"id": str(n), "name": f"Thing {n}", "price": n} for n in (1, 2, 3)}

    async def respond(self, request: httpx.Request) -> httpx.Response:
        status, body, headers = self._answer(request)
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        kind = "text/plain" if isinstance(body, str) else "application/json"
        stream = httpx.ByteStream(content)
        return httpx.Response(status, headers={"content-type": kind, **headers}, stream=stream)

    def _answer(self, request: httpx.Request) -> tuple[int, Any, dict[str, str]]:
        _, _, *rest = request.url.path.removesuffix("/").split("/")
        query = parse_qs(request.url.query.decode())
        if rest[-1] == "note":
            return 200, "Handle with care.", {}
        if len(rest) == 2 and rest[1] not in self.items:
            return 404, {}, {}
        if request.method == "PATCH":
            self.items[rest[1]]["price"] = json.loads(request.content)["price"]
        if len(rest) == 2:
            return 200, self.items[rest[1]], {}
        if request.method == "POST":
            self.items["4"] = {**json.loads(request.content), "id": "4"}
            return 201, self.items["4"], {"location": "/api/items/4"}
        if "q" in query:
            found = [it for it in self.items.values() if query["q"][0] in str(it["name"])]
            return 200, {"items": found, "next": None}, {"x-total": str(len(found))}
        page = int(query.get("page", ["1"])[0])
        items = list(self.items.values())[page * 2 - 2 : page * 2]
        following = f"{RESOURCE}/api/items?page={page + 1}" if page == 1 else None
        link = {"link": f'<{following}>; rel="next"'} if following else {}
        return 200, {"items": items, "next": following}, {"x-total": "3", **link}


def used(send: Callable[..., httpx.Response]) -> list[tuple[Any, ...]]:
    """Does what an app of the shop does: it follows links, searches, and writes."""
    base, auth = f"{PROXY}/api", {"Authorization": "Bearer of-the-app"}
    first = send("GET", f"{base}/items")
    linked = first.headers["link"].partition(">")[0][1:]
    second, third = send("GET", first.json()["next"]), send("GET", linked)
    made = send("POST", f"{base}/items", headers=auth, json={"name": "A lamp", "price": 3})
    place = httpx.URL(f"{PROXY}/").join(made.headers["location"])
    change = {"price": 11, "nickname": "zed"}
    responses = [
        *(first, second, third, made, send("GET", str(place))),
        send("GET", f"{base}/items?q=Thing+3"),
        send("GET", f"{base}/items/2"),
        send("PATCH", f"{base}/items/2", headers=auth, json=change),
        send("GET", f"{base}/items/2"),
        send("GET", f"{base}/items/99"),
        send("GET", f"{base}/items/2/note"),
    ]
    shown = [it.json() if "json" in it.headers["content-type"] else {} for it in responses]
    counts = [len(it.get("items", ())) for it in shown]
    totals = [it.headers.get("x-total") for it in responses]
    own = [shown[3].get("name"), shown[3].get("price"), shown[6].get("id"), shown[7].get("price")]
    return [*zip([it.status_code for it in responses], counts, totals, strict=True), (*own,)]


def test_an_app_of_another_service_runs_unchanged_from_its_recording(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "items.yaml").write_text(DOCUMENT)
    monkeypatch.setitem(TARGET_OF_APP, "document", str(tmp_path / "items.yaml"))
    monkeypatch.setitem(TARGET_OF_APP, "base_url", f"{RESOURCE}/api")
    out, key = tmp_path / "staging", tmp_path / "staging.key"
    with proxied(Shop(), key=KEY) as session:
        seen = used(session.request)
    assert session.recording.recorder is not None
    key.write_text(f"{KEY.hex()}\n")
    key.chmod(0o600)
    write(session.recording.recorder, out, key)
    recorded = (out / "stubs" / "recorded.yaml").read_text()
    assert [it for it in ("of-the-app", "lamp", "Thing", "care") if it in recorded] == []
    mock = mock_in_process(settings_like(out / "deployment.yaml"))
    with httpx.Client(transport=InProcess(mock)) as app:
        assert used(app.request) == seen
    assert [status for status, *_ in seen[:-1]] == [200] * 3 + [201] + [200] * 5 + [404, 200]
    assert seen[-1] == ("A lamp", 3, "2", 11)
    assert yaml.safe_load(recorded)


BOATS = """
openapi: 3.0.3
info: {title: Boats, version: "1"}
servers: [{url: /api}]
components:
  schemas:
    Boat:
      type: object
      properties:
        id: {type: integer}
        owner: {type: string, format: uuid}
        built: {type: string, format: date}
        rig: {allOf: [{type: string, enum: [sloop, ketch]}]}
        kind: {const: boat}
    Problem: {type: object, properties: {title: {type: string}}}
    Page: {type: object, properties: {data: {type: array, items: {type: object}}}}
paths:
  /boats:
    get:
      responses:
        '200':
          description: All.
          content:
            application/hal+json:
              schema:
                allOf:
                  - {$ref: '#/components/schemas/Page'}
                  - {properties: {data: {items: {$ref: '#/components/schemas/Boat'}}}}
  /boats/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get:
      responses:
        '200': {description: One., content: {'*/*': {schema: {$ref: '#/components/schemas/Boat'}}}}
        '404': {description: None., content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}}
"""
BOAT: dict[str, Any] = {
    "id": 7,
    "owner": "0b2f8d1c-1111-4222-8333-444455556666",
    "built": "1969-07-21",
    "rig": "ketch",
    "kind": "boat",
}


class Harbour(MockedDeployment):
    """A service whose boats have numbers, and whose errors are problems."""

    async def respond(self, request: httpx.Request) -> httpx.Response:
        last = request.url.path.rpartition("/")[2]
        body: dict[str, Any] = {"title": "No such boat."}
        kind = "application/problem+json"
        if last in {"boats", "7"}:
            body, kind = (
                (BOAT, "application/json")
                if last == "7"
                else ({"data": [BOAT]}, "application/hal+json")
            )
        stream = httpx.ByteStream(json.dumps(body).encode())
        return httpx.Response(
            200 if last in {"boats", "7"} else 404, headers={"content-type": kind}, stream=stream
        )


def test_an_app_parses_what_was_recorded_and_finds_the_items_of_a_list_by_their_numbers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "boats.yaml").write_text(BOATS)
    monkeypatch.setitem(TARGET_OF_APP, "document", str(tmp_path / "boats.yaml"))
    monkeypatch.setitem(TARGET_OF_APP, "base_url", f"{RESOURCE}/api")
    with proxied(Harbour(), key=KEY) as session:
        for path in ("boats", "boats/7", "boats/8"):
            session.request("GET", f"{PROXY}/api/{path}")
    assert session.recording.recorder is not None
    (tmp_path / "staging.key").write_text(f"{KEY.hex()}\n")
    (tmp_path / "staging.key").chmod(0o600)
    write(session.recording.recorder, tmp_path / "staging", tmp_path / "staging.key")
    mock = mock_in_process(settings_like(tmp_path / "staging" / "deployment.yaml"))
    with httpx.Client(transport=InProcess(mock), base_url=f"{PROXY}/api") as app:
        (boat,) = app.get("/boats").json()["data"]
        assert app.get(f"/boats/{boat['id']}").json() == boat
        assert UUID(boat["owner"]) != UUID(BOAT["owner"])
        assert date.fromisoformat(boat["built"]) != date.fromisoformat(BOAT["built"])
        assert (boat["rig"], boat["kind"]) == ("ketch", "boat")
        assert app.get("/boats/8").status_code == 404
        assert app.get("/boats/8").json()["title"] not in {"", "No such boat."}
        assert app.get("/boats/7").json()["id"] == 7  # the app's own number


@pytest.mark.parametrize("height", [1, 2, 3])
def test_a_picture_of_few_pixels_is_drawn_too(height: int) -> None:
    assert drawn(PictureForm("PNG", 1, height), "0123456789abcdef01").startswith(b"\x89PNG")
