"""The document that the reference publishes, and its own answers against it."""

import pytest
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import validate
from tests.proofs.reference.people import ISOLDE, picture


@pytest.fixture
def document(nobody):
    return nobody.get("/openapi").json()


def test_the_document_is_valid_and_tells_where_it_is_served(document, addresses):
    validate(document)
    assert document["info"]["version"] == "3.0.0"
    assert document["servers"] == [{"url": addresses.base_url}]


@pytest.mark.parametrize(
    ("request_line", "path", "body"),
    [
        (f"GET /profiles/{ISOLDE.slug}", "/profiles/{profileIdentifier}", {}),
        ("GET /profiles/noor-vesperling", "/profiles/{profileIdentifier}", {}),
        ("GET /profiles/unknown", "/profiles/{profileIdentifier}", {}),
        ("GET /qr-code/x?size=none", "/qr-code/{sha256_hash}", {}),
        ("GET /me/avatars", "/me/avatars", {}),
        ("POST /me/avatars", "/me/avatars", {"files": {"data": picture("P", "plum")}}),
        ("POST /me/avatars", "/me/avatars", {}),
        (f"PATCH /me/avatars/{'a1' * 16}", "/me/avatars/{imageHash}", {"json": {}}),
        ("GET /me/profile", "/me/profile", {}),
        ("PATCH /me/profile", "/me/profile", {"json": {"location": ""}}),
        ("PATCH /me/profile", "/me/profile", {"json": {"hash": ""}}),
        ("GET /me/associated-email?email_hash=x", "/me/associated-email", {}),
    ],
)
@pytest.mark.parametrize("token", [None, "isolde-full", "isolde-read-only", "wrong"])
def test_answers_are_as_the_document_says(client, document, request_line, path, body, token):
    method, _, target = request_line.partition(" ")
    answer = client(token).request(method, target, **body)
    declared = document["paths"][path][method.lower()]["responses"][str(answer.status_code)]
    while "$ref" in declared:
        declared = document["components"]["responses"][declared["$ref"].rpartition("/")[2]]
    (media_type, content), *_ = declared["content"].items()
    assert answer.headers["content-type"] == media_type
    if media_type == "application/json":
        schema = {**content["schema"], "components": document["components"]}
        Draft202012Validator(schema).validate(answer.json())
