"""Items without an identifier: responses have it around them, and lists name the items by it alone."""

from pathlib import Path

import httpx
import orjson
import pytest
from tests.collections.judging.service import Service
from tests.collections.judging.verifying import verified
from tests.collections.serving.conftest import document_with
from tests.mock.asking import asking

from understudy.collections.inference import find_resources
from understudy.collections.state_models import state_model_text
from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.openapi.loader import load

PATHS = """
  /booking:
    get:
      responses: {'200': {description: All., content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Named'}}}}}}
    post:
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Booking'}}}}
      responses: {'200': {description: Made., content: {application/json: {schema: {$ref: '#/components/schemas/Made'}}}}}
  /booking/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get:
      responses:
        '200': {description: It., content: {application/json: {schema: {$ref: '#/components/schemas/Booking'}}}}
        '404': {description: None.}
    delete: {responses: {'201': {description: Gone.}}}
"""
SCHEMAS = """
    Booking: {type: object, required: [guest], properties: {guest: {type: string}, nights: {type: integer}, notes: {type: string}}}
    Named: {type: object, required: [bookingid], properties: {bookingid: {type: integer}}}
    Made: {type: object, required: [bookingid, booking], properties: {bookingid: {type: integer}, booking: {$ref: '#/components/schemas/Booking'}}}
"""


class Hotel(Service):
    """Bookings by number, which refuses with 405 to delete one that does not exist."""

    def __init__(self) -> None:
        super().__init__()
        self.bookings = {"1": {"guest": "Mia"}}
        self.last = 1

    def respond(self, request: httpx.Request) -> httpx.Response:
        identifier = request.url.path.removeprefix("/v1").strip("/").partition("/")[2]
        if request.method == "POST":
            self.last += 1
            self.bookings[str(self.last)] = orjson.loads(request.content)
            return httpx.Response(
                200, json={"bookingid": self.last, "booking": self.bookings[str(self.last)]}
            )
        if not identifier:
            return httpx.Response(200, json=[{"bookingid": int(it)} for it in self.bookings])
        if request.method == "DELETE":
            return httpx.Response(201 if self.bookings.pop(identifier, None) else 405)
        found = self.bookings.get(identifier)
        return httpx.Response(404) if found is None else httpx.Response(200, json=found)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    return document_with(tmp_path, PATHS, SCHEMAS)


def test_the_identifier_is_that_of_the_responses(document):
    (bookings,) = find_resources(load(document)).collections
    assert bookings.identifier == "bookingid"
    assert [it.role for it in bookings.operations] == ["create", "list", "read", "delete"]


@pytest.mark.parametrize("is_stated", [False, True])
def test_what_is_created_is_read_and_listed_by_the_identifier_in_the_response(
    is_stated, document, tmp_path
):
    model = tmp_path / "model.yaml"
    model.write_text(state_model_text(find_resources(load(document))))
    stated = model if is_stated else None
    ask = asking(Mock(Settings(document=document, state_model=stated)))
    made = ask("POST", "/booking", json={"guest": "Ada"}).json()
    assert made["booking"]["guest"] == "Ada"
    identifier = made["bookingid"]
    shown = ask("GET", f"/booking/{identifier}").json()
    assert (shown["guest"], "bookingid" in shown) == ("Ada", False)
    assert {"bookingid": identifier} in ask("GET", "/booking").json()


def test_verify_judges_such_items_and_deletes_what_it_created(document):
    hotel = Hotel()
    outcome = verified(hotel, document)
    assert [it.summary for it in outcome.findings] == []
    passed = {it.rule.id for it in outcome.rules if it.status == "passed"}
    assert passed >= {"inferred-create-readable", "inferred-create-listed", "inferred-delete-gone"}
    assert hotel.bookings == {"1": {"guest": "Mia"}}
    assert (outcome.not_restored, outcome.remaining) == ((), ())
