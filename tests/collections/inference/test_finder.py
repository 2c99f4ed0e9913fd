"""What is inferred of a document: collections, their operations, and what stays stateless."""

from pathlib import Path

import pytest
from tests.mock.asking import asking

from understudy.collections.inference import find_resources, infer_resources
from understudy.collections.state_models import (
    load_state_model,
    state_model_text,
)
from understudy.errors import StartupError
from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.openapi.loader import load

TASKS = Path(__file__).parent / "labelled" / "todo.yaml"
TODOS = "/lists/{listId}/todos"


PARTS = """
openapi: 3.0.3
info: {title: Parts, version: '1'}
paths:
  /parts:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {code: {type: string, description: Said.}}}}}}
      responses:
        '201': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Part'}}}}
        '409': {description: Refused.}
  /parts/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get: {responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Part'}}}}}}
components:
  schemas:
    Part: {type: object, properties: {id: {type: integer}, code: {type: string}}}
"""


@pytest.fixture(scope="module")
def model():
    return find_resources(load(TASKS))


@pytest.fixture(scope="module")
def todos(model):
    return model.collection(TODOS)


def test_every_operation_has_its_role(todos):
    assert [(it.role, *it.key) for it in todos.operations] == [
        ("create", "POST", TODOS),
        ("list", "GET", TODOS),
        ("read", "GET", f"{TODOS}/{{todoId}}"),
        ("replace", "PUT", f"{TODOS}/{{todoId}}"),
        ("update", "PATCH", f"{TODOS}/{{todoId}}"),
        ("delete", "DELETE", f"{TODOS}/{{todoId}}"),
        ("action", "POST", f"{TODOS}/{{todoId}}/complete"),
    ]


def test_identifier_parents_and_references_are_those_of_the_document(todos):
    (parent,) = todos.parents
    assert (todos.identifier, todos.parameter) == ("id", "todoId")
    assert (parent.parameter, parent.collection) == ("listId", "/lists")
    assert todos.references == {"listId": "/lists"}


def test_a_list_is_found_in_its_envelope_and_an_action_by_the_enumeration(todos):
    assert todos.operation("list").response_path == ("data",)
    assert todos.operation("action").changes == {"status": "done"}


def test_a_declared_conflict_makes_names_unique(model):
    assert model.collection("/lists").unique == ("name",)


@pytest.mark.parametrize(
    ("said", "unique"),
    [
        ("Unique within the account.", ("code",)),
        ("It must be unique.", ("code",)),
        ("A unique piece.", ()),
    ],
)
def test_a_member_is_unique_whose_description_says_so(said, unique, tmp_path):
    path = tmp_path / "parts.yaml"
    path.write_text(PARTS.replace("Said.", said))
    (parts,) = find_resources(load(path)).collections
    assert parts.unique == unique


def test_a_resource_that_is_read_and_changed_at_one_path_is_single(model):
    (settings,) = model.singletons
    assert [it.role for it in settings.operations] == ["read", "update"]


def test_what_creates_nothing_stays_stateless(model):
    assert "/search" not in {
        operation.path for _, it in model.roles() for operation in [it.operation]
    }


BLOCKS = """
openapi: 3.0.3
info: {title: Blocks, version: '1'}
paths:
  /blocks:
    get: {responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/User'}}}}}}}
  /blocks/{username}:
    parameters: [{name: username, in: path, required: true, schema: {type: string}}]
    put: {responses: {'204': {description: Blocked.}}}
    delete: {responses: {'204': {description: No longer blocked.}}}
components:
  schemas:
    User: {type: object, required: [id], properties: {id: {type: integer}, username: {type: string}}}
"""


def test_a_put_without_a_body_makes_a_member_where_it_can_be_deleted(tmp_path):
    path = tmp_path / "blocks.yaml"
    path.write_text(BLOCKS)
    (blocks,) = find_resources(load(path)).collections
    assert [it.role for it in blocks.operations] == ["list", "replace", "delete"]


@pytest.mark.parametrize(
    ("members", "kind", "identifier"),
    [
        ("code: {type: string}, title: {type: string}", "string", "code"),
        ("code: {type: string}, message: {type: string}", "string", None),  # of the result
        ("id: {type: string}", "number", None),  # which no path takes
        ("blockId: {type: integer}, id: {type: string}", "string, format: uuid", "id"),
    ],
)
def test_a_member_identifies_an_item_if_it_is_of_the_item_and_fits_its_path(
    members, kind, identifier, tmp_path
):
    path = tmp_path / "blocks.yaml"
    text = BLOCKS.replace("id: {type: integer}, username: {type: string}", members)
    text = text.replace("schema: {type: string}", f"schema: {{type: {kind}}}")
    path.write_text(text.replace("username", "blockId"))
    model = find_resources(load(path))
    found = (*model.collections, *model.uncertain)
    assert [getattr(it, "identifier", "") for it in found] == [identifier]


def test_a_put_without_an_item_creates_none(tmp_path):
    path = tmp_path / "blocks.yaml"
    path.write_text(BLOCKS.replace("delete:", "head:"))
    model = find_resources(load(path))
    assert model.collections == ()
    assert "no request has an item to create" in "; ".join(model.uncertain[0].reasons)


