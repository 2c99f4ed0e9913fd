"""The life of an item in 28 documents of other services, each in its own envelope and style."""

import re
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from tests.collections.serving.conftest import TODO_LIST
from tests.conftest import paused_coverage
from tests.mock.asking import asking

from understudy.collections.bodies import request_media
from understudy.collections.inference import find_resources
from understudy.collections.model import ResourceCollection, ResourceOperation
from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.mock.store.items import Item
from understudy.openapi.loader import load
from understudy.openapi.operations import Operation
from understudy.openapi.sampler import PLAIN, Sampler
from understudy.openapi.schemas import Schemas


def is_usual(collection: ResourceCollection) -> bool:
    """Tells whether a collection's items are sent and shown; ``test_kinds`` tries the others."""
    create, read = collection.operation("create"), collection.operation("read")
    if create is None or create.response_path is None or read is None:
        return False
    body = create.operation.request_body
    return (
        body is not None
        and request_media(create.operation) is not None
        and "multipart/form-data" not in body.content
    )


COLLECTIONS = [
    pytest.param(path, collection, id=f"{path.stem} {collection.path}")
    for path in sorted(TODO_LIST.parent.glob("*.yaml"))
    if path.stem != "labels"
    for collection in find_resources(load(path)).collections
    if is_usual(collection)
]


def item_in(it: ResourceOperation, response: httpx.Response) -> Any:
    """Returns the item, or the list of items, in the body of a response."""
    value = response.json()
    for step in it.response_path or ():
        value = value[step]
    return value


def body_of(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    """Returns a body that an operation takes, and its media type."""
    media = request_media(operation)
    assert media is not None
    assert media.schema is not None
    assert operation.request_body is not None
    media_type = next(name for name, it in operation.request_body.content.items() if it is media)
    value = Sampler(schemas, 0, style=PLAIN).value(media.schema)
    if "urlencoded" in media_type:
        return {"data": value}
    return {"content": orjson.dumps(value), "headers": {"content-type": media_type}}


@pytest.mark.parametrize(("path", "collection"), COLLECTIONS)
def test_what_is_created_is_read_listed_and_gone_after_deletion(
    path: Path, collection: ResourceCollection
):
    document = load(path)
    with paused_coverage():
        mock = Mock(Settings(document=path))
    ask = asking(mock)
    own = dict(
        zip(re.findall(r"{(.*?)}", collection.path), _parents(mock, collection), strict=True)
    )
    create, read = collection.operation("create"), collection.operation("read")
    assert create is not None
    assert read is not None

    def url(it: ResourceOperation, identifier: Any = "") -> str:
        texts = {**dict.fromkeys(re.findall(r"{(.*?)}", it.operation.path), identifier), **own}
        return it.operation.path.format(**texts)

    sent = body_of(create.operation, Schemas(document))
    created = item_in(create, ask(create.operation.method, url(create), **sent))
    identifier = created[collection.identifier]
    assert created.items() <= item_in(read, ask("GET", url(read, identifier))).items()
    for it in collection.operations:
        if it.role == "list" and not it.scope:
            listed = item_in(it, ask("GET", url(it)))
            assert identifier in [item[collection.identifier] for item in listed]
    delete = collection.operation("delete")
    if delete is not None:
        assert ask("DELETE", url(delete, identifier)).status_code < 300
        assert ask("GET", url(read, identifier)).status_code == 404
    violations = [it.headers.get("x-mock-violation") for it in [ask("GET", url(create))]]
    assert violations == [None]


def _parents(mock: Mock, collection: ResourceCollection) -> tuple[str, ...]:
    """Returns the identifiers of parents that a new mock has."""
    if not collection.parents:
        return ()
    name = f"items {collection.path}"
    first: Item = next(iter(mock.world.baseline[name].values()))
    return first.parents


def test_members_are_known_in_whatever_style_a_request_writes_them():
    ask = asking(Mock(Settings(document=TODO_LIST.with_name("messages.yaml"))))
    path = "/2010/Accounts/AC1/Messages.json"
    created = ask("POST", path, data={"To": "+15550100", "Body": "Ahoy"}).json()
    assert (created["to"], created["body"]) == ("+15550100", "Ahoy")
    assert ask("GET", path).json()["messages"][0]["sid"] == created["sid"]


def test_references_of_seeded_items_lead_to_items():
    ask = asking(Mock(Settings(document=TODO_LIST.with_name("clinic.yaml"))))
    owners = {it["ownerId"] for it in ask("GET", "/visits").json()}
    assert len(owners) == 3
    assert {ask("GET", f"/owners/{it}").json()["id"] for it in owners} == owners


def test_an_item_is_put_at_the_identifier_of_the_client():
    ask = asking(Mock(Settings(document=TODO_LIST.with_name("calendar.yaml"))))
    calendar = {"calendarId": "home", "title": "Home"}
    statuses = [ask("PUT", "/calendars/home", json=calendar).status_code for _ in range(2)]
    assert statuses == [201, 200]
    assert ask("GET", "/calendars/home").json() == calendar
    settings = {"timezone": "UTC", "weekStart": "Monday"}
    assert ask("PUT", "/calendars/home/settings", json=settings).json() == settings
    assert ask("GET", "/calendars/home/settings").json() == settings


def test_totals_stand_where_hypermedia_has_them():
    ask = asking(Mock(Settings(document=TODO_LIST.with_name("clinic.yaml"))))
    ask("POST", "/owners", json={"firstName": "Ada"})
    page = ask("GET", "/owners").json()
    assert page["page"]["totalElements"] == len(page["_embedded"]["owners"]) == 4


def test_an_item_of_the_list_begins_the_page_behind_it():
    ask = asking(Mock(Settings(document=TODO_LIST.with_name("billing.yaml"))))
    first = ask("GET", "/v1/customers?limit=2").json()
    rest = ask("GET", f"/v1/customers?limit=2&starting_after={first['data'][-1]['id']}").json()
    assert (first["has_more"], rest["has_more"]) == (True, False)
    assert [len(page["data"]) for page in (first, rest)] == [2, 1]


def test_an_identifier_that_is_taken_gives_way_as_a_number_and_is_replaced_as_a_name():
    ask = asking(Mock(Settings(document=TODO_LIST.with_name("store.yaml"))))
    pet = ask("POST", "/pet", json={"id": 1, "name": "Rex"}).json()
    assert pet["id"] != 1
    for email in ("a@example.com", "b@example.com"):
        ask("POST", "/user", json={"username": "rex", "email": email})
    assert ask("GET", "/user/rex").json()["email"] == "b@example.com"
    assert ask("PUT", "/pet", json={**pet, "name": "Tom"}).json()["name"] == "Tom"
    assert ask("GET", f"/pet/{pet['id']}").json()["name"] == "Tom"
