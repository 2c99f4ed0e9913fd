"""Kinds of collections beside the usual one: the documents of the finder's second set, as they are served."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner
from tests.collections.serving.conftest import document_with
from tests.mock.asking import Ask, asking

from understudy.cli import main
from understudy.collections.items import ItemShape
from understudy.mock.app import Mock
from understudy.mock.settings import Settings

LABELLED = Path(__file__).parents[1] / "inference" / "labelled"


JSON_API = {"content-type": "application/vnd.api+json"}
BOOK = '{"data": {"type": "books", "attributes": {"title": "A"}}}'


def asking_of(name: str) -> Ask:
    return asking(Mock(Settings(document=LABELLED / name)))


@pytest.mark.parametrize(
    ("name", "path", "sent"),
    [
        ("tags.yaml", "/tags", {"json": {"label": "Blue"}}),
        ("tags.yaml", "/notes", {"json": {"text": "Blue"}}),
        ("keys.yaml", "/api-keys", {}),
        ("exports.yaml", "/exports", {"json": {"query": "all"}}),
        ("uploads.yaml", "/documents", {"files": {"file": b"text"}}),
        ("hooks.yaml", "/v2/hooks", {"json": {"hook": {"url": "https://example.com"}}}),
        ("jsonapi.yaml", "/books", {"content": BOOK, "headers": JSON_API}),
    ],
)
def test_what_is_created_is_listed_and_read_and_gone_once_deleted(name, path, sent) -> None:
    ask = asking_of(name)
    before = ask("GET", path).text
    created = ask("POST", path, **sent)
    body = created.json() if created.content else {}
    inner = next((it for it in body.values() if isinstance(it, dict)), body)
    place = created.headers.get("location") or f"{path}/{inner['id']}"
    identifier = place.rpartition("/")[2]
    assert identifier in ask("GET", path).text
    assert ask("GET", place).status_code == 200
    assert identifier in ask("GET", place).text
    ask("DELETE", place)
    assert ask("GET", place).status_code == 404
    assert ask("GET", path).text == before


def test_a_put_that_takes_no_identifier_creates_an_item() -> None:
    ask = asking_of("depots.yaml")
    made = ask("PUT", "/depots", json={"name": "North"}).json()
    ask("PATCH", f"/depots/{made['id']}", json={"name": "South"})
    assert ask("GET", f"/depots/{made['id']}").json()["name"] == "South"
    assert [it["name"] for it in ask("GET", "/depots?").json() if it["id"] == made["id"]] == [
        "South"
    ]


def test_without_a_schema_of_responses_what_is_put_is_read() -> None:
    ask = asking_of("tags.yaml")
    place = ask("POST", "/tags", json={"label": "Blue"}).headers["location"]
    ask("PUT", place, json={"label": "Red"})
    identifier = place.rpartition("/")[2]
    assert ask("GET", place).json() == {"id": identifier, "label": "Red"}
    assert str(UUID(identifier)) == identifier  # as the path has it


def test_what_is_created_through_a_parent_says_so_in_the_collection_of_its_own() -> None:
    ask = asking_of("indexes.yaml")
    made = ask("POST", "/indexes/words/backups", json={"label": "night"}).json()
    assert made["name"] == "words"
    assert ask("GET", f"/backups/{made['backupId']}").json() == made
    assert made in ask("GET", "/backups").json()["data"]


def test_a_path_of_a_parent_lists_what_is_the_parents() -> None:
    ask = asking_of("shop.yaml")
    made = ask("POST", "/orders", json={"customerId": 2}).json()
    assert made in ask("GET", "/customers/2/orders").json()
    assert made not in ask("GET", "/customers/1/orders").json()


def test_verbs_below_an_item_change_and_delete_it_as_methods_do(tmp_path) -> None:
    post = "{$ref: '#/components/schemas/Post'}"
    one = f"{{responses: {{'200': {{description: a, content: {{application/json: {{schema: {post}}}}}}}, '404': {{description: none}}}}}}"
    body = "{content: {application/json: {schema: {type: object, properties: {title: {type: string}}}}}}"
    at = "parameters: [{name: id, in: path, required: true, schema: {type: integer}}]"
    paths = (
        f"  /posts:\n    post: {{requestBody: {body}, {one[1:]}\n"
        f"  /posts/{{id}}:\n    {at}\n    get: {one}\n"
        f"  /posts/{{id}}/edit:\n    {at}\n    post: {{requestBody: {body}, {one[1:]}\n"
        f"  /posts/{{id}}/delete:\n    {at}\n    post: {{responses: {{'204': {{description: gone}}}}}}\n"
    )
    schemas = "    Post: {type: object, required: [id], properties: {id: {type: integer, readOnly: true}, title: {type: string}, text: {type: string}}}"
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, schemas))))
    made = ask("POST", "/posts", json={"title": "Red"}).json()
    place = f"/posts/{made['id']}"
    assert ask("POST", f"{place}/edit", json={"title": "Blue"}).json()["title"] == "Blue"
    assert ask("GET", place).json() == {**made, "title": "Blue"}
    assert ask("POST", f"{place}/delete").status_code == 204
    assert ask("GET", place).status_code == 404


@pytest.mark.parametrize(
    ("query", "is_listed"),
    [
        ("q=BLUE", True),
        ("q=red", False),
        ("min_total=12", True),
        ("min_total=12.5", False),
        ("created_after=2026-01-01T00:00:00Z", True),
        ("created_after=2999-01-01T00:00:00Z", False),
    ],
)
def test_a_list_is_filtered_by_words_and_by_comparisons(query, is_listed) -> None:
    ask = asking_of("shop.yaml")
    made = ask("POST", "/orders", json={"customerId": 1, "note": "A blue one", "total": 12}).json()
    assert (made in ask("GET", f"/orders?{query}").json()) is is_listed


def test_a_catalogue_lists_what_it_reads() -> None:
    ask = asking_of("catalogue.yaml")
    for country in ask("GET", "/countries").json():
        assert ask("GET", f"/countries/{country['code']}").json() == country
    assert ask("GET", "/countries/nowhere").status_code == 404


def test_a_job_goes_on_by_the_clock_of_the_world_until_it_ends() -> None:
    mock = Mock(Settings(document=LABELLED / "exports.yaml"))
    ask = asking(mock)
    place = f"/exports/{ask('POST', '/exports', json={'query': 'all'}).json()['id']}"
    other = f"/exports/{ask('POST', '/exports', json={'query': 'all'}).json()['id']}"
    start = mock.world.clock.now()
    mock.world.clock.put(start, rate=0)
    assert ask("POST", f"{other}/cancel").json()["status"] == "cancelled"
    states = []
    for seconds in (0, 2, 4, 60):
        mock.world.clock.put(start + timedelta(seconds=seconds), rate=0)
        states.append(ask("GET", place).json()["status"])
    assert states == ["queued", "running", "succeeded", "succeeded"]
    assert ask("GET", other).json()["status"] == "cancelled"


def test_an_action_is_done_after_a_creation_and_not_by_it() -> None:
    ask = asking_of("keys.yaml")
    made = ask("POST", "/api-keys").json()
    assert made["revoked"] is False
    assert ask("POST", f"/api-keys/{made['id']}/revoke").json()["revoked"] is True


def test_the_example_of_a_document_is_not_refused_for_the_name_of_a_seed(tmp_path) -> None:
    content = (
        "{required: true, content: {application/json: {schema: {$ref: '#/components/schemas/P'}}}}"
    )
    shown = (
        "{description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/P'}}}}"
    )
    paths = (
        f"  /p:\n    post: {{requestBody: {content}, responses: {{'201': {shown}, '409': {{description: no}}}}}}\n"
        "  /p/{id}:\n    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]\n"
        f"    get: {{responses: {{'200': {shown}}}}}\n"
    )
    schemas = "    P: {type: object, properties: {id: {type: integer, readOnly: true}, name: {type: string, example: Rex}}}"
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, schemas))))
    assert ask("POST", "/p", json={"name": "Rex"}).status_code == 201
    assert ask("POST", "/p", json={"name": "Rex"}).status_code == 409


def test_what_exists_once_is_not_shown_where_a_change_responds_with_a_text(tmp_path) -> None:
    settings = (
        "content: {application/json: {schema: {type: object, properties: {a: {type: string}}}}}"
    )
    text = "content: {application/json: {schema: {type: string}}}"
    paths = (
        f"  /settings:\n    get: {{responses: {{'200': {{description: ok, {settings}}}}}}}\n"
        f"    put: {{requestBody: {{{settings}}}, responses: {{'200': {{description: ok, {text}}}}}}}\n"
    )
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, "    A: {}"))))
    assert isinstance(ask("PUT", "/settings", json={"a": "b"}).json(), str)
    assert ask("GET", "/settings").json() == {"a": "b"}


def test_a_change_of_an_item_by_other_members_is_about_the_item(tmp_path) -> None:
    """Made up, the response would be about another item than the one that is read and deleted."""
    shown = "responses: {'200': {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/P'}}}}}"
    sent = "requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/%s'}}}}"
    paths = (
        f"  /p:\n    post: {{{sent % 'P'}, {shown}}}\n"
        "  /p/{id}:\n    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]\n"
        f"    get: {{{shown}}}\n    patch: {{{sent % 'Steps'}, {shown}}}\n    put: {{{sent % 'Mark'}, {shown}}}\n"
    )
    schemas = (
        "    P: {type: object, properties: {id: {type: integer, readOnly: true}, name: {type: string}}}\n"
        "    Steps: {type: array, items: {type: object, properties: {op: {type: string}, path: {type: string}}}}\n"
        "    Mark: {type: object, properties: {isRead: {type: boolean}}}"
    )
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, schemas))))
    place = f"/p/{ask('POST', '/p', json={'name': 'Rex'}).json()['id']}"
    assert ask("PUT", place, json={"isRead": True}).json()["name"] == "Rex"
    for path, value in (
        ("/name", "Max"),
        ("/name", 7),
        ("/none", 1),
    ):  # of which one can be applied
        patch = [{"op": "replace", "path": path, "value": value}]
        assert ask("PATCH", place, json=patch).json()["name"] == "Max"
    assert ask("GET", place).json()["name"] == "Max"


def test_an_item_is_changed_by_one_member_in_its_path_and_deleted_by_another(tmp_path) -> None:
    setting = "{application/json: {schema: {$ref: '#/components/schemas/Setting'}}}"
    one = f"responses: {{'200': {{description: a, content: {setting}}}, '404': {{description: none}}}}"
    some = (
        "{application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Setting'}}}}"
    )
    paths = (
        f"  /settings:\n    get: {{responses: {{'200': {{description: a, content: {some}}}}}}}\n"
        f"    post: {{requestBody: {{content: {setting}}}, {one}}}\n"
        f"  /settings/{{key}}:\n    patch: {{requestBody: {{content: {setting}}}, {one}}}\n"
        f"  /settings/{{id}}:\n    delete: {{{one}}}\n"
    )
    schemas = "    Setting: {type: object, properties: {id: {type: integer, readOnly: true}, key: {type: string}, value: {type: string}}}"
    document = document_with(tmp_path, paths, schemas)
    ask = asking(Mock(Settings(document=document)))
    made = ask("POST", "/settings", json={"key": "colour", "value": "red"}).json()
    assert ask("PATCH", "/settings/colour", json={"value": "blue"}).json() == {
        **made,
        "value": "blue",
    }
    assert ask("DELETE", "/settings/colour").status_code == 404
    assert ask("DELETE", f"/settings/{made['id']}").status_code == 200
    assert ask("PATCH", "/settings/colour", json={"value": "red"}).status_code == 404
    shown = CliRunner().invoke(main, ["infer", str(document)]).stdout
    assert "update   PATCH  /settings/{key}  (by key)" in shown


def test_what_is_created_below_a_parent_that_is_not_known_is_listed_until_it_is_deleted(tmp_path):
    """A word such as ``default`` may name the parent, and no refusal of the creation is declared.

    Below one that was deleted nothing is created all the same.
    """
    order = "{$ref: '#/components/schemas/Order'}"
    one = f"'200': {{description: a, content: {{application/json: {{schema: {order}}}}}}}"
    some = f"{{application/json: {{schema: {{type: array, items: {order}}}}}}}"
    none = "'404': {description: none}"
    paths = (
        f"  /shops:\n    get: {{responses: {{'200': {{description: a, content: {some}}}}}}}\n"
        f"  /shops/{{shop}}:\n    get: {{responses: {{{one}, {none}}}}}\n"
        "    delete: {responses: {'204': {description: a}}}\n"
        f"  /shops/{{shop}}/orders:\n    get: {{responses: {{'200': {{description: a, content: {some}}}, {none}}}}}\n"
        f"    post: {{requestBody: {{content: {{application/json: {{schema: {order}}}}}}}, responses: {{{one}}}}}\n"
        "  /shops/{shop}/orders/{id}:\n"
        f"    get: {{responses: {{{one}, {none}}}}}\n    delete: {{responses: {{'204': {{description: a}}, {none}}}}}\n"
    )
    schemas = "    Order: {type: object, properties: {id: {type: string, readOnly: true}, size: {type: integer}}}"
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, schemas))))
    assert ask("GET", "/shops/default/orders").status_code == 404
    made = ask("POST", "/shops/default/orders", json={"size": 1}).json()
    assert ask("GET", "/shops/default/orders").json() == [made]
    assert ask("DELETE", f"/shops/default/orders/{made['id']}").status_code == 204
    assert ask("GET", "/shops/default/orders").json() == []
    shop = f"/shops/{ask('GET', '/shops').json()[0]['id']}"
    assert ask("DELETE", shop).status_code == 204
    assert ask("POST", f"{shop}/orders", json={"size": 1}).status_code == 404


def test_an_identifier_that_one_response_has_as_a_text_is_the_number_of_the_others(tmp_path):
    def shown(schema: str) -> str:
        return f"responses: {{'200': {{description: a, content: {{application/json: {{schema: {schema}}}}}}}}}"

    item = "{$ref: '#/components/schemas/P'}"
    made = "{type: object, required: [id], properties: {id: {type: string}, size: {type: integer}}}"
    paths = (
        f"  /p:\n    post: {{requestBody: {{content: {{application/json: {{schema: {item}}}}}}}, {shown(made)}}}\n"
        "  /p/{id}:\n    parameters: [{name: id, in: path, required: true, schema: {type: number}}]\n"
        f"    get: {{{shown(item)}}}\n"
    )
    schemas = "    P: {type: object, properties: {id: {type: integer, readOnly: true}, size: {type: integer}}}"
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, schemas))))
    identifier = ask("POST", "/p", json={"size": 7}).json()["id"]
    assert ask("GET", f"/p/{identifier}").json() == {"id": int(identifier), "size": 7}


def test_an_action_that_is_answered_with_a_list_of_anything_is_done(tmp_path) -> None:
    item = "{$ref: '#/components/schemas/P'}"
    shown = f"responses: {{'200': {{description: a, content: {{application/json: {{schema: {item}}}}}}}}}"
    listed = shown.replace(item, "{type: array, items: {properties: {}}}")
    sent = f"requestBody: {{content: {{application/json: {{schema: {item}}}}}}}"
    parameter = "parameters: [{name: id, in: path, required: true, schema: {type: integer}}]"
    paths = (
        f"  /p:\n    post: {{{sent}, {shown.replace('200', '201')}}}\n"
        f"  /p/{{id}}:\n    {parameter}\n    get: {{{shown}}}\n"
        f"  /p/{{id}}/cancel:\n    {parameter}\n    post: {{{listed}}}\n"
    )
    schemas = (
        "    P: {type: object, required: [id, kind], properties: {id: {type: integer, readOnly: true}, "
        "kind: {enum: [open, cancelled]}}}"
    )
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, schemas))))
    place = f"/p/{ask('POST', '/p', json={'kind': 'open'}).json()['id']}"
    assert isinstance(ask("POST", f"{place}/cancel").json(), list)
    assert ask("GET", place).json()["kind"] == "cancelled"


SHAPES = """
    Circle: {type: object, required: [kind, radius], properties: {kind: {enum: [circle]}, radius: {type: number}}}
    Square: {type: object, required: [kind, side], properties: {kind: {const: square}, side: {type: number}}}
    Shape:
      properties: {id: {type: string, readOnly: true}}
      oneOf: [{$ref: '#/components/schemas/Circle'}, {$ref: '#/components/schemas/Square'}]
    Key: {type: object, required: [id, label], properties: {id: {type: string}, label: {type: string}, source: {enum: [hand, robot]}}}
    Made: {type: object, properties: {key: {$ref: '#/components/schemas/Key'}, secret: {type: string}}}
    New: {type: object, required: [label], properties: {label: {type: string}}}
