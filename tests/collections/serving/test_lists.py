"""Lists of inferred collections: filtered, sorted, and in pages."""

import httpx
import pytest
from tests.collections.serving.conftest import document_with
from tests.mock.asking import asking

from understudy.mock.app import Mock
from understudy.mock.settings import Settings


@pytest.fixture
def todos(ask, home) -> str:
    for title, priority in (("Milk", 2), ("Eggs", 1), ("Bread", 2)):
        ask("POST", f"{home}/todos", json={"title": title, "priority": priority})
    return f"{home}/todos"


def titles(response: httpx.Response) -> list[str]:
    return [it["title"] for it in response.json()["data"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["Milk", "Eggs", "Bread"]),
        ("?sort=title", ["Bread", "Eggs", "Milk"]),
        ("?sort=-title", ["Milk", "Eggs", "Bread"]),
        ("?sort=title:desc", ["Milk", "Eggs", "Bread"]),
        ("?sort=-priority,title", ["Bread", "Milk", "Eggs"]),
        ("?status=done", []),
        ("?limit=2", ["Milk", "Eggs"]),
        ("?limit=2&offset=2", ["Bread"]),
        ("?offset=9", []),
    ],
)
def test_a_list_is_filtered_sorted_and_cut(ask, todos, query, expected):
    assert titles(ask("GET", todos + query)) == expected


def test_totals_count_all_that_the_filters_let_pass(ask, todos):
    page = ask("GET", f"{todos}?limit=2&status=open")
    assert page.json()["meta"] == {"total": 3, "limit": 2, "offset": 0}
    assert page.headers["x-total-count"] == "3"


def test_links_lead_through_all_pages_and_back(ask, todos):
    first = ask("GET", f"{todos}?limit=2&sort=title")
    second = ask("GET", first.links["next"]["url"])
    assert titles(first) + titles(second) == ["Bread", "Eggs", "Milk"]
    assert "next" not in second.links
    assert titles(ask("GET", second.links["prev"]["url"])) == titles(first)


PATHS = """
  /notes:
    get:
      parameters:
        - {name: PARAMETER, in: query, schema: {type: TYPE}}
        - {name: per_page, in: query, schema: {type: integer, minimum: 1}}
      responses:
        '200':
          description: A page.
          content:
            application/json:
              schema:
                type: object
                required: [items, total_pages, next_cursor, has_more]
                properties:
                  items: {type: array, items: {$ref: '#/components/schemas/Note'}}
                  total_pages: {type: integer}
                  has_more: {type: boolean}
                  next_cursor: {type: [string, 'null']}
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}
      responses: {'201': {description: Created., content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}
  /notes/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: A note., content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}
    delete:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'204': {description: Deleted.}}
"""
SCHEMAS = """
    Note: {type: object, required: [id, text], properties: {id: {type: string, readOnly: true}, text: {type: string}}}
"""


def test_a_cursor_leads_to_the_items_behind_it(tmp_path):
    paths = PATHS.replace("PARAMETER", "cursor").replace("TYPE", "string")
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, SCHEMAS))))
    first = ask("GET", "/notes?per_page=2").json()
    assert (len(first["items"]), first["has_more"]) == (2, True)
    second = ask("GET", f"/notes?per_page=2&cursor={first['next_cursor']}").json()
    assert (len(second["items"]), second["has_more"], second["next_cursor"]) == (1, False, None)
    ask("DELETE", f"/notes/{first['items'][1]['id']}")
    again = ask("GET", f"/notes?per_page=2&cursor={first['next_cursor']}").json()
    assert again["items"] == second["items"]


def test_a_list_without_an_order_has_the_default_one(tmp_path):
    paths = PATHS.replace("PARAMETER", "sort").replace("TYPE", "string, default: -text")
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, SCHEMAS))))
    for text in ("Bread", "Milk", "Eggs"):
        ask("POST", "/notes", json={"text": text})
    texts = [it["text"] for it in ask("GET", "/notes").json()["items"]]
    assert texts == sorted(texts, reverse=True)
    assert {"Bread", "Milk", "Eggs"} <= {*texts}


def test_a_number_chooses_a_page(tmp_path):
    paths = PATHS.replace("PARAMETER", "page").replace("TYPE", "integer")
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, SCHEMAS))))
    pages = [ask("GET", f"/notes?per_page=2&page={number}").json() for number in (1, 2, 3)]
    assert [len(page["items"]) for page in pages] == [2, 1, 0]
    assert {page["total_pages"] for page in pages} == {2}
    assert [page["has_more"] for page in pages] == [True, False, False]


def test_the_numbers_of_an_envelope_are_known_in_either_order_of_words(tmp_path):
    paths = PATHS.replace("PARAMETER", "currentPage").replace("TYPE", "integer")
    paths = paths.replace("total_pages", "pagesTotal").replace("next_cursor", "itemsTotal")
    paths = paths.replace("has_more: {type: boolean}", "currentPageItems: {type: integer}")
    paths = paths.replace("has_more", "currentPageItems").replace("[string, 'null']", "integer")
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, SCHEMAS))))
    last = ask("GET", "/notes?per_page=2&currentPage=2").json()
    assert (last["itemsTotal"], last["pagesTotal"], last["currentPageItems"]) == (3, 2, 1)


def test_a_size_that_is_declared_as_a_number_is_obeyed(tmp_path):
    paths = PATHS.replace("PARAMETER", "page").replace("TYPE", "integer")
    paths = paths.replace(
        "per_page, in: query, schema: {type: integer", "per_page, in: query, schema: {type: number"
    )
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, SCHEMAS))))
    assert len(ask("GET", "/notes?per_page=2").json()["items"]) == 2


