"""The pages of a list are walked in one way, to the last."""

from pathlib import Path
from urllib.parse import urljoin

import pytest
from tests.verify.exchanges import exchange_of

from understudy.collections.inference import find_resources
from understudy.collections.known_items import ItemModel
from understudy.collections.model import ResourceOperation
from understudy.collections.pages import PagedList, paged_list
from understudy.collections.requests import CollectionRequests, ItemMembers, RequestMaker
from understudy.exchange.messages import Response
from understudy.openapi.loader import document_of
from understudy.openapi.media_types import URLENCODED
from understudy.openapi.operations import operations
from understudy.openapi.schemas import Schemas
from understudy.verify.permits import NotPermitted

BY_BOTH = PagedList(
    limit="limit",
    most=50,
    least=1,
    offset="offset",
    number=None,
    first=1,
    cursor="page_token",
    is_filtered=False,
)


PLACE = {"type": "object", "required": ["x"], "properties": {"x": {"const": 4}}}


@pytest.mark.parametrize(
    ("query", "body", "following"),
    [
        ((), b'{"next_page_token": "b"}', (("page_token", "b"),)),
        ((), b'{"next": "b"}', (("page_token", "b"),)),
        ((("page_token", "b"),), b"{}", None),
        ((), b"{}", (("offset", "2"),)),
    ],
)
def test_a_list_with_cursors_and_offsets_is_walked_by_one_of_them(query, body, following):
    page = exchange_of("/beds", response=Response(200, (), body))
    assert BY_BOTH.following(page, query, 2, 0) == following


@pytest.mark.parametrize(
    ("body", "following"), [(b"{}", None), (b'{"next": "/beds?offset=4"}', "/beds?offset=4")]
)
def test_links_lead_to_the_last_page_however_full_it_is(body, following):
    page = exchange_of("/beds?offset=2", response=Response(200, (), body))
    reached = BY_BOTH.following(page, "/beds?offset=2", 2, 1)
    assert reached == (following and urljoin(page.request.url, following))


def test_items_without_an_identifier_are_not_the_same_item():
    page = exchange_of("/beds", response=Response(200, (), b"[{}, {}]"))
    model = ItemModel(frozenset(), "id")
    model.create(page, "made", {}, None)
    judgements = model.listed([page], ["", "", "a"], is_whole=True)
    assert [result.holds for _, result in judgements] == [True]


@pytest.mark.parametrize(("kind", "offset"), [("integer", "from"), ("string", None)])
def test_a_text_called_from_filters_and_chooses_no_page(kind, offset):
    raw = {
        "openapi": "3.0.3",
        "paths": {
            "/beds": {
                "get": {"parameters": [{"name": "from", "in": "query", "schema": {"type": kind}}]}
            }
        },
    }
    document = document_of(raw, Path("beds.yaml"))
    assert paged_list(operations(document)[0], Schemas(document), {}).offset == offset


def test_an_object_called_page_is_no_number_of_a_page():
    """Its members are written ``page[number]``; ``page=2`` means nothing."""
    page = {"name": "page", "in": "query", "style": "deepObject", "schema": {"type": "object"}}
    raw = {"openapi": "3.0.3", "paths": {"/beds": {"get": {"parameters": [page]}}}}
    document = document_of(raw, Path("beds.yaml"))
    assert not paged_list(operations(document)[0], Schemas(document), {}).is_paged


def test_what_an_operation_requires_is_written_in_its_style():
    """As JSON, the service would take the list and the object for texts."""
    parameters = [
        {"name": "kind", "schema": {"type": "array", "minItems": 2, "items": {"enum": ["a", "b"]}}},
        {"name": "at", "style": "deepObject", "schema": PLACE},
    ]
    raw = {
        "openapi": "3.1.0",
        "paths": {
            "/jars": {
                "post": {
                    "parameters": [{**it, "in": "query", "required": True} for it in parameters],
                    "requestBody": {
                        "content": {
                            URLENCODED: {
                                "schema": {"type": "object", "properties": {"at": PLACE}},
                                "encoding": {"at": {"style": "deepObject"}},
                            }
                        }
                    },
                }
            }
        },
    }
    maker = RequestMaker(document_of(raw, Path("jars.yaml")), 0, "1")
    role = ResourceOperation("create", operations(maker.document)[0])
    request = maker.item(role, {}, ItemMembers())
    assert request is not None
    assert request.query == (("kind", "a"), ("kind", "b"), ("at[x]", "4"))
    assert request.content["form"] == [("at[x]", "4")]


def test_an_identifier_of_an_enum_makes_one_item_and_no_other():
    parameter = {"name": "id", "in": "path", "required": True, "schema": {"enum": ["current"]}}
    label = {"schema": {"type": "object", "properties": {"id": {"type": "string"}}}}
    shown = {"200": {"description": "a", "content": {"application/json": label}}}
    body = {"content": {"application/json": label}}
    path = {"parameters": [parameter], "put": {"requestBody": body, "responses": shown}}
    path["get"] = {"responses": shown}
    raw = {
        "openapi": "3.1.0",
        "info": {"title": "a", "version": "1"},
        "paths": {"/labels/{id}": path},
    }
    document = document_of(raw, Path("labels.yaml"))
    (labels,) = find_resources(document).collections
    requests = CollectionRequests(RequestMaker(document, 0, "1"), labels)
    put = requests.needed("replace")
    assert requests.creation_at(put, set())[0] == "current"
    with pytest.raises(NotPermitted, match="creates another item"):
        requests.creation_at(put, {"current"})
