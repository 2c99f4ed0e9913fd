"""Serves the document in force at ``{base_url}/openapi`` (interface, Versioning, 3)."""

from collections.abc import Mapping
from typing import Any

from understudy.interface.rules import upholds
from understudy.mock.server.call import Call, Handler, HandlerResponse
from understudy.openapi.loader import Document

PATH = "/openapi"
JSON_PATH = "/openapi.json"

_ENDPOINTS = {
    "authorizationUrl": "/oauth2/authorize",
    "tokenUrl": "/oauth2/token",
    "refreshUrl": "/oauth2/token",
}  # OpenAPI 3.0.3, OAuth Flow Object


def with_published(document: Document) -> Document:
    """Returns the document with an operation ``GET /openapi``, unless it declares one.

    The service publishes its definition even if the definition does not declare the operation.
    """
    paths = document.raw.get("paths", {})
    if "get" in paths.get(PATH, {}):
        return document
    response = {"description": "This document.", "content": {"application/json": {}}}
    operation = {"responses": {"200": response}, "security": []}
    published = {**paths, PATH: {**paths.get(PATH, {}), "get": operation}}
    return Document(document.path, {**document.raw, "paths": published})


def _signing_in_at(components: Mapping[str, Any], authorization_url: str) -> dict[str, Any]:
    """Returns components whose OAuth flows have this mock's URLs, for the Authorize buttons of viewers."""
    schemes = {
        name: {**scheme, "flows": _flows(scheme["flows"], authorization_url)}
        if isinstance(scheme, dict) and isinstance(scheme.get("flows"), dict)
        else scheme
        for name, scheme in components.get("securitySchemes", {}).items()
    }
    return {**components, "securitySchemes": schemes} if schemes else dict(components)


def _flows(flows: Mapping[str, Any], authorization_url: str) -> dict[str, Any]:
    return {
        name: {
            key: authorization_url + _ENDPOINTS[key] if key in _ENDPOINTS else value
            for key, value in flow.items()
        }
        if isinstance(flow, dict)
        else flow
        for name, flow in flows.items()
    }


def publish(document: Document, base_path: str) -> Handler:
    """Returns the handler that responds with the document, with this mock's URL in ``servers``."""

    @upholds("published-document")
    def get_document(call: Call) -> HandlerResponse:
        servers = [{"url": call.site_url + base_path}]
        published = {**document.raw, "servers": servers}
        if "components" in published:
            published["components"] = _signing_in_at(
                published["components"], call.authorization_url
            )
        return HandlerResponse(published)

    return get_document
