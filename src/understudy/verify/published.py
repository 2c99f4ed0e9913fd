"""Reads the document that a deployment publishes (interface, Versioning), to judge it by."""

from pathlib import Path

from understudy.errors import StartupError
from understudy.exchange.messages import NO_JSON
from understudy.openapi.loader import Document, document_of
from understudy.openapi.yaml_files import parse_yaml
from understudy.verify.gateway import Gateway
from understudy.verify.permits import Refusal
from understudy.verify.probe_client import ProbeClient
from understudy.verify.target import PUBLISHED

_NAME = Path("the published document")


class Unpublished(Exception):
    """A deployment publishes no document; the text says how it responds instead."""


def read_published(gateway: Gateway) -> Document:
    """Requests the deployment's document, which the target says to judge by.

    Raises:
        StartupError: It does not respond, or not with an OpenAPI 3.0 or 3.1 document.
    """
    try:
        return published_document(gateway)
    except Unpublished as error:
        hint = "" if isinstance(error.__cause__, Refusal) else "; name a file instead."
        msg = f'document = "{PUBLISHED}": {error}{hint}'
        raise StartupError(msg) from error


def published_document(gateway: Gateway) -> Document:
    """Requests the deployment's document.

    Raises:
        Unpublished: It does not respond, or not with a document.
        StartupError: What it responds with is not an OpenAPI 3.0 or 3.1 document.
    """
    url = f"{gateway.target.base_url.rstrip('/')}/openapi"
    try:
        response = ProbeClient(gateway, "document").get("/openapi").response
    except Refusal as refusal:
        msg = f"{url} does not respond: {refusal}."
        raise Unpublished(msg) from refusal
    if not response.is_success or response.media_type == "text/html":
        media_type = response.media_type or "no content type"
        msg = f"{url} responds {response.status} with {media_type}, not with an OpenAPI document"
        raise Unpublished(msg)
    content = parse_yaml(response.body, _NAME) if response.json is NO_JSON else response.json
    return document_of(content, _NAME)