BOXES = """
openapi: 3.0.3
info: {title: Boxes, version: '1'}
paths:
  /boxes:
    get:
      parameters: [{name: q, in: query, schema: {type: string}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: &box {type: object, properties: {id: {type: integer, FLAG}, size: {type: integer}}}}}}}}
    post: &send
      requestBody: {content: {application/json: {schema: *box}}}
      responses: {'200': &one {description: ok, content: {application/json: {schema: *box}}}}
    put: *send
  /boxes/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'200': *one}
"""


@pytest.mark.parametrize(
    ("flag", "roles"),
    [
        ("readOnly: false", {"list", "create", "read", "replace"}),
        ("readOnly: true", {"list", "create", "read"}),
    ],
)
def test_a_put_at_a_collection_replaces_an_item_whose_identifier_can_be_sent(flag, roles, tmp_path):
    path = tmp_path / "boxes.yaml"
    path.write_text(BOXES.replace("FLAG", flag))
    (boxes,) = find_resources(load(path)).collections
    assert {it.role for it in boxes.operations} == roles


@pytest.mark.parametrize(("status", "creating"), [("201", ["PUT"]), ("200", [])])
def test_a_put_at_a_collection_creates_beside_that_of_an_item_if_it_declares_201(
    status, creating, tmp_path
):
    path = tmp_path / "boxes.yaml"
    text = BOXES.replace("FLAG", "readOnly: true").replace("{'200': &one", f"{{'{status}': &one")
    text = text.replace("    post: &send", "    put: &send").replace("    put: *send\n", "")
    put = "    put:\n      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]"
    sent = "      requestBody: {content: {application/json: {schema: *box}}}"
    path.write_text(f"{text}{put}\n{sent}\n      responses: {{'200': *one}}\n")
    (boxes,) = find_resources(load(path)).collections
    assert [it.operation.method for it in boxes.operations if it.role == "create"] == creating


@pytest.mark.parametrize(
    ("member", "kind", "target"),
    [("part", "integer", "/parts"), ("part", "string", None), ("order", "integer", None)],
)
def test_a_member_that_is_named_like_an_item_refers_to_it_if_it_can_be_an_identifier(
    member, kind, target, tmp_path
):
    path = tmp_path / "parts.yaml"
    box = f"{{type: object, properties: {{id: {{type: integer}}, {member}: {{type: {kind}}}}}}}"
    boxes = BOXES.partition("paths:\n")[2].replace(
        "{type: object, properties: {id: {type: integer, FLAG}, size: {type: integer}}}", box
    )
    parts = PARTS if member == "part" else PARTS.replace("/parts", "/orders")
    path.write_text(parts.replace("paths:\n", f"paths:\n{boxes}"))
    found = {it.path: it.references for it in find_resources(load(path)).collections}
    assert found["/boxes"].get(member) == target


def test_an_item_exists_that_an_example_of_a_path_identifies(tmp_path):
    path = tmp_path / "boxes.yaml"
    text = BOXES.replace("FLAG", "readOnly: true")
    path.write_text(text.replace("in: path,", "in: path, example: 77,"))
    assert 77 in [it["id"] for it in asking(Mock(Settings(document=path)))("GET", "/boxes").json()]


def test_an_empty_text_is_in_every_item_that_is_searched_for(tmp_path):
    path = tmp_path / "boxes.yaml"
    path.write_text(BOXES.replace("FLAG", "readOnly: true"))
    ask = asking(Mock(Settings(document=path)))
    assert ask("GET", "/boxes?q=").json() == ask("GET", "/boxes").json() != []
    assert ask("GET", "/boxes?q=a").json() == []


def test_a_written_model_states_what_was_inferred(model, tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(state_model_text(model))
    stated = infer_resources(load(TASKS), path)
    assert {(it.role, *it.key) for _, it in stated.roles()} == {
        (it.role, *it.key) for _, it in model.roles()
    }
    assert {it.confidence for it in stated.resources} == {1.0}


def test_a_collection_can_be_stated_stateless(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text("collections: {/lists: {stateless: true}}\n")
    stated = infer_resources(load(TASKS), path)
    assert [it.path for it in stated.collections] == [TODOS]
    assert stated.collections[0].parents[0].collection is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("collections: {/lists: {identifer: id}}", "did you mean 'identifier'?"),
        ("collections: {/list: {}}", "did you mean '/lists'?"),
        ("collections: {/lists: {read: GET /lists/{id}}}", "did you mean 'GET /lists/{listId}'?"),
        ("singletons: {/me/setings: {}}", "did you mean '/me/settings'?"),
        ("collections: {/lists: {stateless: 3}}", "Expected `bool`, got `int`; correct it"),
    ],
)
def test_a_misspelt_key_or_path_is_refused_with_the_nearest(text, message, tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(text.replace("GET /lists/{id}", "'GET /lists/{id}'"))
    with pytest.raises(StartupError, match=r"model\.yaml") as refusal:
        infer_resources(load(TASKS), path)
    assert message in str(refusal.value)


def test_an_empty_state_model_states_nothing(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text("")
    assert load_state_model(path).collections == {}
