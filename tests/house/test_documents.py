"""Holds the documents in ``openapi/`` to the interface, and to themselves."""

import hashlib
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from openapi_spec_validator import validate

from understudy.openapi.loader import Document, Node, load
from understudy.openapi.operations import operations
from understudy.openapi.schemas import Schemas

OPENAPI = Path(__file__).parents[2] / "openapi"
FILES = sorted(OPENAPI.glob("*.yaml"))
DOCUMENTS = [path for path in FILES if path.name != "rules.yaml"]

# interface, Endpoints; with the published document of Versioning, 3
OPERATIONS = {
    "getProfile": "GET /profiles/{profileIdentifier}",
    "getQrCode": "GET /qr-code/{sha256_hash}",
    "listAvatars": "GET /me/avatars",
    "uploadAvatar": "POST /me/avatars",
    "deleteAvatar": "DELETE /me/avatars/{imageHash}",
    "updateAvatar": "PATCH /me/avatars/{imageHash}",
    "setAvatarForEmail": "POST /me/avatars/{imageId}/email",
    "getOwnProfile": "GET /me/profile",
    "updateOwnProfile": "PATCH /me/profile",
    "isEmailAssociated": "GET /me/associated-email",
    "getOpenApi": "GET /openapi",
}

REQUIRED = {
    "Profile": "hash display_name profile_url avatar_url avatar_alt_text location description "
    "job_title company verified_accounts pronunciation pronouns",
    "VerifiedAccount": "service_type service_label service_icon url is_hidden",
    "Link": "label url",
    "Interest": "id name",
    "Language": "code name is_primary order",
    "GalleryImage": "url",
    "Payments": "",
    "CryptoWalletAddress": "label address",
    "ContactInfo": "",
    "Avatar": "image_id image_url rating alt_text updated_date",
    "AssociatedResponse": "associated",
    "Error": "error",
}

OPTIONAL = {
    "Profile": "timezone languages first_name last_name is_organization header_image "
    "hide_default_header_image background_color links interests payments contact_info gallery "
    "number_verified_accounts last_profile_edit registration_date",
    "GalleryImage": "alt_text",
    "Payments": "links crypto_wallets",
    "ContactInfo": "home_phone work_phone cell_phone email contact_form calendar",
    "Avatar": "selected",
    "Error": "code",
}

UNLINKED = {"getOwnProfile", "updateOwnProfile", "uploadAvatar", "getOpenApi"}
"""Operations that no link leads to: they need nothing from another's answer."""

# Names of companies and services as they start in SHA-256, so that they do not stand here either.
BRANDS = """
    24e6654bfd1a 2795661f2c91 2b78da3dc866 3d59f7548e1a 41a37f5b02ea 46a9d297d94c
    576473d6a73d 5ede56738376 6b88c087247a 7352f353c460 84308bea4540 9d96d9d5b1ad
    ab7cda0f915e ac4d35d196e5 afe4d16f403a b60d7bdd334c bbdefa2950f4 c0b0109d9439
"""

SPECIFICATIONS = {"www.rfc-editor.org", "spec.openapis.org"}


@pytest.fixture(params=DOCUMENTS, ids=lambda path: path.stem)
def document(request):
    return load(request.param)


@pytest.fixture
def service():
    return load(OPENAPI / "service.yaml")


def nodes(node: Node):
    """Yields a node and all below it; references are not followed, nor examples entered."""
    yield node
    if isinstance(node.value, dict | list):
        for key, child in node.children():
            if key not in {"example", "examples"}:
                yield from nodes(child)


def examples(document: Document):
    """Yields a schema and an example of it, for bodies, parameters and headers."""
    for node in nodes(document.root):
        if not (isinstance(node.value, dict) and isinstance(node.value.get("schema"), dict)):
            continue
        schema = node.child("schema")
        if "example" in node.value:
            yield schema, node.child("example")
        for _, example in (node.child("examples") or Node("", {})).children():
            yield schema, document.follow(example).child("value")


def test_a_document_is_valid_openapi(document):
    assert document.raw["openapi"] == "3.0.3"
    validate(document.raw)


def test_every_example_keeps_to_its_schema(document):
    schemas = Schemas(document)
    faults = {
        example.pointer: schemas.validator(schema).iter_errors(example.value)
        for schema, example in examples(document)
    }
    assert {pointer: list(found) for pointer, found in faults.items() if list(found)} == {}


