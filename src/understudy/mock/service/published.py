"""Serves the document in force at ``{base_url}/openapi`` (interface, Versioning, 3)."""

from understudy.interface.rules import upholds
from understudy.mock.engine.call import Call, HandlerResponse
from understudy.mock.engine.handlers import Handler
from understudy.openapi.loader import Document

PATH = "/openapi"


def with_published(document: Document) -> Document:
    """Returns the document with an operation for itself, where it does not describe one.

    The service publishes its definition whether or not the definition says so.
    """
    paths = document.raw.get("paths", {})
    if "get" in paths.get(PATH, {}):
        return document
    response = {"description": "This document.", "content": {"application/json": {}}}
    operation = {"responses": {"200": response}, "security": []}
    published = {**paths, PATH: {**paths.get(PATH, {}), "get": operation}}
    return Document(document.path, {**document.raw, "paths": published})


def publish(document: Document, base_path: str) -> Handler:
    """Returns the handler that answers with the document, at the address it was asked at."""

    @upholds("published-document")
    def get_document(call: Call) -> HandlerResponse:
        servers = [{"url": call.site_url + base_path}]
        return HandlerResponse({**document.raw, "servers": servers})

    return get_document