"""


def _content(schema: str) -> str:
    return f"content: {{application/json: {{schema: {schema}}}}}"


def _body(name: str) -> str:
    return _content(f"{{$ref: '#/components/schemas/{name}'}}")


def _listed(name: str) -> str:
    return _content(f"{{type: array, items: {{$ref: '#/components/schemas/{name}'}}}}")


@pytest.fixture(scope="module")
def shapes(tmp_path_factory) -> Ask:
    parameters = "parameters: [{name: id, in: path, required: true, schema: {type: string}}]"
    query = parameters.replace("id, in: path", "labelId, in: query")
    token = "{name: pageToken, in: query, schema: {type: string}}"
    keys = "{properties: {links: {type: array}}, type: array, items: {$ref: '#/components/schemas/Key'}}"
    listed = f"{{properties: {{keys: {keys}, nextPageToken: {{type: string}}}}}}"
    pages = _content(listed).replace("application/json", "'*/*'")
    paths = "\n".join(
        (
            "  /shapes:",
            f"    get: {{responses: {{'200': {{description: a, {_listed('Shape')}}}}}}}",
            f"    post: {{requestBody: {{{_body('Shape')}}}, responses: {{'201': {{description: a, {_body('Shape')}}}}}}}",
            "  /shapes/{id}:",
            f"    {parameters}",
            f"    get: {{responses: {{'200': {{description: a, {_body('Shape')}}}}}}}",
            f"    put: {{requestBody: {{{_body('Shape')}}}, responses: {{'200': {{description: a, {_body('Shape')}}}}}}}",
            "  /keys:",
            f"    get: {{responses: {{'200': {{description: a, {_listed('Key')}}}}}}}",
            f"    post: {{requestBody: {{{_body('New')}}}, responses: {{'201': {{description: a, {_body('Made')}}}}}}}",
            "  /keys/{id}:",
            f"    delete: {{{parameters}, responses: {{'204': {{description: a}}}}}}",
            "  /pages:",
            f"    get: {{parameters: [{token}], responses: {{'200': {{description: a, {pages}}}}}}}",
            f"    post: {{requestBody: {{{_body('New')}}}, responses: {{'201': {{description: a, {_body('Key')}}}}}}}",
            "  /labels:",
            f"    get: {{responses: {{'200': {{description: a, {_listed('Key')}}}}}}}",
            f"    post: {{requestBody: {{{_body('New')}}}, responses: {{'201': {{description: a, {_body('Key')}}}}}}}",
            f"    put: {{{query}, requestBody: {{{_body('New')}}}, responses: {{'200': {{description: a, {_body('Key')}}}}}}}",
            f"    delete: {{{query}, responses: {{'204': {{description: a}}, '404': {{description: a}}}}}}",
            "  /label:",
            f"    get: {{{query}, responses: {{'200': {{description: a, {_body('Key')}}}}}}}",
        )
    )
    document = document_with(tmp_path_factory.mktemp("shapes"), paths, SHAPES)
    return asking(Mock(Settings(document=document)))


def test_an_item_has_the_members_of_the_alternative_that_was_sent(shapes: Ask) -> None:
    square, circle = {"kind": "square", "side": 3}, {"kind": "circle", "radius": 2}
    made = shapes("POST", "/shapes", json=square).json()
    assert made == {"id": made["id"], **square}
    for sent in (circle, square):
        assert shapes("PUT", f"/shapes/{made['id']}", json=sent).json() == {
            "id": made["id"],
            **sent,
        }
        assert shapes("GET", f"/shapes/{made['id']}").json() == {"id": made["id"], **sent}


def test_a_new_item_is_of_the_alternative_that_the_response_to_its_creation_has(tmp_path) -> None:
    paths = (
        f"  /hooks:\n    post: {{requestBody: {{{_body('New')}}}, responses: {{'201': {{description: a, {_body('Own')}}}}}}}\n"
        "  /hooks/{id}:\n    parameters: [{name: id, in: path, required: true, schema: {type: string}}]\n"
        f"    get: {{responses: {{'200': {{description: a, {_body('Hook')}}}}}}}\n"
    )
    kind = "{type: object, required: [id, name, type], properties: {id: {type: string}, name: {type: string}, type: {enum: [%d]}}}"
    one_of = "{$ref: '#/components/schemas/Own'}"
    schemas = (
        f"    Followed: {kind % 2}\n    Own: {kind % 1}\n"
        f"    Hook: {{oneOf: [{{$ref: '#/components/schemas/Followed'}}, {one_of}]}}\n"
        "    New: {type: object, required: [name], properties: {name: {type: string}}}"
    )
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, schemas))))
    made = ask("POST", "/hooks", json={"name": "Rex"}).json()
    assert made["type"] == 1
    assert ask("GET", f"/hooks/{made['id']}").json() == made


def test_what_the_service_alone_chooses_is_the_same_for_each_new_item(shapes: Ask) -> None:
    made = [shapes("POST", "/keys", json={"label": "build"}).json()["key"] for _ in range(6)]
    assert {it["source"] for it in made} == {"hand"}


def test_a_secret_beside_an_item_does_not_hide_the_item(shapes: Ask) -> None:
    made = shapes("POST", "/keys", json={"label": "build"}).json()
    assert made["key"] in shapes("GET", "/keys").json()
    assert made["key"]["label"] == "build"
    shapes("DELETE", f"/keys/{made['key']['id']}")
    assert made["key"] not in shapes("GET", "/keys").json()


def test_a_query_that_must_name_an_item_reads_changes_and_deletes_it(shapes: Ask) -> None:
    made = shapes("POST", "/labels", json={"label": "night"}).json()
    query = f"?labelId={made['id']}"
    assert shapes("GET", f"/label{query}").json() == made
    changed = shapes("PUT", f"/labels{query}", json={"label": "day"}).json()
    assert changed == {**made, "label": "day"}
    assert changed in shapes("GET", "/labels").json()
    assert [shapes("DELETE", f"/labels{query}").status_code for _ in range(2)] == [204, 404]
    assert changed not in shapes("GET", "/labels").json()
    assert shapes("GET", f"/label{query}").status_code == 404


def test_a_list_of_any_media_type_has_no_token_after_its_last_page(shapes: Ask) -> None:
    made = shapes("POST", "/pages", json={"label": "night"}).json()
    page = shapes("GET", "/pages").json()
    assert made in page["keys"]  # although the schema of the list has members, too
    assert page["nextPageToken"] == ""


ROTATED = """
  /keys:
    post: {requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}}}}}}, responses: {'201': &key {description: one, content: {application/json: {schema: {$ref: '#/components/schemas/Key'}}}}}}
    get: {responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Key'}}}}}}}
  /keys/{id}:
    parameters: &by_id [{name: id, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': *key, '404': {description: none}}}
    put:
      parameters: [{name: If-Match, in: header, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}}}}}}
      responses: {'200': *key}
  /keys/{id}/rotate: {parameters: *by_id, post: {responses: {'200': *key, '404': {description: none}}}}"""
KEY = """
    Key: {type: object, required: [id, label, secret], properties: {id: {type: string}, label: {type: string}, secret: {type: string, readOnly: true}, rotatedAt: {type: string, format: date-time, readOnly: true}}}"""


@pytest.fixture
def keys(tmp_path: Path) -> Ask:
    return asking(Mock(Settings(document=document_with(tmp_path, ROTATED, KEY))))


def test_an_action_that_renews_gives_the_same_item_another_secret(keys: Ask) -> None:
    made = keys("POST", "/keys", json={"label": "mine"}).json()
    secrets = [made["secret"]]
    for _ in range(3):
        rotated = keys("POST", f"/keys/{made['id']}/rotate").json()
        assert keys("GET", f"/keys/{made['id']}").json() == rotated
        assert (rotated["id"], rotated["label"]) == (made["id"], "mine")
        secrets.append(rotated["secret"])
    assert len({*secrets}) == 4
    assert rotated["rotatedAt"] != made.get("rotatedAt")
    assert keys("POST", "/keys/missing/rotate").status_code == 404


@pytest.mark.parametrize(
    ("tag", "status"), [('"other"', 412), ('W/"other"', 412), ("*", 200), ("any text", 200)]
)
def test_an_outdated_if_match_is_refused_where_only_the_header_is_declared(keys, tag, status):
    path = f"/keys/{keys('POST', '/keys', json={'label': 'mine'}).json()['id']}"
    sent = keys("PUT", path, json={"label": "other"}, headers={"If-Match": tag})
    assert sent.status_code == status
    assert keys("GET", path).json()["label"] == ("mine" if status == 412 else "other")


TOLD_APART = """
  /pets:
    get: {responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}}}}}}
    post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/New'}}}}, responses: {'201': &pet {description: one, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}}}
  /pets/{id}: {parameters: [{name: id, in: path, required: true, schema: {type: string}}], get: {responses: {'200': *pet}}}"""
ALTERNATIVES = """
    Pet: {oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind, mapping: {feline: '#/components/schemas/Cat', canine: Dog}}}
    Cat: {type: object, required: [id, kind, litter], properties: {id: {type: string}, kind: {type: string}, litter: {type: string, readOnly: true}, lives: {type: integer}}}
    Dog: {type: object, required: [id, kind, chip], properties: {id: {type: string}, kind: {type: string}, chip: {type: string, readOnly: true}, barks: {type: boolean}}}
    New: {oneOf: [{$ref: '#/components/schemas/NewCat'}, {$ref: '#/components/schemas/NewDog'}], discriminator: {propertyName: kind, mapping: {feline: NewCat, canine: NewDog}}}
    NewCat: {type: object, required: [kind], properties: {kind: {type: string}, lives: {type: integer}}}
    NewDog: {type: object, required: [kind], properties: {kind: {type: string}, barks: {type: boolean}}}"""


@pytest.fixture(scope="module")
def pets(tmp_path_factory) -> Ask:
    document = document_with(tmp_path_factory.mktemp("pets"), TOLD_APART, ALTERNATIVES)
    return asking(Mock(Settings(document=document)))


@pytest.mark.parametrize(
    ("sent", "other"),
    [({"kind": "canine", "barks": True}, "litter"), ({"kind": "feline", "lives": 7}, "chip")],
)
def test_an_item_is_of_the_alternative_that_the_mapping_names(pets: Ask, sent, other) -> None:
    made = pets("POST", "/pets", json=sent).json()
    assert sent.items() <= made.items()
    assert {"litter", "chip"} - made.keys() == {other}
    assert pets("GET", f"/pets/{made['id']}").json() == made
    assert made in pets("GET", "/pets").json()


@pytest.mark.parametrize(
    ("sent", "reason"),
    [({"kind": "canine", "barks": "x"}, "barks"), ({"kind": "bird"}, "kind")],
)
def test_a_request_that_no_mapped_alternative_fits_is_refused(pets: Ask, sent, reason) -> None:
    refused = pets("POST", "/pets", json=sent)
    assert (refused.status_code, f"of the closest, {reason}: " in refused.text) == (400, True)


MAILBOXES = """
  /mailboxes:
    post: {responses: {'201': {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/Mailbox'}}}}}}
  /mailboxes/{address}:
    parameters: [{name: address, in: path, required: true, schema: {type: string, format: email, examples: [rex@example.com]}}]
    get: {responses: {'200': {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/Mailbox'}}}}, '404': {description: b}}}
    delete: {responses: {'204': {description: a}, '404': {description: b}}}
"""


def test_an_identifier_with_an_example_and_a_format_is_another_one_for_each_item(tmp_path) -> None:
    schemas = "    Mailbox: {type: object, required: [address], properties: {address: {type: string, format: email, examples: [rex@example.com]}}}"
    ask = asking(Mock(Settings(document=document_with(tmp_path, MAILBOXES, schemas))))
    made = [ask("POST", "/mailboxes").json()["address"] for _ in range(5)]
    assert len({*made}) == 5
    assert all(ask("GET", f"/mailboxes/{it}").status_code == 200 for it in made)


ROOMS = """
  /rooms:
    get: {responses: {"200": {description: All., content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Room"}}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Room"}}}}
      responses: {"201": {description: Made., content: {application/json: {schema: {$ref: "#/components/schemas/Room"}}}}}
  /rooms/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer, minimum: 101, maximum: 108}}]
    get: {responses: {"200": {description: One., content: {application/json: {schema: {$ref: "#/components/schemas/Room"}}}}, "404": {description: None.}}}
    delete: {responses: {"204": {description: Gone.}, "404": {description: None.}}}
"""
ROOM = "    Room: {type: object, required: [id], properties: {id: {type: integer, readOnly: true}, name: {type: string}}}"


def test_a_collection_whose_identifiers_have_bounds_uses_them_up_and_tries_no_others(
    tmp_path, monkeypatch
) -> None:
    ask = asking(Mock(Settings(document=document_with(tmp_path, ROOMS, ROOM))))
    tried, identifies = [], ItemShape.identifies

    def counted(shape: ItemShape, value: Any) -> bool:
        tried.append(value)
        return identifies(shape, value)

    monkeypatch.setattr(ItemShape, "identifies", counted)
    made = [ask("POST", "/rooms", json={"name": "A"}).json()["id"] for _ in range(10)]
    listed = [it["id"] for it in ask("GET", "/rooms").json()]
    assert set(range(101, 109)) <= {*listed}
    assert len(set(made)) == len(made)
    assert len(tried) < 200


def test_listed_identifiers_are_used_up_before_others(tmp_path) -> None:
    paths = ROOMS.replace("minimum: 101, maximum: 108", "enum: [3, 70, 5000, 9, 21, 8, 4, 2]")
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, ROOM))))
    for _ in range(10):
        ask("POST", "/rooms", json={"name": "A"})
    assert {3, 70, 5000, 9, 21, 8, 4, 2} <= {it["id"] for it in ask("GET", "/rooms").json()}
