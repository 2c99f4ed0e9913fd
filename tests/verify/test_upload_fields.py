"""Uploads take the name of their field from the document in force."""

import httpx
import pytest
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import document_of, load
from understudy.verify.upload_fields import upload_field

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
    assert upload_field(with_upload_schema(schema)) == name


def test_the_bundled_document_has_the_interfaces_name():
    assert upload_field(BUNDLED) == "data"


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
