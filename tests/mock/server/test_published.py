"""The document in force is published beside the operations that it describes."""

from pathlib import Path
from typing import Any

from understudy.mock.server.call import Call
from understudy.mock.server.worlds import World
from understudy.mock.service.published import PATH, publish, with_published
from understudy.openapi.loader import Document

SITE = "http://mock.test"
NOTES = Document(Path("notes.yaml"), {"openapi": "3.0.3", "paths": {"/notes": {"get": {}}}})


def test_a_document_publishes_itself_whether_or_not_it_says_so():
    document = with_published(NOTES)
    response = publish(document, "/v1")(Call(World("default", {}), SITE, {}))
    assert response.body == {**document.raw, "servers": [{"url": f"{SITE}/v1"}]}
    assert PATH in document.raw["paths"]
    assert PATH not in NOTES.raw["paths"]


def test_a_document_that_describes_its_own_place_is_left_as_it_is():
    document = Document(Path("own.yaml"), {"openapi": "3.1.0", "paths": {PATH: {"get": {}}}})
    assert with_published(document) is document


def test_the_published_document_signs_in_at_this_mock():
    flow: dict[str, Any] = {
        "authorizationUrl": "https://production.example/oauth2/authorize",
        "tokenUrl": "https://production.example/oauth2/token",
        "scopes": {},
    }
    schemes = {"o": {"type": "oauth2", "flows": {"authorizationCode": flow}}, "k": {"type": "http"}}
    raw = {**NOTES.raw, "components": {"securitySchemes": schemes, "schemas": {}}}
    call = Call(World("default", {}), SITE, {}, authorization_url="http://auth.test")
    published = publish(Document(Path("own.yaml"), raw), "/v1")(call).body
    found = published["components"]["securitySchemes"]["o"]["flows"]["authorizationCode"]
    assert found["authorizationUrl"] == "http://auth.test/oauth2/authorize"
    assert found["tokenUrl"] == "http://auth.test/oauth2/token"
    assert raw["components"]["securitySchemes"] is schemes
    assert flow["tokenUrl"].startswith("https://production")