def test_every_json_answer_of_the_service_has_an_example(service):
    lacking = [
        (operation.operation_id, status)
        for operation in operations(service)
        for status, response in operation.responses.items()
        for media_type, content in response.content.items()
        if media_type == "application/json" and not content.examples
    ]
    assert lacking == []


def test_links_lead_to_operations_and_their_parameters(service):
    known = {
        operation.operation_id: {parameter.name for parameter in operation.parameters}
        for operation in operations(service)
    }
    objects = [node.value for node in nodes(service.root) if isinstance(node.value, dict)]
    found = [value for value in objects if "operationId" in value and "responses" not in value]
    assert {link["operationId"] for link in found} == set(known) - UNLINKED
    assert all(set(link.get("parameters", {})) <= known[link["operationId"]] for link in found)


def test_the_service_has_every_operation_of_the_interface(service):
    found = {o.operation_id: f"{o.method} {o.path}" for o in operations(service)}
    assert OPERATIONS.items() <= found.items()


def test_what_an_upload_makes_can_be_updated_deleted_and_assigned(service):
    upload = next(o for o in operations(service) if o.operation_id == "uploadAvatar")
    made = service.root.child("paths", "/me/avatars", "post", "responses", "200", "links")
    assert upload.responses["200"].content.keys() == upload.responses["201"].content.keys()
    assert {link["operationId"] for link in made.value.values()} == {
        "updateAvatar",
        "deleteAvatar",
        "setAvatarForEmail",
    }


@pytest.mark.parametrize("name", ["service", "authorization", "web"])
def test_every_status_is_exact(name):
    document = load(OPENAPI / f"{name}.yaml")
    statuses = {status for o in operations(document) for status in o.responses}
    assert {status for status in statuses if not status.isdecimal()} == set()


def test_successes_that_the_interface_does_not_give_are_marked_as_assumed(service):
    unmarked = {
        operation["operationId"]
        for item in service.raw["paths"].values()
        for operation in item.values()
        if "responses" in operation
        for status, response in operation["responses"].items()
        if status.startswith("2") and response.get("x-status") != "assumed"
    }
    assert unmarked == {"getProfile", "getQrCode"}


@pytest.mark.parametrize("name", REQUIRED)
def test_a_schema_has_the_members_of_the_interface(service, name):
    schema = service.raw["components"]["schemas"][name]
    required = REQUIRED[name].split()
    assert schema.get("required", []) == required
    assert set(schema["properties"]) == {*required, *OPTIONAL.get(name, "").split()}


def test_answers_are_open_to_members_that_are_not_known_yet(service):
    schemas = service.raw["components"]["schemas"].values()
    assert not any("additionalProperties" in schema for schema in schemas)


def test_a_text_that_may_be_empty_has_no_format(service):
    properties = service.raw["components"]["schemas"]["Profile"]["properties"]
    assert "format" not in properties["avatar_url"]


@pytest.mark.parametrize("shape", ["2019-05-01", "2019-05-01T10:00:00Z", None])
def test_both_shapes_of_the_registration_date_are_right(service, shape):
    schema = service.root.child("components", "schemas", "Profile", "properties")
    validator = Schemas(service).validator(schema.child("registration_date"))
    assert validator.is_valid(shape)
    assert not validator.is_valid("in 2019")


COUNTED = ["getProfile", "getQrCode", "getOwnProfile", "updateOwnProfile"]


@pytest.mark.parametrize("operation_id", COUNTED)
@pytest.mark.parametrize("status", [200, 429])
def test_a_counted_answer_declares_the_rate_limit_headers(service, operation_id, status):
    operation = next(o for o in operations(service) if o.operation_id == operation_id)
    response = operation.response(status)
    assert response is not None
    declared = service.follow(Node("", {"$ref": response.pointer})).value["headers"]
    assert set(declared) == set(service.raw["components"]["headers"])


def test_every_address_is_on_this_machine_or_an_example(document):
    hosts = {
        urlsplit(address).hostname
        for address in re.findall(r"https?://[^\s'\"`)]+", document.path.read_text())
    }
    assert all(
        host == "127.0.0.1" or re.search(r"(^|\.)example\.(com|net|org)$", host)
        for host in hosts - SPECIFICATIONS
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_brand_is_named(path):
    words = set(re.findall(r"[a-z]+", path.read_text().lower()))
    brands = set(BRANDS.split())
    assert [w for w in words if hashlib.sha256(w.encode()).hexdigest()[:12] in brands] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_lines_are_short_enough_to_read(path):
    assert [line for line in path.read_text().splitlines() if len(line) > 110] == []