def test_an_identifier_that_never_was_is_made_up_where_no_404_is_declared(tmp_path):
    paths = PATHS.replace("PARAMETER", "page").replace("TYPE", "integer")
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, SCHEMAS))))
    response = ask("GET", "/notes/never")
    assert (response.status_code, response.headers["x-mock-response"]) == (200, "generated")


def test_a_list_that_must_have_items_is_made_up_once_it_has_too_few(tmp_path):
    paths = PATHS.replace("PARAMETER", "page").replace("TYPE", "integer")
    paths = paths.replace("items: {type: array,", "items: {type: array, minItems: 1,")
    ask = asking(Mock(Settings(document=document_with(tmp_path, paths, SCHEMAS))))
    response = ask("GET", "/notes?page=9")
    assert (response.headers["x-mock-response"], len(response.json()["items"])) == ("generated", 1)


RECEIPTS = """
  /notes:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}
      responses:
        '200': {description: The note., content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}
        '201': {description: A receipt., content: {application/json: {schema: {$ref: '#/components/schemas/Receipt'}}}}
  /notes/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: A note., content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}
"""


def test_a_success_that_has_no_item_is_made_up(tmp_path):
    schemas = f"{SCHEMAS}    Receipt: {{type: object, additionalProperties: false, required: [accepted], properties: {{accepted: {{type: boolean}}}}}}\n"
    ask = asking(Mock(Settings(document=document_with(tmp_path, RECEIPTS, schemas))))
    created = ask("POST", "/notes", json={"text": "Ahoy"})
    assert (created.status_code, created.json()) == (201, {"accepted": True})


ORDERS = """
  /orders:
    get:
      responses: {'200': {description: Some., content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Summary'}}}}}}
  /orders/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: An order., content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}}
"""
SUMMARIES = """
    Order: {type: object, required: [id, total], properties: {id: {type: string}, total: {type: integer}}}
    Summary: {type: object, required: [id, total, owner], properties: {id: {type: string}, total: {type: string}, owner: {type: string}}}
"""


def test_a_list_has_the_form_that_it_declares_where_items_have_another(tmp_path):
    ask = asking(Mock(Settings(document=document_with(tmp_path, ORDERS, SUMMARIES))))
    listed = ask("GET", "/orders").json()[0]
    assert {name: type(value) for name, value in listed.items()} == dict.fromkeys(
        ("id", "total", "owner"), str
    )
    assert type(ask("GET", f"/orders/{listed['id']}").json()["total"]) is int


KEYS = """
  /keys:
    get: {responses: {'200': {description: Some., content: {application/json: {schema: {type: object}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}
      responses: {'201': {description: Made., content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}
  /keys/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: A key., content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}
"""


def test_a_list_that_must_be_any_object_is_below_the_name_of_its_path(tmp_path):
    ask = asking(Mock(Settings(document=document_with(tmp_path, KEYS, SCHEMAS))))
    made = ask("POST", "/keys", json={"text": "mine"}).json()
    assert made in ask("GET", "/keys").json()["keys"]


def test_a_map_of_texts_is_no_list(tmp_path):
    texts = "{type: object, additionalProperties: {type: string}}"
    keys = KEYS.replace("schema: {type: object}", f"schema: {texts}", 1)
    ask = asking(Mock(Settings(document=document_with(tmp_path, keys, SCHEMAS))))
    made = ask("POST", "/keys", json={"text": "mine"}).json()
    assert ask("GET", f"/keys/{made['id']}").json() == made
    listed = ask("GET", "/keys")
    assert "x-mock-state" not in listed.headers
    assert {type(it) for it in listed.json().values()} <= {str}


SHARED = """
  /parcels:
    get:
      responses: {'200': {description: Some., content: {application/json: {schema: {$ref: '#/components/schemas/Parcels'}}}}}
  /parcels/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: A parcel., content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}
  /status:
    get:
      responses: {'200': {description: Now., content: {application/json: {schema: {$ref: '#/components/schemas/Base'}}}}}
"""
BASES = f"""{SCHEMAS}
    Base: {{type: object, properties: {{errors: {{type: array}}}}, example: {{errors: []}}}}
    Parcels:
      allOf:
        - $ref: '#/components/schemas/Base'
        - properties: {{data: {{type: array, items: {{$ref: '#/components/schemas/Note'}}}}}}
"""


def test_the_envelope_of_a_list_leaves_the_documents_example_as_it_is(tmp_path):
    ask = asking(Mock(Settings(document=document_with(tmp_path, SHARED, BASES))))
    assert ask("GET", "/parcels").json()["data"]
    assert ask("GET", "/status").json() == {"errors": []}


NOTED = """
  /notes:
    get:
      responses:
        '200':
          description: The notes.
          content:
            application/json:
              schema: {type: array, items: {$ref: '#/components/schemas/Note'}}
              example: [{title: Milk}, {title: Eggs}, {title: Milk}]
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}
      responses: {'201': {description: A note., content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}
  /notes/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: A note., content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}
"""
NOTE = "    Note: {type: object, properties: {id: {type: integer, readOnly: true}, title: {type: string}}}"


def test_a_collection_begins_with_the_examples_of_its_list_even_without_identifiers(tmp_path):
    ask = asking(Mock(Settings(document=document_with(tmp_path, NOTED, NOTE))))
    notes = ask("GET", "/notes").json()
    assert [it["title"] for it in notes[:2]] == ["Milk", "Eggs"]
    assert len({it["id"] for it in notes}) == len(notes)
