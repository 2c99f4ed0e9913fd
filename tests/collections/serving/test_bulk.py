"""A POST of a list creates an item each, where the response is a list of them."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.collections.serving.conftest import document_with
from tests.mock.asking import Ask, asking

from understudy.cases import selection
from understudy.cases.test_data import TestData
from understudy.cli import main
from understudy.collections.sequences import sequence_source
from understudy.errors import StartupError
from understudy.mock.app import Mock
from understudy.mock.settings import Settings

PATHS = """
  /contacts:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Sent'}}}}}
      responses:
        '201': {description: all, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Contact'}}}}}
        '409': {description: taken}
    get: {responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Contact'}}}}}}}
  /contacts/{contactId}:
    parameters: [{name: contactId, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': {description: one, content: {application/json: {schema: {$ref: '#/components/schemas/Contact'}}}}}}"""
SCHEMAS = """
    Sent: {type: object, properties: {id: {type: string}, email: {type: string}}}
    Contact: {type: object, required: [id], properties: {id: {type: string}, email: {type: string}, owner: {type: string}, created: {type: string, format: date-time, readOnly: true}}}"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    return document_with(tmp_path, PATHS, SCHEMAS)


@pytest.fixture
def ask(document: Path) -> Ask:
    return asking(Mock(Settings(document=document)))


def test_each_item_of_a_list_is_created_and_can_be_read(ask: Ask):
    created = ask("POST", "/contacts", json=[{"email": "a"}, {"email": "b"}])
    assert created.status_code == 201
    assert [it["email"] for it in created.json()] == ["a", "b"]
    assert [ask("GET", f"/contacts/{it['id']}").json() for it in created.json()] == created.json()


def test_what_only_a_response_has_is_the_servers(ask: Ask):
    created = ask("POST", "/contacts", json=[{"email": "a", "owner": "chosen by the client"}])
    assert created.json()[0].get("owner") != "chosen by the client"


def test_of_a_list_with_a_conflict_nothing_is_created(ask: Ask):
    ask("POST", "/contacts", json=[{"id": "taken", "email": "a"}])
    before = ask("GET", "/contacts").json()
    refused = ask("POST", "/contacts", json=[{"email": "b"}, {"id": "taken", "email": "c"}])
    assert refused.status_code == 409
    assert ask("GET", "/contacts").json() == before


def test_no_sequence_creates_a_list(document: Path):
    with pytest.raises(StartupError, match="POST /contacts creates a list of items at once"):
        sequence_source(selection.planners(document, TestData()))


def test_infer_says_that_a_list_is_created(document: Path):
    shown = CliRunner().invoke(main, ["infer", str(document)]).stdout
    assert "create   POST   /contacts  (a list of items)" in shown


SEVERAL = """
  /users/{user}/contacts:
    parameters: [{name: user, in: path, required: true, schema: {type: integer}}]
    get: &list {responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Contact'}}}}}}}
    post: &create
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Sent'}}}}
      responses: {'201': {description: one, content: {application/json: {schema: {$ref: '#/components/schemas/Contact'}}}}}
  /contacts: {get: *list, post: *create, delete: {parameters: [{name: ids, in: query, schema: {type: array, items: {type: string}}}], responses: {'204': {description: gone}}}}
  /contacts/{contactId}:
    parameters: [{name: contactId, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': {description: one, content: {application/json: {schema: {$ref: '#/components/schemas/Contact'}}}}, '404': {description: none}}}
    delete: {responses: {'204': {description: gone}}}
  /contacts/import:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Sent'}}}}}
      responses: {'202': {description: begun}}
  /contacts/batch-delete: {post: &by_name {requestBody: {content: {application/json: {schema: {type: object, properties: {ids: {type: array, items: {type: string}}}}}}}, responses: {'204': {description: gone}}}}
  /contacts:batchRemove: {post: &plain {requestBody: {content: {application/json: {schema: {type: array, items: {type: string}}}}}, responses: {'204': {description: gone}}}}
  /contacts/list:
    delete:
      parameters:
        - {name: contactIds, in: query, required: true, explode: false, schema: {type: array, items: {type: string}}}
        - {name: tags, in: query, schema: {type: array, items: {type: string}}}
      responses: {'204': {description: gone}}
  /contacts/batch: {delete: &objects {requestBody: {content: {application/json: {schema: {type: array, items: {type: object, properties: {id: {type: string}}}}}}}, responses: {'204': {description: gone}}}}
  /contacts/search: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Sent'}}}}, responses: {'200': {description: some, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Contact'}}}}}}}}
"""
SEVERAL_SCHEMAS = """
    Sent: {type: object, properties: {email: {type: string}}}
    Contact: {type: object, required: [id], properties: {id: {type: string}, email: {type: string}, userId: {type: integer}}}"""


@pytest.fixture
def several(tmp_path: Path) -> Ask:
    return asking(Mock(Settings(document=document_with(tmp_path, SEVERAL, SEVERAL_SCHEMAS))))


def listed(ask: Ask, path: str = "/contacts") -> dict[str, str]:
    return {it["id"]: it.get("email", "") for it in ask("GET", path).json()}


def test_all_operations_that_create_items_add_to_one_collection(several: Ask):
    before = listed(several)
    several("POST", "/contacts", json={"email": "a"})
    several("POST", "/contacts/import", json=[{"email": "b"}, {"email": "c"}])
    of_user = several("POST", "/users/7/contacts", json={"email": "d"}).json()
    assert several("GET", f"/contacts/{of_user['id']}").json() == of_user
    assert listed(several, "/users/7/contacts")[of_user["id"]] == "d"
    added = {name: text for name, text in listed(several).items() if name not in before}
    assert [*added.values()] == [*"abcd"]
    several("POST", "/contacts/search", json={"email": "a"})
    assert len(listed(several)) == len(before) + 4


def three(ask: Ask) -> list[str]:
    return [ask("POST", "/contacts", json={"email": text}).json()["id"] for text in "abc"]


def statuses(ask: Ask, names: list[str]) -> list[int]:
    return [ask("GET", f"/contacts/{it}").status_code for it in names]


@pytest.mark.parametrize(
    ("path", "joined"), [("/contacts?ids=", "&ids="), ("/contacts/list?contactIds=", ",")]
)
def test_the_items_that_a_query_lists_are_deleted(several: Ask, path, joined):
    first, second, third = three(several)
    query = joined.join([first, third, "missing"])
    assert several("DELETE", f"{path}{query}").status_code == 204
    assert statuses(several, [first, second, third]) == [404, 200, 404]


def test_a_list_of_other_values_than_identifiers_names_no_items(several: Ask):
    first, *_ = three(several)
    several("DELETE", f"/contacts/list?contactIds=missing&tags={first}")
    assert statuses(several, [first]) == [200]


@pytest.mark.parametrize(
    ("method", "path", "written"),
    [
        ("POST", "/contacts/batch-delete", lambda names: {"ids": names}),
        ("POST", "/contacts:batchRemove", list),
        ("DELETE", "/contacts/batch", lambda names: [{"id": it} for it in names]),
    ],
)
def test_the_items_of_a_list_of_identifiers_are_deleted(several: Ask, method, path, written):
    first, second, third = three(several)
    assert several(method, path, json=written([first, third, "missing"])).status_code == 204
    assert statuses(several, [first, second, third]) == [404, 200, 404]


def test_a_parent_of_more_than_64_bits_is_kept_as_a_float(several: Ask):
    created = several("POST", f"/users/{10**30}/contacts", json={"email": "a"})
    assert (created.status_code, created.json()["userId"]) == (201, 1e30)
